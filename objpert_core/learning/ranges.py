"""Ranges of the columns from two noisy histograms, and rows that are cut to ranges and mapped to [−1, 1].

With public noise σ₁ and σ₂ (`accounting.RangeNoise`) every column has two histograms:

1. of sign and magnitude: 0, and the powers of √2 from 2⁻³⁰ to 2⁶⁰ on both sides of it;
2. of equal bins within what the first has found, or within public limits, where the plan leaves out the first; values
   outside of them are counted at the ends.

A row adds one to one bin of every column, whatever the others are: bins are told by operations that depend on one entry
alone. Counts are whole numbers with noise of their lattice: Gaussian mechanisms of sensitivity √d (docs/theorems.md,
T14 and T47). Everything else is made of noisy counts and public numbers alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting import RangeNoise
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO, NoiseSource, with_noise
from objpert_core.learning.range_search import LEVELS, LOWEST, of_equal_bins, of_magnitudes

_ROOT = math.sqrt(0.5)
_BINS = (8, 64)  # of equal width, at least and at most
_ROWS_A_BIN = 4.0  # times the noise, if rows are spread evenly
_SPACING = 2.0**-20  # of the lattice on which counts and noise lie, unless noise would not fit 64 bits
_BLOCK = 2**16  # entries that are counted at once


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of columns, public or private, and the map that cuts columns to them; ends have shape (d,), low < high.

    >>> Ranges(np.array([0.0]), np.array([120.0])).apply(np.array([[30.0], [150.0]])).tolist()
    [[-0.5], [1.0]]
    """

    low: FloatArray
    high: FloatArray

    @classmethod
    def declared(
        cls,
        low: Any,
        high: Any,
        features: int,
        *,
        names: tuple[str, str] = ("low", "high"),
        unknown: bool = False,
    ) -> Ranges:
        """Public ranges, from known numbers; ValueError if one is empty, not finite, or missing.

        Parameters
        ----------
        low, high : float or array-like of shape (features,)
        features : int >= 1
            The number of columns d.
        names : tuple of two str
            What a message calls `low` and `high`.
        unknown : bool, default=False
            Whether both ends may be NaN, for a column whose range is to be found privately.

        Examples
        --------
        >>> Ranges.declared(0.0, [120.0, 80.0], 2).high.tolist()
        [120.0, 80.0]
        """
        ends = []
        for name, given in zip(names, (low, high), strict=True):
            value = np.asarray(given)
            if value.dtype.kind not in "iuf" or not (np.isfinite(value) | (unknown & np.isnan(value))).all():
                raise ValueError(f"{name} must be finite numbers, got {given!r}")
            if value.shape not in ((), (features,)):
                raise ValueError(f"{name} must be a number or one for each of {features} features, got {value.shape}")
            ends.append(np.broadcast_to(value.astype(np.float64), (features,)))
        neither = np.isnan(ends[0]) & np.isnan(ends[1])
        for name, end in zip(names, ends, strict=True):
            if (np.isnan(end) & ~neither).any():
                raise ValueError(f"{name} must be finite numbers, or NaN beside NaN, got {end}")
        if (empty := ~((ends[0] / 2 < ends[1] / 2) | neither)).any():  # of no other range is half a number above 0
            column = int(np.argmax(empty))
            raise ValueError(
                f"{names[0]} must be below {names[1]}, got {ends[0][column]} and {ends[1][column]} (column {column})"
            )
        return cls(*ends)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Which columns have no range yet, shape (d,)."""
        return np.isnan(self.low)

    @property
    def half_widths(self) -> FloatArray:
        """Half the width of every range, shape (d,); a coefficient divided by its half width is in the column's own
        units."""
        return self.high / 2 - self.low / 2

    def unclipped(self) -> Ranges:
        """Ranges √d times as wide about the same middles: rows that lie in these ranges are then no longer than 1."""
        middle, wide = self.low / 2 + self.high / 2, self.half_widths * math.sqrt(len(self.low))
        return Ranges(middle - wide, middle + wide)

    def apply(self, X: Any) -> FloatArray:
        """Cut every column of X, shape (n, d), to its range, and map the range to [−1, 1]; NaN where `X` holds NaN.

        One row's result depends on that row alone, and `X` is never written to. ValueError for sparse rows, which the
        map would fill, and for another number of columns.
        """
        if sp.issparse(X):
            raise ValueError(f"X must be dense where columns are cut to ranges, got a sparse {type(X).__name__}")
        refuse_other_columns(np.shape(X), len(self.low))
        # Halves first: a range may be as wide as the doubles go.
        middle, half = self.low / 2 + self.high / 2, self.high / 2 - self.low / 2
        return np.clip((np.clip(np.asarray(X, np.float64), self.low, self.high) - middle) / half, -1.0, 1.0)


def ranges_of_counts(
    summed: Callable[[Callable[[Any], IntArray]], IntArray],
    shape: tuple[int, ...],
    plan: RangeNoise,
    source: NoiseSource,
    *,
    n_rows: int,
    known: Ranges | None = None,
    sparse: bool = False,
) -> Ranges:
    """Release the noisy histograms that a plan asks for, at the price of `plan.mechanisms`, and make ranges of them.

    `summed` adds up what a function counts in each part of the rows, wherever they are; noise is drawn before it is
    asked. With `known` ranges only their unknown columns are looked at; where the plan has no histogram of magnitudes,
    all of them, within the known ranges. `n_rows` is the public number of rows, on which the number of equal bins
    depends. `ValueError` for other columns than the plan pays for, or sparse rows.
    """
    if sparse:
        raise ValueError("X must be dense where ranges are released, got sparse rows")
    refuse_other_columns(shape, plan.columns if known is None else len(known.low))
    if plan.magnitudes is None and (known is None or known.unknown.any()):
        raise ValueError(f"known must have a range for each column where magnitudes are left out, got {known!r}")
    which = np.ones(shape[1], bool) if known is None else known.unknown | (plan.magnitudes is None)
    if plan.columns != (asked := int(which.sum())):
        raise ValueError(f"plan must be for {asked} columns, as many as are looked at, got {plan.columns}")

    def noisy(count: Callable[[Any], IntArray], bins: int, sigma: float) -> FloatArray:
        return _noisy(lambda: summed(partial(_of_columns, count, which)), (plan.columns, bins), sigma, source)

    if plan.magnitudes is None:
        assert known is not None
        ends = np.array([known.low, known.high])
    else:
        counts = noisy(_by_magnitude, 2 * LEVELS + 1, plan.magnitudes)
        ends = of_magnitudes(counts, plan.magnitudes, n_rows)
    if (sigma := plan.quantiles) is not None:
        bins = int(np.clip(n_rows / (_ROWS_A_BIN * sigma), *_BINS))
        counts = noisy(partial(_by_place, within=Ranges(*ends), bins=bins), bins, sigma)
        ends = of_equal_bins(counts, sigma, n_rows, ends)
    if known is None:
        return Ranges(*ends)
    whole = np.array([known.low, known.high])
    whole[:, which] = ends
    return Ranges(*whole)


def refuse_other_columns(shape: tuple[int, ...], columns: int) -> None:
    """`ValueError` for rows that have another number of columns than there are ranges."""
    if len(shape) != 2 or shape[1] != columns:
        raise ValueError(f"X must have {columns} columns, as many as there are ranges, got the shape {shape}")


def _noisy(counted: Callable[[], IntArray], shape: tuple[int, int], sigma: float, source: NoiseSource) -> FloatArray:
    """Counts on a lattice and noise on the same lattice, drawn before: the release itself, in doubles."""
    spacing = max(_SPACING, power_of_two(sigma) * 2 / LARGEST_RATIO)  # at most 1, as σ is at most 1e15
    noise = source.rounded_normal(sigma / spacing, math.prod(shape)).reshape(shape)
    return np.asarray(with_noise(counted() * int(1 / spacing), noise) * spacing, dtype=np.float64)


def _of_columns(count: Callable[[Any], IntArray], which: Any, X: Any) -> IntArray:
    return count(X if which.all() else X[:, which])  # no copy of all


# --- what each row gives, in whole numbers ---------------------------------------------------------------------------


def _by_magnitude(X: Any) -> IntArray:
    """How many rows each column has in bins of sign and magnitude, shape (d, 361), from the most negative bin on."""

    def place(block: FloatArray) -> IntArray:
        size, exponent = np.frexp(np.abs(block))  # |x| = size·2^exponent, exactly, and ½ <= size < 1
        level = np.clip(2 * exponent.astype(np.int64) - 2 + (size >= _ROOT) - LOWEST, -1, LEVELS - 1)
        return np.where(block == 0, 0, np.where(block < 0, -1, 1) * (level + 1)) + LEVELS

    return _counted(X, place, 2 * LEVELS + 1)


def _by_place(X: Any, within: Ranges, bins: int) -> IntArray:
    """How many rows each column has in equal bins of its range, shape (d, bins); those beyond are in the last bins."""

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
