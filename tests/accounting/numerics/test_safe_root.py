"""Roots end on the safe side: the inequality holds where they say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.rounding import promised, significant
from objpert_core.accounting.numerics.safe_root import (
    NoRootError,
    nudged,
    nudged_up_each,
    root_within,
    smallest_above,
    within_reach,
)
from objpert_core.accounting.numerics.search import smallest_epsilon
from objpert_core.accounting.numerics.split import difference_down


def test_steps_double_until_the_inequality_holds():
    tried = []
    assert nudged(lambda x: tried.append(x) or x >= 6, lambda m: m, 1.0) == 7.0
    assert tried == [0.0, 1.0, 3.0, 7.0]
    assert nudged(lambda x: x >= 6, lambda m: m, 1.0, first=6.0) == 6.0


@settings(deadline=None, max_examples=60)
@given(st.floats(-8, 8), st.floats(-3, 3), st.sampled_from([0.0, 1e-3, 5.0]))
def test_the_smallest_root_above_a_floor_is_on_the_safe_side_and_close(log_excess, guess, floor):
    root = floor + 10.0**log_excess

    def gap(x):
        return math.log(10.0**log_excess) - math.log(x - floor) if x > floor else math.inf

    found = smallest_above(gap, 10.0**guess + floor, floor)
    assert gap(found) <= 0
    assert found - floor <= (root - floor) * (1 + 1e-11) + 1e-15 * root


@given(st.floats(-3.0, 3.0))
@example(0.5435038277244915)  # its logarithm's exponential is a digit too small
def test_a_guess_that_is_the_root_itself_is_found(log_excess):
    root = 10.0**log_excess + 1.0
    found = smallest_above(lambda x: root - x, root, 1.0)
    assert root <= found <= root + 1e-11 * (root - 1) + 1e-15 * root


def test_no_root_is_an_error_of_its_own():
    with pytest.raises(NoRootError):
        smallest_above(lambda x: 1.0, 1.0, 0.0)
    with pytest.raises(NoRootError):
        root_within(lambda x: 1.0, 0.0, -1.0, 1e-3)
    with pytest.raises(NoRootError):
        within_reach(60.5)


@pytest.mark.parametrize("gap", [lambda x: 3 - x, lambda x: math.exp(-x) - 0.1, lambda x: 1.0 if x < 2 else -1.0])
def test_secants_end_within_the_tolerance_or_on_the_safe_end_of_a_jump(gap):
    x, _ = root_within(gap, 0.0, -1.0, 1e-6)
    assert gap(x) <= 0
    assert gap(x) >= -1e-6 or gap(x - 1e-9) > 0


def test_each_entry_is_raised_as_far_as_it_needs_and_infinite_ones_are_left_alone():
    least = np.array([1.0, 1 + 5e-6, 0.5, math.inf])
    found = nudged_up_each(lambda x: x < np.where(np.isfinite(least), least, 0.0), np.array([1.0, 1.0, 1.0, math.inf]))
    assert found[0] == found[2] == 1.0
    assert least[1] <= found[1] < 1 + 2e-5
    assert found[3] == math.inf


@pytest.mark.parametrize("decades", [3, 30, 60])
def test_a_root_far_below_the_guess_takes_few_evaluations(decades):
    tried = []
    found = smallest_above(lambda x: tried.append(x) or -decades - math.log10(x), 1.0, 0.0)
    assert found == pytest.approx(10.0**-decades, rel=1e-11)
    assert len(tried) < 45


@given(st.floats(-80.0, -1.0), st.sampled_from([0.0, 2.0]))
def test_where_anything_will_do_the_least_is_taken(log_least, floor):
    least = floor + 10.0**log_least  # whose logarithm's exponential may be a digit too large
    assert smallest_above(lambda x: -1.0, 1.0 + floor, floor, least=least) == least


def test_a_root_just_above_the_floor_is_found():
    assert 2.0 < smallest_above(lambda x: 1.0 if x <= 2 else -1.0, 1.0, 2.0, least=1e-70) < 2 + 1e-12


def test_a_guess_that_is_nothing_beside_the_floor_is_none():
    """A λ must be above β = 1 while L², from which the guess comes, is 1e-100."""
    assert smallest_above(lambda x: 5.0 - x, 1e-100, 1.0) == pytest.approx(5.0)


RATIOS = 10.0 ** np.array([-250, -100, -50, -10, -3, 0, 2, 10, 50, 100, 145])


@pytest.mark.parametrize("a", RATIOS)
def test_safe_close_and_quick_at_every_scale(a):
    """Below 1e-60 or so it used to end 1e40 times too large, after 200 steps."""
    shares = np.array([0.25, 1e-3, 1e-30]) if 1e-200 < a < 1 else np.array([0.25, 0.1])
    target = np.log(np.concatenate((shares * min(a, 1.0), [0.5, 1e-5, 1e-100])))
    asked = []

    def log_profile(epsilon):
        asked.append(epsilon.size)
        return gauss.log_profile(epsilon, a)

    with np.errstate(over="ignore", divide="ignore"):
        found = smallest_epsilon(log_profile, target)
        assert (gauss.log_profile(found, a) <= target).all()
        assert ((found == 0) | (gauss.log_profile(found * (1 - 3e-15), a) > target)).all()
    assert len(asked) < 130


def test_nothing_is_found_where_nothing_is_proved():
    found = smallest_epsilon(lambda epsilon: np.where(epsilon < 1e200, 0.0, -0.7), np.log([0.4, 0.9]))
    assert found[0] == np.inf
    assert 1e200 <= found[1] <= 1e200 * (1 + 1e-14)
    target, guess = np.array([-300.0, -0.2]), np.array([1e-3, 1e299])
    beyond, far = smallest_epsilon(lambda epsilon: np.where(epsilon < 1e298, 0.0, -0.5), target, 0.0, guess)
    assert beyond == np.inf
    assert 1e298 <= far <= 1e298 * (1 + 1e-14)
    from_there = smallest_epsilon(lambda epsilon: -epsilon, np.array([-1.0, -7.0]), start=3.0)
    np.testing.assert_allclose(from_there, [3.0, 7.0], rtol=1e-14)


@pytest.mark.thorough
@given(x=st.floats(1e-150, 1e150), share=st.floats(0, 1))
def test_a_difference_is_rounded_down_and_by_no_more_than_a_neighbour(x, share):
    y = share * x
    (found,) = difference_down(np.array([x]), y)
    exact = Fraction(x) - Fraction(y)
    assert Fraction(float(found)) <= exact < Fraction(float(np.nextafter(found, np.inf)))


# σ, λ, β, τ, σ_out and two ε of which the larger had the larger δ; the last is one that a first mend had
RISES = [
    (1951.23, 147.283, 9.68998, 1.10798e-07, 33.9717, 117.36, 131.715),
    (183.811, 0.38303, 1.87265, 2.36133e-08, 40.451, 3890.53, 4365.73),
    (9881.45, 0.015772, 0.526654, 1.08492e-08, 38.2029, 29817.6, 33460.6),
    (0.513553, 0.00479041, 0.0167893, 0.093242, 8.85249, 357.317, 364.771),
]


def kifer(sigma, lam, beta, tau, sigma_out):
    return ApproximateMinima(ObjectivePerturbation(sigma, lam, 1.0, beta, bound="kifer2012"), tau, sigma_out)


@pytest.mark.parametrize(("numbers", "epsilon", "larger"), [(row[:5], *row[5:]) for row in RISES])
def test_a_larger_epsilon_has_no_larger_delta(numbers, epsilon, larger):
    mechanism = kifer(*numbers)
    assert mechanism.log_delta(larger) < mechanism.log_delta(epsilon) < -840


@pytest.mark.slow
def test_many_epsilons_one_at_a_time_fall():
    """Each ε by itself: within one array the smallest so far is kept anyway."""
    rng = np.random.default_rng(3)
    for _ in range(12):
        mechanism = kifer(*10 ** rng.uniform([-3, -4, -2, -8, -6], [4, 6, 1, 0, 2]))
        least = mechanism.objective.least_epsilon
        epsilon = np.sort(
            np.append(least * (1 + 10 ** rng.uniform(-12, 3, 6)), least + mechanism.output.a * np.arange(6))
        )
        log_delta = np.array([mechanism.log_delta(float(value)) for value in epsilon])
        assert (np.diff(log_delta) <= 1e-13 * (1 - log_delta[1:])).all()


@pytest.mark.thorough
def test_it_is_as_good_as_a_dense_scan():
    rng = np.random.default_rng(4)
    for _ in range(12):
        mechanism = kifer(*10 ** rng.uniform([-1, -2, -2, -6, -4], [3, 3, 1, 0, 0]))
        least, a = mechanism.objective.least_epsilon, mechanism.output.a
        epsilon = least * (1 + 10 ** rng.uniform(-2, 1)) + 10 * a * rng.random()
        share = np.concatenate([(epsilon - least) * np.linspace(0, 1, 20_001), a * np.linspace(0, 40, 4001)])
        share = share[share <= epsilon - least]
        first = mechanism.objective.log_delta(np.maximum(epsilon - share, least))
        scanned = np.logaddexp(first, gauss.log_profile(share, a)).min()
        assert mechanism.log_delta(epsilon) <= scanned + 1e-9 * (1 - scanned)


@given(st.floats(1e-300, 1e300))
def test_a_promise_is_never_rounded_down_and_by_one_digit_at_most(value):
    shown = float(promised(value))
    assert value <= shown <= value * (1 + 1.01e-5)


def test_round_numbers_stay_as_they_are():
    assert [promised(value) for value in (0.1, 1.0, 1e-5, 8.0, 0.0)] == ["0.1", "1", "1e-5", "8", "0"]
    assert promised(0.3406693) == "0.34067"
    assert promised(0.99999901) == "1"
    assert str(significant(0.3406693, 3, up=False)) == "0.341"
