"""A release behind a test, against tables of probabilities: no theorem is used to compute what is compared with it."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from objpert_core import accounting
from objpert_core.accounting import (
    REPLACE_ONE,
    ApproximateDP,
    Gaussian,
    PrivateSelection,
    ProposeTestRelease,
    compose,
    liu_talwar_epsilon,
)

SWEEPS = [120, pytest.param(3000, marks=pytest.mark.slow), pytest.param(40_000, marks=pytest.mark.exhaustive)]


def hockey_stick(p, q, epsilon):
    """Σ (p − e^ε q)₊ over the last axis."""
    return np.maximum(p - np.exp(epsilon) * q, 0).sum(axis=-1)


def worst_pair(epsilon, delta):
    """The two laws that every (ε, δ)-DP pair is a post-processing of."""
    odd, even = np.exp(epsilon) / (1 + np.exp(epsilon)), 1 / (1 + np.exp(epsilon))
    return (
        np.array([delta, (1 - delta) * odd, (1 - delta) * even, 0]),
        np.array([0, (1 - delta) * even, (1 - delta) * odd, delta]),
    )


# --- one pair (ε, δ) --------------------------------------------------------------------------------------------------


def test_an_impure_pair_has_no_renyi_curve():
    impure = ApproximateDP(1.0, 1e-9)
    assert impure.rdp(2.0) == impure.rho() == math.inf
    assert "gives everything away with probability δ = 1e-09" in impure.no_rdp()


@pytest.mark.parametrize("epsilon", [1e-12, 1e-7, 1e-3, 0.3, 5.0, 300.0])
def test_the_renyi_curve_of_a_small_pair_does_not_cancel(epsilon):
    orders = np.array([1.0, 1 + 1e-12, 1 + 1e-6, 1.01, 2.0, 3.0, 64.0, 1e4, 1e9, 1e13])
    found = ApproximateDP(epsilon, 0.0).rdp(orders)
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon)
        p = 1 / (1 + mpmath.exp(-e))
        exact = [e * mpmath.tanh(e / 2)]
        for order in map(mpmath.mpf, orders[1:]):
            moment = p * mpmath.exp((order - 1) * e) + (1 - p) * mpmath.exp((1 - order) * e)
            exact.append(mpmath.log(moment) / (order - 1))
        ratios = np.array([float(value / true - 1) for value, true in zip(found.tolist(), exact, strict=True)])
    assert (ratios >= -1e-30).all(), ratios  # ε itself where the rest is below a double
    assert (ratios <= 1e-12).all(), ratios
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("pair", [(0.5, 1e-6), (1e-9, 1e-12), (700.0, 0.5), (40.0, 1e-3)])
def test_ε_is_exact_at_the_pair_itself_and_infinite_below(pair):
    worst = ApproximateDP(*pair)
    assert (worst.epsilon(pair[1]), worst.delta(pair[0])) == pair
    assert worst.epsilon(1e-14) == math.inf


def test_the_best_of_several_runs_needs_no_renyi_curve():
    one = ApproximateDP(0.5, 1e-7)
    best = PrivateSelection(one, 10, eta=1)
    epsilon = liu_talwar_epsilon(one, 1.001e-6, 10)
    assert 0.5 < epsilon < 1.5
    assert best.delta(epsilon) <= 1.001e-6


# --- a test in front --------------------------------------------------------------------------------------------------


def some_law(rng, size):
    """A law with some probabilities 0, so that divergences of every size come up."""
    masses = rng.gamma(0.5, size=size) * (rng.random(size) < 0.7) + 1e-12
    return masses / masses.sum()


def some_laws(rng, outputs):
    """Two laws: unrelated, close, disjoint, or the worst pair."""
    kind = rng.integers(4)
    if kind == 0:
        return some_law(rng, outputs), some_law(rng, outputs)
    if kind == 1:
        first = rng.dirichlet(np.full(outputs, 2.0))
        second = first * np.exp(rng.uniform(-0.5, 0.5, outputs))
        return first, second / second.sum()
    if kind == 2:
        return np.eye(outputs)[0], np.eye(outputs)[1]
    return worst_pair(rng.uniform(0, 1), rng.uniform(0, 0.2))


def some_passing(rng, test_epsilon):
    """Chances of passing on two neighbours; often as far apart as ε̂ and a δ̂ allow."""
    p = rng.choice([rng.random(), rng.uniform(0, 0.05)])
    q = rng.choice(
        [rng.random(), min(1.0, np.exp(test_epsilon) * p + rng.choice([0, 0.02])), p * np.exp(-test_epsilon)]
    )
    return (p, q) if rng.random() < 0.5 else (q, p)


def of_test(p, q, test_epsilon):
    """δ̂ of a test with these two chances of passing."""
    both = np.array([[p, 1 - p], [q, 1 - q]])
    return max(hockey_stick(both[0], both[1], test_epsilon), hockey_stick(both[1], both[0], test_epsilon))


def behind(p, law, fallback):
    """The law of ⊥ (or the fallback's answers) and what is released."""
    return np.concatenate(((1 - p) * fallback, p * law))


NOTHING = (np.ones(1), np.ones(1))


def some_instance(rng, with_fallback):
    epsilon, test_epsilon = rng.uniform(0, 1, 2)
    laws = some_laws(rng, int(rng.integers(3, 6)))
    passing = some_passing(rng, test_epsilon)
    fallbacks = some_laws(rng, 3) if with_fallback else NOTHING
    whole = [behind(p, law, other) for p, law, other in zip(passing, laws, fallbacks, strict=True)]
    beyond = max(hockey_stick(*pair, epsilon) for pair in (fallbacks, fallbacks[::-1]))
    return epsilon, test_epsilon, laws, passing, whole, beyond


def lost(whole, epsilon):
    """δ of the whole, the larger of both directions."""
    return max(hockey_stick(*whole, epsilon), hockey_stick(*whole[::-1], epsilon))


def swept(instance, instances, seed):
    """(how far above the promise less what an instance leaves out, how close to it, how many promise something)."""
    rng = np.random.default_rng(seed)
    above, closest, used = -1.0, 0.0, 0
    for _ in range(instances):
        numbers, whole, left_out = instance(rng)
        try:
            accounted = ProposeTestRelease(**numbers)
        except ValueError:  # nothing is promised: a δ of 1 or more
            continue
        total, delta = accounted.guarantee
        found = lost(whole, total)
        assert found <= delta * (1 + 1e-12) + 1e-14
        above, used = max(above, found - left_out(accounted)), used + 1
        closest = max(closest, found / delta if delta > 1e-3 else 0.0)
    return above, closest, used


def largest(values, counted):
    return max([0.0, *np.asarray(values)[np.asarray(counted)]])


@pytest.mark.parametrize("instances", SWEEPS)
@pytest.mark.parametrize("with_fallback", [False, True])
def test_one_way_is_enough_where_every_neighbour_is_covered(with_fallback, instances):
    def instance(rng):
        epsilon, test_epsilon, laws, passing, whole, beyond = some_instance(rng, with_fallback)
        bad = rng.random(2) < 0.5
        forward = [hockey_stick(*laws, epsilon), hockey_stick(*laws[::-1], epsilon)]
        numbers = {"epsilon": epsilon, "delta": largest(forward, ~bad), "failure": largest(passing, bad)}
        numbers |= {"test_epsilon": test_epsilon, "test_delta": of_test(*passing, test_epsilon)}
        return numbers | {"fallback_delta": beyond}, whole, lambda accounted: 0.0

    _, closest, used = swept(instance, instances, 20230425)
    assert used > instances / 4
    assert closest > (0.99 if instances > 1000 else 0.9)  # so that no smaller factor would do


def added_rows(instances, with_fallback, shifted):
    """Where ε(X) covers added rows; left out is the factor e^ε̂."""

    def instance(rng):
        epsilon, test_epsilon, laws, passing, whole, beyond = some_instance(rng, with_fallback)
        bad = rng.random() < 0.5  # X, which comes first; the other is X with a row more, and speaks of other neighbours
        failure = 0.0 if not bad else max(passing) if shifted else passing[0]
        numbers = {"epsilon": epsilon, "delta": 0.0 if bad else lost(laws, epsilon), "failure": failure}
        numbers |= {"test_epsilon": test_epsilon, "test_delta": of_test(*passing, test_epsilon)}
        numbers |= {"covers": "added", "shifted": shifted, "fallback_delta": beyond}
        return numbers, whole, lambda one: one.test_delta + max(one.release_delta, beyond + one.failure)

    return swept(instance, instances, 4711)


@pytest.mark.parametrize("instances", SWEEPS)
@pytest.mark.parametrize("with_fallback", [False, True])
def test_added_rows_alone_cost_the_failures_a_factor_and_no_less(with_fallback, instances):
    above, closest, _ = added_rows(instances, with_fallback, shifted=False)
    assert closest > 0.99
    assert above > 0.01  # what leaves the factor e^ε̂ out is caught


@pytest.mark.parametrize("instances", SWEEPS)
def test_a_shifted_test_needs_no_factor(instances):
    above, closest, _ = added_rows(instances, False, shifted=True)
    assert above <= 1e-14
    assert closest > 0.99


def test_the_factor_is_reached():
    test_epsilon, test_delta, failure = 0.8, 0.01, 0.02
    more = math.exp(test_epsilon) * failure + test_delta
    whole = [behind(p, law, np.ones(1)) for p, law in ((failure, np.eye(2)[0]), (more, np.eye(2)[1]))]
    assert of_test(failure, more, test_epsilon) == pytest.approx(test_delta, rel=1e-12)
    one = ProposeTestRelease(0.5, 0.0, test_epsilon, test_delta, failure, covers="added")
    assert lost(whole, one.guarantee[0]) == pytest.approx(one.guarantee[1], rel=1e-12)
    # a bound that is the wrong one as often, and right ones behind which there is nothing to be seen
    both = ProposeTestRelease(0.5, 0.0, test_epsilon, test_delta, failure, covers="added", uniform=True)
    assert both.guarantee == one.guarantee


@pytest.mark.parametrize("instances", SWEEPS)
@pytest.mark.parametrize("covers", ["both", "added"])
def test_behind_a_released_bound_failures_and_δ_add_up(covers, instances):
    """A bound chooses among mechanisms; left out is the factor e^ε̂."""

    def instance(rng):
        epsilon, test_epsilon = rng.uniform(0, 1, 2)
        chosen = some_laws(rng, int(rng.integers(2, 5)))  # of the bound, on the two data sets
        laws = [some_laws(rng, 3) for _ in chosen[0]]
        good = rng.random((2, len(laws))) < 0.5
        forward = np.array([[hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)] for p, q in laws]).T
        whole = [
            np.concatenate([mass * law[side] for mass, law in zip(chosen[side], laws, strict=True)]) for side in (0, 1)
        ]
        failures = [mass[~right].sum() for mass, right in zip(chosen, good, strict=True)]
        if covers == "both":
            numbers = {"delta": largest(forward, good), "failure": max(failures)}
        else:
            numbers = {"delta": largest(forward.max(axis=0), good[0]), "failure": failures[0]}
        numbers |= {"epsilon": epsilon, "test_epsilon": test_epsilon, "test_delta": lost(chosen, test_epsilon)}
        numbers |= {"covers": covers, "uniform": True}
        return numbers, whole, lambda one: one.test_delta + numbers["delta"] + one.failure

    above, closest, _ = swept(instance, instances, 99)
    assert closest > 0.85
    assert instances < 1000 or bool(above > 0.01) is (covers == "added")  # e^ε̂ is needed here, too


