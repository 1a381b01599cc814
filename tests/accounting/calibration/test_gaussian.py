"""The analytic Gaussian mechanism: the least noise that meets the target."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objpert_core.accounting import DPSGD, Gaussian, calibrate_gaussian, repeat, via_rdp
from tests.accounting.calibration.test_contract import check
from tests.accounting.calibration.test_objective import targets


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
