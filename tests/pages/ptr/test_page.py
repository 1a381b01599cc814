"""The page "Ask the data first", run without a browser: what it shows is what is stored, or what the core says."""

import itertools
from functools import partial

import numpy as np
import pytest

from objpert_core.accounting import PosteriorSampling, posterior_precision
from objpert_core.experiments.ptr import glm, pate, pca, regression, stored, voting
from objpert_core.experiments.ptr.ballot import Ballot
from objpert_core.experiments.ptr.points import Points
from objpert_core.experiments.ptr.teachers import Proposal, Teachers
from pages.ptr import (
    editor,
    gamma,
    line,
    line_charts,
    panel,
    snippets,
    stored_charts,
    stored_numbers,
    stored_words,
    vote,
)
from pages.ptr import pate as labelled
from pages.ptr.stored_numbers import Look
from pages.ptr.words import VIEWS
from tests.pages.apps import answer, curves, execute, open_app, press, said, spec, tables, words_of
from ui.controls import SelectSlider
from ui.svg import decode

open_page = partial(open_app, "pages/ptr/page.py")
TWELVE = editor.parse(panel.POINTS.default)


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
    assert "publishes" in app.caption[0].value
    press(app, "Draw again")
    assert app.session_state["ptr_seed"] == 1
    assert curves(app)[0]["published"][0] == [first.run(1).value]
    assert len(app.get("plotly_chart")) == 3


@pytest.mark.slow
def test_three_bars_and_the_law_of_the_test():
    app = open_page(ptr_publish=line.PUBLISHED["side"], ptr_delta="0.01", ptr_beta="0.05")
    points = Points(TWELVE, 7, 0.05, 0.5, 0.01, "side")
    bars = decode(spec(app, 1)["data"][0]["x"])
    assert bars == pytest.approx([points.global_epsilon, points.local_epsilon, points.own_epsilon])
    law = spec(app, 2)["data"][0]
    places, chances = points.test_law()
    np.testing.assert_array_equal(decode(law["x"]), places)
    np.testing.assert_array_equal(decode(law["y"]), chances)
    coloured = np.array(law["marker"]["color"]) == line_charts.figures.look("asked").color
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
    assert any("numbers from 0 to 1, please" in block.value for block in app.caption)
    assert not app.error


@pytest.mark.slow
def test_a_vote_shows_four_errors_and_what_rises_with_the_gap():
    app = open_page(ptr_view=VIEWS["vote"], ptr_noise="10", ptr_gap="5")
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
    seen = tables(app)[0].set_index("How often it errs")["Who sees it"]
    assert [name for name, who in seen.items() if who.startswith("secret")] == [
        "ε of the proposed noise here, δ = 0",
        "the same at δ",
    ]


def test_a_vote_says_where_asking_loses_and_that_small_errors_are_not_0():
    shown = vote.Shown(Ballot(1.0, 1e-5), 20)
    assert shown.gaps[-1] > shown.ballot.passing_gap > 20
    assert vote.answer(shown).startswith("At gap 20 asking loses to plain Laplace noise: errors 1.4×10⁻⁴ against")
    assert "is no better than" in vote.answer(vote.Shown(Ballot(1.0, 1e-5), 0))
    far = vote.Shown(Ballot(10.0, 1e-5), 300)
    assert far.here["laplace"] == 0  # too small for a double
    assert "less than 10⁻¹²" in vote.answer(far)
    told = {row["How often it errs"]: row["At gap 300"] for row in vote.rows(far)}
    assert (told["Laplace noise"], told["Optimal vote"]) == ("less than 10⁻¹²", "0")


@pytest.mark.slow
def test_the_printed_precision_has_thirteen_times_its_delta():
    app = open_page()
    app.button(key="ptr_preset_The paper errs: 13 × δ").click().run()
    assert answer(app) == "The paper’s δ is 12.9× its promise: its γ breaks (ε, δ)."
    x, y = curves(app, 1)[0]["exactly"]
    for place in (30, 50):
        assert y[place] == posterior_precision(float(x[place]), 1e-6, 0.1)
        assert PosteriorSampling(0.1, y[place]).delta(float(x[place])) <= 1e-6


