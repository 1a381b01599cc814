"""Roots end on the safe side: the inequality holds where they say."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from objpert_core.accounting.numerics.safe_root import (
    NoRootError,
    nudged,
    nudged_up_each,
    root_within,
    smallest_above,
    within_reach,
)


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
