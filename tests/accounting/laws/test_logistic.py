"""T, the tight privacy loss of the logistic bound: the maximum itself, its claims, its integrals at both ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from objpert_core.accounting import Gaussian, ObjectivePerturbation
from objpert_core.accounting.laws.simple import PositiveGaussianLaw
from objpert_core.accounting.objective.law import LogisticLaw, logistic_law
from tests.second_opinion.objective import logistic_loss

# (a, κ): smooth, with a jump of the maximiser (κ < a²/2·K), nearly Gaussian, wide, narrow, next to λ = 2σ²
PAIRS = [(0.1, 0.2), (1.0, 2.0), (1.0, 0.55), (2.5, 4.0), (0.3, 1e4), (1e-3, 1e-5), (5.0, 12.5000001), (1e-6, 1e8)]


@pytest.mark.slow
@pytest.mark.parametrize(("a", "kappa"), PAIRS)
def test_loss_is_the_maximum(a, kappa):
    """Against brute force over p, at v on both sides of G = −ε*, 0 and ε*."""
    law = logistic_law(a, kappa)
    threshold = kappa - a**2 / 2
    gaussian = threshold * np.array([-1.01, -0.99, -0.5, -1e-3, 0.0, 1e-3, 0.4, 0.9, 0.999, 1.001])
    v = np.concatenate((gaussian / a - a / 2, [-3.0, 0.0, 2.0]))
    allowed = 4e-15 * (np.abs(a * (a / 2 + v)) + min(kappa, 40.0))
    assert (np.abs(law.loss(v) - logistic_loss(a, kappa)(v)) <= allowed).all()


@pytest.mark.slow
@given(log_a=st.floats(-2, 1), log_kappa=st.floats(-2, 4), t=st.floats(-1.2, 1.2), gap=st.floats(1e-3, 0.3))
@settings(deadline=None, max_examples=100)
def test_shape(log_a, log_kappa, t, gap):
    """T(−G) = T(G) − G, T ≥ max(0, G), convex, never decreasing, T ≤ max(0, G) + log(1 + κ/4)."""
    a, kappa = 10.0**log_a, 10.0**log_kappa
    law = logistic_law(a, kappa)
    size = abs(kappa - a**2 / 2) + 1e-3
    g = size * np.array([t - gap, t, t + gap, -t])
    loss = law.loss(g / a - a / 2)
    scale = 1e-13 * (size + 1)
    assert loss[3] == pytest.approx(loss[1] - g[1], abs=scale)
    assert (loss >= np.maximum(g, 0) - scale).all()
    assert (loss <= np.maximum(g, 0) + np.log1p(kappa / 4) + scale).all()
    assert loss[0] <= loss[1] + scale
    assert loss[1] <= loss[2] + scale
    assert 2 * loss[1] <= loss[0] + loss[2] + scale


@pytest.mark.parametrize(("a", "kappa"), PAIRS)
def test_position_inverts_the_loss(a, kappa):
    law = logistic_law(a, kappa)
    assert isinstance(law, LogisticLaw)
    epsilon = law.threshold * np.array([1e-3, 0.05, 0.3, 0.6, 0.9, 0.999, 1.0, 1.5, 3.0])
    middle = law.loss(np.array([-a / 2]))[0]
    epsilon = np.append(epsilon, middle * np.array([0.5, 1 - 1e-9, 1 + 1e-9]))
    # at v of size κ/a the spacing of the doubles alone moves T by κ·1e-16
    np.testing.assert_allclose(law.loss(law.position(epsilon)), epsilon, rtol=1e-6, atol=1e-13 * (1 + kappa * 1e-3))


@pytest.mark.parametrize(("a", "kappa"), PAIRS)
def test_the_tail_is_the_normal_law_s_where_the_loss_passes_and_never_below(a, kappa):
    law = logistic_law(a, kappa)
    v = np.linspace(-1.5, 1.5, 41) * law.threshold / a - a / 2
    tail, exact = law.log_tail(law.loss(v)), log_ndtr(-v)
    near = np.abs(law.position(law.loss(v)) - v) * (1 + np.abs(v)) + 1e-12 * (1 + np.abs(exact))  # of doubles about v
    assert (tail >= exact - near).all()


@pytest.mark.slow
@pytest.mark.parametrize(("a", "kappa"), PAIRS)
@pytest.mark.parametrize("order", [1e-6, 0.3, 5.0, 1e3])
def test_tilted_density_has_one_mode(a, kappa, order):
    """s·T(v) − v²/2 rises to one maximum and falls: what the quadrature of the Rényi curve relies on."""
    law = logistic_law(a, kappa)
    mode = law._mode(np.array([order]))[0]
    v = np.sort(np.concatenate((mode + np.linspace(-6, 6, 241), np.linspace(-kappa / a, kappa / a, 201))))
    exponent = order * law.loss(v) - v * v / 2
    noise = 1e-12 * (np.abs(order * law.loss(v)).max() + (v * v).max())
    left = v <= mode
    assert (np.diff(exponent[left]) >= -noise).all()
    assert (np.diff(exponent[~left]) <= noise).all()


@pytest.mark.parametrize(("sigma", "lam"), [(10.0, 5.0), (1.0, 0.5), (3.0, 0.3), (5.0, 20.0), (0.4, 0.2), (50.0, 5.0)])
def test_gaussian_from_the_threshold_on(sigma, lam):
    """δ(ε) = δ_Gauss(ε) for ε ≥ ε* = R²/λ − R²/(2σ²), and strictly more below."""
    threshold = max(0.0, 1 / lam - 1 / (2 * sigma**2))
    mechanism = ObjectivePerturbation(sigma, lam)
    assert mechanism.gaussian_from == pytest.approx(threshold, abs=1e-12)
    assert isinstance(mechanism.law, PositiveGaussianLaw) == (threshold == 0)
    above = threshold + np.array([0.0, 1e-9, 0.1, 1.0]) / sigma
    np.testing.assert_array_equal(mechanism.log_delta(above), Gaussian(sigma).log_delta(above))
    if threshold > 0:
        below = threshold * np.array([0.999999, 0.99, 0.5, 0.0])
        ratio = np.exp(mechanism.log_delta(below) - Gaussian(sigma).log_delta(below))
        assert (ratio >= 1 - 1e-13).all()
        assert ratio[-1] > 1
        assert ratio[0] == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 12.0])
def test_continuous_at_the_seam_to_the_gaussian_case(sigma):
    """λ = 2σ² is where κ = a²/2 and the law changes its class."""
    below, at = ObjectivePerturbation(sigma, 2 * sigma**2 * (1 - 1e-12)), ObjectivePerturbation(sigma, 2 * sigma**2)
    epsilon, alpha = np.linspace(0, 4 / sigma, 20), np.array([1.0, 1.1, 5, 1e3])
    assert type(below.law) is not type(at.law)
    np.testing.assert_allclose(below.delta(epsilon), at.delta(epsilon), rtol=1e-11)
    np.testing.assert_allclose(below.rdp(alpha), at.rdp(alpha), rtol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "lam", "lipschitz"),
    [
        (1.0, 0.5, 1.0),
        (1e3, 1e-6, 10.0),
        (1e6, 1e-6, 1.0),
        (0.64, 1e-12, 2**0.5),
        (0.64, 1e-60, 2**0.5),
        (1e-3, 1.0, 1.0),
    ],
)
def test_rdp_at_huge_orders(sigma, lam, lipschitz):
    """Orders as large as the search over α visits: at least the Gaussian curve, never falling, no warning.

    Exponents of 1e18 once made every panel negligible beside itself: the curve was negative, and δ = 0 "proved".
    """
    alpha = 1 + np.geomspace(1e-9, 1e17, 105)
    with np.errstate(all="raise", under="ignore"):
        curve = ObjectivePerturbation(sigma, lam, lipschitz).rdp(alpha)
    assert (curve >= alpha * (lipschitz / sigma) ** 2 / 2 * (1 - 1e-15)).all()
    assert (np.diff(curve) >= -1e-12 * curve[1:]).all()
