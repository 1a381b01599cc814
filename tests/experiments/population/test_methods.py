"""The methods whose population risk is measured: what they are made of, and what their fits give."""

import math

import numpy as np
import pytest

from objpert_core.accounting import calibrate_gaussian
from objpert_core.accounting.population.ball import recommended_ball_lam
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.experiments.population.methods import LABELS, RADII, LinearLoss, Setting, method

SMALL = Setting("logistic", 200, 3, 2.0)
PRIVATE_AS_PRINTED = {"sgd", "objective"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name.startswith("objective-") or name == "gd" else [])
        for name in SMALL.methods
    ],
)
def test_every_method_stays_in_the_ball_and_repeats(name):
    X, y = SMALL.law.sample(SMALL.n, seed=0)
    ready = method(name, SMALL)
    theta = ready.learn(X, y, 1)
    assert theta.shape == (3,)
    assert np.linalg.norm(theta) <= SMALL.radius * (1 + 1e-12)
    np.testing.assert_array_equal(theta, ready.learn(X, y, 1))
    if name != "no-privacy":
        assert not np.array_equal(theta, ready.learn(X, y, 2))


@pytest.mark.slow
@pytest.mark.parametrize("population", RADII)
def test_what_is_not_published_is_private_by_the_accountant(population):
    setting = Setting(population, 1000, 10, 0.5)
    for name in setting.methods:
        mechanism = method(name, setting).mechanism
        if name in PRIVATE_AS_PRINTED:
            continue
        assert (mechanism is None) is (name == "no-privacy")
        if mechanism is not None:
            assert mechanism.delta(setting.epsilon) <= setting.delta * (1 + 1e-9)


def predicted(lam, n, d, variance, radius):
    """Excess risk over that of θ = 0 for rows that spread evenly, by the quadratic model."""
    share = n / (4 * d)
    return (lam**2 * radius**2 + d * variance + n / 4) / (share + lam) ** 2 / radius**2


@pytest.mark.parametrize("n", [100, 1000, 10_000, 100_000])
@pytest.mark.parametrize("d", [3, 10, 100, 1000])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_recommended_lam_is_the_simple_one_or_does_better_where_that_is_too_little(n, d, epsilon):
    variance = (2 * calibrate_gaussian(epsilon, 1 / n**2).sigma) ** 2
    simple = max(2 / epsilon, 4 * variance * d / n)
    found = recommended_ball_lam(Sizes(n, d, epsilon, 1 / n**2, radius=4.0))
    assert found >= simple * (1 - 1e-12)
    at_simple = predicted(simple, n, d, variance, 4.0)
    share = n / (4 * d)
    best = (d * variance + n / 4) / (16 * share)
    if at_simple <= 1.05 * predicted(best, n, d, variance, 4.0):
        assert found == pytest.approx(simple, rel=1e-12)
    else:
        worst = math.sqrt(8 * n + d * variance) / 4
        assert found <= max(simple, 3 * worst * (1 + 1e-12))
        assert predicted(found, n, d, variance, 4.0) <= at_simple


def test_the_linear_loss_is_one():
    loss, scores, targets = LinearLoss(), np.array([2.0, -1.0]), np.array([1.0, -1.0])
    assert loss.value(scores, targets).tolist() == [-2.0, -1.0]
    slopes, curvature = loss.derivatives(scores, targets)
    assert (slopes.tolist(), curvature.tolist()) == ([-1.0, 1.0], [0.0, 0.0])
    assert [one.tolist() for one in loss.kinks(2.0, targets)] == [[-math.inf, -math.inf], [math.inf, math.inf]]


def test_every_method_has_a_label():
    assert set(SMALL.methods) | {"zero"} == set(LABELS)
