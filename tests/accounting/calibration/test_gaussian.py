"""The analytic Gaussian mechanism: the least noise that meets the target."""

import math

import numpy as np
import pytest
from dp_accounting.dp_event import GaussianDpEvent, PoissonSampledDpEvent, RepeatAndSelectDpEvent, SelfComposedDpEvent
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from objpert_core.accounting import (
    DPSGD,
    Gaussian,
    calibrate_dpsgd,
    calibrate_gaussian,
    repeat,
    via_rdp,
)
from objpert_core.accounting.numerics import gaussian as _gaussian
from tests.accounting.calibration.test_contract import ADULT, PAPER, check
from tests.accounting.calibration.test_objective import targets
from tests.second_opinion.gaussian import exact_log_delta


@pytest.mark.slow
@given(**targets, sensitivity=st.sampled_from([1.0, 2**0.5, 0.1, 10.0]))
@settings(deadline=None, max_examples=100)
def test_gaussian(epsilon, delta, sensitivity):
    mechanism = calibrate_gaussian(epsilon, delta, sensitivity)
    check(mechanism, epsilon, delta)
    assert Gaussian(mechanism.sigma * (1 - 1e-11), sensitivity).delta(epsilon) > delta * (1 - 1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.0, 0.1), (0, 1e-300), (1e-12, 1e-5), (700.0, 1e-5), (0.0, 1 - 1e-12), (1.0, 1 - 1e-9)]
)
def test_gaussian_at_the_edges(epsilon, delta):
    mechanism = calibrate_gaussian(epsilon, delta)
    assert mechanism.delta(epsilon) <= delta
    assert mechanism.epsilon(delta) <= epsilon


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 5e-324), (1e308, 0.5), (1e301, 1e-5)])
def test_noise_that_no_double_holds_is_refused(epsilon, delta):
    with pytest.raises(ValueError, match="epsilon, delta and sensitivity must ask for noise that is a double, got "):
        calibrate_gaussian(epsilon, delta)
    assert calibrate_gaussian(1e300, 1e-5).delta(1e300) <= 1e-5


@pytest.mark.parametrize("value", [5e-324, 1e-101, 1e101, 1.7e308])
def test_noise_beyond_a_hundred_decades_is_refused(value):
    """DP-SGD with a multiplier of 5e-324 and every row in every batch was told ε = 7e-63."""
    with pytest.raises(ValueError, match=r"noise_multiplier must be a number from 1e-100 to 1e\+100, got "):
        DPSGD(value, 1.0, 1000)
    assert DPSGD(1e-100, 1.0, 1000).epsilon(1e-5) > 1e200
    assert repeat(Gaussian(1e-300), 10**18).epsilon(1e-5) == math.inf


@pytest.mark.parametrize("a", [1e-220, 1e-160])
def test_no_divergence_underflows_to_nothing(a):
    """Its Rényi curve was 0 at every order, and δ by it 0."""
    mechanism = Gaussian(1 / a)
    assert mechanism.rdp(2.0) > 0
    assert via_rdp(mechanism).log_delta(0.0) >= mechanism.log_delta(0.0)


@pytest.mark.parametrize(("sigma", "sensitivity"), [(1e-155, 1e150), (1e155, 1e-150)])
def test_noise_is_refused_where_doubles_cannot_account_for_it(sigma, sensitivity):
    with pytest.raises(ValueError, match=r"^sigma/sensitivity must be"):
        Gaussian(sigma, sensitivity)


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
        assert abs(value - exact_log_delta(e, a)) < allowed, (a, e)


@pytest.mark.parametrize("a", [1e-4, 0.3, 1.0, 1.7, 20.0])
def test_negative_epsilon(a):
    """δ(ε) = 1 − e^ε + e^ε·δ(−ε), needed where the loss of another part has already exceeded ε."""
    for e in (-1e-9, -1e-3, -0.4, -3.0, -50.0, -800.0):
        assert abs(_gaussian.log_profile(e, a) - exact_log_delta(e, a)) < 1e-12


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
    assert mechanism.log_delta(50.0) == pytest.approx(exact_log_delta(50.0, 0.1), rel=1e-12)


# Calibrating DP-SGD: the target is met from the safe side, by the accountant asked for, tuned or not


@pytest.mark.slow
@pytest.mark.parametrize("mean_runs", [None, PAPER])
def test_dp_accounting_agrees_that_it_is_private(mean_runs):
    """Their ε of our noise, from integer orders and with the published theorem, is a little above the target."""
    result = calibrate_dpsgd(1.0, 1e-5, **ADULT, accountant="rdp", mean_runs=mean_runs)
    run = result if mean_runs is None else result.base
    step = PoissonSampledDpEvent(ADULT["sample_rate"], GaussianDpEvent(run.noise_multiplier))
    event = SelfComposedDpEvent(step, ADULT["steps"])
    accountant = RdpAccountant(range(2, 200))
    accountant.compose(event if mean_runs is None else RepeatAndSelectDpEvent(event, mean_runs, math.inf))
    assert 1.0 - 1e-6 < accountant.get_epsilon(1e-5) < 1.02
