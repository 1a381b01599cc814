"""From a Rényi curve to (ε, δ): the published formulas, at the best real order."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import objpert_core.accounting as acc
from tests.second_opinion.by_orders import ByOrders

TARGETS = [
    acc.Gaussian(5.0),
    acc.Gaussian(0.2),
    acc.Gaussian(1e4),
    acc.ObjectivePerturbation(5, 20, smoothness=1.0, bound="glm"),
    acc.ObjectivePerturbation(0.5, 2, smoothness=1.0, bound="glm"),
    acc.ObjectivePerturbation(300.0, 1e4, smoothness=1.0, bound="monotone"),
    acc.ApproximateMinima(acc.ObjectivePerturbation(4, 3, bound="monotone"), 0.01, 0.1),
]


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS, ids=repr)
def test_the_best_of_all_orders_is_found(target):
    """Against a fine search over the same curve: never below it, and at most 1e-9 above."""
    indirect, opinion = acc.via_rdp(target), ByOrders(target.rdp)
    epsilons = [*(scale * target.epsilon(1e-3) for scale in (0.6, 1.3, 4.0)), *indirect.epsilon([1e-100, 1e-6, 0.2])]
    for epsilon in epsilons:
        exact = opinion.log_delta(epsilon)[0]
        assert -1e-11 * max(1, -exact) <= indirect.log_delta(epsilon) - exact <= 1e-9 * max(1, -exact)
    for delta in (1e-100, 1e-6, 0.2):
        assert indirect.delta(indirect.epsilon(delta)) == pytest.approx(delta, rel=1e-9) or indirect.epsilon(delta) == 0


def test_one_per_cent_less_is_refuted():
    """The conversion is attained: no constant below 1 in front of it is valid.

    A loss with only two values, one of them −∞, is a pair whose divergence at one order gives δ exactly.
    """
    alpha, rdp, epsilon = mpf(3), mpf("0.4"), mpf("0.6")
    t = epsilon + mp.log(alpha / (alpha - 1))  # where (1 − e^{ε−t})/e^{(α−1)t} is largest
    probability = mp.exp((alpha - 1) * (rdp - t))
    attained = probability * -mp.expm1(epsilon - t)
    value = acc.rdp_to_delta(float(alpha), float(rdp), float(epsilon))
    assert probability < 1
    assert value == pytest.approx(float(attained), rel=1e-12)
    assert 0.99 * value < attained


def test_only_the_divergence_at_one():
    """A single point at α = 1 gives the total variation and nothing more."""
    kl = 0.3
    expected = math.sqrt(-math.expm1(-kl))
    assert acc.rdp_to_delta(1.0, kl, 2.0) == pytest.approx(expected)
    assert acc.rdp_to_epsilon(1.0, kl, expected * 1.001) == 0.0
    assert acc.rdp_to_epsilon(1.0, kl, expected * 0.999) == math.inf
    assert acc.rdp_to_epsilon([1.0, 2.0], [kl, math.inf], 0.1) == math.inf
    assert acc.rdp_to_delta([1.0, 2.0], [math.inf, math.inf], 0.1) == 1.0
    assert acc.rdp_to_delta(2.0, 0.0, 0.0) == 0.0


def test_is_the_same_mechanism():
    base = acc.ObjectivePerturbation(5, 20, bound="glm")
    indirect = acc.via_rdp(base)
    assert isinstance(indirect, acc.ViaRDP)
    assert indirect.base is base
    assert acc.via_rdp(indirect) is indirect
    np.testing.assert_array_equal(indirect.rdp([1.0, 5.0]), base.rdp([1.0, 5.0]))


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("lam", [1e-6, 2.0, 1e9])
@pytest.mark.parametrize("bound", ["logistic", "monotone", "glm", "non-glm"])
@pytest.mark.parametrize("lipschitz", [1.0, pytest.param(10.0, marks=pytest.mark.exhaustive)])
def test_search_over_orders_at_the_ends_of_the_range(sigma, lam, bound, lipschitz):
    """The best order may be at 1e-9 or 1e17 from 1: finite answers, no warnings, and never better than the profile.

    Rounding at such orders once made the curve negative, and ε = 0 "proved" at σ = 1e6, λ = 1e-6.
    """
    base = acc.ObjectivePerturbation(sigma, lam, lipschitz, bound=bound, dimension=3)
    indirect = acc.via_rdp(base)
    delta = np.array([1e-300, 1e-5, 0.9])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        epsilon = indirect.epsilon(delta)
        values = indirect.delta(np.array([0.0, 1.0, 700.0]))
    assert (epsilon[1:] <= epsilon[:-1]).all()
    assert ((values >= 0) & (values <= 1)).all()
    lower = (base.gaussian if bound == "non-glm" else base).epsilon(delta)
    assert (epsilon >= lower * (1 - 1e-12)).all()


def test_best_order_beyond_the_scan():
    """ε = k·a needs α ≈ k/a: at a = 1e-18 the search has to move on from 1e17."""
    s = np.geomspace(1e18, 1e21, 10**6)  # α − 1, which is α here
    by_order = s * 1e-36 / 2 - (math.log(1e-200) + np.log(s)) / s
    assert acc.via_rdp(acc.Gaussian(1e18)).epsilon(1e-200) == pytest.approx(by_order.min(), rel=1e-9)
