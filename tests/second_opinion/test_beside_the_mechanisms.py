"""What stands beside the mechanisms' curves: numbers about given votes, errors of attackers, covers, budgets."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import log_ndtr, ndtr, ndtri

from objpert_core import accounting
from tests.second_opinion.by_orders import ByOrders, largest_delta
from tests.second_opinion.case import Case
from tests.second_opinion.cases import CASES
from tests.second_opinion.chosen import best_of_normals, negative_binomial
from tests.second_opinion.definition import Definition, Table, log_integral
from tests.second_opinion.gaussian import log_normal, shifted
from tests.second_opinion.one_pair import worst
from tests.second_opinion.votes import laplace, optimal

# --- covers --------------------------------------------------------------------------------------------------------


def pairs(case: Case) -> list[Definition]:
    """The definitions that μ has to cover: of a curve alone none is known, and a law above both directions is more."""
    return [one for one in case.directions if not (isinstance(one, ByOrders) or one.above_both)]


SIZES = [
    pytest.param(case, id=str(case), marks=[pytest.mark.exhaustive] * case.slow)
    for case in CASES
    if pairs(case) and case.mechanism != "DiscretePLD"
]


@pytest.mark.thorough
@pytest.mark.parametrize("case", SIZES)
def test_mu_and_rho_cover_the_definition(case: Case) -> None:
    mechanism = case.make(accounting)
    own, mu, rho = pairs(case), mechanism.mu(), mechanism.rho()
    assert rho <= mu * mu / 2 * (1 + 1e-12)
    if math.isfinite(mu):
        noise = shifted(mu)
        for epsilon in case.epsilons:
            least = max(one.log_delta(epsilon)[0] for one in own)
            covered = noise.log_delta(epsilon)[1]
            assert least <= covered + 1e-6 + 1e-10 * abs(covered), (epsilon, mu)
    if math.isfinite(rho):
        for alpha in case.orders:
            assert max(one.renyi(alpha)[0] for one in own) <= rho * alpha * (1 + 1e-6), alpha


# --- votes that are known ------------------------------------------------------------------------------------------


def _winner(counts: tuple[float, ...], sigma: float) -> np.ndarray:
    """log of the chance of every class to have the largest of N(count, σ²)."""
    found = []
    for i, own in enumerate(counts):
        ahead = [(own - other) / sigma for j, other in enumerate(counts) if j != i]
        centre = max(0.0, -min(ahead) / 2)
        points = tuple(sorted({-8.0, 0.0, 8.0, centre - 5, centre, centre + 5, *(-a for a in ahead)}))
        found.append(
            log_integral(lambda x, ahead=ahead: log_normal(x) + sum(log_ndtr(x + a) for a in ahead), points, 1e-12)
        )
    return np.array(found)


@pytest.mark.thorough
@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.0, 40.0])
@pytest.mark.parametrize(
    "counts", [(5, 5), (6, 5), (30, 2), (400, 380), (100, 0, 0), (60, 59, 58), (500, 420, 300), (1e6, 1e6 - 250, 3)]
)
def test_the_divergence_from_known_votes_is_covered(counts: tuple[float, ...], sigma: float) -> None:
    mechanism, own = accounting.GNMax(sigma), _winner(counts, sigma)
    for loser, gainer in permutations(range(len(counts)), 2):
        if counts[loser] < 1:
            continue
        moved = tuple(c - (i == loser) + (i == gainer) for i, c in enumerate(counts))
        here = Table(own, _winner(moved, sigma))
        for alpha in (1.01, 2.0, 5.0, 20.0, 300.0):
            true = here.renyi(alpha)[0]
            assert true <= mechanism.rdp_at(list(counts), alpha) * (1 + 1e-7) + 1e-13, (moved, alpha)


@pytest.mark.parametrize("sigma", [0.02, 40.0, 1e6])
@pytest.mark.parametrize("gap", [0.0, 1.0, 3.0, 1e4, 1e15])
def test_known_votes_far_apart_are_within_the_worst_case(sigma: float, gap: float) -> None:
    for alpha in (1 + 1e-6, 2.0, 1e4):
        found = accounting.GNMax(sigma).rdp_at([gap, 0.0], alpha)
        before, after = (log_ndtr(np.array([1, -1]) * g / math.sqrt(2) / sigma) for g in (gap, gap - 2))
        assert Table(before, after).renyi(alpha)[0] * (1 - 1e-7) - 1e-13 <= found <= alpha / sigma**2 * (1 + 1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize(("sigma", "alpha", "budget"), [(1.0, 4.0, 0.2), (2.0, 8.0, 0.01), (3.0, 2.0, 1e-6)])
def test_no_votes_within_the_distance_exceed_the_budget(sigma: float, alpha: float, budget: float) -> None:
    mechanism, voters = accounting.GNMax(sigma), 24
    votes = [(a, b, voters - a - b) for a in range(voters + 1) for b in range(voters + 1 - a)]
    spent = {one: mechanism.rdp_at(list(one), alpha) for one in votes}
    far = {one: mechanism.distance(list(one), alpha, budget) for one in votes}
    smooth = {one: mechanism.smooth_sensitivity(list(one), alpha, 0.2) for one in votes[::7]}
    for one in votes:
        assert far[one] == 0 or spent[one] <= budget
        for loser, gainer in permutations(range(3), 2):
            other = tuple(c - (i == loser) + (i == gainer) for i, c in enumerate(one))
            if other in far:
                assert far[one] == far[other] or abs(far[one] - far[other]) <= 1
                if one in smooth:
                    assert abs(spent[one] - spent[other]) <= smooth[one] * (1 + 1e-9)
                if one in smooth and other in smooth:
                    assert smooth[one] <= smooth[other] * math.exp(0.2) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 20.0])
def test_what_is_said_of_one_gap_holds(epsilon: float) -> None:
    vote, lost = accounting.LaplaceVote(epsilon), laplace(epsilon)
    with mp.workdps(60):
        for gap in (0, 1, 2, 5, 40, 10**6):
            assert vote.error(gap) == pytest.approx(float(lost(gap)), rel=1e-12)
            for delta in (0.0, 1e-9, 1e-3):
                odds, promised = mp.exp(vote.local_epsilon(gap, delta)), vote.epsilon_at(gap, delta)
                for other in (gap + 1, abs(gap - 1)):
                    for here, there in product((lost(gap), lost(other)), repeat=2):
                        if gap == 0 == other:
                            continue
                        assert here - odds * there <= mpf(delta) * (1 + mpf(10) ** -12)
                        assert (1 - here) - odds * (1 - there) <= mpf(delta) * (1 + mpf(10) ** -12)
                assert promised >= vote.local_epsilon(gap, delta)
                assert promised >= vote.local_epsilon(gap + 7, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-200), (0.01, 0.2), (30.0, 0.4)])
def test_the_optimal_vote_errs_as_its_induction_says(epsilon: float, delta: float) -> None:
    vote, lost = accounting.OptimalVote(epsilon, delta), optimal(epsilon, delta)
    for gap in range(0, 700, 7):
        true = float(lost(gap))
        assert vote.error(gap) == pytest.approx(true, rel=1e-9, abs=1e-12 * delta)


# --- curves of orders ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "rho"), [(1.5, 0.1), (2.0, 1e-4), (2.0, 5.0), (8.0, 0.3), (64.0, 2.0)])
def test_one_order_promises_no_less_than_two_outcomes_reach(alpha: float, rho: float) -> None:
    for epsilon in (0.0, 0.05, 0.5 * rho, rho, 1.5 * rho):
        reached = largest_delta(alpha, rho, epsilon)
        promised = accounting.rdp_to_delta(alpha, rho, epsilon)
        assert reached * (1 - 1e-9) <= promised
        if reached > 1e-12:
            back = accounting.rdp_to_epsilon(alpha, rho, reached * (1 - 1e-9))
            assert back >= epsilon * (1 - 1e-9)


@pytest.mark.parametrize("sigma", [0.3, 2.0, 10.0])
@pytest.mark.parametrize("failure", [1e-12, 1e-3, 0.3])
def test_a_tested_curve_covers_tests_by_a_threshold(sigma: float, failure: float) -> None:
    """A noisy statistic passes above a threshold; what it lets pass is normal noise, more of it than may be."""
    test, budget, most = (accounting.Gaussian(s) for s in (sigma, 20.0, 0.5))
    for alpha in (1.01, 2.0, 8.0):
        found = accounting.tested_rdp(alpha, test.rdp, budget.rdp, most.rdp, failure)
        for level, moved in product(np.linspace(-8, 8, 33), (1 / sigma, -1 / sigma)):
            log_p, log_q = log_ndtr(np.array([level, -level])), log_ndtr(np.array([level + moved, -level - moved]))
            inner = most if math.exp(log_p[0]) <= failure else budget
            s = alpha - 1
            terms = alpha * log_p - s * log_q + np.array([s * inner.rdp(alpha), 0.0])
            assert np.logaddexp(*terms) / s <= found * (1 + 1e-9)


# --- selection -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma", "runs"), [(1.0, 2.0), (8.0, 15.4), (0.3, 100.0)])
def test_the_best_of_geometrically_many_runs_keeps_its_epsilon(sigma: float, runs: float) -> None:
    slope = negative_binomial(runs, 1.0)
    for delta in (1e-9, 1e-3):
        epsilon = float(accounting.liu_talwar_epsilon(accounting.Gaussian(sigma), delta, runs))
        for a, side in product((1 / sigma, -1 / sigma), (1.0, -1.0)):
            assert best_of_normals(a, slope, side).log_delta(epsilon)[0] <= math.log(delta) + 1e-9


def test_numbers_of_runs_are_what_they_are_called() -> None:
    for mean, eta in ((3.0, None), (0.01, None), (1.0, 1.0), (10.0, 1.0), (4.0, 0.0), (2.5, -0.5), (30.0, 5.0)):
        selection = accounting.PrivateSelection(accounting.Gaussian(1.0), mean, eta)
        k = np.arange(0, 40_000)
        chance = selection.pmf(k)
        assert float(chance.sum()) == pytest.approx(1.0, rel=1e-9)
        assert float(chance @ k) == pytest.approx(mean, rel=1e-9)
    mean = accounting.poisson_mean(10, 0.9)
    below = sum(mpf(mean) ** k / mp.factorial(k) for k in range(11)) * mp.exp(-mpf(mean))
    assert float(1 - below) == pytest.approx(0.9, rel=1e-12)


# --- an attacker's errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", [1e-4, 0.05, 1.0, 8.0, 50.0])
def test_an_attacker_of_normal_noise_errs_at_least_as_often(a: float) -> None:
    mechanism = accounting.Gaussian(1 / a)
    rates = np.array([1e-300, 1e-30, 1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9])
    true = ndtr(-ndtri(rates) - a)
    found = mechanism.tradeoff(rates)
    assert np.all(found <= true * (1 + 1e-13) + 1e-300)
    close = 1e-9 * np.minimum(10 * true * (1 + a * a), 1) + 1e-300 if a < 10 else 1e-8
    assert np.all(found >= true - close)
    right = accounting.best_guess(mechanism)
    assert ndtr(a / 2) * (1 - 1e-15) <= right <= ndtr(a / 2) * (1 + 1e-12)
    with mp.workdps(60):
        for epsilon in (0.0, 0.1 * a, a, a * a / 2 + 10 * a):
            exceeds = mp.ncdf(mpf(a) / 2 - mpf(epsilon) / mpf(a))
            assert exceeds * (1 - mpf(10) ** -15) <= mechanism.tail(epsilon) <= exceeds * (1 + mpf(10) ** -11)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.02, 0.0), (1.0, 1e-6), (5.0, 0.3), (600.0, 1e-300)])
def test_an_attacker_of_a_promise_errs_at_least_as_often(epsilon: float, delta: float) -> None:
    mechanism = accounting.ApproximateDP(epsilon, delta)
    e, d = Fraction(math.exp(epsilon)), Fraction(delta)
    for rate in (0.0, 1e-12, 0.001, 0.2, 0.5, 0.7, 1.0):
        x = Fraction(rate)
        true = max(Fraction(0), 1 - d - e * x, (1 - d - x) / e)
        found = Fraction(mechanism.tradeoff(rate))
        assert found <= true + Fraction(1, 10**14)
        assert found >= true - Fraction(1, 10**4)  # the corner is looked for
    guess = Fraction(accounting.best_guess(mechanism))
    assert guess >= (1 - (1 - d) / (1 + e)) * (1 - Fraction(1, 10**14))
    assert guess <= (1 - (1 - d) / (1 + e)) * (1 + Fraction(1, 10**6))
    loss = worst(epsilon, delta)
    for at in (0.0, 0.5 * epsilon, epsilon, 2 * epsilon):
        exceeds = math.exp(loss.log_p[0]) * (delta > 0) + math.exp(loss.log_p[1]) * (at < epsilon)
        assert exceeds <= mechanism.tail(at) * (1 + 1e-9) or at >= epsilon


def test_beliefs_follow_bayes() -> None:
    with mp.workdps(60):
        for prior, epsilon in product((1e-300, 1e-9, 0.3, 0.5, 1 - 1e-12), (0.0, 1e-12, 0.1, 3.0, 700.0)):
            p, odds = mpf(prior), mp.exp(mpf(epsilon))
            true = odds * p / (1 - p + odds * p)
            found = accounting.posterior(prior, epsilon)
            assert true * (1 - mpf(10) ** -25) <= found <= true * (1 + mpf(10) ** -13)


# --- budgets, and what goes before a fit ------------------------------------------------------------------------------


def test_a_filter_never_lets_more_pass_than_its_budget() -> None:
    rng = np.random.default_rng(5)
    for scale in (1e-150, 1e-3, 1.0, 1e6):
        budget = accounting.PrivacyFilter(scale)
        spent = Fraction(0)
        for share in rng.uniform(0.05, 0.6, size=30):
            mechanism = accounting.Gaussian(1 / (scale * share))
            true = (Fraction(mechanism.sensitivity) / Fraction(mechanism.sigma)) ** 2
            if budget.allows(mechanism):
                budget.spend(mechanism)
                spent += true
            assert spent <= Fraction(scale) ** 2 * (1 + Fraction(1, 10**14))
            assert sum(Fraction(mu) ** 2 for _, mu in budget.releases) <= Fraction(budget.mu) ** 2
            assert Fraction(budget.reading) ** 2 * (1 + Fraction(1, 10**14)) >= spent
            rest = Fraction(scale) ** 2 - spent
            assert Fraction(budget.left) ** 2 <= max(rest, Fraction(0)) * (1 + Fraction(1, 10**13)) + Fraction(
                1, 10**320
            )
        if budget.left > 1e-6 * scale:
            budget.spend(accounting.Gaussian(1 / (budget.left * (1 - 1e-12))))  # what it says is left is left
        assert budget.left < 1e-5 * scale


# --- handed over -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["ApproximateDP(1.0, 1e-06)", "PosteriorSampling(0.3, 2.0)", "LaplaceVote(1.0)", "GNMax(20.0)"]
)
def test_another_accountant_is_told_no_less(name: str) -> None:
    pytest.importorskip("dp_accounting")
    kind, rest = name.split("(")
    mechanism = getattr(accounting, kind)(*(float(number) for number in rest.rstrip(")").split(", ")))
    told = mechanism.to_pld()
    back = accounting.Tabulated.from_dp_accounting(told, mechanism.adjacency)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        own = float(mechanism.delta(epsilon))
        assert own <= told.get_delta_for_epsilon(epsilon) * (1 + 1e-9) + 1e-15
        assert own <= float(back.delta(epsilon)) * (1 + 1e-9) + 1e-15
        assert float(back.delta(epsilon)) <= float(mechanism.delta(max(epsilon - 1e-3, 0.0))) * 1.01 + 1e-6
