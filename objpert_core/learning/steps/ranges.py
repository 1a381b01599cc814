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
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting import RangeNoise
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO
from objpert_core.learning.steps.base import Outcome, PublicRows, Published, Some, Statistic, Taken
from objpert_core.learning.steps.range_search import LEVELS, LOWEST, of_equal_bins, of_magnitudes

PUBLIC, PRIVATE, MIXED, WITHIN = SOURCES = ("public", "private", "public and private", "private within public")
"""Where ranges came from: declared, all from noisy counts, or some, or all from noisy counts within declared limits."""
_DECLARED = "that these are not from the data is taken on trust"
_ROOT = math.sqrt(0.5)
_BINS = (8, 64)  # of equal width, at least and at most
_ROWS_A_BIN = 4.0  # times the noise, if rows are spread evenly
_SPACING = 2.0**-20  # of the lattice on which counts and noise lie, unless noise would not fit 64 bits
_BLOCK = 2**16  # entries that are counted at once


@dataclass(frozen=True, eq=False)
class Ranges(Outcome):
    """Ranges of columns, public or private, and the map that cuts columns to them; ends have shape (d,), low < high.

    >>> Ranges(np.array([0.0]), np.array([120.0])).apply(np.array([[30.0], [150.0]])).tolist()
    [[-0.5], [1.0]]
    """

    changes_rows: ClassVar[bool] = True

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

        Ends are floats or of shape (features,); `names` is what a message calls them. With `unknown` both ends may be
        NaN, for a column whose range is to be found privately.

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

    def published(self) -> dict[str, Any]:
        return {"feature_ranges_": np.array([self.low, self.high])}

    def unclipped(self) -> Ranges:
        """Ranges √d times as wide about the same middles: rows that lie in these ranges are then no longer than 1."""
        most = np.finfo(np.float64).max
        with np.errstate(over="ignore"):  # infinite ends would make NaN of all rows
            middle, wide = self.low / 2 + self.high / 2, self.half_widths * math.sqrt(len(self.low))
            return Ranges(np.maximum(middle - wide, -most), np.minimum(middle + wide, most))

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


class RangesTaken(Taken[RangeNoise], takes=RangeNoise):
    """Noisy histograms, of magnitudes and of equal bins, and the ranges that are made of them.

    Columns of known range are left alone, or looked at within it where there is no histogram of magnitudes.
    """

    fields = {  # noqa: RUF012 - a table that nobody changes
        "magnitudes": "magnitudes_noise",
        "quantiles": "quantiles_noise",
        "columns": "range_columns",
    }
    fingerprinted = ("feature_ranges_",)
    place = 1

    def released(self, step: RangeNoise, public: PublicRows) -> Generator[Statistic, FloatArray, Ranges]:
        """See `Taken.released`; `ValueError` for other columns than the step pays for, or sparse rows."""
        known, which = public.known(Ranges), looked_at(step, public)
        ends = np.empty((2, 0)) if known is None else np.array([known.low, known.high])[:, which]
        if (sigma := step.magnitudes) is not None:
            counts = yield _histograms(which, 2 * LEVELS + 1, sigma)
            ends = of_magnitudes(counts.reshape(step.columns, -1), sigma, public.n_rows)
        if (sigma := step.quantiles) is not None:
            bins = int(np.clip(public.n_rows / (_ROWS_A_BIN * sigma), *_BINS))
            counts = yield _histograms(which, bins, sigma, Ranges(*ends))
            ends = of_equal_bins(counts.reshape(step.columns, -1), sigma, public.n_rows, ends)
        whole = np.empty((2, len(which))) if known is None else np.array([known.low, known.high])
        whole[:, which] = ends
        return Ranges(*whole).unclipped() if public.unclipped else Ranges(*whole)

    def contradiction(self, certificate: Any) -> str | None:
        source, quantiles = certificate.feature_ranges, certificate.quantiles_noise
        private = source in (PRIVATE, MIXED, WITHIN)
        for name, needed in (("magnitudes_noise", private and source != WITHIN), ("range_columns", private)):
            if ((value := getattr(certificate, name)) is not None) is not needed:
                return f"{name} must be a number for private ranges, and only for them, got {value!r}"
        if quantiles is not None and not private:
            return f"quantiles_noise must be None where ranges are not private, got {quantiles!r}"
        if quantiles is None and source == WITHIN:
            return f"quantiles_noise must be a number where ranges are {WITHIN!r}, got None"
        if private and getattr(certificate, "public_rows", None) is None:
            return "public_rows must be a number for private ranges, got None"
        return None

    def lines(self, certificate: Any) -> list[str]:
        source, noise = certificate.feature_ranges, self.step_of(certificate)
        if noise is None:
            return [] if source is None else [f"  ranges     columns cut to declared ranges; {_DECLARED}"]
        both = " and ".join(f"{one:.6g}" for one in (noise.magnitudes, noise.quantiles) if one is not None)
        which = f"{noise.columns} of the columns" if source == MIXED else "columns"
        line = f"  ranges     {which} cut to ranges from noisy counts, noise {both}: part of the promise"
        declared = {WITHIN: "counted within declared limits", MIXED: "declared for the other columns"}
        return [line, *(f"  ranges     {words}; {_DECLARED}" for one, words in declared.items() if one == source)]

    def covered(self, certificate: Any) -> list[str]:
        some = "some features" if getattr(certificate, "feature_ranges", None) == MIXED else "the features"
        return [] if self.step_of(certificate) is None else [f"the ranges of {some}"]

    def plausible(self, certificate: Any, published: Published, features: int) -> bool:
        """Whether there is a range for each feature, and as many were released as is said, fewer if some are public."""
        ends, source = published["feature_ranges_"], getattr(certificate, "feature_ranges", None)
        if ends is None or source is None:
            return ends is None and source is None
        noise = self.step_of(certificate)
        as_many = noise is None or (noise.columns < features if source == MIXED else noise.columns == features)
        shaped = as_many and ends.shape == (2, features)
        return bool(shaped and np.isfinite(ends).all() and (ends[0] < ends[1]).all())


