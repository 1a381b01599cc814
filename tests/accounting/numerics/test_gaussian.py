"""The Gaussian mechanism: profile and Rényi curve in every corner."""

import numpy as np
import pytest

from objpert_core.accounting import Gaussian
from objpert_core.accounting.numerics import gaussian as _gaussian
from tests.accounting.composition_oracle import gaussian_log_delta

RATIOS = [1e-9, 1e-6, 1e-3, 0.02, 0.0499, 0.0501, 0.3, 0.999, 1.0, 1.001, 2.0, 7.0, 40.0, 1e3, 1e5]


@pytest.mark.parametrize("a", RATIOS)
def test_log_profile_over_all_of_epsilon(a):
    """s = ε/a − a/2 from −40 to 400 crosses every branch; log δ is compared, so nothing underflows."""
    s = np.array([-40.0, -3, -0.51, -0.5, -0.49, 0, 0.7, 5, 23.9, 24.0, 25.0, 25.01, 36, 100, 400])
    epsilon = a * (s + a / 2)
    epsilon = np.concatenate((epsilon[epsilon >= 0], [0.0]))
    log_delta = _gaussian.log_profile(epsilon, a)
    for e, value in zip(epsilon, log_delta, strict=True):
        # an ε that is off by one part in 1e16 moves log δ by ε·s/a of them
        allowed = 1e-13 + 4e-16 * e / a * (abs(e / a - a / 2) + 1)
        assert abs(value - gaussian_log_delta(e, a)) < allowed, (a, e)


@pytest.mark.parametrize("a", [1e-4, 0.3, 1.0, 1.7, 20.0])
def test_negative_epsilon(a):
    """δ(ε) = 1 − e^ε + e^ε·δ(−ε), needed where the loss of another part has already exceeded ε."""
    for e in (-1e-9, -1e-3, -0.4, -3.0, -50.0, -800.0):
        assert abs(_gaussian.log_profile(e, a) - gaussian_log_delta(e, a)) < 1e-12


@pytest.mark.parametrize("a", [0.0499999999, 0.05, 1.0])
def test_seams_between_quadrature_rules(a):
    """The rule changes at a = 0.05 and a = 1; the profile does not."""
    s = np.linspace(-0.4, 30, 30)
    below, above = a * (1 - 1e-13), a * (1 + 1e-13)
    values = [_gaussian.log_profile(ratio * (s + ratio / 2), ratio) for ratio in (below, above)]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-11)


def test_log_delta_does_not_underflow():
    mechanism = Gaussian(10.0)
    assert mechanism.delta(50.0) == 0.0
    assert mechanism.log_delta(50.0) == pytest.approx(gaussian_log_delta(50.0, 0.1), rel=1e-12)
