"""The tests in front of a release: their laws, worked out exactly, keep ε̂, δ̂ and δ'."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from objpert_core.accounting import Gaussian
from objpert_core.learning.noise import NoiseSource, noise_source
from objpert_core.learning.ptr import BoundTest, DistanceTest, UpperBound


def reaches(decay, k):
    """Pr[Z >= k] of two-sided geometric noise."""
    tail = math.exp(-decay * abs(k)) / (1 + math.exp(-decay))
    return tail if k > 0 else 1 - tail * math.exp(-decay)


@pytest.mark.parametrize(("epsilon", "failure"), [(0.5, 1e-6), (0.1, 1e-3), (2.0, 0.01), (1.0, 0.4)])
def test_a_distance_test_is_private_and_fails_as_seldom_as_it_says(epsilon, failure):
    test = DistanceTest(lambda X: X, epsilon, failure)
    passing = [reaches(epsilon, test.threshold - d) for d in range(80)]
    assert passing[0] <= failure
    assert reaches(epsilon, test.threshold - 1) > failure or test.threshold == 1
    for near, far in itertools.pairwise(passing):
        for one, other in ((near, far), (far, near), (1 - near, 1 - far), (1 - far, 1 - near)):
            assert one <= math.exp(epsilon) * other * (1 + 1e-12) + 1e-14
    shifted = DistanceTest(lambda X: X, epsilon, failure, shifted=True)
    assert reaches(epsilon, shifted.threshold - 1) <= failure  # next to a data set at distance 0


@pytest.mark.parametrize("distance", [0, -3, float("nan"), None, 2, 6])
def test_a_distance_test_passes_as_often_as_its_law_says(distance):
    if distance is None:
        distance = math.inf
    test, source = DistanceTest(lambda X: distance, 1.0, 0.05), noise_source(3)
    passed = sum(test.passes(None, source) for _ in range(120))
    at = 0 if not distance > 0 else distance
    expected = 1.0 if at == math.inf else reaches(1.0, test.threshold - int(at))
    assert abs(passed - 120 * expected) <= 4 * math.sqrt(120 * expected * (1 - expected)) + 1e-9


LAPLACE = UpperBound(lambda X: X, 0.7, 1.5, 0.02)
GAUSSIAN = UpperBound(lambda X: X, 0.7, 1.5, 0.02, delta=1e-6)


def test_the_shift_is_what_the_failures_ask_for():
    assert LAPLACE.shift == pytest.approx(0.7 * math.log(0.5 / 0.02) / 1.5, rel=1e-5)
    sigma = GAUSSIAN._sigma * GAUSSIAN.spacing
    assert Gaussian(sigma, 0.7).delta(1.5) <= 1e-6
    assert Gaussian(sigma * 0.999, 0.7).delta(1.5) > 1e-6
    assert GAUSSIAN.shift == pytest.approx(-norm.ppf(0.02) * sigma, rel=1e-5)
    for bound in (LAPLACE, GAUSSIAN):
        moved = UpperBound(float, 0.7, 1.5, 0.02, bound.delta, shifted=True)
        assert bound.shift + 0.7 <= moved.shift <= (bound.shift + 0.7) * (1 + 1e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("bound", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_a_bound_is_one_but_for_the_failures_and_lies_on_its_lattice(bound):
    source = noise_source(17)
    released = np.array([bound.release(0.1234, source) for _ in range(500)])
    assert np.all(released / bound.spacing % 1 == 0)
    failures = np.count_nonzero(released < 0.1234)
    assert 1 <= failures <= 24  # 10 on average: more would be too often, fewer a waste
    assert np.median(released) == pytest.approx(0.1234 + bound.shift, abs=0.3)


@pytest.mark.parametrize("value", [math.inf, math.nan, 1e300])
def test_what_no_lattice_reaches_is_an_infinite_bound(value):
    assert LAPLACE.release(value, noise_source(0)) == math.inf
    assert not BoundTest(LAPLACE, 1e18).passes(value, noise_source(0))


def test_the_statistic_is_rounded_up_and_the_lowest_values_are_bounded_too():
    still = NoiseSource(lambda count: b"\x80" * count, "without noise", reproducible=True)
    for value in (0.1234, -0.1234, 0.0, 5 * LAPLACE.spacing):
        assert value <= LAPLACE.release(value, still) - LAPLACE.shift < value + LAPLACE.spacing
    assert LAPLACE.release(-math.inf, noise_source(0)) > -math.inf
    tiny = UpperBound(lambda X: X, 1e-90, 1.0, 1e-3)
    assert 3e-90 < tiny.release(3e-90, noise_source(1)) < 3e-89


def test_rounding_moves_neighbours_no_farther_apart_than_is_accounted_for():
    rng = np.random.default_rng(2)
    bound = UpperBound(lambda X: X, 0.7, 1.5, 0.02)
    for _ in range(200):
        low = rng.uniform(-5, 5)
        points = [math.ceil(value / bound.spacing) for value in (low, low + 0.7 * (1 - 1e-15))]
        assert points[1] - points[0] <= bound._steps
    assert bound._steps * bound.spacing <= 0.7 * (1 + 2e-6)
    assert bound._decay * bound._steps <= 1.5


def test_a_bound_test_passes_below_its_threshold():
    test = BoundTest(LAPLACE, 3.0)
    assert (test.epsilon, test.delta, test.failure, test.shifted) == (1.5, 0.0, 0.02, False)
    source = noise_source(23)
    passed = [sum(test.passes(value, source) for _ in range(100)) for value in (-9.0, 3.0 - test.bound.shift, 3.001)]
    assert passed[0] == 100
    assert 30 < passed[1] < 70
    assert passed[2] < 10


OUT_OF_RANGE = [
    (lambda: DistanceTest(len, 0.0, 0.1), "epsilon must be a finite number > 0"),
    (lambda: DistanceTest(len, 1.0, 1.0), "failure must be a number strictly between 0 and 1"),
    (lambda: DistanceTest(len, 1.0, 0.1, shifted=2), "shifted must be True or False"),
    (lambda: UpperBound(len, 0.0, 1.0, 0.1), "sensitivity must be a finite number > 0"),
    (lambda: UpperBound(len, 1e-200, 1.0, 0.1), "sensitivity must be a number from 1e-100 to 1e100"),
    (lambda: UpperBound(len, 1.0, 1.0, 0.1, delta=1.0), "delta must be a number strictly between 0 and 1"),
    (lambda: UpperBound(len, 1.0, 1e-12, 0.1, delta=1e-13), "epsilon must ask for less noise"),
    (lambda: BoundTest(DistanceTest(len, 1.0, 0.1), 1.0), "bound must be an UpperBound"),
    (lambda: BoundTest(LAPLACE, math.nan), "threshold must be a finite number"),
]


@pytest.mark.parametrize(("make", "message"), OUT_OF_RANGE)
def test_what_is_out_of_range_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
