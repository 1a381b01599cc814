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
from collections.abc import Callable, Generator, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.steps.standardisation import SCALE_FLOOR, SCALE_NOISE_FLOOR, Standardisation
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO
from objpert_core.learning.problem.lanes import mapped, shares
from objpert_core.learning.problem.rows import Rows, normalising, ordinary, squares
from objpert_core.learning.steps.base import Outcome, PublicRows, Published, Some, Statistic, SumOf, Taken
from objpert_core.learning.steps.ranges import Ranges

SPACING = 2.0**-30
"""Of the sums, unless the noise is so wide that it would not fit 64 bits."""
_SLACK = 1e-6  # relative, for what rounding adds to a length
_BLOCK_BYTES = 2**20  # a block fits the second-level cache
_BLOCK_ROWS = 2**11  # terms are whole numbers up to 2³⁰: a block's sums are below 2⁵³, exact in doubles in any order
_SPARSE_ROWS = 2**20  # the same for rows that are stored sparse


@dataclass(frozen=True, eq=False)
class RowMap(Outcome):
    """What is done to every row: u = x/‖x‖, or x/max(1, ‖x‖) with ``row_norm="clip"``, less a centre, times weights."""

    changes_rows: ClassVar[bool] = True
    norm_after: ClassVar[str | None] = "normalize"

    center: FloatArray | None = None
    scale: FloatArray | None = None
    row_norm: str = "normalize"

    def published(self) -> dict[str, Any]:
        return {"center_": self.center, "scale_": self.scale}

    def apply(self, X: Any) -> Any:
        """Map every row by itself to a∘(u − μ̂), not yet of norm 1; sparse rows stay sparse where there is no centre."""
        rows = Rows(X, self.row_norm)
        if rows.sparse:
            return self._of_sparse(rows)
        made = np.empty((rows.n_rows, rows.n_features))
        each_block(rows, lambda part: self.write(rows, part, made[part]))
        return made

    def seen(self, rows: Rows, row_norm: str = "normalize") -> Rows:
        """See `Outcome.seen`; dense rows are made when somebody asks for them."""
        return Rows(self._of_sparse(rows), row_norm, rows.constant) if rows.sparse else MappedRows(rows, self)

    def parts(self, X: Any) -> Iterator[Rows]:
        """The rows as `apply` maps them, brought to norm 1, some at a time."""
        learned = self.seen(Rows(X, self.row_norm))
        whole = slice(0, learned.n_rows)
        return map(learned.part, blocks(learned, whole)) if isinstance(learned, MappedRows) else iter([learned])

    def write(self, rows: Rows, part: slice, out: FloatArray) -> FloatArray:
        """Some dense rows, not yet of norm 1."""
        write_units(rows, part, out)
        if self.center is not None:
            out -= self.center
        if self.scale is not None:
            out *= self.scale
        return out

    def _of_sparse(self, rows: Rows) -> Any:
        csr: Any = sparse_directions(rows)
        if self.center is not None:
            moved = csr.toarray()
            moved -= self.center
            return moved if self.scale is None else np.multiply(moved, self.scale, out=moved)
        data = csr.data if self.scale is None else csr.data * self.scale[csr.indices]
        return sp.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)


