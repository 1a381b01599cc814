"""Ranges of the columns from two noisy histograms, and rows that are cut to ranges and mapped to [−1, 1].

With public noise σ₁ and σ₂ (`accounting.RangeNoise`) every column has two histograms:

1. of sign and magnitude: 0, and the powers of √2 from 2⁻³⁰ to 2⁶⁰ on both sides of it;
2. of equal bins within what the first has found, values outside of them counted at the ends.

A row adds one to one bin of every column, whatever the others are: bins are told by exact comparisons and by single
operations in doubles, which depend on one entry alone. Counts are whole numbers, and the noise is sampled on their
lattice, so that each histogram is the Gaussian mechanism of sensitivity √d (docs/theorems.md, T14 and T47). Everything
else is made of noisy counts and public numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import norm

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting import RangeNoise
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO, NoiseSource

_LEVELS = 180  # half octaves from 2⁻³⁰ on
_LOWEST = -60  # 2^(−60/2) is where they begin
_ROOT = math.sqrt(0.5)
_TAIL = 0.01  # of what was found: beyond the ranges on either side
_FALSE = 0.005  # the chance that noise alone is taken for rows somewhere
_WIDTHS = (1, 2, 4, 8, 16)  # bins that are looked at together
_MOST_BINS = 64
_LEAST_BINS = 8
_ROWS_A_BIN = 4.0  # standard deviations of the noise, if rows are spread evenly
_SPACING = 2.0**-20
_BLOCK = 2**16  # entries that are counted at once


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of the columns, low < high; `low` and `high` have shape (d,).

    >>> Ranges(np.array([0.0]), np.array([120.0])).apply(np.array([[30.0], [150.0]])).tolist()
    [[-0.5], [1.0]]
    """

    low: FloatArray
    high: FloatArray

    @classmethod
    def declared(cls, low: Any, high: Any, features: int, *, names: tuple[str, str] = ("low", "high")) -> Ranges:
        """Public ranges, each end one number or one for each feature.

        `ValueError` if a range is empty or not finite, or there is not one for each feature.
        """
        ends = []
        for name, given in zip(names, (low, high), strict=True):
            value = np.asarray(given)
            if value.dtype.kind not in "iuf" or not np.isfinite(value).all():
                raise ValueError(f"{name} must be finite numbers, got {given!r}")
            if value.shape not in ((), (features,)):
                raise ValueError(f"{name} must be a number or one for each of {features} features, got {value.shape}")
            ends.append(np.broadcast_to(value.astype(np.float64), (features,)))
        if (empty := ~(ends[0] / 2 < ends[1] / 2)).any():  # of no other range is half a number above 0
            column = int(np.argmax(empty))
            raise ValueError(
                f"{names[0]} must be below {names[1]}, got {ends[0][column]} and {ends[1][column]} (column {column})"
            )
        return cls(*ends)

    def apply(self, X: Any) -> FloatArray:
        """Cut every column to its range, and map the range to [−1, 1]; NaN stays NaN. `X` is never written to.

        `ValueError` for sparse rows, which the map would fill.
        """
        if sp.issparse(X):
            raise ValueError(f"X must be dense where columns are cut to ranges, got a sparse {type(X).__name__}")
        # Halves first: a range may be as wide as the doubles go.
        middle, half = self.low / 2 + self.high / 2, self.high / 2 - self.low / 2
        return np.clip((np.clip(np.asarray(X, np.float64), self.low, self.high) - middle) / half, -1.0, 1.0)


def release_ranges(X: Any, plan: RangeNoise, source: NoiseSource, *, n_rows: int) -> Ranges:
    """Release the noisy histograms that a plan asks for, and make ranges of them, which costs what `plan.mechanisms` say.

    `n_rows` is the public number of rows, by which the number of equal bins goes.
    """
    found = _by_powers(_noisy(_by_magnitude(X), plan.magnitudes, source), plan.magnitudes)
    if (sigma := plan.quantiles) is None:
        return found
    bins = int(min(max(n_rows / (_ROWS_A_BIN * sigma), _LEAST_BINS), _MOST_BINS))
    closer = _within(
        _noisy(_by_place(X, found, bins), sigma, source), sigma, np.linspace(found.low, found.high, bins + 1, axis=1)
    )
    lost = ~(closer.low < closer.high)
    return Ranges(np.where(lost, found.low, closer.low), np.where(lost, found.high, closer.high))


