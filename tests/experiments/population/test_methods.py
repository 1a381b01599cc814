"""The methods whose population risk is measured: what they are made of, and what their fits give."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments.population import sweep
from benchmarks.experiments.store import session
from benchmarks.research_tables import behind
from objpert_core.accounting import calibrate_gaussian
from objpert_core.accounting.population.ball import recommended_ball_lam
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.experiments.population import stored
from objpert_core.experiments.population.methods import LABELS, RADII, LinearLoss, Setting, method
from objpert_core.experiments.population.sweep import Piece

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


# Stored excess risks: what the specification says they are, and what is claimed of them


# × 10⁻⁴, mean and standard error at n = 10³ and 10⁴, and the slope: population_risk.md, logistic, d = 10, M = 4
REFERENCE = {
    ("sgd", 0.5): ((839, 30), (177, 6), -0.79),
    ("gd", 0.5): ((584, 24), (66, 3), -1.01),
    ("objective", 0.5): ((868, 27), (294, 5), -0.57),
    ("objective-least", 0.5): ((477, 31), (15.1, 1.7), -1.46),
    ("objective-bound", 0.5): ((584, 29), (126, 3), -0.71),
    ("phased", 0.5): ((1038, 27), (256, 11), -0.87),
    ("no-privacy", 0.5): ((49, 3), (4.4, 0.4), -1.01),
    ("sgd", 2.0): ((615, 11), (173, 2), -0.73),
    ("gd", 2.0): ((334, 10), (53, 1.3), -0.90),
    ("objective", 2.0): ((667, 9), (265, 3), -0.51),
    ("objective-least", 2.0): ((105, 7), (5.0, 0.4), -1.16),
    ("objective-bound", 2.0): ((401, 7), (120, 2), -0.64),
    ("phased", 2.0): ((553, 19), (113, 4), -0.90),
}
ABSOLUTE = {  # ε = .5, d = 10
    "sgd": (0.0840, 0.00565),
    "gd": (0.0365, 0.00243),
    "objective-tight": (0.0697, 0.00219),
    "phased": (0.119, 0.00782),
    "objective": (0.0800, 0.00879),
}
HARD = {"objective-tight": 0.0126, "gd": 0.0168, "objective": 0.0191, "phased": 0.0205}  # n = 10⁴, d = 500, ε = .5


def assert_agrees(point, mean, error):
    allowed = 4 * math.hypot(point.error, error) + 0.03 * mean
    assert point.excess.mean == pytest.approx(mean, abs=allowed)


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "epsilon"), REFERENCE)
def test_the_reference_values_of_logistic_regression_are_met(method, epsilon):
    found = stored.load("logistic")
    thousand, ten_thousand, slope = REFERENCE[method, epsilon]
    for n, (mean, error) in ((1000, thousand), (10_000, ten_thousand)):
        assert_agrees(found.point(n, 10, epsilon, method), 1e-4 * mean, 1e-4 * error)
    assert found.slope(10, epsilon, method) == pytest.approx(slope, abs=0.12)


@pytest.mark.parametrize("method", ABSOLUTE)
def test_the_reference_values_of_the_absolute_loss_are_met(method):
    found = stored.load("absolute")
    for n, mean in zip((1000, 10_000), ABSOLUTE[method], strict=True):
        point = found.point(n, 10, 0.5, method)
        assert_agrees(point, mean, point.error)  # the reference has no standard error


@pytest.mark.parametrize("method", HARD)
def test_the_reference_values_of_the_hard_instance_are_met(method):
    assert_agrees(stored.load("hard").point(10_000, 500, 0.5, method), HARD[method], 1e-4)


@pytest.mark.parametrize("population", [pytest.param("logistic", marks=pytest.mark.exhaustive), "absolute", "hard"])
def test_the_tight_method_is_nowhere_behind_a_published_one(population):
    assert behind(stored.load(population)) == []


@pytest.mark.parametrize("population", ["logistic", "absolute", "hard"])
def test_no_mean_is_above_its_bound_and_files_are_whole(population):
    found = stored.load(population)
    assert found.rows[0] == 100
    assert found.rows[-1] == 100_000
    assert found.epsilons == (0.5, 2.0)
    assert found.results.sessions[0]["command"].startswith("python -m objpert_core.experiments population")
    sizes = {point.excess.count for point in found.points.values()}
    assert min(sizes) >= 10
    for n, d, epsilon, name in found.points:
        point = found.point(n, d, epsilon, name)
        assert point.excess.mean > -1e-9
        assert point.seconds >= 0


# The maker


@pytest.mark.slow
def test_a_stored_trial_is_that_of_the_page(tmp_path):
    maker = sweep("logistic")
    one, two = (piece for piece in maker.pieces[:8] if piece[3] in ("gd", "phased"))
    few = replace(maker, pieces=(one, two))
    assert not few.make(stored.FAMILY.path("logistic", tmp_path), session("test"), stream=io.StringIO())
    found = stored.load("logistic", tmp_path)
    assert found.methods == ("gd", "phased")
    (again,) = Piece(Setting("logistic", *one[:3]), ("gd",), 0)()
    assert found.point(*one[:4]).excess.mean == again.excess
    assert "gd" in maker.report(found.results)
