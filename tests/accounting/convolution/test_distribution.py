"""Discretised privacy loss distributions: they bound the true profile of their direction from the side they promise."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import ndtr

from objpert_core.accounting import DPSGD, Gaussian, ObjectivePerturbation, compose, repeat
from objpert_core.accounting.convolution.discretise import discretise
from objpert_core.accounting.convolution.distribution import DiscretePLD
from objpert_core.accounting.laws.base import GaussianLoss
from tests.second_opinion.batches import added
from tests.second_opinion.definition import Product
from tests.second_opinion.gaussian import shifted
from tests.second_opinion.objective import logistic, two_signed, with_noise

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 2.0])
GLM, GLM_LAW = ObjectivePerturbation(5.0, 2.0, bound="glm"), two_signed(0.2, -math.log1p(-0.125))
TIGHT, TIGHT_LAW = ObjectivePerturbation(3.0, 1.5), logistic(1 / 3, 1 / 1.5)
RUN, (REMOVED, ADDED) = DPSGD(1.0, 0.2, 2), added(1.0, 0.2)
CASES = {
    "Gaussian": (Gaussian(2.0), "remove", shifted(0.5)),
    "2 Gaussian": (repeat(Gaussian(2.0), 2), "add", shifted(0.5 * math.sqrt(2))),
    "glm": (GLM, "remove", GLM_LAW),
    "2 glm": (repeat(GLM, 2), "add", Product(((GLM_LAW, 2),))),
    "2 logistic": (repeat(TIGHT, 2), "remove", Product(((TIGHT_LAW, 2),))),
    "glm + Gaussian": (compose(GLM, Gaussian(2.0)), "remove", with_noise(GLM_LAW, 0.5)),
    "DP-SGD, removal": (RUN, "remove", Product(((REMOVED, 2),))),
    "DP-SGD, addition": (RUN, "add", Product(((ADDED, 2),))),
}


def truth(definition):
    """δ from below and from above."""
    return np.exp(np.transpose([definition.log_delta(epsilon) for epsilon in EPSILONS]))


@pytest.mark.slow
@pytest.mark.parametrize("interval", [None, 0.02, 0.3])
@pytest.mark.parametrize("name", CASES)
def test_brackets_the_truth(name, interval):
    mechanism, direction, definition = CASES[name]
    exact, most = truth(definition)
    above, below = (mechanism.pld(interval, direction, pessimistic=side) for side in (True, False))
    # far below the round-off of a transform δ has no digits here; `delta_bounds` is made for that
    assert (above.delta(EPSILONS) >= exact * (1 - 1e-9)).all()
    assert (below.delta(EPSILONS) <= most * (1 + 1e-9)).all()
    if interval is None:
        seen = exact > 1e-6
        np.testing.assert_allclose(above.delta(EPSILONS)[seen], exact[seen], rtol=1e-3)
        np.testing.assert_allclose(below.delta(EPSILONS)[seen], exact[seen], rtol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_is_a_distribution(name):
    mechanism, direction, _ = CASES[name]
    for pessimistic in (True, False):
        pld = mechanism.pld(0.05, direction, pessimistic)
        assert pld.losses.shape == pld.masses.shape
        assert (np.diff(pld.losses) > 0).all()
        assert (pld.masses >= 0).all()
        assert 0 <= pld.infinite_mass < 1e-12
        assert 0 <= pld.error < 1e-7
        assert pld.masses.sum() + pld.infinite_mass == pytest.approx(1.0, abs=1e-7)
        if pessimistic:  # what is known of any privacy loss: the other data set has no more than all the mass
            assert np.exp(-pld.losses) @ pld.masses <= 1 + 1e-6


@pytest.mark.parametrize("interval", [None, 0.01, 0.3])
def test_round_off_does_not_lower_one_step(interval):
    """A sum of masses that is off in its last digit is a promise that is too small."""
    exact = Gaussian(2.0).delta(EPSILONS)  # to 1e-13 of its size
    assert (Gaussian(2.0).pld(interval).delta(EPSILONS) >= exact * (1 + 1e-13)).all()
    assert (Gaussian(2.0).pld(interval, pessimistic=False).delta(EPSILONS) <= exact * (1 - 1e-13)).all()


@pytest.mark.thorough
def test_finer_is_tighter():
    exact = truth(CASES["2 glm"][2])[0]
    for pessimistic in (True, False):
        gaps = [
            np.abs(repeat(GLM, 2).pld(h, pessimistic=pessimistic).delta(EPSILONS) - exact).max() for h in (0.1, 0.01)
        ]
        assert gaps[1] < 0.1 * gaps[0]


def test_scalars_arrays_and_copies():
    pld = GLM.pld(0.05)
    assert type(pld.delta(0.5)) is float
    assert pld.delta([[0.5, 1.0]]).shape == (1, 2)
    assert pickle.loads(pickle.dumps(pld)).delta(0.5) == pld.delta(0.5)
    with pytest.raises(AttributeError):
        pld.error = 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": 0.0}, "interval must be a finite number > 0"),
        ({"interval": -1.0}, "interval must be a finite number > 0"),
        ({"interval": "fine"}, "interval must be a finite number > 0"),
        ({"interval": 1e-12}, "interval must be larger"),
        ({"direction": "replace"}, "direction must be one of"),
        ({"pessimistic": "yes"}, "pessimistic must be True or False"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        repeat(GLM, 2).pld(**options)


@dataclass(frozen=True)
class Gap(GaussianLoss):
    """A Gaussian law whose density is not told between 2 and 3."""

    def log_density(self, v, omega):
        return np.where((v > 2) & (v < 3), -np.inf, super().log_density(v, omega))


def test_mass_that_a_quadrature_misses_is_taken_for_the_worst():
    upper, _ = discretise(Gap(0.5), 1, 0.01, 0.0, 0.0, (-8.0, 8.0))
    assert np.exp(upper.log_infinite) == pytest.approx(ndtr(-2) - ndtr(-3), rel=0.05)
    assert upper.masses.sum() + np.exp(upper.log_infinite) == pytest.approx(1.0, abs=1e-12)


def test_the_interval_is_the_median_one_and_1_where_there_is_a_single_loss():
    uneven = np.array([0.0, 0.1, 0.2, 0.4])
    for losses, interval in ((uneven, 0.1), (uneven[:1], 1.0)):
        assert DiscretePLD(losses, losses, 0.0, 0.0, True, "remove").interval == interval