def test_behind_a_released_bound_the_larger_of_both_is_not_enough():
    epsilon, delta, failure = 0.5, 0.02, 0.03
    p, q = worst_pair(epsilon, delta)
    disjoint = np.eye(2)
    whole = [
        np.concatenate(((1 - failure) * law, failure * other)) for law, other in zip((p, q), disjoint, strict=True)
    ]
    exact = delta * (1 - failure) + failure
    assert lost(whole, epsilon) == pytest.approx(exact, rel=1e-12)
    assert max(delta, failure) < exact <= ProposeTestRelease(epsilon, delta, 0.0, 0.0, failure, uniform=True).delta(0.5)


def test_a_fallback_with_a_δ_of_its_own_adds_it_to_the_failures():
    epsilon, beyond, failure = 0.5, 0.02, 0.03
    whole = [behind(failure, law, other) for law, other in zip(np.eye(2), worst_pair(epsilon, beyond), strict=True)]
    one = ProposeTestRelease(epsilon, 0.025, 0.0, 0.0, failure, fallback_delta=beyond)
    assert max(0.025, failure) < lost(whole, epsilon) <= one.guarantee[1] == pytest.approx(0.05)


# --- its numbers ------------------------------------------------------------------------------------------------------


def test_the_sums_are_rounded_up_and_exact_where_they_can_be():
    assert ProposeTestRelease(0.5, 1e-6, 0.25, 1e-6, 0.0).guarantee == (0.75, 2e-6)
    for pair in ((0.1, 0.7), (1e-9, 1.0), (1.0, 1e-9), (0.1, 0.2)):
        total = ProposeTestRelease(pair[0], 0.1, pair[1], 0.0, 0.0).guarantee[0]
        assert Fraction(total) >= Fraction(pair[0]) + Fraction(pair[1])
        assert total - (pair[0] + pair[1]) <= math.ulp(total)


