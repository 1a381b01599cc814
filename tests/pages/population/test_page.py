"""The page "Will it generalise?", run without a browser: what it shows is what is stored, or what the core says."""

from functools import partial

import numpy as np
import pytest

from objpert_core.experiments.population import stored
from objpert_core.experiments.population.methods import LABELS, Setting
from objpert_core.theory.population_risk import descent_parts
from pages.population import numbers, words
from tests.pages.apps import finished, open_app, said, spec
from ui.svg import decode

open_page = partial(open_app, "pages/population/page.py")


def traces(app, chart=0):
    return {trace["name"]: trace for trace in spec(app, chart)["data"] if trace.get("name")}


def test_opens_on_stored_risks_side_by_side():
    app = open_page()
    found = stored.load("logistic")
    shown = traces(app)
    for name in ("sgd", "objective", "gd", "phased", "objective-tight"):
        point = found.point(10_000, 10, 0.5, name)
        assert decode(shown[LABELS[name]]["x"]).tolist() == [point.excess.mean]
    table = app.table[0].value.set_index("Method")
    assert table.loc["Noisy SGD, published", "Printed bound"] == "0.4"
    assert "Tight objective perturbation: excess risk 0.0" in said(app)
    assert len(app.table[0].value) == len(found.methods) + 1
    assert any("Stored: 20 draws" in block.value for block in app.caption)


def test_against_the_number_of_rows():
    app = open_page(population_view="Against the number of rows", population_epsilon="2", population_bounds="true")
    found = stored.load("logistic")
    n, points = found.curve(10, 2.0, "gd")
    shown = traces(app)["Noisy gradient descent"]
    np.testing.assert_array_equal(decode(shown["x"]), n)
    np.testing.assert_array_equal(decode(shown["y"]), [point.excess.mean for point in points])
    assert "Noisy gradient descent, bound" in traces(app)
    assert "Ten times the rows divide tight objective perturbation’s excess risk by" in said(app)


def test_the_generalisation_gap_is_within_stability():
    app = open_page(population_view="Generalisation gap", population_bounds="true")
    shown = traces(app)
    gap, bound = (decode(shown[name]["y"]) for name in ("Noisy gradient descent", "Noisy gradient descent, bound"))
    there = np.isfinite(gap)  # an axis of logarithms has no other
    assert there.sum() > 3
    assert (gap[there] < bound[there]).all()
    assert "Training loss hides" in said(app)


def test_steps_and_stability():
    app = open_page(population_view="Steps and stability", population_T="1000")
    parts = descent_parts(10_000, 10, 0.5, 1e-8, 1000, radius=4.0, smoothness=0.25)
    shown = traces(app)
    at = list(numbers.STEPS).index(1000)
    assert decode(shown["stability"]["y"])[at] == parts.stability
    assert decode(shown["still to go"]["y"])[at] == parts.optimisation
    assert "T = 1,000 is about the best" in said(app)
    app.select_slider(key="population_T").set_value(1).run()
    assert "the largest part is what is still to go" in said(app)


def test_who_wins_where():
    app = open_page(population_view="Who wins where", population_epsilon="2")
    found = stored.load("logistic")
    squares = sum(len(decode(trace["x"])) for name, trace in traces(app).items() if name in LABELS.values())
    assert squares == len(found.rows) * len(found.dimensions)
    assert "settings clearly; θ = 0 is best in" in said(app)


def test_one_published_step_leaks():
    app = open_page()
    app.button(key="population_preset_With replacement leaks").click().run()
    assert not app.exception
    assert "One step as published has δ = 3.5×10⁻⁵, 3,540 times its target." in said(app)
    assert max(decode(traces(app)["on some data, exactly"]["y"])) > 3540
    assert any("The accountant proves δ ≤ 9.2×10⁻⁴" in block.value for block in app.caption)


PRESETS = {
    "Theorem 3.2": "Ten times the rows divide",
    "Theorem 5.3": "ε = 2, δ",
    "Non-smooth": "Absolute loss with Laplace noise",
    "Hard instance": "d = 500",
    "n = d": "n = 100, d = 100",
}
"""What the answer or the line under it says."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_presets_show_what_they_name(name):
    app = open_page()
    app.button(key=f"population_preset_{name}").click().run()
    assert not app.exception
    assert not app.error
    assert PRESETS[name] in said(app) + " ".join(block.value for block in app.caption)


def test_nonsense_in_the_address_falls_back():
    app = open_page(population_n="-3", population_epsilon="inf", population_view="x", population_loss="y")
    assert (app.session_state["population_n"], app.session_state["population_epsilon"]) == (10_000, 0.5)
    assert app.session_state["population_view"] == "methods"


def test_what_is_not_stored_is_near_or_too_much():
    app = open_page(population_view="Who wins where", population_epsilon="8", population_d="300", population_M="1")
    assert "Stored for d = 3, 10, 30, 100" in app.info[0].value
    app = open_page(population_n="100000", population_epsilon="1")
    assert "the page draws at most 30,000 rows" in app.info[0].value


@pytest.mark.slow
def test_a_setting_that_is_not_stored_is_drawn_now():
    app = finished(open_page(population_n="100", population_d="2", population_epsilon="5"), "population__run")
    assert any("Drawn now: ten draws" in block.value for block in app.caption)
    setting = Setting("logistic", 100, 2, 5.0)
    *_, risks = numbers.draw(setting, 10, lambda: False)
    assert decode(traces(app)[LABELS["gd"]]["x"]).tolist() == [risks.excess["gd"].mean]


def test_a_draw_can_be_stopped():
    setting = Setting("hard", 100, 2, 5.0)
    assert list(numbers.draw(setting, 10, lambda: True)) == []


@pytest.mark.slow
def test_the_snippets_give_the_numbers_shown(capsys):
    setting = Setting("hard", 100, 10, 2.0)
    risks = numbers.stored_risks(setting)
    scope = {}
    exec(words.snippet(risks), scope)
    best = risks.best if risks.best != "zero" else words.TIGHT
    assert scope["mean"] == pytest.approx(risks.excess[best].mean, rel=1e-9)
    exec(words.passes_snippet(setting, 50), scope)
    assert scope["parts"] == numbers.parts(setting, 50)
    exec(words.leak_snippet(Setting("logistic", 1000, 10, 0.5)), scope)
    assert scope["attained"] == numbers.single_step(1000, 10, 0.5).attained


def test_answers_have_at_most_eighteen_words():
    for population in stored.names():
        found = stored.load(population)
        for n in found.rows:
            for d in found.dimensions:
                for epsilon in found.epsilons:
                    setting = Setting(population, n, d, epsilon)
                    here = numbers.parts(setting, 200)
                    told = [
                        words.answer(numbers.stored_risks(setting)),
                        words.rows_answer(found, setting),
                        words.gap_answer(found, setting),
                        words.passes_answer(setting, 200, here, (200, here.total / 3)),
                        words.map_answer(numbers.winners(found, epsilon)),
                    ]
                    assert max(len(sentence.replace(" = ", "=").split()) for sentence in told) <= 18, told


@pytest.mark.slow
def test_try_it_is_right():
    app = open_page()
    app.radio(key="population__try").set_value(app.radio(key="population__try").options[0]).run()
    assert "Not quite" in " ".join(block.value for block in app.info)
    risks = numbers.stored_risks(Setting("logistic", 100, 100, 0.5))
    assert risks.excess["objective-tight"].mean < 1.01 * risks.zero
    assert min(risks.excess[name].mean for name in ("gd", "objective-least", "no-privacy")) > 1.2 * risks.zero
