"""The page "Ask the data first", run without a browser: what it shows is what is stored, or what the core says."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from objpert_core.accounting import PosteriorSampling, posterior_precision
from objpert_core.experiments.ptr.ballot import Ballot
from objpert_core.experiments.ptr.points import Points
from objpert_core.experiments.ptr.stored import Error
from objpert_core.experiments.ptr.teachers import Proposal, Teachers
from pages.ptr import controls, editor
from pages.ptr.figure1 import Regressions
from pages.ptr.figure2 import DigitsLabels, Labels
from pages.ptr.figure3 import EqualError, NarrowGap, WideGap
from pages.ptr.gamma import Gamma
from pages.ptr.line import Line
from pages.ptr.pate import Pate
from pages.ptr.pays import Curvature, Directions
from pages.ptr.vote import Vote
from tests.pages.apps import answer, curves, execute, open_app, press, said, spec, tables, words_of
from tests.pages.ptr.settings import LINE, PATE, TWELVE, VOTE
from tests.plotted import decode
from ui import figures

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
def test_three_bars_and_the_law_of_the_test():
    app = open_page(ptr_publish=controls.PUBLISHED["side"], ptr_delta="0.01", ptr_beta="0.05")
    points = Points(TWELVE, 7, 0.05, 0.5, 0.01, "side")
    bars = decode(spec(app, 1)["data"][0]["x"])
    assert bars == pytest.approx([points.global_epsilon, points.local_epsilon, points.own_epsilon])
    law = spec(app, 2)["data"][0]
    places, chances = points.test_law()
    np.testing.assert_array_equal(decode(law["x"]), places)
    np.testing.assert_array_equal(decode(law["y"]), chances)
    coloured = np.array(law["marker"]["color"]) == figures.look("asked").color
    np.testing.assert_array_equal(coloured, places >= points.threshold)


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


@pytest.mark.slow
def test_a_vote_shows_four_errors_and_what_rises_with_the_gap():
    app = open_page(ptr_view=Vote.title, ptr_noise="10", ptr_gap="5")
    shown, _ = curves(app)
    ballot = Ballot(1.0, 1e-5, 10.0)
    x, y = shown["generalised test"]
    errors = ballot.errors(x.astype(int))
    np.testing.assert_array_equal(y, np.where(errors["asked"] > 1e-13, errors["asked"], np.nan))
    assert x[-1] > ballot.passing_gap
    pure = curves(app, 1)[0]["this noise, δ = 0"][1]
    assert (np.diff(pure) > 0).all()
    assert pure[0] == pytest.approx(8.208, abs=1e-3)
    assert pure[-1] < 10
    seen = tables(app)[0].set_index("Quantity")["Who sees it"]
    assert [name for name, who in seen.items() if who.startswith("secret")] == [
        "ε of the proposed noise here, δ = 0",
        "ε of the proposed noise here, at δ",
    ]


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


@pytest.mark.slow
def test_the_printed_precision_has_thirteen_times_its_delta():
    app = open_page()
    app.button(key="ptr_preset_The paper errs: 13 × δ").click().run()
    assert answer(app) == "The printed γ breaks its promise: the true δ is 12.9× the promised δ."
    x, y = curves(app, 1)[0]["exactly"]
    for place in (30, 50):
        assert y[place] == posterior_precision(float(x[place]), 1e-6, 0.1)
        assert PosteriorSampling(0.1, y[place]).delta(float(x[place])) <= 1e-6


@pytest.mark.slow
def test_teachers_pay_by_their_proposal():
    app = open_page(ptr_view=Pate.title)
    asked = Proposal(Teachers(0.8, 0.11), 0.7, 0.2)
    assert rows_of(app)["Distance D: teachers until the proposal is wrong"] == f"{asked.distance:g}"
    x, y = curves(app)[0]["distance D (secret)"]
    assert y[np.argmin(np.abs(x - 0.7))] == asked.distance
    labels = [label for trace in spec(app)["data"] for label in trace.get("text", ())]
    assert ("beyond: any votes suit the proposal" in labels) == bool(np.isnan(y).any())
    app.select_slider(key="ptr_first").set_value(0.34).run()
    app.select_slider(key="ptr_labels").set_value(10.0).run()
    assert "Do not ask" in answer(app)


@pytest.mark.parametrize("text", ["", "0.1, 0.2", "0.1, nan, 0.3", "1, 2, 3", "inf 0 0", ", ".join(["0.5"] * 25)])
def test_lists_that_are_none_are_refused(text):
    with pytest.raises(ValueError, match="values must be 3 to 24 numbers from 0 to 1"):
        editor.parse(text)


def printed(view):
    """What a view's lines of Python define."""
    return execute(view.code())[0]


