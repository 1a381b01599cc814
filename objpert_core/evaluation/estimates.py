"""Estimates from counts with Gaussian noise, each with an interval that covers the noise and the sampling of the rows.

An interval holds every value that a test at its level does not reject (Fieller 1954). A proportion a of `yes` rows
among yes and no rows has the statistic (1 − a)·yes − a·no. Its mean is 0 at the true a, and its variance is

    a(1 − a)·(yes + no)  +  noise·((1 − a)²·(cells of yes) + a²·(cells of no)),

where `noise` is the variance of one cell's noise. Without noise the interval is Wilson's; where the noise drowns the
rows, it is everything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from objpert_core._validation import FloatArray

_GRID = 2001
_NEXT_ORDER = 5.0  # what is left of the correction for wide bins over its share of A - 1/2, by normal scores
_VAGUE = 0.5  # of an interval's width
_SMOOTH = 4.0  # standard deviations from which on rounding to whole numbers adds 1/12 to the variance, to all digits


@dataclass(frozen=True)
class Estimate:
    """A value and the interval that covers the truth about it; a proportion's three numbers are cut to [0, 1].

    >>> print(Estimate(0.84215, 0.83044, 0.85391))
    0.842 (0.830 to 0.854)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        digits = max(3, min(6, 1 - math.floor(math.log10(max(self.high - self.low, 1e-9)))))
        return f"{self.value:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"

    @classmethod
    def share(cls, value: float, low: float, high: float) -> Estimate:
        """An estimate of a number from 0 to 1; the middle of the interval, where the noise leaves no value."""
        value = 0.5 * (low + high) if math.isnan(value) else value
        return cls(*(min(max(float(number), 0.0), 1.0) for number in (value, low, high)))


@lru_cache(maxsize=64)
def variance_of_rounded(sigma: float) -> float:
    """The variance of N(0, sigma²) rounded to whole numbers."""
    if sigma >= _SMOOTH:
        return sigma**2 + 1 / 12
    points = np.arange(1, 64)
    return float(2 * points**2 @ (ndtr((points + 0.5) / sigma) - ndtr((points - 0.5) / sigma)))


def two_sided(level: float) -> float:
    """How many standard deviations a normal number is off at most, with the probability `level`."""
    return float(ndtri((1 + level) / 2))


@dataclass(frozen=True)
class Part:
    """A noisy number of rows, the sum of so many `cells`."""

    rows: float
    cells: int

    def __add__(self, other: Part) -> Part:
        return Part(self.rows + other.rows, self.cells + other.cells)


def part(counts: FloatArray) -> Part:
    """All the rows in some cells."""
    return Part(float(np.sum(counts)), int(np.size(counts)))


def proportion(yes: Part, no: Part, noise: float, level: float) -> Estimate:
    """The share of `yes` among both, two parts without a cell in common; `noise` is the variance of a cell's noise."""
    square = two_sided(level) ** 2
    total = yes.rows + no.rows
    sampling, of_yes, of_no = square * max(total, 0.0), square * noise * yes.cells, square * noise * no.cells
    # (yes − a·total)² <= sampling·a(1 − a) + of_yes·(1 − a)² + of_no·a², as a quadratic in a
    leading = total**2 + sampling - of_yes - of_no
    linear = -2 * yes.rows * total - sampling + 2 * of_yes
    constant = yes.rows**2 - of_yes
    low, high = _where_not_above_zero(leading, linear, constant)
    return Estimate.share(yes.rows / total if total > 0 else math.nan, low, high)


def _where_not_above_zero(leading: float, linear: float, constant: float) -> tuple[float, float]:
    """The hull of the numbers at which a quadratic is not above zero; everything where that is no interval."""
    inside = linear**2 - 4 * leading * constant
    if leading <= 0 or inside < 0:
        return -math.inf, math.inf
    root = math.sqrt(inside)
    # of the two roots the larger one in size is computed first: no digits cancel
    far = -0.5 * (linear + math.copysign(root, linear))
    ends = (far / leading, constant / far if far != 0 else 0.0)
    return min(ends), max(ends)


