"""What the page says: the answers, why they moved, and what stands beside them."""

import itertools
import re
from dataclasses import replace

import pytest

from objpert_core.experiments import indexed
from objpert_core.experiments.figure2 import EPSILONS
from objpert_core.experiments.learners import UNPAID
from objpert_core.experiments.methods import EVERY, EXPLANATIONS, METHODS
from pages.accuracy import ahead, reading
from pages.accuracy.ahead import Ahead
from pages.accuracy.figure import Figure2
from pages.accuracy.reading import LABELS, Reading
from tests.pages.accuracy.runs import made, moved, point_of
from tests.pages.apps import words_of
from ui import figures
from ui.words import signed, undecided

ALL = tuple(METHODS)
pytestmark = pytest.mark.usefixtures("stored_here")


def test_agrees_with_the_claim_whichever_way_it_goes(adult):
    said = {"ahead": "more accurate", "even": "cannot be told apart", "behind": "less accurate"}
    said |= {"unclear": "too few to tell"}
    for epsilon in EPSILONS:
        claim = adult.claims[epsilon]
        assert said[claim.verdict] in ahead.verdict(Reading(adult, epsilon))
        assert claim.rival in UNPAID
    assert {claim.verdict for claim in adult.claims.values()} >= {"ahead", "behind"}


def test_one_trial_has_no_interval():
    words = ahead.verdict(Reading(made(trials=1), 0.1))
    assert "one trial is too few to tell Algorithm 1 with our theorem from the best DP-SGD" in words
    assert re.search(r" points, no interval\); the first takes about 1/48 of the second’s time", words)
    assert "one trial only at nine of them" in ahead.everywhere(made(trials=1))


@pytest.mark.thorough
def test_the_answer_is_what_privacy_costs(adult):
    for epsilon in EPSILONS:  # the cost is the table's, and no second accuracy stands there to be subtracted
        told = Figure2(adult, epsilon, ("non-private",))
        (row,) = (row for row in told.table() if row["Method"].startswith("no"))
        right = told.point("tight").accuracy.mean
        cost = row["Ours minus the method, points"].partition("\u00a0")[0].removeprefix("−")
        assert undecided(told.difference("non-private", "tight")) or told.answer() == (
            f"At ε = {epsilon:g} privacy costs {cost} points on adult: {100 * right:.2f} % are right."
        )
    level = made(change=lambda run: replace(run, accuracy=0.8 + 0.01 * (run.trial % 2) * (run.method == "tight")))
    assert Figure2(level, 1.0).answer().startswith("At ε = 1 the cost of privacy on ")
    ahead = made(change=lambda run: replace(run, accuracy=0.8 + 0.01 * (run.method == "tight")))
    assert Figure2(ahead, 1.0).answer().startswith("At ε = 1 the private model gains 1.00 points on adult: 81.00")
    assert Figure2(made(methods=("tight",)), 1.0).answer().startswith("At ε = 1 Algorithm 1 with our theorem gets ")
    assert Figure2(made(methods=UNPAID), 1.0).answer().startswith("At ε = 1 no run of Algorithm 1 with")
    stand_in = indexed.load("adult-synthetic")
    assert all(words_of(Figure2(stored, e).answer()) <= 18 for stored in (adult, level, stand_in) for e in EPSILONS)


@pytest.mark.thorough
def test_who_is_ahead_says_claim_and_counter_claim(adult):
    claim, gap = adult.claims[4.0], adult.difference("tight", "dpsgd-standardised", 4.0)
    assert claim.verdict == "behind"
    assert gap.high < 0
    assert Ahead(adult, 4.0).answer() == (
        f"At ε = 4 our theorem is {-100 * claim.difference.mean:.2f} points behind unpaid DP-SGD, "
        f"{-100 * gap.mean:.2f} behind DP-SGD on standardised rows."
    )
    assert f"(our theorem’s lead: {signed(gap.mean)} points, " in ahead.counter(Reading(adult, 4.0))
    assert " points ahead of unpaid DP-SGD, " in Ahead(adult, 0.025).answer()
    level = moved((-0.3, 0.4, -0.1, 0.2))
    assert Ahead(level, 0.25).answer().startswith("At ε = 0.25 our theorem is not told apart from unpaid DP-SGD, ")
    raw, stand_in = made(methods=("tight", "dpsgd-dishonest-rdp")), indexed.load("adult-synthetic")
    assert ahead.counter(Reading(raw, 1.0)) == ""
    assert "no runs are stored" in Ahead(made(methods=("tight",)), 1.0).answer()
    assert all(words_of(Ahead(one, e).answer()) <= 18 for one in (adult, level, raw, stand_in) for e in EPSILONS)


def test_who_is_ahead_shows_whom_it_is_about(adult):
    assert ahead.compared(Reading(adult, 0.1), ()) == (adult.rival(0.1), "dpsgd-standardised", "tight")
    assert set(ahead.compared(Reading(adult, 0.1), ALL)) == set(ALL)


def test_everywhere_counts_every_epsilon_once(adult):
    words = ahead.everywhere(adult)
    listed = [value for group in re.findall(r"\(ε = ([^)]*)\)", words) for value in group.split(", ")]
    assert sorted(map(float, listed)) == list(EPSILONS)
    assert words.endswith("Our theorem takes at most a tenth of the rival’s time (medians) at 9 of these ε.")


def test_every_method_has_a_name_and_a_look():
    assert set(LABELS) == set(EVERY) == set(reading.ROLE)
    assert len(set(LABELS.values())) == len(EVERY)


def test_learners_on_one_chart_differ_in_colour_and_in_dash_or_symbol():
    for first, second in itertools.combinations(reading.ROLE, 2):
        a, b = (figures.ROLES[reading.ROLE[method]] for method in (first, second))
        assert a.color != b.color or {first, second} & set(EXPLANATIONS)  # a variant has its original's colour
        assert (a.dash, a.symbol) != (b.dash, b.symbol)


def test_a_run_made_again(adult):
    before, again = adult.run("tight", 1.0, 0), point_of(adult).answer
    assert "The same seed gives the same model" in again(before)
    other = replace(before, accuracy=before.accuracy + 0.001)
    words = "They are 0.10 points apart although both have the same seed"
    assert f"{words} and the same noise" in again(other)
    assert f"{words}: the calibration has changed" in again(replace(other, sigma=4.1))
    assert f"{words}: the calibration has changed" in again(replace(other, lam=0.7))
    assert point_of(adult, trial=9).answer(before).endswith("This trial is not stored.")