def test_it_composes_and_says_what_it_was_made_of():
    one = ProposeTestRelease(0.5, 1e-6, 0.25, 1e-7, 1e-6, covers="added")
    assert one.guarantee == (one.epsilon(one.guarantee[1]), one.delta(one.guarantee[0]))
    assert one == eval(repr(one))
    assert hash(one) == hash(eval(repr(one)))
    assert one != ProposeTestRelease(0.5, 1e-6, 0.25, 1e-7, 1e-6)
    both = compose(one, Gaussian(20.0))
    assert max(one.delta(0.75), Gaussian(20.0).delta(0.75)) < both.delta(0.75) < 1.0
    assert ApproximateDP(*one.guarantee).delta([0.1, 0.75]) == pytest.approx(one.delta([0.1, 0.75]), rel=1e-15)
    with pytest.raises(ValueError, match="share one adjacency"):
        compose(one, ApproximateDP(0.5, 1e-6, adjacency=REPLACE_ONE))
    assert eval(repr(ApproximateDP(0.5, 1e-6))) == ApproximateDP(0.5, 1e-6)


EXAMPLE = (1e-6, 1.89e-12)  # two chances of passing


def divergence(p, q, alpha):
    """The Rényi divergence of a coin with chance p from one with chance q; of both orders, in logarithms."""
    alpha = np.asarray(alpha, dtype=float)
    heads = alpha * math.log(p) + (1 - alpha) * math.log(q)
    tails = alpha * math.log1p(-p) + (1 - alpha) * math.log1p(-q)
    return np.logaddexp(heads, tails) / (alpha - 1)