@pytest.mark.slow
def test_teachers_pay_by_their_proposal():
    app = open_page(ptr_view=VIEWS["pate"])
    asked = Proposal(Teachers(0.8, 0.11), 0.7, 0.2)
    assert rows_of(app)["Distance D: teachers until the proposal is wrong"] == f"{asked.distance:g}"
    x, y = curves(app)[0]["distance D (secret)"]
    assert y[np.argmin(np.abs(x - 0.7))] == asked.distance
    labels = [label for trace in spec(app)["data"] for label in trace.get("text", ())]
    assert ("beyond: any votes suit it" in labels) == bool(np.isnan(y).any())
    app.select_slider(key="ptr_first").set_value(0.34).run()
    app.select_slider(key="ptr_labels").set_value(10.0).run()
    assert "Do not ask" in answer(app)


@pytest.mark.parametrize("text", ["", "0.1, 0.2", "0.1, nan, 0.3", "1, 2, 3", "inf 0 0", ", ".join(["0.5"] * 25)])
def test_lists_that_are_none_are_refused(text):
    with pytest.raises(ValueError, match="values must be 3 to 24 numbers from 0 to 1"):
        editor.parse(text)


@pytest.mark.slow
def test_the_snippets_give_the_numbers_shown():
    shown = line.Shown(Points((0.1, 0.4, 0.5, 0.7), 3, 0.2, 0.5, 1e-3, "side"), 4, False)
    found, _ = execute(snippets.points(shown))
    assert (found["points"], found["outcome"]) == (shown.points, shown.outcome)
    voted = vote.Shown(Ballot(0.5, 1e-4, 2.0), 7)
    found, _ = execute(snippets.vote(voted))
    assert {name: error[0] for name, error in found["errors"].items()} == voted.here
    draw = gamma.Draw(3.0, 7.0, 5.0, 1e-6)
    found, _ = execute(snippets.gamma(draw))
    assert (found["printed"], found["exact"]) == (draw.printed(5.0), draw.exact(5.0))
    assert found["true_delta"] == draw.true_delta(5.0)
    asked = Proposal(Teachers(0.7, 0.33, 100, 10.0), 1.0, 0.3)
    found, _ = execute(snippets.pate(asked))
    assert (found["asked"].distance, found["teachers"].these_votes) == (asked.distance, asked.teachers.these_votes)


