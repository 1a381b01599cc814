"""Pieces of the columns of a table, from noisy counts of cells; a row switches on one piece of each column.

What a row is counted in, and which pieces it is on, depends on that row and on released numbers alone: places are found
by comparisons of doubles, without arithmetic (docs/theorems.md, T55). A missing value is a piece of its own, and so is
a category that was not listed.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.steps.pieces import PieceNoise, cells_of_a_column
from objpert_core.learning.problem.codes import CodedRows
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.steps.base import Outcome, PublicRows, Some, Statistic, Taken

_REACH = 60  # magnitudes from 2⁻⁶⁰ to 2⁶⁰ are told apart
_POWERS = np.exp2(np.arange(-_REACH, _REACH + 1.0))
MAGNITUDES = np.concatenate([[-np.inf], -_POWERS[::-1], [0.0, np.nextafter(0.0, 1.0)], _POWERS])
"""Where each bin of the first counts begins; it ends where the next one does, and 0 has a bin of its own."""

_FOUND = 2.5  # times the noise of a count, or of several together, from where on it stands for rows
_TOGETHER = (1, 2, 4, 8)
_ALONE = 4.0  # times the noise: a cell with so many rows, and half as many as a piece, is a piece by itself
_LEAST = 2.0  # times its noise: no other piece has fewer rows
_FEW = 3  # pieces, that of missing values included, beside which there is no line
_FLOOR = 0.03  # added to a coordinate's variance before the coordinate is scaled


class Column(NamedTuple):
    """A column of a table: of so many `categories`, or of numbers, in a declared range, or in pieces between declared
    `ends`, where there are any.

    The row of a table has for it a whole number from 0 on for a listed category, any other number for another one, NaN
    for a missing value.
    """

    categories: int | None = None
    low: float | None = None
    high: float | None = None
    ends: tuple[float, ...] | None = None

    @property
    def unknown(self) -> bool:
        """Whether it holds numbers of an unknown range."""
        return self.categories is None and self.low is None


def places(starts: FloatArray, values: FloatArray) -> IntArray:
    """In which interval each value lies, where the first begins at −∞; a missing one has the last place of all.

    >>> places(np.array([-np.inf, 0.0, 2.0]), np.array([-1.0, 0.0, 1.9, 2.0, np.nan])).tolist()
    [0, 1, 1, 2, 3]
    """
    return np.where(np.isnan(values), len(starts), np.searchsorted(starts, values, side="right") - 1)


def listed(categories: int, values: FloatArray) -> IntArray:
    """Which category each value names: its own number, then one for all others and one for missing ones.

    >>> listed(3, np.array([0.0, 2.0, 3.0, -1.0, 0.5, np.nan])).tolist()
    [0, 2, 3, 3, 3, 4]
    """
    known = (values >= 0) & (values < categories) & (values == np.floor(values))
    return np.where(np.isnan(values), categories + 1, np.where(known, values, categories)).astype(np.int64)


class Cells(NamedTuple):
    """Where the cells of a column of numbers begin, the first at −∞, and in which bin each lies, −1 for none."""

    starts: FloatArray
    bins: IntArray


def cells_of_magnitudes(counts: FloatArray, sigma: float, most: int, noise: float) -> Cells:
    """Cut the bins in which rows were found to about `most` cells: more where there are more rows, and no more than
    leaves a cell as many rows as the count of a cell will have noise.
    """
    found = np.flatnonzero(_found(counts, sigma))
    whole = np.isin(found, [0, int(np.searchsorted(MAGNITUDES, 0.0)), len(MAGNITUDES) - 1])  # unbounded, and 0
    roots = np.where(whole, 0.0, np.sqrt(np.maximum(counts[found], sigma)))
    shares = np.minimum(np.round(most * roots / max(roots.sum(), 1.0)), counts[found] / noise)
    shares = np.maximum(shares, 1).astype(int)
    bounds = np.append(MAGNITUDES, np.inf)
    cut = [
        np.linspace(bounds[j], bounds[j + 1], m + 1)
        for j, m in zip(found, shares, strict=True)
        if bounds[j] > -np.inf and bounds[j + 1] < np.inf
    ]
    starts = np.unique(np.concatenate([[-np.inf], *cut]))
    own = places(MAGNITUDES, starts)
    return Cells(starts, np.where(np.isin(own, found), own, -1))


def cells_between(low: float, high: float, most: int) -> Cells:
    """Cut a declared range to equal cells; what lies outside of it has a cell at either side."""
    starts = np.concatenate([[-np.inf], np.unique(np.linspace(low, high, most + 1))])
    starts[-1] = np.nextafter(high, np.inf)  # the upper end belongs to the range
    return Cells(starts, np.full(len(starts), -1))


def _found(counts: FloatArray, sigma: float) -> NDArray[np.bool_]:
    """The bins that stand out of the noise, first each by itself, then several of what is left together."""
    found = np.zeros(len(counts), dtype=bool)
    for width in _TOGETHER:
        rest = np.cumsum(np.append(0.0, np.where(found, 0.0, counts)))
        free = np.cumsum(np.append(0, ~found))
        hits = rest[width:] - rest[:-width] > _FOUND * sigma * np.sqrt(np.maximum(free[width:] - free[:-width], 1))
        for start in np.flatnonzero(hits):
            found[start : start + width] = True
    return found


def agreed(counts: FloatArray, cells: Cells, by_magnitude: FloatArray, sigma: float, first: float) -> FloatArray:
    """Counts of cells (noise `sigma`), moved alike in each bin so that their sum is what both counts say of it."""
    counts = counts.copy()
    for own in set(cells.bins.tolist()) - {-1}:
        inside = cells.bins == own
        total, several = counts[inside].sum(), int(inside.sum())
        trust = several * sigma**2 / (several * sigma**2 + first**2)
        counts[inside] += trust * (by_magnitude[own] - total) / several
    return counts


def merged(counts: FloatArray, sigma: float, n_rows: float, pieces: float) -> IntArray:
    """The first cell of each piece: cells that many rows share alone, the others to about `pieces` of equal counts.

    >>> merged(np.array([5.0, 1.0, 40.0, 2.0, 3.0, 9.0]), 0.1, 60.0, 4.0).tolist()
    [0, 2, 3, 5]
    """
    alone = counts > max(n_rows / (2 * pieces), _ALONE * sigma)
    wanted = max(float(counts[~alone].sum()), 0.0) / pieces
    starts: list[tuple[int, bool]] = []
    first, held = 0, 0.0  # of the cells that no piece has yet

    def enough(share: float, end: int) -> bool:
        return end > first and held >= max(share * wanted, _LEAST * sigma * math.sqrt(end - first))

    for cell, count in enumerate(counts):
        if not alone[cell]:
            held += float(count)
            if not enough(1.0, cell + 1):
                continue
            starts.append((first, False))
        else:
            if enough(0.5, cell):
                starts.append((first, False))
                first = cell
            elif starts and not starts[-1][1]:  # too few for a piece: they go with the one before
                first = cell
            starts.append((first, True))  # or else with this cell
        first, held = cell + 1, 0.0
    if not starts or enough(0.5, len(counts)):
        starts.append((first, False))
    return np.array([start for start, _ in starts if start < len(counts)] or [0])


class PiecesOf(NamedTuple):
    """The pieces of one column, and the cells that they are made of.

    `starts` says where the cells of numbers begin, and is None for categories, each of which is a cell and a piece.
    `pieces` is the piece of each cell and `shares` a noisy share of the rows in each, with a sum of 1. The last cell is
    that of missing values, and the one before it, of categories, that of others.
    """

    starts: FloatArray | None
    pieces: IntArray
    shares: FloatArray

    def codes(self, values: FloatArray) -> IntArray:
        """The cell of each value."""
        return listed(len(self.shares) - 2, values) if self.starts is None else places(self.starts, values)

    def coordinates(self) -> tuple[FloatArray, FloatArray]:
        """What each cell switches on: the coordinate of its piece, and where a column of numbers has three or more, a
        place along a line by rank; and the mean squares of these coordinates, centred.
        """
        own = np.bincount(self.pieces, weights=self.shares)
        one = (np.eye(len(own)) - own)[self.pieces]
        if self.starts is not None and len(own) > _FEW:
            below = np.append(np.cumsum(self.shares[:-1]) - self.shares[:-1] / 2, 0.0)
            middle = (1 - self.shares[-1]) / 2
            along = np.where(np.arange(len(below)) < len(below) - 1, below - middle, 0.0) / max(middle, 1e-300)
            one = np.column_stack([one, along])  # its mean is 0
        return one, self.shares @ one**2


def shares_of(counts: FloatArray, pieces: IntArray, sigma: float) -> FloatArray:
    """Noisy shares of cells: a piece has what its cells count together, if that is above 0, and its cells have of it
    what they count above 0. Missing values have none where noise may be all there is.
    """
    totals, above = np.maximum(np.bincount(pieces, weights=counts), 0.0), np.maximum(counts, 0.0)
    totals[-1] *= counts[-1] > _ALONE * sigma
    if not totals.sum() > 0:
        return np.full(len(counts), 1 / len(counts))
    inside = np.bincount(pieces, weights=above)
    return np.asarray(above * (totals / np.maximum(inside, 1e-300))[pieces] / totals.sum())


def maps_of(columns: Sequence[PiecesOf], *, length: float = 1.0) -> list[FloatArray]:
    """What each cell adds to a row, for `CodedRows`: coordinates centred and scaled by the noisy shares.

    A centred coordinate of variance v is divided by (v + 0.03)^¼. `length` times the root of the rows' mean squared
    norm becomes norm 1; `CodedRows` shortens rows that are longer.
    """
    maps, squared = [], 0.0
    for column in columns:
        one, variances = column.coordinates()
        scales = (variances + _FLOOR) ** -0.25
        maps.append(one * scales)
        squared += float(variances @ scales**2)
    radius = length * math.sqrt(squared) if squared > 0 else 1.0
    return [one / radius for one in maps]


@dataclass(frozen=True)
class MagnitudeCounts:
    """How many rows each bin of magnitudes has, for every column of unknown range."""

    columns: tuple[int, ...]

    def __call__(self, some: Some) -> IntArray:
        """See `Statistic`."""
        bins = len(MAGNITUDES) + 1
        return np.concatenate([np.bincount(places(MAGNITUDES, some.X[:, j]), minlength=bins) for j in self.columns])


@dataclass(frozen=True, eq=False)
class CellCounts:
    """How many rows each cell of every column has: numbers by where their cells begin, categories by their list."""

    numbers: tuple[tuple[int, FloatArray], ...]
    listed: tuple[tuple[int, int], ...]

    def __call__(self, some: Some) -> IntArray:
        """See `Statistic`."""
        cells = [np.bincount(places(one, some.X[:, j]), minlength=len(one) + 1) for j, one in self.numbers]
        categories = [np.bincount(listed(size, some.X[:, j]), minlength=size + 2) for j, size in self.listed]
        return np.concatenate([*cells, *categories])


def pieces_of(
    columns: Sequence[Column], noise: PieceNoise, n_rows: int, pieces: float
) -> Generator[Statistic, FloatArray, list[PiecesOf]]:
    """Ask for the noisy counts, and make pieces of them and of public numbers, about so many a column of numbers."""
    unknown = [j for j, column in enumerate(columns) if column.unknown]
    numbers = [j for j, column in enumerate(columns) if column.categories is None]
    names = [(j, column.categories) for j, column in enumerate(columns) if column.categories is not None]
    bins, first = len(MAGNITUDES) + 1, {}
    if unknown:
        assert noise.magnitudes is not None
        counts = yield Statistic(MagnitudeCounts(tuple(unknown)), ((noise.magnitudes, bins * len(unknown)),))
        first = dict(zip(unknown, counts.reshape(-1, bins)[:, :-1], strict=True))
    cells = {}
    for j in numbers:
        assert noise.cells is not None
        most, column = cells_of_a_column(n_rows, noise.cells), columns[j]
        if j in first:
            assert noise.magnitudes is not None
            cells[j] = cells_of_magnitudes(first[j], noise.magnitudes, most, noise.cells)
        else:
            assert column.low is not None
            assert column.high is not None
            cells[j] = cells_between(column.low, column.high, most)
    sizes = [len(cells[j].starts) + 1 for j in numbers] + [size + 2 for _, size in names]
    split = sum(sizes[: len(numbers)])
    parts = ((noise.cells, split), (noise.categories, sum(sizes) - split))
    counted = CellCounts(tuple((j, cells[j].starts) for j in numbers), tuple(names))
    counts = yield Statistic(counted, tuple((sigma, size) for sigma, size in parts if sigma is not None))
    ends = np.cumsum([0, *sizes]).tolist()
    found = {}
    for (start, end), j in zip(pairwise(ends), [*numbers, *(j for j, _ in names)], strict=True):
        own = counts[start:end]
        if j in cells:
            found[j] = _number(own, cells[j], noise, first.get(j), n_rows, pieces)
        else:
            assert noise.categories is not None
            each = np.arange(len(own))
            found[j] = PiecesOf(None, each, shares_of(own, each, noise.categories))
    return [found[j] for j in range(len(columns))]


def _number(
    counts: FloatArray, cells: Cells, noise: PieceNoise, first: FloatArray | None, n_rows: int, pieces: float
) -> PiecesOf:
    """The pieces of a column of numbers, by the counts of its cells, the last of which is that of missing values."""
    sigma, own = float(noise.cells or 0.0), counts[:-1]
    if first is not None:
        own = agreed(own, cells, first, sigma, float(noise.magnitudes or 0.0))
    starts = merged(own, sigma, n_rows, pieces)
    starts[0] = 0
    piece = np.append(np.searchsorted(starts, np.arange(len(own)), side="right") - 1, len(starts))
    return PiecesOf(cells.starts, piece, shares_of(np.append(own, counts[-1]), piece, sigma))


@dataclass(frozen=True, eq=False)
class TableColumns(Outcome):
    """What is declared of a table: its columns, and about how many pieces a column of numbers is to have."""

    columns: tuple[Column, ...]
    pieces: float

    def published(self) -> dict[str, Any]:
        """Nothing: all of it is public."""
        return {}


@dataclass(frozen=True, eq=False)
class Pieces(Outcome):
    """The pieces of every column, and the rows as codes that come of them; `length` as for `maps_of`."""

    changes_rows: ClassVar[bool] = True
    norm_after: ClassVar[str | None] = "clip"

    columns: tuple[PiecesOf, ...]
    length: float = 1.0

    def published(self) -> dict[str, Any]:
        """See `Outcome.published`."""
        return {"pieces_": self.columns}

    def apply(self, X: Any) -> Any:
        """The cells of each row, shape (n, C)."""
        codes = [one.codes(np.asarray(X[:, j], dtype=np.float64)) for j, one in enumerate(self.columns)]
        return np.array(codes, dtype=np.uint16).T

    def seen(self, rows: Rows, row_norm: str = "clip") -> CodedRows:
        """See `Outcome.seen`."""
        return self.coded(rows.matrix, rows.constant)

    def coded(self, X: Any, constant: float) -> CodedRows:
        """Rows of a table as codes."""
        return CodedRows(self.apply(X).T, maps_of(self.columns, length=self.length), constant)

    def scores(self, X: Any, theta: FloatArray, constant: float) -> FloatArray:
        """The score of each row, a sum of the effects of its pieces and the intercept: no row is shortened here."""
        rows = self.coded(X, constant)
        rows.factors = np.ones(rows.n_rows)
        return rows.margins(theta)


class PiecesTaken(Taken[PieceNoise], takes=PieceNoise):
    """See `Taken`; `TableColumns` have been declared."""

    def released(self, step: PieceNoise, public: PublicRows) -> Generator[Statistic, FloatArray, Pieces]:
        """See `Taken.released`."""
        declared = public.known(TableColumns)
        assert declared is not None
        return Pieces(tuple((yield from pieces_of(declared.columns, step, public.n_rows, declared.pieces))))
