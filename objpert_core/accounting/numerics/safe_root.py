"""Roots on the safe side: found by a search, then moved until gap(x) <= 0 itself has been seen to hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from objpert_core._validation import FloatArray

# Above the tolerance of `smallest_above`; where ε is small beside R²/λ it moves by much more than λ
ROOT_MARGIN = 4e-13

_LARGEST = 1e60  # times the guess
_VAST = 1e6  # stands for the infinities of a gap
_EVALUATIONS = 200
_FARTHEST = 60.0  # log of a noise multiplier, either way: no doubles to compute with beyond
_LARGEST_STEP = 3.0
_NUDGES = 60  # relative steps upwards, doubling


Candidate = TypeVar("Candidate")


class NoRootError(ValueError):
    """No argument satisfies the inequality."""


def nudged(
    holds: Callable[[Candidate], bool], moved: Callable[[float], Candidate], margin: float, first: float = 0.0
) -> Candidate:
    """The first moved(m) that `holds`, m on the safe side and `first` plus 0, 1, 3, 7, … times the margin."""
    distance = first
    while not holds(candidate := moved(distance)):
        distance, margin = distance + margin, 2 * margin
    return candidate


def root_between(gap: Callable[[float], Any], low: float, high: float, xtol: float) -> float:
    """The root of a decreasing gap that may be infinite at either end, without a promise of its sign."""
    from scipy.optimize import toms748  # slow to import

    return float(toms748(lambda x: float(np.clip(gap(x), -_VAST, _VAST)), low, high, xtol=xtol, rtol=1e-15))


def smallest_above(gap: Callable[[float], float], guess: float, floor: float, least: float = 0.0) -> float:
    """The smallest x > floor, and at least `least`, with gap(x) <= 0, rounded up, for a gap that decreases in x."""
    size = max(guess, floor)
    step, great, small = math.log(2.0), math.log(1e3 * size), math.log(1e-3 * size)

    @lru_cache(maxsize=2)  # the search begins with both ends
    def by_log(log_excess: float) -> float:
        return gap(floor + math.exp(log_excess))

    near = far = math.log(max(guess - floor, 1e-3 * size))
    if by_log(near) > 0:
        while by_log(far) > 0:
            if far > math.log(_LARGEST * size):
                raise NoRootError("no root")
            near, far = far, far + (step if far < great else math.log(1e3))
    else:
        lowest = math.log(least - floor) if least > floor else -math.inf
        while by_log(near) <= 0:
            if near <= lowest or floor + math.exp(near) <= least:
                return least
            step = step if near > small else min(2 * step, math.log(_LARGEST))
            near, far = max(near - step, lowest), near
    excess = math.exp(root_between(by_log, near, far, 1e-13))
    return nudged(lambda x: gap(x) <= 0, lambda m: floor + excess * (1 + m), ROOT_MARGIN, ROOT_MARGIN)


def log_ratio(value: float, target: float) -> float:
    """log(value/target), within what a search can use."""
    return float(np.clip(np.log(value / target), -50.0, 50.0)) if value > 0 and target > 0 else -50.0


def root_within(gap: Callable[[float], float], start: float, slope: float, tolerance: float) -> tuple[float, float]:
    """(x, slope) with −tolerance <= gap(x) <= 0 for a costly gap that decreases in x; `NoRootError` beyond |x| = 60.

    Where the gap jumps over what is accepted, x is the bracket's end on the safe side.
    """
    low, high, x, slow = -math.inf, math.inf, start, 0
    before: tuple[float, float] | None = None
    for _ in range(_EVALUATIONS):
        value, width = gap(x), high - low
        if -tolerance <= value <= 0:
            return x, slope
        low, high = (x, high) if value > 0 else (low, x)
        if high - low <= 1e-13 * max(1.0, abs(x)):
            return high, slope
        slow = slow + 1 if high - low > 0.5 * width and math.isfinite(width) else 0
        if before is not None:
            measured = (value - before[1]) / (x - before[0])
            slope = measured if -50 < measured < -1e-3 else slope
        before = x, value
        x += float(np.clip(-(value + tolerance / 2) / slope, -_LARGEST_STEP, _LARGEST_STEP))
        if slow >= 2 or not low < x < high:
            x, slow = 0.5 * (low + high), 0
        if abs(x) > _FARTHEST:
            break
    raise NoRootError("no root")


def within_reach(x: float) -> float:
    """`x`, the log of a noise multiplier; `NoRootError` where there are no doubles to compute with."""
    if x > _FARTHEST:
        raise NoRootError("no root")
    return x


def nudged_up_each(too_small: Callable[[FloatArray], Any], values: FloatArray, first: float = 1e-6) -> FloatArray:
    """`values`, each raised by doubling relative steps, from `first` on, until it is not too small; infinite ones stay.
    `too_small` gets an array of the same shape, with 0 in place of the infinite values."""
    step = np.full(values.shape, first)
    for _ in range(_NUDGES):
        low = np.isfinite(values) & too_small(np.where(np.isfinite(values), values, 0.0))
        if not low.any():
            break
        values = np.where(low, np.maximum(values * (1 + step), values + 1e-300), values)
        step = np.where(low, 2 * step, step)
    return values
