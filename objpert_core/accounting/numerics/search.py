"""One-dimensional searches whose answer is on the safe side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from objpert_core._validation import FloatArray, IntArray

_FACTORS = (*16 * (4.0,), *20 * (2.0**10,), *20 * (2.0**40,), *20 * (2.0**100,))  # growth of a bracket, one step a go
_STEPS = 200


def smallest_epsilon(
    log_profile: Callable[[FloatArray], FloatArray], log_delta: FloatArray, start: float = 0.0
) -> FloatArray:
    """Smallest ε >= start with log δ(ε) <= log_delta, rounded up; inf where there is none."""
    return smallest_epsilon_of_each(lambda epsilon, _: log_profile(epsilon), log_delta, start)


def smallest_epsilon_of_each(
    log_profile: Callable[[FloatArray, IntArray], FloatArray], log_delta: FloatArray, start: float = 0.0
) -> FloatArray:
    """`smallest_epsilon` where every entry of `log_delta` has a profile of its own: it gets ε and their indices.

    Works on the logarithm of the profile, which never increases in ε: steps that grow find a bracket, then
    regula falsi with the Illinois rule, safeguarded by bisection, narrows it to neighbouring doubles or a relative
    width of 1e-15. The upper end of the bracket, at which the inequality was evaluated, is returned.
    """

    def gap(epsilon: FloatArray, chosen: IntArray) -> FloatArray:
        return log_profile(epsilon, chosen) - log_delta[chosen]

    result = np.full(log_delta.shape, float(start))
    todo = np.flatnonzero(~(gap(result, np.arange(result.size)) <= 0))
    if not todo.size:
        return result
    low = np.full(todo.size, float(start))
    high = np.full(todo.size, max(2 * start, 1e-3))
    value = gap(high, todo)
    for factor in _FACTORS:
        growing = ~(value <= 0) & (high < 1e300)
        if not growing.any():
            break
        low = np.where(growing, high, low)
        high = np.where(growing, np.minimum(factor * high, 4e300), high)
        value[growing] = gap(high[growing], todo[growing])
    for factor in _FACTORS:  # far below the first guess
        falling = (value <= 0) & (low == 0) & (high > 1e-300)
        if not falling.any():
            break
        tried = high[falling] / factor
        below = gap(tried, todo[falling])
        low[falling] = np.where(below <= 0, 0.0, tried)
        high[falling] = np.where(below <= 0, tried, high[falling])
    found = value <= 0
    result[todo[~found]] = np.inf
    result[todo[found]] = _narrow(gap, low[found], high[found], todo[found])
    return result


def _narrow(
    gap: Callable[[FloatArray, IntArray], FloatArray], low: FloatArray, high: FloatArray, index: IntArray
) -> FloatArray:
    """Upper ends of the narrowed brackets of a sign change from positive (low) to non-positive (high)."""
    f_low, f_high = gap(low, index), gap(high, index)
    side = np.zeros(low.size)
    for step in range(_STEPS):
        width = high - low
        open_ = width > 1e-15 * high
        if not open_.any():
            break
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            guess = high - f_high * width / (f_high - f_low)
        bisect = ~np.isfinite(guess) | (guess <= low) | (guess >= high) | (step % 3 == 2)
        middle = np.where((low > 0) & (high > 4 * low), np.sqrt(low) * np.sqrt(high), 0.5 * (low + high))
        guess = np.where(bisect, middle, guess)
        # land a little on the safe side, so that the upper end converges as well
        guess = np.where(bisect, guess, np.minimum(guess + 1e-16 * guess, high))
        f_guess = np.where(open_, 0.0, f_high)
        f_guess[open_] = gap(guess[open_], index[open_])
        above = open_ & ~(f_guess <= 0)  # what is not a number does not meet the target
        below = open_ & ~above
        f_high = np.where(above & (side > 0), 0.5 * f_high, f_high)
        f_low = np.where(below & (side < 0), 0.5 * f_low, f_low)
        low, f_low = np.where(above, guess, low), np.where(above, f_guess, f_low)
        high, f_high = np.where(below, guess, high), np.where(below, f_guess, f_high)
        side = np.where(above, 1.0, np.where(below, -1.0, side))
    return high
