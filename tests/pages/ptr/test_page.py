"""The page "Ask the data first", without a browser: what is stored, what the core says, and what is secret says so."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from objpert_core.experiments.ptr.ballot import Ballot
from objpert_core.experiments.ptr.points import Points
from objpert_core.experiments.ptr.stored import Error
from pages.ptr import controls
from pages.ptr.gamma import Gamma
from pages.ptr.line import Line
from pages.ptr.paper import Curvature, DigitsLabels, Directions, EqualError, Labels, NarrowGap, Regressions, WideGap
from pages.ptr.parts import chance, small
from pages.ptr.pate import Pate
from pages.ptr.vote import Vote
from tests.pages.apps import answer, curves, open_app, press, said, spec, tables
from tests.plotted import decode

TWELVE = controls.parse(controls.POINTS.default)
LINE = Line("number", 0.1, 1.0, 7, 1e-5, True, 0, controls.POINTS.default)
VOTE = Vote(10, 1.0, 1.0, 1e-5)
PATE = Pate(0.8, 0.7, 20.0, 100, 0.2, 0.11)
GAMMA = Gamma(3.0, 7.0, 5.0, 1e-6)
open_page = partial(open_app, "pages/ptr/page.py")


def rows_of(app):
    return tables(app)[0].set_index("Quantity")["Value"]


@pytest.mark.thorough
def test_opens_on_points_and_draws_again():
    app = open_page()
    first = Points(TWELVE, 7, 0.1, 0.5, 1e-5)
    shown, ghosts = curves(app)
    np.testing.assert_array_equal(np.sort(shown["points (secret)"][0]), first.values)
    assert shown["published"][0] == [first.run(0).value]
    assert ghosts == []
    assert rows_of(app)["Distance D to data that contradict β"] == f"{first.distance:g}"
    assert f"the test passes in {100 * first.pass_probability:.1f} % of runs." in answer(app)
    assert "ε = 1, with slack δ = 10⁻⁵; one person’s value replaced" in said(app)
    _cite, note, *_ = app.caption
    assert "publishes" in note.value
    press(app, "Draw again")
    assert app.session_state["ptr_seed"] == 1
    assert curves(app)[0]["published"][0] == [first.run(1).value]
    assert len(app.get("plotly_chart")) == 3


@pytest.mark.slow
def test_points_are_typed_and_moved():
    app = open_page(ptr_points="0.1 0.2;0.9")
    assert rows_of(app)["Distance D to data that contradict β"] == "3"
    app.text_input(key="ptr_points").set_value("0.2, 0.25, .3, 0.35").run()
    assert app.text_input(key="ptr_points").value == "0.2, 0.25, 0.3, 0.35"
    app.slider(key="ptr__which").set_value(4).run()
    assert app.slider(key="ptr__place").value == 0.35
    app.slider(key="ptr__place").set_value(0.01).run()
    assert app.text_input(key="ptr_points").value == "0.01, 0.2, 0.25, 0.3"
    assert app.slider(key="ptr__which").value == 1
    app.text_input(key="ptr_points").set_value("zero, one").run()
    assert app.text_input(key="ptr_points").value == "0.01, 0.2, 0.25, 0.3"
    assert any("numbers from 0 to 1. The page still uses" in block.value for block in app.caption)
    assert not app.error


def test_a_vote_says_where_asking_loses_and_that_small_errors_are_not_0():
    vote = replace(VOTE, gap=20)
    assert vote.gaps[-1] > vote.ballot.passing_gap > 20
    assert vote.answer().startswith("At gap 20 asking loses to plain Laplace noise: errors 1.4×10⁻⁴ against")
    assert "is no better than" in replace(VOTE, gap=0).answer()
    far = replace(VOTE, gap=300, epsilon=10.0)
    assert far.here["laplace"] == 0  # too small for a double
    assert "less than 10⁻¹²" in far.answer()
    errors = {row["Quantity"]: row["At gap 300"] for row in far.table()}
    assert (errors["Laplace noise"], errors["Optimal vote"]) == ("less than 10⁻¹²", "0")


@pytest.mark.parametrize("text", ["", "0.1, 0.2", "0.1, nan, 0.3", "1, 2, 3", "inf 0 0", ", ".join(["0.5"] * 25)])
def test_lists_that_are_none_are_refused(text):
    with pytest.raises(ValueError, match="values must be 3 to 24 numbers from 0 to 1"):
        controls.parse(text)


STORED = (
    EqualError(0.3),
    WideGap(4),
    NarrowGap(30),
    Regressions("diabetes", 2.0, False),
    Labels("low", 20.0),
    DigitsLabels("digits", 10.0),
    Curvature(1.0),
    Directions(1000, 2.0),
)
each_stored = pytest.mark.parametrize("view", STORED, ids=lambda view: type(view).__name__)


@each_stored
def test_sliders_of_stored_pictures_offer_what_is_stored(view):
    assert set(view.controls["wanted"].options) == set(view.places)


@pytest.mark.parametrize("table", ["synthetic-r", "diabetes"])
def test_figure_1_names_a_winner_only_where_intervals_are_apart(table):
    answers = {}
    for at in controls.STORED.options:
        view = Regressions(table, at, False)
        means, text = view.means, view.answer()
        public, private = means["judges"], min(means[name] for name in means if name not in Error.UNPAID)
        assert ("alone wins" in text) <= (public < private)
        assert ("errs least" in text) <= (private < public)
        assert any(f"{curve.label}," in text or f"{curve.label} " in text for curve in view.curves)
        answers[at] = text
    assert "alone wins" in answers[1.0]
    assert "AdaSSP errs least" in answers[10.0] or table == "synthetic-r"


def test_stored_charts_show_whole_intervals():
    accuracy = Curvature(1.0)
    low, high = accuracy.chart(None).layout.yaxis.range
    ends = [(interval.low, interval.high) for curve in accuracy.curves for _, interval in curve.points]
    assert low < min(ends)[0] < max(end for _, end in ends) < high


@pytest.mark.slow
def test_the_prediction_is_true():
    """Without δ the ε of a wide lead rises, to ε of the noise."""
    pure = Ballot(1.0, 1e-5, 1.0).epsilons(np.arange(11))["pure"]
    assert (np.diff(pure) > 0).all()
    assert 0.9 < pure[-1] < 1


@pytest.mark.slow
def test_a_new_draw_keeps_the_ghost_of_another_setting():
    app = open_page()
    app.select_slider(key="ptr_beta").set_value(0.2).run()
    assert curves(app)[1] == ["noise, passed, before", "noise, failed, before"]
    ghost, now = decode(spec(app)["data"][0]["y"]), curves(app)[0]["noise, passed"][1]
    assert not np.allclose(ghost, now)
    press(app, "Draw again")
    np.testing.assert_array_equal(decode(spec(app)["data"][0]["y"]), ghost)


def test_dust_of_floating_point_is_no_promise():
    shown = {0.1 + 0.05: "0.15", 3.5000000000000004: "3.5", 1 + 1e-12: "1", 0.0: "0", 3e-4: "3×10⁻⁴"}
    shown |= {0.1500001: "0.151", np.inf: "∞"}
    assert {value: small(value) for value in shown} == shown
    teachers = replace(PATE, number=50, epsilon=0.1, test_epsilon=0.05)
    assert teachers.proposal.total > 0.15
    assert "ε = 0.15, with slack" in teachers.promise()
    assert [chance(probability) for probability in (0.9999, 1.0, 0.5)] == ["over 0.999", "1", "0.5"]


def test_a_release_that_was_cut_off_says_so():
    few = replace(LINE, text="0 0 0.1", people=1)
    released = {replace(few, seed=seed).released() for seed in range(20)}
    assert {"0.000 (cut off at 0)", "1.000 (cut off at 1)"} < released
    assert all("cut" not in text for text in released if text[:5] not in ("0.000", "1.000"))


def test_what_is_secret_says_so():
    assert LINE.answer().startswith("Secret: ")
    seen = {row["Quantity"]: row["Who sees it"] for row in LINE.table()}
    assert seen["Noisy D of this run"] == "nobody; people only see whether the test passes"
    assert PATE.answer().endswith("(secret).") or PATE.answer().startswith("Do not ask")
    assert "D here (secret)" in [trace.name for trace in PATE.chart(None).data]
    assert "is secret" in GAMMA.note()
    assert [row["Who sees it"] for row in VOTE.table()] == ["public"] * 4 + ["secret"] * 2
    assert replace(PATE, first=0.34, epsilon=10.0).answer().startswith("Do not ask")


@pytest.mark.parametrize("gamma", [GAMMA, Gamma(100.0, 0.0, 1.0, 1e-9), Gamma(2.0, 0.0, 10.0, 1e-6)], ids=str)
def test_answer_and_table_give_one_ratio(gamma):
    (row, exact) = gamma.table()
    assert f" {row['Over the promise']} the promised δ" in gamma.answer()
    assert row["Who sees it"] == exact["Who sees it"] == "nobody: λ* is secret"


def test_panels_without_curves_say_why():
    def drawn(gamma):
        traces = [*gamma.chart(None).data, *gamma.gammas().figure.data]
        return {trace.name for trace in traces if trace.meta["role"] != "guide" or trace.text}

    assert drawn(Gamma(1.0, 0.0, 0.1, 1e-9)) == {
        "promised δ",
        "the printed formula allows no γ at any ε here",
        "exactly, no γ is private at any ε here",
    }
    assert drawn(replace(GAMMA, delta=1e-2)) == {"promised δ", "true δ of the printed γ", "as printed", "exactly"}