def both_ways(p, q):
    """The Rényi curve of a test with these chances on neighbours."""
    return lambda alpha: np.maximum(divergence(p, q, alpha), divergence(q, p, alpha))


def behind_of_tested(p, q, inner, alpha):
    """Exactly: ⊥ or, with chance p against q, an answer whose divergence is `inner` at that order."""
    passed = alpha * math.log(p) + (1 - alpha) * math.log(q) + (alpha - 1) * inner
    stopped = alpha * math.log1p(-p) + (1 - alpha) * math.log1p(-q)
    return float(np.logaddexp(passed, stopped) / (alpha - 1))


def constant(value):
    return lambda alpha: np.full(np.shape(alpha), value)


def printed(alpha, cost, budget, worst, failure):
    """Theorem B.5 as printed."""
    order = alpha - 1
    return cost + np.logaddexp(math.log(failure) + order * worst, math.log1p(-failure) + order * budget) / order


def test_the_printed_formula_fails_and_this_one_does_not():
    p, q = EXAMPLE
    cost = float(divergence(p, q, 2.0))
    assert cost < 1
    exact = behind_of_tested(p, q, 10.0, 2.0)
    assert exact == pytest.approx(9.36, abs=0.005)
    assert printed(2.0, 1.0, 0.0, 10.0, p) == pytest.approx(1.02, abs=0.005)
    assert exact <= accounting.tested_rdp(2.0, both_ways(p, q), constant(0.0), constant(10.0), p) < 11
    # known at the one order only, the test stops nothing that is proved
    at_two = lambda alpha: np.where(alpha <= 2, 1.0, np.inf)  # noqa: E731
    assert accounting.tested_rdp(2.0, at_two, constant(0.0), constant(10.0), p) == pytest.approx(11.0)