def _noisy(counts: IntArray, sigma: float, source: NoiseSource) -> FloatArray:
    """Counts on a lattice and noise on the same lattice: the release itself, in doubles."""
    spacing = max(_SPACING, power_of_two(sigma) * 2 / LARGEST_RATIO)  # at most 1, as σ is at most 1e15
    noise = source.rounded_normal(sigma / spacing, counts.size).reshape(counts.shape)
    return np.asarray((counts * int(1 / spacing) + noise) * spacing, dtype=np.float64)


# --- what each row gives, in whole numbers ---------------------------------------------------------------------------


def _by_magnitude(X: Any) -> IntArray:
    """How many rows each column has in bins of sign and magnitude, shape (d, 361), from the most negative bin on."""

    def place(block: FloatArray) -> IntArray:
        size, exponent = np.frexp(np.abs(block))  # |x| = size·2^exponent, exactly, and ½ <= size < 1
        level = np.clip(2 * exponent.astype(np.int64) - 2 + (size >= _ROOT) - _LOWEST, -1, _LEVELS - 1)
        return np.where(block == 0, 0, np.where(block < 0, -1, 1) * (level + 1)) + _LEVELS

    return _counted(X, place, 2 * _LEVELS + 1)


def _by_place(X: Any, within: Ranges, bins: int) -> IntArray:
    """How many rows each column has in equal bins of its range, shape (d, bins), those beyond in the bins at the ends."""

    def place(block: FloatArray) -> IntArray:
        return np.minimum(((within.apply(block) + 1) * (bins / 2)).astype(np.int64), bins - 1)

    return _counted(X, place, bins)


def _counted(X: Any, place: Callable[[FloatArray], IntArray], bins: int) -> IntArray:
    n_rows, columns = X.shape
    counts = np.zeros(columns * bins, dtype=np.int64)
    first, size = np.arange(columns) * bins, max(1, _BLOCK // max(1, columns))
    for start in range(0, n_rows, size):
        block = np.asarray(X[start : start + size], dtype=np.float64)
        counts += np.bincount((place(block) + first).ravel(), minlength=len(counts))
    return counts.reshape(columns, bins)


# --- what is made of noisy counts: public numbers alone ----------------------------------------------------------------


def _edges() -> FloatArray:
    powers = np.exp2(np.arange(_LEVELS + 1) / 2 + _LOWEST / 2)
    return np.concatenate([-powers[::-1], powers])


def _by_powers(counts: FloatArray, sigma: float) -> Ranges:
    """Ranges from noisy counts of magnitudes; [−1, 1] for a column of which nothing but zeros was found."""
    found = _within(counts, sigma, np.tile(_edges(), (len(counts), 1)))
    lost = np.isnan(found.low) | (np.maximum(-found.low, found.high) <= 2.0 ** (_LOWEST / 2))
    return Ranges(np.where(lost, -1.0, found.low), np.where(lost, 1.0, found.high))


def _within(counts: FloatArray, sigma: float, edges: FloatArray) -> Ranges:
    """From the first to the last hundredth of what was found, places within a bin by straight lines; NaN for nothing.

    Rows that noise hides are not counted: a bin of which nothing was found counts as empty.
    """
    mass = np.where(_found(counts, sigma), np.maximum(counts, 0.0), 0.0)
    ends = [_quantiles(own, places) if own.any() else (np.nan, np.nan) for own, places in zip(mass, edges, strict=True)]
    return Ranges(*np.array(ends).T)


def _quantiles(mass: FloatArray, places: FloatArray) -> tuple[float, float]:
    below = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    ends = []
    for level in (_TAIL, 1 - _TAIL):
        last = int(np.searchsorted(below, level, side="right"))  # the bin's upper edge
        part = (level - below[last - 1]) / (below[last] - below[last - 1])
        ends.append(float(places[last - 1] + part * (places[last] - places[last - 1])))
    return ends[0], ends[1]


def _found(counts: FloatArray, sigma: float) -> NDArray[np.bool_]:
    """The bins in which there are rows, as far as noise lets it be told: single ones first, then several together."""
    bins = counts.shape[1]
    limit = sigma * float(norm.isf(_FALSE / (counts.size * len(_WIDTHS))))
    found = np.zeros(counts.shape, dtype=bool)
    for width in _WIDTHS:
        if width > bins:
            break
        rest = np.where(found, 0.0, counts)
        free = np.cumsum(np.pad(~found, ((0, 0), (1, 0))), axis=1)
        total = np.cumsum(np.pad(rest, ((0, 0), (1, 0))), axis=1)
        sums, several = total[:, width:] - total[:, :-width], free[:, width:] - free[:, :-width]
        hits = sums > limit * np.sqrt(np.maximum(several, 1))
        for shift in range(width):
            found[:, shift : bins - width + 1 + shift] |= hits
    return found
