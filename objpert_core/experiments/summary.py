"""Means of repeated runs with a 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Interval:
    """A mean and its two-sided interval by Student's t.

    Attributes:
        mean: the mean of the values.
        low, high: the interval's ends; NaN when there is one value only, which says nothing about spread.
        count: how many values.
    """

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


def mean_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """The mean of `values` and the interval that holds the true mean with probability `level`, values being normal.

    Args:
        values: independent draws, at least one.
        level: coverage, strictly between 0 and 1.

    Raises:
        ValueError: `values` is empty or `level` is out of range.

    Example:
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