LOOKS = {
    "voting": (Look("voting", "gap", "", "", setting={"panel": "a", "epsilon": 10.0}), voting.LABELS["a"], 4.0),
    "regression": (Look("regression", "epsilon", "", "", setting={"dataset": "diabetes"}), regression.LABELS, 2.0),
    "pate": (Look("pate", "sigma", "", "", setting={"source": "low"}), pate.LABELS, 20.0),
    "glm": (Look("glm", "epsilon", "", "", over="lam"), glm.LABELS, 1.0),
    "pca": (Look("pca", "n", "", "", setting={"spread": 2.0}), pca.LABELS, 1000.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOKS)
def test_stored_snippets_print_the_means_shown(name):
    look, labels, at = LOOKS[name]
    shown = stored_numbers.curves(stored.load(name), look, labels)
    assert len(shown) == len(labels)
    found, _ = execute(snippets.stored(look, at, shown))
    assert found["means"] == pytest.approx(stored_numbers.by_method(shown, at))


STEPS = {
    ("figure3", "b"): ("voting", "epsilon", {"panel": "b"}),
    ("figure3", "10"): ("voting", "gap", {"panel": "a", "epsilon": 10.0}),
    ("figure3", "0.3"): ("voting", "gap", {"panel": "a", "epsilon": 0.3}),
    ("figure1", ""): ("regression", "epsilon", {"dataset": "diabetes"}),
    ("figure2", ""): ("pate", "sigma", {"source": "mid"}),
    ("figure2", "digits"): ("pate", "sigma", {"source": "digits"}),
    ("pays", "glm"): ("glm", "epsilon", {}),
    ("pays", "pca"): ("pca", "n", {"spread": 2.0}),
}


@pytest.mark.parametrize("place", STEPS)
def test_sliders_of_stored_pictures_offer_what_is_stored(place):
    name, column, setting = STEPS[place]
    found, texts = stored.load(name), {key: str(value) for key, value in setting.items()}
    known = {float(row[column]) for row in found.rows if texts.items() <= row.items()} - {np.inf}
    assert any(set(control.options) == known for control in panel.OWN[place] if isinstance(control, SelectSlider))


@pytest.mark.parametrize("table", ["synthetic-r", "diabetes"])
def test_figure_1_names_a_winner_only_where_intervals_are_apart(table):
    look = Look("regression", "epsilon", "", "", setting={"dataset": table})
    shown = stored_numbers.curves(stored.load("regression"), look, regression.LABELS)
    for at in stored_numbers.places(shown):
        means = stored_numbers.by_method(shown, at)
        told = stored_words.regression_answer(shown, at)
        public, private = means["judges"], min(means[name] for name in means if name not in regression.UNPAID)
        assert ("alone wins" in told) <= (public < private)
        assert ("errs least" in told) <= (private < public)
        assert any(f"{curve.label}," in told or f"{curve.label} " in told for curve in shown)
    assert "alone wins" in stored_words.regression_answer(shown, 1.0)
    assert "AdaSSP errs least" in stored_words.regression_answer(shown, 10.0) or table == "synthetic-r"


def test_a_first_direction_is_no_better_within_intervals():
    look, labels, _ = LOOKS["pca"]
    shown = stored_numbers.curves(stored.load("pca"), look, labels)
    told = {at: stored_words.pca_answer(shown, at) for at in stored_numbers.places(shown)}
    assert [at for at, words in told.items() if "err alike" in words] == [3000]
    assert told[30000].endswith("has 1.9 times less error than noise on AᵀA.")


def test_stored_charts_show_whole_intervals_and_tell_public_rows_from_ridge():
    glms = stored_numbers.curves(stored.load("glm"), LOOKS["glm"][0], glm.LABELS)
    look = Look("glm", "epsilon", "", "", log_y=False, percent=True, over="lam")
    low, high = stored_charts.lines(glms, 1.0, look).layout.yaxis.range
    ends = [(one.low, one.high) for curve in glms for _, one in curve.points]
    assert low < min(ends)[0] < max(end for _, end in ends) < high
    look, labels, at = LOOKS["regression"]
    shown = stored_numbers.curves(stored.load("regression"), look, labels)
    every = [trace for trace in stored_charts.lines(shown, at, look, every=True).data if trace.name]
    seen = [trace for trace in stored_charts.lines(shown, at, look).data if trace.name]
    assert (len(seen), len(every)) == (5, len(shown))
    for dress in (lambda trace: trace.line.color, lambda trace: trace.line.dash, lambda trace: trace.marker.symbol):
        assert len(set(map(dress, seen))) == 5


@pytest.mark.slow
def test_answers_have_at_most_eighteen_words():
    told = []
    for published, bound, delta in itertools.product(("number", "side"), (0.01, 0.1, 0.9), (1e-9, 1e-2)):
        told.append(line.answer(line.Shown(Points(TWELVE, 7, bound, 0.5, delta, published), 0, True)))
    told += [vote.answer(vote.Shown(Ballot(epsilon, 1e-5), gap)) for epsilon in (0.1, 10.0) for gap in (0, 20, 300)]
    told += [gamma.answer(gamma.Draw(lam, 0.0, epsilon, 1e-6)) for lam in (1.0, 100.0) for epsilon in (0.1, 1.0, 10.0)]
    for first, epsilon in itertools.product((0.34, 0.8), (0.1, 5.0)):
        told.append(labelled.answer(Proposal(Teachers(first, 0.33), epsilon, 0.2)))
    told += [vote.answer(vote.Shown(Ballot(10.0, 1e-9, 0.1), gap)) for gap in range(10)]
    answers = {
        "pate": stored_words.teachers_answer,
        "glm": stored_words.glm_answer,
        "pca": stored_words.pca_answer,
        "regression": stored_words.regression_answer,
    }
    looks = [(LOOKS[name][0], LOOKS[name][1], answer_of) for name, answer_of in answers.items()]
    equal = Look("voting", "epsilon", "", "", setting={"panel": "b"})
    looks.append((equal, voting.LABELS["b"], stored_words.equal_error_answer))
    other = Look("regression", "epsilon", "", "", setting={"dataset": "synthetic-r"})
    looks.append((other, regression.LABELS, stored_words.regression_answer))
    for look, labels, answer_of in looks:
        shown = stored_numbers.curves(stored.load(look.name), look, labels)
        told += [answer_of(shown, at) for at in stored_numbers.places(shown)]
    assert max(map(words_of, told)) <= 18, max(told, key=words_of)


@pytest.mark.slow
def test_the_prediction_is_true():
    """Without δ the ε of a wide lead rises, to ε of the noise."""
    pure = Ballot(1.0, 1e-5, 1.0).epsilons(np.arange(11))["pure"]
    assert (np.diff(pure) > 0).all()
    assert 0.9 < pure[-1] < 1
