"""A vote between two: Figure 3's curves against the reference values, exact laws, and stored results."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.experiments import votes
from objpert_core.accounting import LaplaceVote, OptimalVote
from objpert_core.experiments.ptr import stored
from objpert_core.experiments.ptr.ballot import VOTES, Ballot
from objpert_core.experiments.ptr.stored import Cost

REFERENCE = {  # ε of the noise: classic, generalised (mean), Laplace at δ
    0.1: (0.1922, 0.1356, 0.0856),
    0.3: (0.3843, 0.3917, 0.2624),
    0.5: (0.5814, 0.2501, 0.4411),
}


@pytest.mark.parametrize("epsilon", REFERENCE)
def test_the_reference_values_of_panel_b_are_met(epsilon):
    found = stored.load("voting")
    for method, value in zip(("classic", "mean", "laplace"), REFERENCE[epsilon], strict=True):
        (cost,) = found.values(panel="b", epsilon=epsilon, method=method)
        assert cost == pytest.approx(value, rel=0.01 if method == "mean" else 1e-3)


def test_without_delta_the_privacy_at_a_gap_rises_to_that_of_the_noise():
    found = stored.load("voting")
    pure = [found.values(panel="a", epsilon=10.0, gap=gap, method="pure")[0] for gap in Cost.GAPS[10.0]]
    assert [pure[gap] for gap in (0, 1, 10)] == pytest.approx([8.208, 9.394, 9.907], abs=6e-4)
    assert pure == sorted(pure)
    assert pure[-1] < 10
    here = [found.values(panel="a", epsilon=10.0, gap=gap, method="here")[0] for gap in range(4)]
    assert here == pytest.approx([8.208, 9.318, 9.318, 0.0], abs=6e-4)
    # as printed it falls from the start, and is beyond ε at a gap of 0
    printed = [found.values(panel="a", epsilon=10.0, gap=gap, method="printed")[0] for gap in Cost.GAPS[10.0]]
    assert printed == sorted(printed, reverse=True)
    assert printed[0] > 10 > pure[10] > printed[10]


def test_curves_are_in_order():
    found = stored.load("voting")
    for epsilon in Cost.EPSILONS:
        cost = {method: found.values(panel="b", epsilon=epsilon, method=method)[0] for method in Cost.LABELS["b"]}
        assert min(cost, key=cost.get) == "optimal"
        assert cost["laplace"] < epsilon < cost["classic"]
    for epsilon, gaps in Cost.GAPS.items():
        for gap in gaps:
            cost = {
                method: found.values(panel="a", epsilon=epsilon, gap=gap, method=method)[0]
                for method in ("noise", "pure", "here", "from-here")
            }
            assert cost["here"] <= cost["from-here"] <= cost["noise"]
            assert cost["here"] <= cost["pure"] <= cost["noise"]


def test_the_classic_test_errs_as_often_by_its_law():
    """Half of the chance that t + Lap(1/ε) − log(1/δ)/ε is at most 1, by many draws and by the formula."""
    epsilon = 0.25
    error = 0.5 * 0.5 * math.exp(-epsilon * 99) / Cost.DELTA
    assert votes.classic(error, 100) == pytest.approx(epsilon, rel=1e-12)
    noise = np.random.default_rng(0).laplace(scale=1 / 0.125, size=400_000)
    share = (100 + noise - math.log(1 / Cost.DELTA) / 0.125 <= 1).mean() / 2
    assert votes.classic(share, 100) == pytest.approx(0.125, rel=0.01)


@pytest.mark.thorough
def test_the_mean_cost_is_that_of_draws():
    epsilon, generator = 0.3, np.random.default_rng(1)
    below = 100 - math.log(1 / Cost.DELTA) / 0.15 + generator.laplace(scale=1 / 0.15, size=2000)
    costs = [LaplaceVote(epsilon).epsilon_at(math.ceil(one), Cost.DELTA) for one in np.maximum(below, 0.0)]
    assert votes.mean_cost(epsilon, 100) == pytest.approx(0.15 + np.mean(costs), abs=4 * np.std(costs) / 2000**0.5)


def test_a_promise_is_kept_by_a_test_that_passes():
    """19 times in 20 a noisy gap is above the bound that was asked for, and one in 10⁵ above the gap itself."""
    epsilon, gap = 0.4, 100
    room = math.log(1 / Cost.DELTA) + math.log(10)
    best = min(range(gap), key=lambda bound: room / (gap - bound) + LaplaceVote(epsilon).epsilon_at(bound, Cost.DELTA))
    asked = room / (gap - best)
    noise = np.random.default_rng(2).laplace(scale=1 / asked, size=200_000)
    passed = (gap - math.log(1 / Cost.DELTA) / asked + noise >= best).mean()
    assert passed == pytest.approx(Cost.SURE, abs=0.003)
    assert votes.passing_cost(epsilon, gap) == asked + LaplaceVote(epsilon).epsilon_at(best, Cost.DELTA)


def test_the_floor_errs_as_seldom_with_less():
    for error in (1e-3, 1e-9):
        found = votes.optimal(error, 60)
        assert OptimalVote(found, Cost.DELTA).error(60) == pytest.approx(error, abs=1e-9)
        assert OptimalVote(0.99 * found, Cost.DELTA).error(60) > 1.01 * error


# Four votes of one (ε, δ): each is private as a whole, at every gap, and none errs less than the floor


CASES = [(0.5, 1e-5, 1.0), (1.0, 1e-3, 3.0), (3.0, 1e-2, 10.0), (0.5, 1e-2, 0.2)]


def laws(ballot, gaps):
    """P[the answer is the one that is ahead at gap 0 or more], for gaps of either sign, by vote."""
    errors = ballot.errors(np.abs(gaps))
    return {name: np.where(gaps >= 0, 1 - error, error) for name, error in errors.items()}


@pytest.mark.parametrize("case", CASES)
def test_every_vote_is_private_at_every_gap(case):
    """Answer and test together; what leaves is the answer alone, which is less."""
    ballot = Ballot(*case)
    gaps = np.arange(-120, 121)
    for name, chance in laws(ballot, gaps).items():
        for p in (chance, 1 - chance):
            for more, less in ((p[1:], p[:-1]), (p[:-1], p[1:])):
                worst = float(np.max(more - math.exp(ballot.epsilon) * less))
                assert worst <= ballot.delta * (1 + 1e-9) + 1e-15, name


@pytest.mark.parametrize("case", CASES)
def test_none_errs_less_than_the_floor(case):
    ballot = Ballot(*case)
    found = ballot.errors(np.arange(80))
    assert tuple(found) == VOTES
    for name in VOTES:
        assert (found[name] >= found["floor"] * (1 - 1e-9)).all()
        assert (np.diff(found[name]) <= 1e-15).all()


@pytest.mark.parametrize("case", CASES)
def test_the_least_gap_is_where_the_noise_becomes_private(case):
    ballot = Ballot(*case)
    vote = LaplaceVote(ballot.noise)
    assert vote.epsilon_at(ballot.least_gap, ballot.delta) <= ballot.epsilon / 2
    assert ballot.least_gap == 0 or vote.epsilon_at(ballot.least_gap - 1, ballot.delta) > ballot.epsilon / 2


@pytest.mark.parametrize("case", CASES)
def test_from_the_passing_gap_on_most_runs_pass(case):
    ballot = Ballot(*case)
    gaps = np.array([ballot.passing_gap - 1, ballot.passing_gap])
    if ballot.least_gap == 0:
        assert ballot.passing_gap == 0
        return
    wide, narrow = (LaplaceVote(one).error(gaps) for one in (ballot.epsilon / 2, ballot.noise))
    fails = (ballot.errors(gaps)["asked"] - narrow) / (wide - narrow)
    assert fails[0] > 0.5 > fails[1]


@pytest.mark.parametrize("case", CASES[:3])
def test_where_the_proposal_is_wrong_it_passes_with_probability_delta_at_most(case):
    ballot = Ballot(*case)
    found = ballot.errors(np.array([1, ballot.least_gap - 1]))
    assert 1 - 2 * found["classic"][0] == pytest.approx(ballot.delta, rel=1)
    assert 1 - 2 * found["classic"][0] <= ballot.delta * (1 + 1e-9)
    wide, narrow = (LaplaceVote(one).error(ballot.least_gap - 1) for one in (ballot.epsilon / 2, ballot.noise))
    passed = (wide - found["asked"][1]) / (wide - narrow)
    assert ballot.delta * math.exp(-ballot.epsilon / 2) * 0.99 < passed <= ballot.delta * (1 + 1e-6)
