"""Means of repeated runs, and shares of counted rows, with a 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from objpert_core._validation import positive_integer


@dataclass(frozen=True)
class Interval:
    """A mean and its two-sided interval by Student's t; of one value `low` and `high` are NaN."""

    mean: float
    low: float
    high: float
    count: int

    @property
    def known(self) -> bool:
        """Whether there is an interval, that is, at least two values."""
        return self.count > 1

    @property
    def half_width(self) -> float:
        """Half the interval's length, NaN when there is none."""
        return (self.high - self.low) / 2

    def within(self, least: float = 0.0, most: float = 1.0) -> tuple[float, float]:
        """The interval's ends, cut where the quantity itself ends; a share is never above 1."""
        return max(self.low, least), min(self.high, most)


def mean_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """The mean of `values`, at least one, and the interval that holds the true mean with probability `level`, values
    being normal.

    >>> interval = mean_interval([0.84, 0.85, 0.83, 0.84])
    >>> round(interval.mean, 3), round(interval.low, 3), round(interval.high, 3)
    (0.84, 0.827, 0.853)
    """
    if not values:
        raise ValueError("values must hold at least one number, got none")
    if not 0 < level < 1:
        raise ValueError(f"level must be a number strictly between 0 and 1, got {level!r}")
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    count = len(array)
    if count == 1:
        return Interval(mean, math.nan, math.nan, 1)
    spread = float(array.std(ddof=1)) / math.sqrt(count)
    half = float(stdtrit(count - 1, (1 + level) / 2)) * spread
    return Interval(mean, mean - half, mean + half, count)


def wilson_interval(share: float, count: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval (1927) for a probability of which `count` trials showed `share`; unlike the normal one it
    has a width also where every trial succeeded, and stays within 0 and 1.

    >>> low, high = wilson_interval(1.0, 73)
    >>> round(low, 3), round(high, 3)
    (0.95, 1.0)
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must be a number from 0 to 1, got {share!r}")
    positive_integer("count", count)
    if not 0 < level < 1:
        raise ValueError(f"level must be a number strictly between 0 and 1, got {level!r}")
    z2 = float(ndtri((1 + level) / 2)) ** 2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = math.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    return max(0.0, middle - half), min(1.0, middle + half)
