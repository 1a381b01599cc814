"""The page "What does each column do?", run without a browser: its curves and sums are those of the estimator."""

from functools import partial

import numpy as np
import pytest

from objpert_core import datasets
from pages.columns.controls import CATEGORIES, COLUMNS, NUMBERS
from pages.columns.curve import Curve
from pages.columns.fitted import adult, fitted
from pages.columns.person import Person
from pages.columns.shapes import AXES, labels_beyond, times
from tests.pages.apps import answer, curves, execute, open_app, said, spec
from tests.plotted import decode

open_page = partial(open_app, "pages/columns/page.py")


@pytest.mark.thorough
def test_the_curve_is_the_models_and_the_lines_of_python_print_it():
    app, view = open_page(), Curve()
    shapes = execute(view.code())[0]["shapes"]
    age = shapes[(shapes["column"] == "age") & (shapes["piece"] != "missing")]
    drawn = spec(app)["data"]
    x, y = (decode(drawn[-1][axis]).astype(float).reshape(-1, 2) for axis in "xy")
    assert (y[:, 0] == y[:, 1]).all()
    np.testing.assert_array_equal(x[1:, 0], x[:-1, 1])  # no gap, and no step back
    assert tuple(x[[0, -1], [0, 1]]) == AXES["age"].ends
    for whole in range(17, 91):  # whoever is so old is drawn on the piece where the model has them
        of_model = age["effect"][(age["from"] <= whole) & (whole < age["to"])].item()
        assert y[(x[:, 0] < whole) & (whole < x[:, 1]), 0].item() == pytest.approx(of_model)
    assert str(datasets.default_name()) in drawn_on(app)
    low, high = age["effect"][age["share"] >= 0.01].agg(["min", "max"])
    assert f"go from {times(np.exp(low))} to {times(np.exp(high))}, off by about ×" in answer(app)


def drawn_on(app):
    return spec(app)["layout"]["xaxis"]["title"]["text"]


@pytest.mark.thorough
def test_categories_lie_in_the_order_without_privacy_and_few_people_are_faint():
    app, view = open_page(columns_which="education"), Curve(column="education")
    without, private = (trace for trace in spec(app)["data"] if trace["name"] in ("without privacy", "private"))
    assert (np.diff(decode(without["x"])) > 0).all()
    names = spec(app)["layout"]["yaxis"]["ticktext"]
    one = view.models["private"].shapes["education"].set_index("piece").loc[names]
    np.testing.assert_array_equal(decode(private["x"]), one["effect"])
    order = np.argsort(one["share"].to_numpy())
    opacity = decode(private["marker"]["opacity"])[order]
    assert (np.diff(opacity) >= 0).all()
    assert opacity[0] < 0.6
    assert opacity[-1] == 1
    assert len({"other", "missing"} & set(names)) == 0


@pytest.mark.thorough
def test_other_draws_are_faint_differ_by_their_seeds_and_are_told_apart_from_a_release():
    app = open_page(columns_epsilon="0.1", columns_draws="true")
    assert sum(trace.get("opacity") == 0.4 for trace in spec(app)["data"]) == 5
    view = Curve(epsilon=0.1, draws=True)
    assert list(view.others) == [1, 2, 3, 4, 5]
    offs = [view.off(one) for one in (view.models["private"], *view.others.values())]
    assert f"off by {times(min(offs))} to {times(max(offs))}" in answer(app)
    assert any("six would cost more" in one.value for one in app.caption)
    app.toggle(key="columns_draws").set_value(False).run()
    assert "opacity" not in spec(app)["data"][-1]


@pytest.mark.thorough
def test_a_move_of_epsilon_says_where_the_distance_went_and_leaves_a_ghost():
    app = open_page(columns_epsilon="0.1")
    app.select_slider(key="columns_epsilon").set_value(5.0).run()
    assert "ε 0.1 → 5: how far the private curve is off falls from ×" in said(app)
    assert curves(app)[1] == ["private"]
    app.selectbox(key="columns_which").set_value("sex").run()
    assert curves(app)[1] == []  # another column's curve would mean nothing here


@pytest.mark.thorough
def test_a_persons_terms_are_those_that_the_model_explains():
    view = Person(age=52, gain=8000, education="Masters", related="Husband", country="Germany", hours=99)
    terms = execute(view.code())[0]["terms"].iloc[0]
    assert list(view.terms("private").values()) == pytest.approx(terms.tolist())
    app = open_page(columns_view="Who is this?", columns_age="52", columns_education="Masters")
    there = Person(age=52, education="Masters")
    bars = next(trace for trace in spec(app)["data"] if trace["type"] == "bar")
    np.testing.assert_allclose(decode(bars["x"]), list(there.terms("private").values())[1:])
    np.testing.assert_allclose(decode(bars["base"]), np.cumsum(list(there.terms("private").values()))[:-1])
    chance = 1 / (1 + np.exp(-sum(there.terms("private").values())))
    assert f"high income is {100 * chance:.1f} %;" in answer(app)


def test_every_column_has_an_answer_an_axis_or_a_list():
    person = Person().person
    assert list(person) == list(COLUMNS) == list(adult().frame)
    assert set(AXES) == set(NUMBERS)
    for name, value in person.items():
        assert value in CATEGORIES[name] if name in CATEGORIES else AXES[name].low <= value <= AXES[name].high


@pytest.mark.slow
def test_rare_pieces_differ_most_between_draws():
    """What "Try it" and the lesson say."""
    models = fitted(*((0.1, 1e-5, seed, None) for seed in range(10)))
    effects = np.array([one.terms("education", ["HS-grad", "Bachelors", "Preschool"]) for one in models])
    grad, bachelor, preschool = effects.std(axis=0)
    assert preschool > 3 * max(grad, bachelor)


@pytest.mark.parametrize(("effect", "told"), [(0.0, "×1"), (np.log(3.24), "×3.2"), (-np.log(12), "÷12")])
def test_effects_are_told_as_odds(effect, told):
    assert times(np.exp(effect)) == told


@pytest.mark.parametrize(("x", "sides"), [((0.1, 0.2), ["right", "left"]), ((0.9, 0.8), ["right", "right"])])
def test_two_names_never_cross_each_others_lines(x, sides):
    curves = [{"name": name, "line": {"color": "#000000"}} for name in "ab"]
    left, right = labels_beyond(curves, x, 5.0, (0.0, 1.0), 0.5)
    assert left["x"] < right["x"]
    assert [left["xanchor"], right["xanchor"]] == sides
    assert 5.0 < left["ay"] < right["ay"]
