"""The best of several runs, and the tests in front of a release: their laws, what they cost, what is refused."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

import objpert_core.accounting as acc
from objpert_core.accounting import Gaussian
from objpert_core.learning.noise import NoiseSource, noise_source
from objpert_core.learning.ptr import BoundTest, DistanceTest, Refused, UpperBound, best_of

ONE = acc.ApproximateDP(0.5, 1e-7)


def echo(candidate, source):
    return candidate


def test_the_best_answer_leaves_with_its_candidate_and_score():
    found = best_of(echo, [3.0, 7.0, 5.0], lambda value: -abs(value - 5.2), base=ONE, mean_runs=200, random_state=0)
    assert (found.value, found.published) == (5.0, {"candidate": 5.0, "score": pytest.approx(-0.2)})
    plan = SimpleNamespace(lam=3.0)  # candidates may be anything
    assert best_of(echo, [plan], lambda value: value.lam, base=ONE, mean_runs=2).published["candidate"] is plan
    equal = [best_of(echo, range(2), lambda _: 0.0, base=ONE, mean_runs=3, random_state=s).value for s in range(200)]
    assert 70 < sum(equal) < 130  # and none is preferred


def test_the_number_of_runs_is_geometric_and_every_candidate_as_likely():
    runs, picked = [], np.zeros(4)
    for seed in range(200):
        made = []
        best_of(lambda candidate, source, made=made: made.append(candidate), range(4), lambda value: 0.0,
                base=ONE, mean_runs=5, random_state=seed)  # fmt: skip
        runs.append(len(made))
        picked += np.bincount(made, minlength=4)
    assert np.mean(runs) == pytest.approx(5, abs=4 * math.sqrt(20 / 200))
    assert np.mean(np.array(runs) == 1) == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / 200))
    assert np.all(np.abs(picked - picked.sum() / 4) < 4 * np.sqrt(picked.sum() * 3 / 16))


def test_runs_have_noise_of_their_own_and_seeds_repeat():
    drawn = []

    def draw(candidate, source):
        drawn.append(float(source.standard_normal(1)[0]))
        return drawn[-1]

    first = best_of(draw, [0], float, base=ONE, mean_runs=30, random_state=2)
    assert first.value == max(drawn)
    assert len(set(drawn)) == len(drawn) > 1
    assert best_of(draw, [0], float, base=ONE, mean_runs=30, random_state=2).value == first.value
    assert first.certificate.reproducible


def test_refused_answers_are_worse_than_any_and_not_scored():
    def run(candidate, source):
        return candidate if candidate else Refused(None)

    found = best_of(run, [0, 1], lambda value: math.nan, base=ONE, mean_runs=100, random_state=1)
    assert (found.value, found.published["score"]) == (1, -math.inf)
    nothing = best_of(run, [0], lambda value: 1 / 0, base=ONE, mean_runs=3)
    assert not nothing.released
    assert nothing.reason == "nothing was released: no run has given an answer"
    assert nothing.certificate.verify()


def test_the_cost_is_that_of_private_selection_and_less_than_three_times_one_run():
    found = best_of(echo, [1], float, base=ONE, mean_runs=20).certificate
    assert found.delta == pytest.approx(20 * 1e-7, rel=1e-9)
    assert found.epsilon <= float(acc.liu_talwar_epsilon(ONE, found.delta, 20)) < 1.5
    assert found.verify()
    gaussian = best_of(echo, [1], float, base=acc.Gaussian(20.0), mean_runs=20, delta=1e-6).certificate
    assert gaussian.verify()
    assert acc.Gaussian(20.0).epsilon(1e-6) < gaussian.epsilon < 3 * acc.Gaussian(20.0).epsilon(1e-6)
    poisson = best_of(echo, [1], float, base=acc.Gaussian(20.0), mean_runs=20, delta=1e-6, eta=None).certificate
    assert poisson.verify()
    assert "K Poisson with mean 20" in repr(poisson)
    assert not best_of(echo, [1], float, base=acc.Gaussian(20.0), mean_runs=1e-6, delta=1e-6, eta=None).released


NO_SELECTIONS = [
    ({"candidates": []}, "candidates must be one or more"),
    ({"run": 1}, "run must be a function"),
    ({"score": None}, "score must be a function"),
    ({"eta": 0}, "eta must be 1 or None, got 0"),
    ({"mean_runs": 0.5}, "mean_runs must be a finite number >= 1"),
    ({"base": acc.Gaussian(20.0)}, "delta must be a number strictly between 0 and 1 for this base"),
    ({"base": acc.ApproximateDP(0.5, 0.0)}, "delta must be a number strictly between 0 and 1 for this"),
    ({"delta": 1e-8}, "delta must be large enough"),
    ({"mean_runs": 1e8}, "mean_runs times the δ of base must be"),
    ({"base": "Gaussian"}, "base must be one of this package's mechanisms"),
    ({"base": acc.tabulated(acc.Gaussian(20.0)), "delta": 1e-3}, "base must be a mechanism that is made of numbers"),
]


@pytest.mark.parametrize(("change", "message"), NO_SELECTIONS)
def test_arguments_are_checked_before_anything_is_run(change, message):
    def untouched(*_):
        raise AssertionError("it ran")

    given = {"run": untouched, "candidates": [1], "score": untouched, "base": ONE, "mean_runs": 10} | change
    with pytest.raises(ValueError, match=message):
        best_of(**given)


def test_pure_runs_cost_three_times_as_much_at_most():
    pure = best_of(echo, [1], float, base=acc.ApproximateDP(0.5, 0.0), mean_runs=1000, delta=1e-9).certificate
    assert pure.epsilon <= 1.5 * (1 + 1e-9)
    assert pure.verify()
    tested = acc.ProposeTestRelease(0.3, 1e-8, 0.2, 0.0, 1e-8)
    assert best_of(echo, [1], float, base=tested, mean_runs=10).certificate.verify()


# The tests in front of a release


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
