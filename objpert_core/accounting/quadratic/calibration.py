"""From a privacy target (ε, δ) to the least random quadratic form that meets it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaincinv

from objpert_core._validation import (
    FloatArray,
    IntArray,
    between,
    check_fields,
    choice,
    in_open_unit,
    integer_up_to,
    positive_integer,
)
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian, log_target
from objpert_core.accounting.mechanisms.base import ADJACENCIES, REPLACE_ONE
from objpert_core.accounting.numerics.safe_root import nudged, smallest_above
from objpert_core.accounting.quadratic import wishart
from objpert_core.accounting.quadratic.mechanism import QUADRATIC_BOUNDS, QuadraticPerturbation

EPSILONS = (1e-8, 1e4)
"""The least and the largest ε that is calibrated for."""
MOST_DIMENSIONS = 100_000
_OFFSETS = np.array([1, 6, 18, 36, 72, 216, 1024])
_MARGIN = 1e-11
_SECANTS = 200
_FEW = 6
_CLOSE = 1e-11  # of log δ


@dataclass(frozen=True)
class WantedBend:
    """What a bend is calibrated for; the best number of degrees of freedom stands for None."""

    epsilon: float
    delta: float
    dimension: int
    smoothness: float
    degrees_of_freedom: int | None
    adjacency: str

    def __post_init__(self) -> None:
        check_fields(self, between(*EPSILONS), "epsilon")
        check_fields(self, in_open_unit, "delta")
        integer_up_to("dimension", self.dimension, MOST_DIMENSIONS)
        check_fields(self, between(1e-100, 1e100), "smoothness")
        choice("adjacency", self.adjacency, ADJACENCIES)

    def bend(self, scale: float, m: int, bound: str = "exact", *, rank: int = 1) -> QuadraticPerturbation:
        """The bend of this scale and these degrees of freedom."""
        return QuadraticPerturbation(scale, m, self.dimension, self.smoothness, self.adjacency, bound, rank=rank)


def calibrate_quadratic_perturbation(
    epsilon: float,
    delta: float,
    dimension: int,
    smoothness: float = 1.0,
    degrees_of_freedom: int | None = None,
    adjacency: str = REPLACE_ONE,
    bound: str = "exact",
    *,
    rank: int = 1,
) -> QuadraticPerturbation:
    """The least noise σ²·Wishart_d(m) with which quadratic objective perturbation is (ε, δ)-DP.

    Its δ at ε does not exceed `delta`, and its σ² is within 1e-9 (relative) of the least one that the bound allows.
    docs/theorems.md, T31 to T33. For large d the best m is about 2d and mσ² about 2L√d/a, a being the sensitivity over
    σ of the Gaussian mechanism that meets (ε, δ). `ValueError` for an adjacency that no theorem covers.

    Parameters
    ----------
    epsilon : float from 1e-8 to 1e4
    delta : float strictly between 0 and 1
    dimension : int d from 1 to 100,000
    smoothness : float from 1e-100 to 1e100
        L; for the squared loss the largest ‖x‖².
    degrees_of_freedom : int >= dimension + 1, optional
        m; by default the one that makes mσ² smallest, the mean of the quadratic term in every direction.
    adjacency, bound, rank
        As in `QuadraticPerturbation`; for an exact solver.

    Examples
    --------
    >>> bend = calibrate_quadratic_perturbation(0.5, 0.01, 12)
    >>> bend.degrees_of_freedom, round(bend.scale, 4), bend.delta(0.5) <= 0.01
    (32, 0.8073, True)
    """
    wanted = WantedBend(epsilon, delta, dimension, smoothness, degrees_of_freedom, adjacency)
    choice("bound", bound, QUADRATIC_BOUNDS)
    positive_integer("rank", rank)
    if degrees_of_freedom is not None:  # says what m may be
        QuadraticPerturbation(1.0, degrees_of_freedom, dimension, adjacency=adjacency, bound=bound)
    else:
        QuadraticPerturbation(1.0, dimension + 1, dimension, adjacency=adjacency, bound=bound)
    return _calibrated(wanted, bound, rank)


@lru_cache(maxsize=512)
def _calibrated(wanted: WantedBend, bound: str, rank: int) -> QuadraticPerturbation:
    epsilon, delta, dimension, smoothness, degrees_of_freedom, adjacency = astuple(wanted)
    target = log_target(delta)

    def mechanism(scale: float, m: int) -> QuadraticPerturbation:
        return wanted.bend(scale, m, bound, rank=rank)

    shifts: dict[int, float] = {}

    def least_scale(m: int) -> float:
        """σ²/L by bisection, for bounds without a search of their own."""

        def gap(scale: float) -> float:
            return float(mechanism(scale * smoothness, m)._log_delta(np.array([epsilon]))[0]) - target

        return smallest_above(gap, 10 / min(epsilon, 1.0), 0.0)

    def scales(m: IntArray) -> FloatArray:
        if bound == "exact":
            near = None
            if shifts:  # s grows like a power of m
                known = np.array(sorted(shifts))
                near = np.exp(np.interp(np.log(m), np.log(known), np.log([shifts[each] for each in known])))
            shifts.update(zip(m.tolist(), largest_shifts(epsilon, delta, m, dimension, adjacency, near), strict=True))
            return np.array([1 / shifts[each] for each in m.tolist()])
        return np.array([least_scale(int(each)) for each in m])

    m = best_integer(lambda m: m * scales(m), dimension + 1) if degrees_of_freedom is None else degrees_of_freedom
    first = smoothness * float(scales(np.array([m]))[0])
    if not 1e-100 <= first <= 1e100:
        raise ValueError(
            f"degrees_of_freedom must be another one for delta = {delta!r} and smoothness = {smoothness!r}, got {m!r}"
            f": σ² would be {first:.3g}, and σ² must be a number from 1e-100 to 1e+100"
        )
    return nudged(
        lambda found: float(found._log_delta(np.array([epsilon]))[0]) <= target,
        lambda margin: mechanism(first * (1 + margin), m),
        _MARGIN,
    )


def largest_shifts(
    epsilon: float, delta: float, m: IntArray, dimension: int, adjacency: str, near: FloatArray | None = None
) -> FloatArray:
    """The largest s = L/σ² at which the exact bound meets (ε, δ), for every m of an array; a root, not a promise."""
    k = (np.asarray(m) - dimension - 1) / 2
    target = math.log(delta)
    swaps = adjacency == REPLACE_ONE and dimension > 1
    at = np.full(k.shape, epsilon)

    def one_row(log_s: FloatArray, chosen: FloatArray) -> FloatArray:
        s = np.exp(log_s)
        both = wishart.log_delta_removed(at[: s.size], s, chosen), wishart.log_delta_added(at[: s.size], s, chosen)
        return np.maximum(*both) - target

    def swapped(log_s: FloatArray, chosen: FloatArray) -> FloatArray:
        return wishart.log_delta_swapped(at[: log_s.size], np.exp(log_s), chosen) - target

    # a row cannot stand out more often than δ; and a Gaussian mechanism's s is near where k is large
    most = np.log(2 * gammaincinv(k + 1, delta))
    a = 1 / calibrate_gaussian(epsilon, delta).sigma
    guess = np.log(a * np.sqrt((2 if swaps else 4) * (k + 1))) if near is None else np.log(near)
    found = np.minimum(most, guess)
    if swaps:
        found = np.minimum(_largest(swapped, found, k), most)
    over = np.flatnonzero(one_row(found, k) > 0) if swaps else np.arange(k.size)
    found[over] = _largest(one_row, found[over], k[over])
    return np.exp(found)


def _largest(gap: Callable[[FloatArray, FloatArray], FloatArray], start: FloatArray, k: FloatArray) -> FloatArray:
    """The x with gap(x) = 0 for every k, for gaps that increase in x: secants that stay within what is known."""
    x, value = start.copy(), gap(start, k)
    low, high = np.full(k.shape, -np.inf), np.full(k.shape, np.inf)
    slope = np.full(k.shape, 3.0)
    for tries in range(_SECANTS):
        low, high = np.where(value <= 0, x, low), np.where(value > 0, x, high)
        todo = np.flatnonzero((np.abs(value) > _CLOSE) & ~(high - low < 1e-14))
        if not todo.size:
            break
        step = np.clip(-value[todo] / slope[todo], -2.0, 2.0)
        step = np.where(np.isfinite(step), step, np.where(value[todo] > 0, -2.0, 2.0))
        if tries >= _FEW:  # still no bracket: δ is flat, near 1 or near its floor, and slopes say nothing
            far = np.where(np.isinf(high[todo] - low[todo]), 0.01 * 2.0 ** min(tries - _FEW, 8), 0.0)
            step = np.where(np.abs(step) < far, -np.sign(value[todo]) * far, step)
        tried = x[todo] + step
        outside = ~((tried > low[todo]) & (tried < high[todo]))
        if tries % 4 == 3:  # where δ falls from 1 at once secants may go on for ever
            outside |= np.isfinite(high[todo] - low[todo])
        with np.errstate(invalid="ignore"):
            tried = np.where(outside, 0.5 * (low[todo] + high[todo]), tried)
        after = gap(tried, k[todo])
        with np.errstate(invalid="ignore", divide="ignore"):
            measured = (after - value[todo]) / (tried - x[todo])
        slope[todo] = np.where((measured > 1e-3) & np.isfinite(measured), measured, slope[todo])
        x[todo], value[todo] = tried, after
    return x


def best_integer(cost: Callable[[IntArray], FloatArray], least: int) -> int:
    """The whole number from `least` on at which a cost is smallest that first falls and then rises."""
    known: dict[int, float] = {}

    def ask(m: IntArray) -> None:
        fresh = [each for each in dict.fromkeys(m.tolist()) if each >= least and each not in known]
        if fresh:
            known.update(zip(fresh, np.asarray(cost(np.array(fresh))).tolist(), strict=True))

    size = max(1, (least - 1) // 24)
    ask(least - 1 + size * _OFFSETS)
    ask(np.array([least]))
    while True:
        best = min(known, key=lambda each: known[each])
        below = max((each for each in known if each < best), default=None)
        above = min((each for each in known if each > best), default=None)
        if above is None:
            ask(np.array([2 * best, 4 * best]))
            continue
        left = best - 1 if below is None else below
        if above - left == 2:
            return best
        middle = {
            best + (above - best) // 3,
            best + (above - best) // 2,
            best - (best - left) // 3,
            best - (best - left) // 2,
        }
        if above - left <= 9:
            middle = set(range(left + 1, above))
        else:
            middle |= {_vertex(known, left, best, above), best - 1, best + 1}
        ask(np.array(sorted(middle)))


def _vertex(known: dict[int, float], left: int, best: int, right: int) -> int:
    if left not in known:
        return best
    x, y = np.array([left, best, right], float), np.array([known[left], known[best], known[right]])
    if not np.isfinite(y).all():
        return best
    bend, tilt = np.polyfit(x - best, y, 2)[:2]
    return round(float(best - tilt / (2 * bend))) if bend > 0 else best
