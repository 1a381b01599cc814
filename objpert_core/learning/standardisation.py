"""Rows centred and scaled privately: two noisy sums, the map that comes from them, and the rows that the map gives.

A row x has the direction u = x/‖x‖, 0 where x is. With public noise σ_c and σ_s and the public number of rows n,

    Σu + N(0, σ_c²I)     gives a centre μ̂, and z = (u − μ̂)/‖u − μ̂‖,
    Σ|z| + N(0, σ_s²I)   gives m̂ and the weights a_j = (m̂_j² + c)^(−½);

a fit then learns from the rows a∘(u − μ̂), which `Rows` brings to norm 1.

What a row contributes depends on that row alone, to the last digit. Terms are rounded towards zero to whole numbers of
the lattice's spacing, which makes no row longer; sums of whole numbers are exact, and the noise is sampled on the
lattice: Gaussian mechanisms of sensitivity 1, with no rounding to pay for (docs/theorems.md, T14 and T45).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray, IntArray, positive_integer
from objpert_core.accounting import Standardisation
from objpert_core.accounting.steps.standardisation import SCALE_FLOOR, SCALE_NOISE_FLOOR
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO, NoiseSource, with_noise
from objpert_core.learning.problem.lanes import mapped, shares
from objpert_core.learning.problem.rows import Rows, normalising, ordinary, squares

SPACING = 2.0**-30
"""Of the sums, unless the noise is so wide that it would not fit 64 bits."""
_BLOCK_BYTES = 2**20  # a block fits the second-level cache
_BLOCK_ROWS = 2**11  # terms are whole numbers up to 2³⁰: a block's sums are below 2⁵³, exact in doubles in any order
_SPARSE_ROWS = 2**20  # the same for rows that are stored sparse


@dataclass(frozen=True, eq=False)
class RowMap:
    """What is done to every row: u = x/‖x‖, less a centre μ̂, times a weight a for every column; None skips a step.

    With ``row_norm="clip"`` u = x/max(1, ‖x‖).

    >>> RowMap(np.array([0.5, 0.0]), np.array([1.0, 2.0])).apply(np.array([[3.0, 4.0]])).round(12).tolist()
    [[0.1, 1.6]]
    """

    center: FloatArray | None = None
    scale: FloatArray | None = None
    row_norm: str = "normalize"

    def apply(self, X: Any) -> Any:
        """Map every row by itself to a∘(u − μ̂), not yet of norm 1; sparse rows stay sparse where there is no centre."""
        return Directions(Rows(X, self.row_norm)).mapped(self)

    def parts(self, X: Any) -> Iterator[Rows]:
        """The rows as `apply` maps them, brought to norm 1, some at a time."""
        directions = Directions(Rows(X, self.row_norm))
        learned = directions.learned(self)
        if isinstance(learned, MappedRows):
            return map(learned.part, directions.parts(slice(0, learned.n_rows)))
        return iter([learned])


class Directions:
    """u = x/‖x‖ of every row, however many maps are made of the directions."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.n_features = rows, rows.n_features
        self._units = _sparse_directions(rows) if rows.sparse else None
        self._sums: dict[tuple[str, float], IntArray] = {}

    def release(self, plan: Standardisation, source: NoiseSource, n_rows: int) -> RowMap:
        """As `release_map`; sums without noise in them are computed the first time only."""
        center, scale, missed = None, None, 0.0
        if (sigma := plan.center_noise) is not None:
            released = _noisy(lambda spacing: self._once("u", spacing), sigma, source, self.n_features)
            center, missed = _center(released / n_rows, sigma / n_rows)
        if (sigma := plan.scale_noise) is not None:
            released = _noisy(lambda spacing: self._sizes(center, spacing), sigma, source, self.n_features)
            scale = _weights(released / n_rows, sigma / n_rows, missed)
        return RowMap(center, scale)

    def mapped(self, row_map: RowMap) -> Any:
        """As `row_map.apply`."""
        if self._units is None:
            made = np.empty((self.rows.n_rows, self.n_features))
            self.each_part(lambda part: self.write(row_map, part, made[part]))
            return made
        csr: Any = self._units
        if row_map.center is not None:
            dense = csr.toarray()
            moved = np.subtract(dense, row_map.center, out=dense)
            return moved if row_map.scale is None else np.multiply(moved, row_map.scale, out=dense)
        data = csr.data if row_map.scale is None else csr.data * row_map.scale[csr.indices]
        return sp.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)

    def learned(self, row_map: RowMap) -> Rows:
        """The rows, of norm 1 and with their constant, that a fit learns from."""
        if self._units is None:
            return MappedRows(self, row_map)
        return Rows(self.mapped(row_map), "normalize", self.rows.constant)

    def _sizes(self, center: FloatArray | None, spacing: float) -> IntArray:
        return self._once("|z|", spacing) if center is None else self._sum_of_sizes(center, spacing)

    def _once(self, what: str, spacing: float) -> IntArray:
        if (what, spacing) not in self._sums:
            total = self._sum_of_directions(spacing) if what == "u" else self._sum_of_sizes(None, spacing)
            self._sums[what, spacing] = total
        return self._sums[what, spacing]

    # Rows that are not sparse, some at a time

    @property
    def _part_rows(self) -> int:
        return max(1, min(_BLOCK_ROWS, _BLOCK_BYTES // (8 * max(1, self.n_features))))

    def repeated(self, vector: FloatArray) -> FloatArray:
        """A vector once for each row of a part: numpy works on two arrays of one shape in half the time."""
        return np.tile(vector, (min(self._part_rows, self.rows.n_rows), 1))

    def parts(self, share: slice) -> Iterator[slice]:
        """Some rows at a time."""
        size = self._part_rows
        for start in range(share.start, share.stop, size):
            yield slice(start, min(start + size, share.stop))

    def _units_of(self, part: slice, out: FloatArray, unit: float = 1.0) -> FloatArray:
        """u of some rows, divided by `unit`, which is a power of two: nothing is rounded by it."""
        factors = self.rows.factors[part, None] * (1 / unit)
        return np.multiply(self.rows.matrix[part], factors, out=out, dtype=np.float64)

    def each_part(self, work: Callable[[slice], Any]) -> None:
        """Do some work for some rows at a time, until it was done for all."""
        mapped(lambda share: list(map(work, self.parts(share))), shares(self.rows.n_rows))

    def write(self, row_map: RowMap, part: slice, out: FloatArray) -> FloatArray:
        """Some rows as `row_map.apply` maps them."""
        units = self._units_of(part, out)
        if row_map.center is not None:
            units -= row_map.center
        if row_map.scale is not None:
            units *= row_map.scale
        return units

    def _sum_of_directions(self, spacing: float) -> IntArray:
        """Σu in units of `spacing`, every term rounded towards zero."""
        return self._total(lambda part, block: self._units_of(part, block, spacing))

    def _sum_of_sizes(self, center: FloatArray | None, spacing: float) -> IntArray:
        """Σ|z| in units of `spacing`, every term rounded towards zero; z of norm 1 along u − μ̂."""
        if self._units is not None:
            return _sum_of_sparse_sizes(self._units, spacing)

        def term(part: slice, block: FloatArray) -> FloatArray:
            units = self._units_of(part, block)
            if center is not None:
                units -= center
            lengths = normalising(squares(units), self.n_features)
            np.abs(units, out=units)
            units *= lengths[:, None] * (1 / spacing)
            return units

        return self._total(term)

    def _total(self, term: Callable[[slice, FloatArray], FloatArray]) -> IntArray:
        """Σ of what `term` makes of some rows, in memory that it is given, every number rounded towards zero."""

        def work(share: slice) -> IntArray:
            total, block = np.zeros(self.n_features, dtype=np.int64), np.empty((0, self.n_features))
            for part in self.parts(share):
                size = part.stop - part.start
                block = block if len(block) >= size else np.empty((size, self.n_features))
                whole = term(part, block[:size])
                total += np.dot(np.ones(size), np.trunc(whole, out=whole)).astype(np.int64)
            return total

        return sum(mapped(work, shares(self.rows.n_rows)), np.zeros(self.n_features, dtype=np.int64))


class MappedRows(Rows):
    """Dense rows a∘(u − μ̂), brought to norm 1; all are made when `matrix` or `factors` is asked for."""

    def __init__(self, directions: Directions, row_map: RowMap) -> None:
        rows = directions.rows
        self.sparse, self.constant = False, rows.constant
        self.n_rows, self.n_features, self.dimension = rows.n_rows, rows.n_features, rows.dimension
        self._directions, self._map = directions, row_map

    def __getattr__(self, name: str) -> Any:
        # Not cached properties: on Python 3.11 these hold a lock for all rows of all fits, for which the threads that
        # should make the rows may be waiting.
        if name not in ("matrix", "factors"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        matrix, factors = np.empty((self.n_rows, self.n_features)), np.empty(self.n_rows)

        def work(part: slice) -> None:
            factors[part] = self._mapped(part, matrix[part])

        self._directions.each_part(work)
        self.factors, self.matrix = factors, matrix
        return vars(self)[name]

    @property
    def _is_made(self) -> bool:
        """Whether these rows, or the rows that they were taken from, have been made."""
        return "matrix" in vars(self)

    def _mapped(self, part: slice, out: FloatArray) -> FloatArray:
        """Write some rows to `out`, and return by what each is multiplied to have norm 1."""
        return normalising(squares(self._directions.write(self._map, part, out)), self.n_features)

    def shorten(self, out: FloatArray) -> FloatArray:
        """See `Rows.shorten`; rows that are not made yet are mapped in single precision, where norms are ordinary."""
        if self._is_made or not ordinary(self._directions.rows.factors):
            return super().shorten(out)
        directions, given = self._directions, self._directions.rows
        factors, squared = given.factors.astype(out.dtype), np.empty(self.n_rows)
        pairs = (np.subtract, self._map.center), (np.multiply, self._map.scale)
        steps = [(step, directions.repeated(by.astype(out.dtype))) for step, by in pairs if by is not None]

        def work(part: slice) -> None:
            block = given.matrix[part].astype(out.dtype, order="C")
            block *= factors[part, None]
            for step, by in steps:
                step(block, by[: len(block)], out=block)
            squared[part] = squares(block)
            out[part] = block

        directions.each_part(work)
        return normalising(squared, self.n_features)

    def part(self, where: slice) -> Rows:
        """See `Rows.part`."""
        if self._is_made:
            return super().part(where)
        part = copy(self)
        part.n_rows = where.stop - where.start
        part.matrix = np.empty((part.n_rows, self.n_features))
        part.factors = self._mapped(where, part.matrix)
        return part


def release_map(X: Any, plan: Standardisation, source: NoiseSource, *, n_rows: int | None = None) -> RowMap:
    """Release the noisy sums that a plan asks for, and make a map of them, which costs what `plan.mechanisms` say.

    `n_rows` is the public number of rows, by which sums are divided; if it is left out, X's number of rows is public.
    """
    return map_rows(X, plan, source, n_rows=n_rows)[0]


def map_rows(X: Any, plan: Standardisation, source: NoiseSource, *, n_rows: int | None = None) -> tuple[RowMap, Rows]:
    """As `release_map`, and the rows that a fit then learns from; `X` may be `Rows`, which were checked."""
    matrix = X.matrix if isinstance(X, Rows) else X
    if plan.center_noise is not None and sp.issparse(matrix):
        raise ValueError(f"X must be dense where rows are centred, got a sparse {type(matrix).__name__}")
    count = matrix.shape[0] if n_rows is None else positive_integer("n_rows", n_rows)
    directions = Directions(X if isinstance(X, Rows) else _checked(X))
    row_map = directions.release(plan, source, count)
    return row_map, directions.learned(row_map)


def _noisy(whole_sum: Callable[[float], IntArray], sigma: float, source: NoiseSource, size: int) -> FloatArray:
    """A sum on a lattice and noise on the same lattice, drawn before: the release itself, in doubles."""
    spacing = max(SPACING, power_of_two(sigma) * 2 / LARGEST_RATIO)
    noise = source.rounded_normal(sigma / spacing, size)
    return np.asarray(with_noise(whole_sum(spacing), noise) * spacing, dtype=np.float64)


# --- what is made of the noisy sums: public numbers alone ----------------------------------------------------------


def _center(mean: FloatArray, noise: float) -> tuple[FloatArray, float]:
    """Shrink a noisy mean of directions towards the direction (1, …, 1)/√d, and into the unit ball."""
    dimension = len(mean)
    along = np.full(dimension, math.fsum(mean) / dimension)
    rest = mean - along
    length, expected = math.fsum(rest**2), (dimension - 1) * noise**2
    kept = _kept((dimension - 3) * noise**2, length) if dimension > 3 else 1.0
    center = along * _kept(noise**2, math.fsum(along**2)) + rest * kept
    missed = math.sqrt((1 - kept) ** 2 * max(0.0, length - expected) + kept**2 * expected + noise**2)
    return np.asarray(center / max(1.0, math.sqrt(math.fsum(center**2)))), missed


def _kept(noise: float, total: float) -> float:
    return max(0.0, 1.0 - noise / total) if total > 0 else 0.0


def _weights(mean: FloatArray, noise: float, missed: float) -> FloatArray:
    """a_j = (max(m̂_j, 0)² + c)^(−½); c keeps columns whose mean is lost in noise from being blown up."""
    floor = max(SCALE_FLOOR, (SCALE_NOISE_FLOOR * noise) ** 2, missed**2)
    return np.asarray(1 / np.sqrt(np.maximum(mean, 0.0) ** 2 + floor))


# --- rows, each by itself --------------------------------------------------------------------------------------------


def _checked(X: Any) -> Rows:
    """The rows as they are, sparse ones without repeated entries; `ValueError` where a number cannot be used."""
    return Rows(X, "normalize")


def _sparse_directions(rows: Rows) -> Any:
    """u = x/‖x‖ of every row, of norm 1 or a little less, sparse as the rows are."""
    csr = rows.matrix
    data = csr.data * np.repeat(rows.factors, np.diff(csr.indptr))
    return sp.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)


def _sum_of_sparse_sizes(csr: Any, spacing: float) -> IntArray:
    """Σ|u| of sparse rows in units of `spacing`, every term rounded towards zero."""
    total = np.zeros(csr.shape[1], dtype=np.int64)
    whole = np.trunc(np.abs(csr.data) * (1 / spacing))
    for start in range(0, csr.shape[0], _SPARSE_ROWS):
        part = slice(csr.indptr[start], csr.indptr[min(start + _SPARSE_ROWS, csr.shape[0])])
        total += np.bincount(csr.indices[part], whole[part], minlength=len(total)).astype(np.int64)
    return total
