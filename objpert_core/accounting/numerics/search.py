"""One-dimensional searches whose answer is on the safe side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from objpert_core._validation import FloatArray, IntArray

_FACTORS = (*16 * (4.0,), *20 * (2.0**10,), *20 * (2.0**40,), *20 * (2.0**100,))  # growth of a bracket, one step a go
_LAST = 4e300  # ε that is tried
_STEPS = 200
_WIDTH = 1e-15  # relative, of what is narrow
_LEAST_STEP = 0.6  # of that width: two steps next to each other, on both sides of the root, close the bracket


def smallest_epsilon(
    log_profile: Callable[[FloatArray], FloatArray],
    log_delta: FloatArray,
    start: float = 0.0,
    guess: ArrayLike = 1e-3,
) -> FloatArray:
    """Smallest ε >= start with log δ(ε) <= log_delta, rounded up; inf where no ε is large enough."""
    return smallest_epsilon_of_each(lambda epsilon, _: log_profile(epsilon), log_delta, start, guess)


def smallest_epsilon_of_each(
    log_profile: Callable[[FloatArray, IntArray], FloatArray],
    log_delta: FloatArray,
    start: float = 0.0,
    guess: ArrayLike = 1e-3,
) -> FloatArray:
    """`smallest_epsilon` where each entry of `log_delta` has its own profile, which gets ε and the entries' indices."""

    def gap(epsilon: FloatArray, chosen: IntArray) -> FloatArray:
        return log_profile(epsilon, chosen) - log_delta[chosen]

    result = np.full(log_delta.shape, float(start))
    at_start = gap(result, np.arange(result.size))
    todo = np.flatnonzero(~(at_start <= 0))
    if not todo.size:
        return result
    low, f_low = result[todo], at_start[todo]
    high = np.maximum(np.broadcast_to(guess, log_delta.shape)[todo], max(2 * start, 1e-300))
    f_high = gap(high, todo)
    for factor in _FACTORS:
        growing = ~(f_high <= 0) & (high < 1e300)
        if not growing.any():
            break
        low, f_low = np.where(growing, high, low), np.where(growing, f_high, f_low)
        high = np.where(growing, factor * np.minimum(high, _LAST / factor), high)
        f_high[growing] = gap(high[growing], todo[growing])
    for factor in _FACTORS:  # far below the first guess
        falling = (f_high <= 0) & (low == 0) & (high > 1e-300)
        if not falling.any():
            break
        tried = high[falling] / factor
        f_tried = gap(tried, todo[falling])
        below = f_tried <= 0
        low[falling], f_low[falling] = np.where(below, 0.0, tried), np.where(below, f_low[falling], f_tried)
        high[falling], f_high[falling] = (
            np.where(below, tried, high[falling]),
            np.where(below, f_tried, f_high[falling]),
        )
    found = f_high <= 0
    result[todo[~found]] = np.inf
    result[todo[found]] = _narrow(gap, low[found], f_low[found], high[found], f_high[found], todo[found])
    return result


def _narrow(
    gap: Callable[[FloatArray, IntArray], FloatArray],
    low: FloatArray,
    f_low: FloatArray,
    high: FloatArray,
    f_high: FloatArray,
    index: IntArray,
) -> FloatArray:
    """Upper ends of the narrowed brackets of a sign change from positive (low) to non-positive (high)."""
    last, f_last, other, f_other = high, f_high, low, f_low  # the newest end of the bracket, and the one across
    third, f_third = other, f_other
    stayed = np.zeros(low.size)
    for step in range(_STEPS):
        low, high = np.minimum(last, other), np.maximum(last, other)
        width = high - low
        open_ = width > _WIDTH * high
        if not open_.any():
            break
        with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
            part = (last - other) / (third - other)
            height = (f_last - f_other) / (f_third - f_other)
            share = f_last / (f_other - f_last) * (f_third / (f_other - f_third)) + (third - last) / (other - last) * (
                f_last / (f_third - f_last)
            ) * (f_other / (f_third - f_other))
            usable = (np.square(height) < part) & (np.square(1 - height) < 1 - part)
            if step == 0:
                share, usable = f_last / (f_last - f_other), np.isfinite(f_last)
            least = np.minimum(_LEAST_STEP * _WIDTH * high * 2.0**stayed / width, 0.5)
            inside = last + np.clip(share, least, 1 - least) * (other - last)
        far = (low > 0) & (high > 4 * low)
        middle = np.where(far, np.sqrt(low) * np.sqrt(high), 0.5 * (low + high))
        guess = np.where(usable & np.isfinite(inside) & (inside > low) & (inside < high), inside, middle)
        f_guess = np.where(open_, 0.0, f_last)
        f_guess[open_] = gap(guess[open_], index[open_])
        same = open_ & ((f_guess <= 0) == (f_last <= 0))  # what is not a number does not meet the target
        crossed = open_ & ~same
        third, f_third = np.where(crossed, other, last), np.where(crossed, f_other, f_last)
        other, f_other = np.where(crossed, last, other), np.where(crossed, f_last, f_other)
        last, f_last = np.where(open_, guess, last), np.where(open_, f_guess, f_last)
        stayed = np.where(same, stayed + 1, 0.0)
    return np.maximum(last, other)