class MappedRows(Rows):
    """Dense rows a∘(u − μ̂), brought to norm 1; all are made when `matrix` or `factors` is asked for."""

    def __init__(self, given: Rows, row_map: RowMap) -> None:
        self.sparse, self.constant = False, given.constant
        self.n_rows, self.n_features, self.dimension = given.n_rows, given.n_features, given.dimension
        self._given, self._map = given, row_map

    def __getattr__(self, name: str) -> Any:
        # Not cached properties: on Python 3.11 these hold a lock for all rows of all fits, for which the threads that
        # should make the rows may be waiting.
        if name not in ("matrix", "factors"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        matrix, factors = np.empty((self.n_rows, self.n_features)), np.empty(self.n_rows)

        def work(part: slice) -> None:
            factors[part] = self._mapped(part, matrix[part])

        each_block(self._given, work)
        self.factors, self.matrix = factors, matrix
        return vars(self)[name]

    @property
    def _is_made(self) -> bool:
        """Whether these rows, or the rows that they were taken from, have been made."""
        return "matrix" in vars(self)

    def _mapped(self, part: slice, out: FloatArray) -> FloatArray:
        """Write some rows to `out`, and return by what each is multiplied to have norm 1."""
        return normalising(squares(self._map.write(self._given, part, out)), self.n_features)

    def shorten(self, out: FloatArray) -> FloatArray:
        """See `Rows.shorten`; rows that are not made yet are mapped in single precision, where norms are ordinary."""
        if self._is_made or not ordinary(self._given.factors):
            return super().shorten(out)
        given = self._given
        factors, squared = given.factors.astype(out.dtype), np.empty(self.n_rows)
        pairs = (np.subtract, self._map.center), (np.multiply, self._map.scale)
        size = min(_block_rows(given), given.n_rows)
        # A vector once for each row: numpy works on two arrays of one shape in half the time.
        steps = [(step, np.tile(by.astype(out.dtype), (size, 1))) for step, by in pairs if by is not None]

        def work(part: slice) -> None:
            block = given.matrix[part].astype(out.dtype, order="C")
            block *= factors[part, None]
            for step, by in steps:
                step(block, by[: len(block)], out=block)
            squared[part] = squares(block)
            out[part] = block

        each_block(given, work)
        return normalising(squared, self.n_features)

    def part(self, where: slice) -> Rows:
        if self._is_made:
            return super().part(where)
        part = copy(self)
        part.n_rows = where.stop - where.start
        part.matrix = np.empty((part.n_rows, self.n_features))
        part.factors = self._mapped(where, part.matrix)
        return part


class StandardisationTaken(Taken[Standardisation], takes=Standardisation):
    """Noisy sums of directions and of sizes, divided by the public number of rows, and the map made of them."""

    fields = {name: name for name in ("center_noise", "scale_noise")}  # noqa: RUF012 - a table that nobody changes
    fingerprinted = ("center_", "scale_")
    place = 0

    def released(self, step: Standardisation, public: PublicRows) -> Generator[Statistic, FloatArray, RowMap]:
        if public.row_norm != "normalize" and public.known(Ranges) is None:
            raise ValueError(f"row_norm must be 'normalize' where rows are centred or scaled, got {public.row_norm!r}")
        if public.sparse and step.center_noise is not None:
            raise ValueError("X must be dense where rows are centred, got sparse rows")
        center, scale, missed, n_rows = None, None, 0.0, public.n_rows
        if (sigma := step.center_noise) is not None:
            found = yield _noisy(SumOfDirections, sigma, public.columns)
            center, missed = _center(found / n_rows, sigma / n_rows)
        if (sigma := step.scale_noise) is not None:
            found = yield _noisy(lambda spacing: SumOfSizes(spacing, center), sigma, public.columns)
            scale = _weights(found / n_rows, sigma / n_rows, missed)
        return RowMap(center, scale, public.row_norm)

    def contradiction(self, certificate: Any) -> str | None:
        for name in self.fields:
            if (noise := getattr(certificate, name)) is None:
                continue
            if certificate.row_norm != "normalize" and certificate.feature_ranges is None:
                return f"{name} must be None for row_norm={certificate.row_norm!r} without ranges, got {noise!r}"
            if getattr(certificate, "public_rows", None) is None:
                return f"public_rows must be a number where {name} is one, got None"
        return None

    def lines(self, certificate: Any) -> list[str]:
        lengths = certificate.row_norm != "normalize"  # which rows in ranges keep until they are centred
        center, scale = certificate.center_noise, certificate.scale_noise
        of_center = f"  center     {'rows' if lengths else 'directions'} centred, noise on Σu {center or 0:.6g}"
        of_scale = f"  scale      columns scaled{', rows normalised' * lengths}, noise on Σ|z| {scale or 0:.6g}"
        lines = ((of_center, center), (of_scale, scale))
        return [f"{line}: part of the promise" for line, noise in lines if noise is not None]

    def by_rows(self, certificate: Any) -> list[str]:
        return [name for name in ("center", "scale") if getattr(certificate, f"{name}_noise") is not None]

    def covered(self, certificate: Any) -> list[str]:
        return [] if self.step_of(certificate) is None else ["how rows are centred and scaled"]

    def plausible(self, certificate: Any, published: Published, features: int) -> bool:
        """Whether there is one number for each feature where a sum was released, none too large."""
        center, scale = published["center_"], published["scale_"]
        for values, name in ((center, "center_noise"), (scale, "scale_noise")):
            if (values is None) is not (getattr(certificate, name, None) is None):
                return False
            if values is not None and values.shape != (features,):
                return False
        return bool(
            (center is None or np.linalg.norm(center) <= 1 + _SLACK)
            and (scale is None or np.all((scale > 0) & (scale <= SCALE_FLOOR**-0.5 * (1 + _SLACK))))
        )


def _noisy(of: Callable[[float], SumOf], sigma: float, columns: int) -> Statistic:
    """A sum with noise, on one lattice."""
    spacing = max(SPACING, power_of_two(sigma) * 2 / LARGEST_RATIO)
    return Statistic(of(spacing), ((sigma, columns),), spacing)


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


@dataclass(frozen=True)
class SumOfDirections:
    """Σu in units of `spacing`, every term rounded towards zero."""

    spacing: float

    def __call__(self, some: Some) -> IntArray:
        rows = some.rows
        return _total(rows, lambda part, block: write_units(rows, part, block, self.spacing))


@dataclass(frozen=True)
class SumOfSizes:
    """Σ|z| in units of `spacing`, every term rounded towards zero; z of norm 1 along u − μ̂."""

    spacing: float
    center: FloatArray | None = None

    def __call__(self, some: Some) -> IntArray:
        rows = some.rows
        if rows.sparse:
            return _sum_of_sparse_sizes(sparse_directions(rows), self.spacing)

        def term(part: slice, block: FloatArray) -> FloatArray:
            units = write_units(rows, part, block)
            if self.center is not None:
                units -= self.center
            lengths = normalising(squares(units), rows.n_features)
            np.abs(units, out=units)
            units *= lengths[:, None] * (1 / self.spacing)
            return units

        return _total(rows, term)


def _total(rows: Rows, term: Callable[[slice, FloatArray], FloatArray]) -> IntArray:
    """Σ of what `term` makes of some rows, in memory that it is given, every number rounded towards zero."""
    total, block = np.zeros(rows.n_features, dtype=np.int64), np.empty((0, rows.n_features))
    for part in blocks(rows, slice(0, rows.n_rows)):
        size = part.stop - part.start
        block = block if len(block) >= size else np.empty((size, rows.n_features))
        whole = term(part, block[:size])
        total += np.dot(np.ones(size), np.trunc(whole, out=whole)).astype(np.int64)
    return total


def _block_rows(rows: Rows) -> int:
    return max(1, min(_BLOCK_ROWS, _BLOCK_BYTES // (8 * max(1, rows.n_features))))


def blocks(rows: Rows, share: slice) -> Iterator[slice]:
    """Some rows at a time, few enough for the cache and for exact sums."""
    size = _block_rows(rows)
    for start in range(share.start, share.stop, size):
        yield slice(start, min(start + size, share.stop))


def each_block(rows: Rows, work: Callable[[slice], Any]) -> None:
    """Do some work for some rows at a time, until it was done for all."""
    mapped(lambda share: list(map(work, blocks(rows, share))), shares(rows.n_rows))


def write_units(rows: Rows, part: slice, out: FloatArray, unit: float = 1.0) -> FloatArray:
    """u = x/‖x‖ of some rows, divided by `unit`, which is a power of two: nothing is rounded by it."""
    factors = rows.factors[part, None] * (1 / unit)
    return np.multiply(rows.matrix[part], factors, out=out, dtype=np.float64)


def sparse_directions(rows: Rows) -> Any:
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