def mean_of(estimates: list[Estimate]) -> Estimate:
    """The mean of independent shares, by the distances of their intervals' ends (Zou and Donner 2008)."""
    values, lows, highs = (np.array([getattr(one, name) for one in estimates]) for name in ("value", "low", "high"))
    value, k = float(values.mean()), len(estimates)
    if np.max(highs - lows) > _VAGUE:
        return Estimate.share(value, float(lows.mean()), float(highs.mean()))
    down, up = math.sqrt(((values - lows) ** 2).sum()) / k, math.sqrt(((highs - values) ** 2).sum()) / k
    return Estimate.share(value, value - down, value + up)


def average(values: FloatArray, counts: FloatArray, noise: float, level: float) -> Estimate:
    """The rows' mean of a number that cells give to their rows; its ends are infinite where noise drowns the rows."""
    square = two_sided(level) ** 2
    total, first, second = float(counts.sum()), float(values @ counts), float(values**2 @ counts)
    rows, own = max(total, 0.0), max(second, 0.0)
    leading = total**2 - square * (rows + noise * len(values))
    linear = -2 * first * total + 2 * square * (first + noise * float(values.sum()))
    constant = first**2 - square * (own + noise * float(values @ values))
    low, high = _where_not_above_zero(leading, linear, constant)
    value = first / total if total > 0 else float(values.mean())
    return Estimate(value, min(low, value), max(high, value))


# --- the area under the ROC curve -----------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _kernel(bins: int) -> tuple[FloatArray, FloatArray]:
    """How much a positive in bin i and a negative in bin j count, and what of it corrects for the width of bins."""
    i, j = np.indices((bins, bins))
    plain = np.where(i > j, 1.0, np.where(i == j, 0.5, 0.0))
    correction = np.where(i == j + 1, 1 / 12, 0.0) - np.where(j == i + 1, 1 / 12, 0.0)
    return plain + correction, correction


def area(negatives: FloatArray, positives: FloatArray, noise: float, level: float) -> Estimate:
    """The probability that a positive row has a higher score than a negative one, from counts by bins of the score."""
    kernel, correction = _kernel(len(negatives))
    total_p, total_n = float(positives.sum()), float(negatives.sum())
    pairs, wins = total_p * total_n, float(positives @ kernel @ negatives)
    A = np.linspace(0.0, 1.0, _GRID)

    def squares(first: FloatArray, weight: FloatArray | float, total: float) -> FloatArray:
        """Σ weight·(first − A·total)² for every A."""
        with_weight = np.broadcast_to(weight, first.shape)
        return np.asarray(
            with_weight @ first**2 - 2 * A * total * (with_weight @ first) + (A * total) ** 2 * with_weight.sum()
        )

    of_p, of_n = kernel @ negatives, positives @ kernel
    once = noise * (squares(of_p, 1.0, total_n) + squares(of_n, 1.0, total_p))
    twice = noise**2 * (squares(kernel.ravel(), 1.0, 1.0))
    rows = squares(of_p, positives, total_n) + squares(of_n, negatives, total_p)
    for counts, entries in ((positives, kernel), (negatives, kernel.T)):
        rows -= noise * squares(entries.ravel(), np.repeat(counts, len(counts)), 1.0)
    wide = float(positives @ correction @ negatives)
    more = wide * min(1.0, _NEXT_ORDER * abs(wide) / max(abs(wins - pairs / 2), 1e-300))
    wins += more
    variance = np.maximum(once - twice, twice) + np.maximum(rows, 0.0) + more**2
    value = wins / pairs if total_p > 0 and total_n > 0 else math.nan
    return Estimate.share(value, *_where_kept(A, wins - A * pairs, two_sided(level) * np.sqrt(variance), value))


def _where_kept(A: FloatArray, statistic: FloatArray, most: FloatArray, value: float) -> tuple[float, float]:
    """The first and the last A where |statistic| is at most `most`, by straight lines between points of the grid."""
    rejected = np.abs(statistic) - most
    kept = np.flatnonzero(rejected <= 0)
    if kept.size == 0:  # the whole interval lies between two points of the grid, or outside of it
        half = most[int(rejected.argmin())] / abs(float(statistic[0] - statistic[-1]))
        return (-math.inf, math.inf) if math.isnan(value) else (value - half, value + half)
    ends = []
    for inner, outer in ((kept[0], kept[0] - 1), (kept[-1], kept[-1] + 1)):
        share = rejected[inner] / (rejected[inner] - rejected[outer]) if 0 <= outer < len(A) else 0.0
        ends.append(A[inner] + (outer - inner) * share * (A[1] - A[0]))
    return float(ends[0]), float(ends[1])