def looked_at(step: RangeNoise, public: PublicRows) -> NDArray[np.bool_]:
    """The columns of which a step has histograms, shape (d,); `ValueError` where it cannot have any."""
    known = public.known(Ranges)
    if public.sparse:
        raise ValueError("X must be dense where ranges are released, got sparse rows")
    refuse_other_columns((public.n_rows, public.columns), step.columns if known is None else len(known.low))
    if step.magnitudes is None and (known is None or known.unknown.any()):
        raise ValueError(f"known must have a range for each column where magnitudes are left out, got {known!r}")
    which = np.ones(public.columns, bool) if known is None else known.unknown | (step.magnitudes is None)
    if step.columns != (asked := int(which.sum())):
        raise ValueError(f"plan must be for {asked} columns, as many as are looked at, got {step.columns}")
    return which


def refuse_other_columns(shape: tuple[int, ...], columns: int) -> None:
    """`ValueError` for rows that have another number of columns than there are ranges."""
    if len(shape) != 2 or shape[1] != columns:
        raise ValueError(f"X must have {columns} columns, as many as there are ranges, got the shape {shape}")


def _histograms(which: NDArray[np.bool_], bins: int, sigma: float, within: Ranges | None = None) -> Statistic:
    """Counts with noise, on one lattice."""
    spacing = max(_SPACING, power_of_two(sigma) * 2 / LARGEST_RATIO)  # at most 1, as σ is at most 1e15
    counts = Histograms(tuple(which.tolist()), bins, int(1 / spacing), within)
    return Statistic(counts, ((sigma, bins * int(which.sum())),), spacing)


# --- what each row gives, in whole numbers ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Histograms:
    """How many rows some columns have in each bin, equal ones `within` ranges or else of sign and magnitude; in
    `points`."""

    which: tuple[bool, ...]
    bins: int
    points: int
    within: Ranges | None = None

    def __call__(self, some: Some) -> IntArray:
        X = some.X if all(self.which) else some.X[:, np.array(self.which)]  # no copy of all
        counts = _by_magnitude(X) if self.within is None else _by_place(X, self.within, self.bins)
        return counts.ravel() * self.points


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
