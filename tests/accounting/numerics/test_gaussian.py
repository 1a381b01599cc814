"""The Gaussian mechanism: profile and Rényi curve in every corner."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from objpert_core.accounting import Gaussian
from objpert_core.accounting.numerics import gaussian as _gaussian
from tests.accounting.oracles import gaussian_delta, gaussian_delta_by_integration, reference_rows, relative_error

RATIOS = [1e-9, 1e-6, 1e-3, 0.02, 0.0499, 0.0501, 0.3, 0.999, 1.0, 1.001, 2.0, 7.0, 40.0, 1e3, 1e5]


def test_reference_values():
    for row in reference_rows("gaussian_delta"):
        value = Gaussian(row["sigma"], row["sensitivity"]).delta(row["epsilon"])
        assert relative_error(value, row["delta"]) < 1e-9, row


@pytest.mark.parametrize("a", RATIOS)
def test_log_profile_over_all_of_epsilon(a):
    """s = ε/a − a/2 from −40 to 400 crosses every branch; log δ is compared, so nothing underflows."""
    s = np.array([-40.0, -3, -0.51, -0.5, -0.49, 0, 0.7, 5, 23.9, 24.0, 25.0, 25.01, 36, 100, 400])
    epsilon = a * (s + a / 2)
    epsilon = np.concatenate((epsilon[epsilon >= 0], [0.0]))
    log_delta = _gaussian.log_profile(epsilon, a)
    for e, value in zip(epsilon, log_delta, strict=True):
        exact = gaussian_delta(e, a)
        # an ε that is off by one part in 1e16 moves log δ by ε·s/a of them
        allowed = 1e-13 + 4e-16 * e / a * (abs(e / a - a / 2) + 1)
        assert abs(mpf(value) - mp.log(exact)) < allowed, (a, e)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "a"), [(0.0, 0.3), (0.5, 0.1), (1.0, 1.0), (3.0, 5.0), (-0.7, 0.4), (-5.0, 2.0)])
def test_closed_form_is_the_expectation_it_stands_for(epsilon, a):
    assert relative_error(gaussian_delta(epsilon, a), gaussian_delta_by_integration(epsilon, a)) < 1e-25


@pytest.mark.parametrize("a", [1e-4, 0.3, 1.0, 1.7, 20.0])
def test_negative_epsilon(a):
    """δ(ε) = 1 − e^ε + e^ε·δ(−ε), needed where the loss of another part has already exceeded ε."""
    for e in (-1e-9, -1e-3, -0.4, -3.0, -50.0, -800.0):
        assert relative_error(np.exp(_gaussian.log_profile(e, a)), gaussian_delta(e, a)) < 1e-12


def test_rdp_is_linear():
    alpha = np.array([1.0, 1.5, 8, 1e6])
    np.testing.assert_allclose(Gaussian(5.0, 2.0).rdp(alpha), alpha * 4 / 50, rtol=1e-15)


def test_one_per_cent_less_is_refuted():
    """A profile 1 % too small is not the Gaussian one."""
    value = Gaussian(3.0).delta(0.4)
    assert relative_error(value, gaussian_delta(0.4, 1 / 3)) < 1e-13
    assert relative_error(0.99 * value, gaussian_delta(0.4, 1 / 3)) > 1e-9


@pytest.mark.slow
@given(
    log_ratio=st.floats(-9, 3), s=st.floats(-3, 34), scale=st.sampled_from([0.1, 2.0, 1e4]), step=st.floats(1e-6, 0.5)
)
@settings(deadline=None, max_examples=150)
def test_shape(log_ratio, s, scale, step):
    """Falls in ε and σ; depends on sensitivity/σ only."""
    a = 10.0**log_ratio
    e = max(a * (s + a / 2), 0.0)
    mechanism = Gaussian(1 / a)
    assert 0 <= mechanism.delta(e) <= 1
    assert mechanism.delta(e + step * a) <= mechanism.delta(e)
    assert Gaussian((1 + step) / a).delta(e) <= mechanism.delta(e)
    np.testing.assert_allclose(Gaussian(scale / a, scale).log_delta(e), mechanism.log_delta(e), rtol=1e-9)


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
    assert float(mp.log(gaussian_delta(50, mpf(1) / 10))) == pytest.approx(mechanism.log_delta(50.0), rel=1e-12)
