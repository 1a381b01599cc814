"""The analytic Gaussian mechanism: the least noise that meets the target."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objpert_core.accounting import Gaussian, calibrate_gaussian
from tests.accounting.calibration.test_objective import check, targets


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-0.1, 1e-5), r"epsilon must be a finite number >= 0, got -0.1"),
        ((1.0, 2.0), r"delta must be a number strictly between 0 and 1, got 2.0"),
        ((1.0, 1e-5, 0.0), r"sensitivity must be a finite number > 0, got 0.0"),
        ((np.array([1.0]), 1e-5), r"epsilon must be a finite number >= 0"),
    ],
)
def test_gaussian_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        calibrate_gaussian(*arguments)
