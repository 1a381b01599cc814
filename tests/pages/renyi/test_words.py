"""The Rényi page's words: every case of the headline, rounding up, and what the numbers mean."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pages.renyi import numbers as rc
from pages.renyi import words as rt
from tests.pages.apps import execute, tells
from ui import sentences

FIGURE_5 = rc.rounds(100, 2.5, 20.0)
CROSS = (rc.Crossing(12.9, 1.1, "objective"),)


@pytest.mark.parametrize(("alpha", "text"), [(1.234, "1.23"), (57.64, "57.6"), (345.2, "345"), (12345.0, "12,345")])
def test_orders_have_three_digits(alpha, text):
    assert rt.order(alpha) == text


def test_the_headline_names_who_is_more_private_rounds_up_and_does_not_make_much_of_a_percent():
    assert rt.answer(1e-5, 1.6722, 1.6394) == "At δ = 10⁻⁵ DP-SGD is more private than one fit: ε = 1.64 against 1.68."
    assert rt.answer(1e-5, 1.2, 1.6394) == "At δ = 10⁻⁵ one fit is more private than DP-SGD: ε = 1.2 against 1.64."
    assert "cost about the same: ε = 1 and 0.992" in rt.answer(1e-5, 1.0, 0.992)
    assert "about the same" in rt.answer(1e-5, 0.0, 0.0)
    assert "more private" in rt.answer(1e-5, 1.0, 0.98)
    assert "nothing is proved for the fit, and ε = 2 for DP-SGD" in rt.answer(1e-5, math.inf, 2.0)
    assert "nothing finite is proved for DP-SGD" in rt.answer(1e-5, 2.0, math.inf)
    assert "nothing finite is proved for either" in rt.answer(1e-5, math.inf, math.inf)


@pytest.mark.thorough
def test_why_epsilon_moved():
    """The mechanism that was touched, the way it went, and a reason that goes the same way."""

    def why(**changes):
        return rt.moved(FIGURE_5, replace(FIGURE_5, **changes), 1e-5)

    assert rt.moved(None, FIGURE_5, 1e-5) == why() == ""
    assert why(sigma=5.0) == "σ 2.5 → 5: ε of the fit falls from 1.68 to 0.811: a wider tilt hides one person better."
    assert why(steps=1000).endswith("fewer steps are paid for.")
    assert why(lam=200.0).endswith("one person’s curvature shows less.")
    both = why(bound="logistic", smoothness=0.25)
    assert both.startswith("β 1 → 0.25, proof Theorem 3.2 → tight, logistic loss: ε of")
    tight = replace(FIGURE_5, bound="logistic")
    assert rt.moved(tight, replace(tight, lam=200.0), 1e-5).endswith("stays at 1.56: this does not count here.")
    several = why(sigma=5.0, lam=200.0, noise_multiplier=5.0)
    assert several.startswith("ε of the fit falls from 1.68 to")
    assert "ε of DP-SGD falls from 1.64 to" in several


def test_crossings_none_one_many():
    two = (*CROSS, rc.Crossing(200.0, 9.0, "dpsgd"))
    assert rt.crossing_clause(()) == "their Rényi curves do not cross"
    assert "at α = 12.9 and 200, from where DP-SGD is the lower one" in rt.crossing_clause(two)


def test_rare_events():
    said = rt.rare(rc.turns(FIGURE_5), rc.crossings(FIGURE_5))
    assert "objective perturbation promises the smaller ε from δ = 10⁻⁷ on down, and DP-SGD just above" in said
    assert "the same at every δ" in rt.rare(((0.1, ""),), ())
    assert "rarer still" in rt.rare(((0.1, "dpsgd"),), CROSS)
    assert rt.rare(((0.1, "objective"),), CROSS).endswith("from 0.1 to 10⁻³⁰⁰.")
    equal_then = rt.rare(((0.1, "dpsgd"), (1e-4, ""), (1e-5, "objective")), CROSS)
    assert "from δ = 10⁻⁵ on down" in equal_then


def test_the_transition_is_told_with_its_numbers_or_its_absence():
    said = rt.transition(rc.transition(FIGURE_5), FIGURE_5)
    tells(said, "at about α = 57.6", "from α = 116 on")
    assert "from α" not in rt.transition(rc.Transition(57.6, math.inf, 1.0), FIGURE_5)
    whole = rc.Setting(2.5, 20.0, 1.0, "glm", 2.5, 1.0, 10)
    assert "every row is in every batch" in rt.transition(None, whole)
    assert "no phase transition up to α = 100,001" in rt.transition(None, FIGURE_5)


@pytest.mark.thorough
def test_alt_texts_carry_the_take_away():
    alt = rt.alt(rc.crossings(FIGURE_5), rc.transition(FIGURE_5))
    tells(alt, "cross at α = 12.9", "leaves its amplified line at α = 57.6")
    assert "leaves" not in rt.alt((), None)
    assert "DP-SGD from 0.7" in rt.promises_alt(FIGURE_5)


def test_readings_are_the_cores_rounded_up():
    rows = rt.readings(FIGURE_5, 1e-5)
    assert [row["Mechanism"] for row in rows] == list(rc.NAMES.values())
    assert rows[0]["Even odds become at most"] == sentences.odds(rc.epsilon_at("objective", FIGURE_5, 1e-5)[1])
    for which, row in zip(rc.NAMES, rows, strict=True):
        renyi, exact = rc.epsilon_at(which, FIGURE_5, 1e-5)
        assert renyi <= float(row["ε at δ = 10⁻⁵, Rényi"]) <= 1.01 * renyi
        assert exact <= float(row["privacy loss distribution"]) <= 1.01 * exact
    nothing = replace(FIGURE_5, lam=0.5)
    assert rt.readings(nothing, 1e-5)[0]["privacy loss distribution"] == "nothing proved"


def test_promises_have_one_row_a_delta():
    rows = rt.promises(FIGURE_5)
    assert [row["δ"] for row in rows] == ["0.01", "10⁻⁴", "10⁻⁶", "10⁻⁸", "10⁻¹⁰", "10⁻¹²"]
    assert len(rows[0]) == 5


def test_the_certificate_is_rounded_up():
    run = rc.Promise(np.array([2.0, 3.0]), np.array([1.0, 2.0]), np.array([0.9987, 2.0]))
    assert "at most 0.2 % smaller" in rt.certified(run)
    assert "at most 0.0 %" in rt.certified(rc.Promise(np.zeros(1), np.zeros(1), np.zeros(1)))


SHORT = rc.Setting(2.5, 20.0, 1.0, "glm", 2.0, 0.1, 20)


@pytest.mark.thorough
def test_random_allocation_is_told_or_why_it_is_left_out():
    said = rt.allocation(SHORT)
    assert said.startswith("Random allocation: in each of 2 epochs every row is in one of 10 steps, drawn at random.")
    assert "are upper bounds; the true ones are at most" in said
    assert said.endswith("From δ = 10⁻¹² on down its distribution is not resolved.")
    assert "1/q = 140.8 steps, which is no whole number" in rt.allocation(replace(SHORT, sample_rate=0.0071))
    assert "15 steps are no whole number of epochs of 1/q = 10 steps" in rt.allocation(replace(SHORT, steps=15))
    assert "in each of 1 epoch every row is in one of 1 step, " in rt.allocation(
        replace(SHORT, sample_rate=1.0, steps=1)
    )


@pytest.mark.slow
def test_random_allocation_is_in_the_tables_on_request():
    assert [row["Mechanism"] for row in rt.readings(SHORT, 1e-5, allocated=True)][-1] == "Random allocation"
    assert rt.readings(replace(SHORT, steps=15), 1e-5, allocated=True) == rt.readings(replace(SHORT, steps=15), 1e-5)
    rows = rt.promises(SHORT, allocated=True)
    exact = rc.promise("allocation", SHORT).exact
    for i in range(4):
        assert exact[i] <= float(rows[i]["Random allocation, distribution"]) <= 1.01 * exact[i]
    assert rows[-1]["Random allocation, distribution"] == "not resolved"
    assert "; Random allocation from 0." in rt.promises_alt(SHORT, allocated=True)
    assert "Random allocation" not in rt.promises_alt(SHORT)


@pytest.mark.thorough
def test_the_snippet_of_random_allocation_gives_the_read_outs():
    _, printed = execute(rt.snippet(SHORT, 1e-5, allocated=True))
    name, by_renyi, by_distribution, *_ = printed.splitlines()[-1].split()
    assert name == "allocation"
    assert (float(by_renyi), float(by_distribution)) == rc.epsilon_at("allocation", SHORT, 1e-5)
    assert "RandomAllocation" not in rt.snippet(replace(SHORT, steps=15), 1e-5, allocated=True)


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["glm", "logistic"])
def test_renyi_snippet_gives_the_read_outs_and_the_curves(bound):
    setting = rc.rounds(100, 2.5, 20.0, bound=bound)
    names, printed = execute(rt.snippet(setting, 1e-5))
    lines = {line.split()[0]: [float(v) for v in line.split()[1:]] for line in printed.splitlines()}
    assert list(lines) == list(rc.NAMES)
    for which, (by_renyi, by_distribution, *curve) in lines.items():
        assert (by_renyi, by_distribution) == rc.epsilon_at(which, setting, 1e-5)
        np.testing.assert_array_equal(curve, setting.mechanism(which).rdp(names["alpha"]))
        np.testing.assert_array_equal(names["mechanisms"][which].rdp(rc.ORDERS), rc.curve(which, setting))