@pytest.mark.parametrize("instances", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_it_covers_what_a_test_lets_through_by_mistake(instances):
    rng = np.random.default_rng(7)
    printed_fails = close = 0
    for _ in range(instances):
        p = 10.0 ** rng.uniform(-9, -1)
        q = float(np.clip(p * 10.0 ** rng.uniform(-6, 1), 1e-14, 0.5))
        alpha, worst = 1 + 10.0 ** rng.uniform(-1, 1.3), 10.0 ** rng.uniform(-1, 1.3)
        curve, exact = both_ways(p, q), behind_of_tested(p, q, worst, alpha)
        found = accounting.tested_rdp(alpha, curve, constant(0.0), constant(worst), p)
        assert exact <= found
        cost = float(curve(alpha))
        printed_fails += exact > printed(alpha, cost, 0.0, worst, p) * (1 + 1e-9)
        close += found < 1.1 * exact
    assert printed_fails > instances / 20
    assert close > instances / 4


def test_it_covers_what_is_rightly_let_through_and_is_never_worse_than_adding_up():
    rng = np.random.default_rng(8)
    for _ in range(40):
        p, q = rng.uniform(0.01, 0.99, 2)
        alpha, budget = 1 + 10.0 ** rng.uniform(-1, 1.3), rng.uniform(0, 2)
        curve = both_ways(p, q)
        found = accounting.tested_rdp(alpha, curve, constant(budget), constant(budget + 1), 1e-9)
        assert behind_of_tested(p, q, budget, alpha) <= found
        assert float(curve(alpha)) + budget <= found <= (float(curve(alpha)) + budget + 1) * (1 + 1e-9)


def test_an_error_of_one_per_cent_in_the_exponent_would_show():
    p, q = 1e-6, 1e-6 * math.exp(-3.0)
    failure, alpha, worst = p, 3.0, 8.0
    pure = constant(3.0)  # the test is 3-DP, so that p = e³q is as bad as can be
    found = accounting.tested_rdp(alpha, pure, constant(0.0), constant(worst), failure)
    assert behind_of_tested(p, q, worst, alpha) <= found
    passed = math.log(failure) + 2 * (3.0 + worst)
    assert found == pytest.approx(np.logaddexp(6.0, passed) / 2, rel=1e-6)  # as α' → ∞
    assert printed(alpha, 3.0, 0.0, worst, failure) >= behind_of_tested(p, q, worst, alpha)
