"""The Rényi curve behind a test, against tests and mechanisms with two answers, whose divergences are sums of two."""

import math

import numpy as np
import pytest

from objpert_core import accounting

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


def behind(p, q, inner, alpha):
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
    exact = behind(p, q, 10.0, 2.0)
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
        curve, exact = both_ways(p, q), behind(p, q, worst, alpha)
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
        assert behind(p, q, budget, alpha) <= found
        assert float(curve(alpha)) + budget <= found <= (float(curve(alpha)) + budget + 1) * (1 + 1e-9)


def test_an_error_of_one_per_cent_in_the_exponent_would_show():
    p, q = 1e-6, 1e-6 * math.exp(-3.0)
    failure, alpha, worst = p, 3.0, 8.0
    pure = constant(3.0)  # the test is 3-DP, so that p = e³q is as bad as can be
    found = accounting.tested_rdp(alpha, pure, constant(0.0), constant(worst), failure)
    assert behind(p, q, worst, alpha) <= found
    passed = math.log(failure) + 2 * (3.0 + worst)
    assert found == pytest.approx(np.logaddexp(6.0, passed) / 2, rel=1e-6)  # as α' → ∞
    assert printed(alpha, 3.0, 0.0, worst, failure) >= behind(p, q, worst, alpha)


def test_it_takes_arrays():
    gaussian = accounting.Gaussian
    curves = (gaussian(4.0).rdp, gaussian(5.0).rdp, gaussian(1.0).rdp)
    found = accounting.tested_rdp([2.0, 8.0, 32.0], *curves, 1e-6)
    assert [accounting.tested_rdp(one, *curves, 1e-6) for one in (2.0, 8.0, 32.0)] == list(found)
    assert np.all(found <= (1 + 1e-9) * (curves[0]([2.0, 8.0, 32.0]) + curves[2]([2.0, 8.0, 32.0])))
    assert accounting.tested_rdp(2.0, constant(math.inf), *curves[1:], 1e-6) == math.inf
