"""The profile for convex smooth losses of xᵀθ against its integral in many digits."""

import warnings

import mpmath as mp
import numpy as np
import pytest

from objpert_core.accounting.quadratic import wishart, wishart_glm


def _largest_loss(side, y, s, k):
    if side == "removed":
        return max(mp.log(1 + s / y), s / 2 - k * mp.log(1 + s / y))
    return mp.inf if y <= s else max(mp.mpf(0), -(k + 1) * mp.log(1 - s / y) - s / 2)


def _mean(side, epsilon, s, k, lift):
    """E[1 − e^{ε − T(Y)}]₊ times e^lift, broken where T is not smooth and where it is ε."""
    epsilon, s, k = mp.mpf(epsilon), mp.mpf(s), mp.mpf(k)
    level = max(epsilon, 0) + s / 2
    broken = [s, s / -mp.expm1(-level / (k + 1)), s / mp.expm1(s / (2 * (k + 1)))]
    broken += [s / mp.expm1(epsilon)] if epsilon > 0 else []
    broken += [s / mp.expm1((s / 2 - epsilon) / k)] if k > 0 and epsilon < s / 2 else []
    around = [2 * (k + 1) + j * 2 * mp.sqrt(k + 1) for j in (-4, -2, 0, 2, 4, 10, 20)]

    def integrand(x):
        y = mp.exp(x)
        loss = _largest_loss(side, y, s, k)
        gain = mp.mpf(1) if loss == mp.inf else max(-mp.expm1(epsilon - loss), mp.mpf(0))
        return gain * mp.exp(lift + (k + 1) * (x - mp.log(2)) - y / 2 - mp.loggamma(k + 1))

    points = sorted(mp.log(y) for y in (*broken, *around) if y > 0)
    return mp.quad(integrand, [points[0] - 60 / (k + 1), *points])


def _hold(cases):
    for epsilon, s, k in cases:
        for side in ("removed", "added"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = float(getattr(wishart_glm, f"log_delta_{side}")(np.array([epsilon]), s, k)[0])
            with mp.workdps(20):
                truth = found + float(mp.log(_mean(side, epsilon, s, k, -found)))  # about 1: its errors are absolute
            assert 0 <= found - truth + 1e-14 * abs(truth) <= 1e-6 * (1 + abs(truth)), (side, epsilon, s, k)


@pytest.mark.thorough
def test_the_mean_over_draws_of_the_largest_loss():
    _hold([(0.3, 1.0, 2.0), (0.0, 0.3, 0.0)])


@pytest.mark.slow
def test_the_mean_over_draws_of_the_largest_loss_on_a_grid():
    _hold([(epsilon, s, k) for k in (0.5, 49.5) for s in (1e-2, 3.0) for epsilon in (-0.5, 0.0, 0.5)])


def test_no_loss_of_this_kind_has_less_than_the_squared_loss_and_large_epsilons_give_numbers():
    epsilon = np.array([0.0, 1e-9, 0.1, 1.0, 50.0, 800.0, 1e5])
    for s, k in ((0.01, 0.0), (1.0, 2.5), (30.0, 100.0)):
        for side in ("log_delta_removed", "log_delta_added"):
            glm = getattr(wishart_glm, side)(epsilon, s, k)
            squared = getattr(wishart, side)(epsilon, np.array([s]), np.array([k]))
            assert not np.isnan(glm).any()
            assert np.all(glm >= squared - 1e-9 * (1 + np.abs(np.maximum(squared, -1e300))))
