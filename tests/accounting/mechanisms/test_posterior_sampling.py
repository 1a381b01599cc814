"""Posterior sampling: one row's exact privacy against integrals of the two normal laws themselves."""

import numpy as np
import pytest
from scipy.stats import norm

from objpert_core.accounting import Gaussian, PosteriorSampling, compose, repeat

SETTINGS = [(0.1, 0.5), (1.0, 2.0), (0.01, 0.01), (2.0, 0.0), (0.3, 40.0)]


def laws(h, rho):
    return norm(np.sqrt(rho), np.sqrt(h)), norm(np.sqrt(rho) / (1 + h), np.sqrt(h / (1 + h)))


@pytest.mark.thorough
@pytest.mark.parametrize(("h", "rho"), SETTINGS[:2])
def test_compositions_lie_between_one_release_and_the_sum(h, rho):
    one = PosteriorSampling(h, rho)
    low, high = repeat(one, 2).delta_bounds(0.5)
    assert one.delta(0.5) < low <= high < 2 * one.delta(0.25)
    assert high - low < 1e-3 * high
    assert compose(one).delta(0.5) == one.delta(0.5)


def test_ε_is_on_the_safe_side_and_a_larger_shift_is_never_safer():
    for delta in (1e-2, 1e-6, 1e-12):
        one = PosteriorSampling(0.2, 1.0)
        assert one.delta(one.epsilon(delta)) <= delta
        assert PosteriorSampling(0.2, 1.1).epsilon(delta) > one.epsilon(delta)


@pytest.mark.parametrize("h", [1e-60, 1e-20, 1e-12, 1e-8])
def test_a_small_leverage_costs_no_digits(h):
    one, limit = PosteriorSampling(h, 1 / h), Gaussian(1.0)
    assert one.rdp(2.0) == pytest.approx(limit.rdp(2.0), rel=1e-7)
    assert one.rdp(2.0) >= limit.rdp(2.0) * (1 - 3 * h)
    assert one.epsilon(1e-6) == pytest.approx(limit.epsilon(1e-6), rel=1e-6)
    assert repeat(one, 2).epsilon(1e-6) == pytest.approx(repeat(limit, 2).epsilon(1e-6), rel=1e-3)
    spread = PosteriorSampling(h, 0.0)  # h²/4·α to the first order
    assert spread.rdp(3.0) == pytest.approx(3 * h**2 / 4, rel=1e-6)
