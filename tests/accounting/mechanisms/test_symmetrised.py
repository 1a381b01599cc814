"""The symmetric pair: its mass, the profile it stands for, and what k fits cost through it."""

import math

import numpy as np
import pytest

from objpert_core.accounting import (
    ApproximateMinima,
    Gaussian,
    ObjectivePerturbation,
    PrivateSelection,
    compose,
    repeat,
    symmetrised,
    via_rdp,
)
from objpert_core.accounting.convolution.discretise import quadrature
from objpert_core.accounting.mechanisms.symmetrised import symmetric

FITS = [
    ObjectivePerturbation(8.0, 10.0, smoothness=0.25, bound="glm"),
    ObjectivePerturbation(2.0, 1.5, smoothness=1.0, bound="glm"),
    ObjectivePerturbation(8.0, 10.0, smoothness=0.25, bound="monotone"),
    ObjectivePerturbation(0.7, 3.0, smoothness=2.0, bound="monotone"),
    ObjectivePerturbation(8.0, 10.0),
    ObjectivePerturbation(5.3, 1.9),
    ObjectivePerturbation(1.0, 0.2),
    ObjectivePerturbation(8.0, 128.0),
]


def points(pair, high=14.0):
    """(weights, losses) of the pair's law, mirror image and atom included."""
    log_weight, omega = quadrature(pair, pair.start, high, np.empty(0))
    return np.exp(log_weight), omega


def profile(pair, epsilon):
    weight, omega = points(pair)
    return weight @ np.maximum(-np.expm1(np.minimum(epsilon - omega[:, None], 0.0)), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("fit", FITS, ids=str)
def test_the_profile_is_that_of_the_bound_above_the_threshold_and_symmetric(fit):
    pair = symmetric(fit.law)
    threshold = float(fit.law.loss(np.array([pair.start]))[0])
    above = threshold + np.array([0.0, 0.01, 0.2, 1.0])
    np.testing.assert_allclose(profile(pair, above), fit.delta(above), rtol=3e-3)
    below = np.linspace(0, threshold, 5)
    assert (profile(pair, below) <= fit.delta(below) * (1 + 1e-6) + 1e-6).all()
    for epsilon in (0.05, 0.3, 1.0):
        mirrored = 1 - math.exp(-epsilon) + math.exp(-epsilon) * profile(pair, epsilon)
        assert abs(profile(pair, -epsilon) - mirrored) < 2e-4


@pytest.mark.slow
def test_the_corner_of_the_monotone_loss_is_not_integrated_across():
    """With the corner inside a panel the pair lost mass: 10,000 fits at ε = 0 then had a δ of 0.67."""
    fit = ObjectivePerturbation(1 / 1.6803344790041885, 1.0, 1.0, math.expm1(0.5503386179381783), "monotone")
    for k in (100, 10_000):
        assert repeat(symmetrised(fit), k).delta(0) > 1 - 1e-6
    single = ObjectivePerturbation(1.4389399599, 29.6177944336, 1.0, 0.25, "monotone")
    above, below = (single.pld(interval=0.2156213453, pessimistic=side) for side in (True, False))
    assert below.delta(0.0) <= single.delta(0.0) * (1 + 1e-9)
    assert above.delta(0.0) >= single.delta(0.0) * (1 - 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("fit", FITS, ids=str)
def test_the_renyi_curve_of_the_pair_is_that_of_its_points_and_one_fit_costs_what_it_did(fit):
    assert symmetrised(fit).epsilon(1e-5) == repeat(symmetrised(fit), 1).epsilon(1e-5) == fit.epsilon(1e-5)
    assert (symmetrised(fit).rdp([1.0, 1.001, 60.0, 1e4]) <= fit.rdp([1.0, 1.001, 60.0, 1e4])).all()
    weight, omega = points(symmetric(fit.law), 20.0)
    for alpha in (1.5, 3.0):
        direct = math.log(weight @ np.exp((alpha - 1) * omega)) / (alpha - 1)
        assert abs(symmetrised(fit).rdp(alpha) / direct - 1) < 1e-6
    assert repeat(symmetrised(fit), 20).epsilon(1e-5) <= via_rdp(repeat(symmetrised(fit), 20)).epsilon(1e-5)


@pytest.mark.slow
def test_what_is_not_symmetrised_stays_as_it_is():
    exact = ObjectivePerturbation(8.0, 10.0)
    rounded = ApproximateMinima(exact, 1e-6, 1e-3)
    low, high = compose(*[symmetrised(rounded)] * 5).epsilon_bounds(1e-5)
    assert repeat(symmetrised(exact), 5).epsilon_bounds(1e-5)[0] <= high
    assert low <= repeat(rounded, 5).epsilon(1e-5)
    assert repeat(symmetrised(Gaussian(5.0)), 4).epsilon(1e-5) == pytest.approx(Gaussian(2.5).epsilon(1e-5), rel=1e-9)
    tuned = PrivateSelection(exact, 10)
    assert symmetrised(tuned).epsilon(1e-5) == pytest.approx(tuned.epsilon(1e-5), rel=1e-12)
    assert symmetrised(symmetrised(exact)) == symmetrised(exact)
