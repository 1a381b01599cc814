"""How much a posterior draw may say: exact against integrals, as published against the truth."""

import itertools

import numpy as np
import pytest
from scipy.special import log_ndtr

from objpert_core.accounting import (
    Gaussian,
    PosteriorSampling,
    posterior_precision,
    published_posterior_epsilon,
    published_posterior_precision,
)
from objpert_core.accounting.posterior import profile as posterior
from tests.accounting.mechanisms.test_posterior_sampling import laws

GRID = list(itertools.product((0.01, 0.5, 3.0, 30.0), (1e-300, 1e-12, 1e-6, 0.2), (1e-60, 1e-6, 0.02, 0.6, 1.6)))


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_the_largest_γ_is_within_the_promise_and_one_per_cent_more_is_not(delta):
    for epsilon, _, h in GRID:
        gamma = posterior_precision(epsilon, delta, h, slope=2.0)
        if gamma == 0:
            assert PosteriorSampling(h, 0.0).delta(epsilon) > delta
        else:
            assert PosteriorSampling(h, 4 * gamma).delta(epsilon) <= delta
            assert PosteriorSampling(h, 4.04 * gamma).delta(epsilon) > delta


def test_extreme_targets_stay_on_the_safe_side():
    for epsilon, delta, h in GRID:
        if (gamma := posterior_precision(epsilon, delta, h)) and gamma < 1e85:
            assert PosteriorSampling(h, gamma).delta(epsilon) <= delta
            assert PosteriorSampling(h, 1.001 * gamma).log_delta(epsilon) > np.log(delta)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("star", "a", "printed", "exact", "times"), [(10.0, 1.0, 5.039, 5.847, 12.9), (100.0, 0.5, 2.106, 2.3475, 7.3)]
)
def test_the_printed_theorem_fails_its_own_promise(star, a, printed, exact, times):
    gamma, delta = a**2 * star, 1e-6
    assert published_posterior_epsilon(gamma, delta, 1 / star) == pytest.approx(printed, abs=5e-4)
    draw = PosteriorSampling(1 / star, gamma)
    assert draw.epsilon(delta) == pytest.approx(exact, abs=5e-4)
    assert draw.delta(published_posterior_epsilon(gamma, delta, 1 / star)) == pytest.approx(times * delta, rel=5e-3)
    # so does an integral of the two laws themselves, which knows nothing of this package's formulas
    x = np.linspace(-60, 60, 2_000_001)
    without, with_row = (law.pdf(x) for law in laws(1 / star, gamma))
    true = np.trapezoid(np.maximum(without - np.exp(printed) * with_row, 0), x)
    assert true > (times - 0.1) * delta


def test_the_printed_γ_is_the_inverse_of_the_printed_ε():
    for epsilon, h, slope in itertools.product((0.5, 2.0, 20.0), (1e-3, 0.05), (1.0, 3.0)):
        gamma = published_posterior_precision(epsilon, 1e-6, h, slope)
        if gamma:
            assert published_posterior_epsilon(gamma, 1e-6, h, slope) == pytest.approx(epsilon, rel=1e-12)
        else:
            assert epsilon <= published_posterior_epsilon(1e-9, 1e-6, h, slope)


def log_delta_removed(epsilon, h, rho):
    """log of Q[|U| < c] − e^ε·P[|U| < c], c² = −2ε + log(1 + h) + ρ/(1 + h), without a difference of like numbers."""
    square = -2 * epsilon + np.log1p(h) + rho / (1 + h)
    c = np.sqrt(np.maximum(square, 0.0))

    def inside(mean, spread, difference):  # `difference` is mean² − c²
        upper, lower = log_ndtr(-difference / (mean + c) / spread), log_ndtr(-(mean + c) / spread)
        return upper + np.log(-np.expm1(np.minimum(lower - upper, 0.0)))

    root = np.sqrt(rho)
    with np.errstate(all="ignore"):
        p = inside(root, np.sqrt(h), rho * h / (1 + h) + 2 * epsilon - np.log1p(h))
        q = inside(root / (1 + h), np.sqrt(h / (1 + h)), -rho * h / (1 + h) ** 2 + 2 * epsilon - np.log1p(h))
        found = q + np.log(-np.expm1(np.minimum(epsilon + p - q, 0.0)))
    return np.where((square > 0) & ~np.isnan(found), found, -np.inf)


def test_the_other_direction_is_the_integral():
    for h, rho, epsilon in ((0.5, 2.0, 0.3), (1.5, 0.5, 0.1), (0.1, 3.0, 1.0)):
        x = np.linspace(-30, 40, 400_001)
        without, with_row = (law.pdf(x) for law in laws(h, rho))
        integral = np.trapezoid(np.maximum(with_row - np.exp(epsilon) * without, 0), x)
        assert np.exp(log_delta_removed(np.array([epsilon]), h, rho))[0] == pytest.approx(integral, rel=1e-4, abs=1e-12)


def test_an_added_row_is_never_hidden_better_than_a_removed_one():
    rng = np.random.default_rng(0)
    epsilon = np.concatenate([[0.0], np.geomspace(1e-3, 30, 60)])
    for _ in range(400):
        h, rho = 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-3, 3)
        added, removed = posterior.log_delta_added(epsilon, h, rho), log_delta_removed(epsilon, h, rho)
        assert (added >= removed - 1e-9 * (1 - removed)).all()


@pytest.mark.thorough
def test_δ_grows_with_the_shift_and_with_the_leverage_up_to_the_golden_ratio():
    rng = np.random.default_rng(1)
    epsilon = np.geomspace(1e-2, 20, 40)
    for _ in range(300):
        h, rho = rng.uniform(0.01, posterior.LARGEST_LEVERAGE), 10 ** rng.uniform(-2, 2)
        here = posterior.log_delta_added(epsilon, h, rho)
        slack = 1e-9 * (1 - here)
        assert (posterior.log_delta_added(epsilon, 0.97 * h, rho) <= here + slack).all()
        assert (posterior.log_delta_added(epsilon, h, 0.97 * rho) <= here + slack).all()
        # with ρh/(1 + h)² held fixed it grows with h as well, from that of the Gaussian mechanism
        squared = rho * h / (1 + h) ** 2
        smaller = 0.5 * h
        same = posterior.log_delta_added(epsilon, smaller, squared * (1 + smaller) ** 2 / smaller)
        assert (same <= here + slack).all()
        assert (Gaussian(1 / np.sqrt(squared)).log_delta(epsilon) <= same + slack).all()


def test_above_the_golden_ratio_a_smaller_leverage_can_be_less_private():
    epsilon = np.array([0.01])
    assert posterior.log_delta_added(epsilon, 30.0, 200.0) < posterior.log_delta_added(epsilon, 1.6, 200.0)


def test_a_leverage_beyond_the_golden_ratio_is_refused():
    for function in (posterior_precision, published_posterior_precision):
        with pytest.raises(ValueError, match="leverage"):
            function(1.0, 1e-6, 1.7)


def test_nothing_underflows_audibly():
    with np.errstate(all="raise"):
        for epsilon, delta, h in GRID:
            posterior_precision(epsilon, delta, h, slope=1.2345)
    assert posterior_precision(1.0, 5e-324, 1e-3) > 0
    assert published_posterior_precision(1.0, 1e-6, 0.01, 1e-300) == 0.0
    assert published_posterior_epsilon(1.0, 1e-6, 0.01, 1e200) == np.inf