@pytest.mark.slow
def test_the_snippets_give_the_numbers_shown():
    line = Line("side", 0.2, 1.0, 3, 1e-3, False, 4, "0.1, 0.4, 0.5, 0.7")
    names = printed(line)
    assert (names["points"], names["outcome"]) == (line.points, line.outcome)
    vote = Vote(7, 0.5, 2.0, 1e-4)
    assert {name: error[0] for name, error in printed(vote)["errors"].items()} == vote.here
    gamma = Gamma(3.0, 7.0, 5.0, 1e-6)
    names = printed(gamma)
    assert (names["printed"], names["exact"]) == (gamma.printed(5.0), gamma.exact(5.0))
    assert names["true_delta"] == gamma.true_delta(names["printed"], 5.0)
    teachers = Pate(0.7, 1.0, 10.0, 100, 0.3, 0.33)
    assert printed(teachers)["asked"].distance == teachers.proposal.distance
    assert printed(teachers)["teachers"].these_votes == teachers.teachers.these_votes


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


@pytest.mark.slow
@each_stored
def test_stored_snippets_print_the_means_shown(view):
    assert len(view.curves) == len(view.labels)
    assert printed(view)["means"] == pytest.approx(view.means)


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


def test_a_first_direction_is_no_better_within_intervals():
    answers = {rows: Directions(rows, 2.0).answer() for rows in controls.ROWS.options}
    assert [rows for rows, text in answers.items() if "err alike" in text] == [3000]
    assert answers[30000].endswith("has 1.9 times less error than noise on AᵀA.")


def test_stored_charts_show_whole_intervals_and_tell_public_rows_from_ridge():
    accuracy = Curvature(1.0)
    low, high = accuracy.chart(None).layout.yaxis.range
    ends = [(interval.low, interval.high) for curve in accuracy.curves for _, interval in curve.points]
    assert low < min(ends)[0] < max(end for _, end in ends) < high
    seen, every = (
        [trace for trace in Regressions("diabetes", 2.0, every).chart(None).data if trace.name]
        for every in (False, True)
    )
    assert (len(seen), len(every)) == (5, len(Error.LABELS))
    for dress in (lambda trace: trace.line.color, lambda trace: trace.line.dash, lambda trace: trace.marker.symbol):
        assert len(set(map(dress, seen))) == 5


@pytest.mark.slow
def test_answers_have_at_most_eighteen_words():
    some = itertools.product(("number", "side"), (0.01, 0.1, 0.9), (1e-9, 1e-2))
    views = [replace(LINE, published=what, bound=bound, delta=delta) for what, bound, delta in some]
    views += [replace(VOTE, gap=gap, epsilon=epsilon) for epsilon in (0.1, 10.0) for gap in (0, 20, 300)]
    views += [Vote(gap, 10.0, 0.1, 1e-9) for gap in range(10)]
    views += [Gamma(lam, 0.0, epsilon, 1e-6) for lam in (1.0, 100.0) for epsilon in (0.1, 1.0, 10.0)]
    some = itertools.product((0.34, 0.8), (0.1, 5.0))
    views += [replace(PATE, first=first, epsilon=epsilon, number=400, second=0.33) for first, epsilon in some]
    stored = (*STORED, Regressions("synthetic-r", 1.0, False))
    views += [replace(view, wanted=place) for view in stored for place in view.places]
    answers = [view.answer() for view in views]
    assert max(map(words_of, answers)) <= 18, max(answers, key=words_of)


@pytest.mark.slow
def test_the_prediction_is_true():
    """Without δ the ε of a wide lead rises, to ε of the noise."""
    pure = Ballot(1.0, 1e-5, 1.0).epsilons(np.arange(11))["pure"]
    assert (np.diff(pure) > 0).all()
    assert 0.9 < pure[-1] < 1
