"""Pieces of the columns of a table, from noisy counts of cells; a row switches on one piece of each column.

What a row is counted in, and which pieces it is on, depends on that row and on released numbers alone: places are found
by comparisons of doubles, without arithmetic (docs/theorems.md, T55). A missing value is a piece of its own, and so is
a category that was not listed.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.steps.pieces import PieceNoise, cells_of_a_column
from objpert_core.learning.problem.codes import CodedRows
from objpert_core.learning.problem.rows import Rows, TableRows
from objpert_core.learning.steps.base import Outcome, PublicRows, Published, Some, Statistic, Taken

_REACH = 60  # magnitudes from 2⁻⁶⁰ to 2⁶⁰ are told apart
_POWERS = np.exp2(np.arange(-_REACH, _REACH + 1.0))
MAGNITUDES = np.concatenate([[-np.inf], -_POWERS[::-1], [0.0, np.nextafter(0.0, 1.0)], _POWERS])
"""Where each bin of the first counts begins; it ends where the next one does, and 0 has a bin of its own."""

_FOUND = 2.5  # times the noise of a count, or of several together, from where on it stands for rows
_TOGETHER = (1, 2, 4, 8)
_ALONE = 4.0  # times the noise: a cell with so many rows, and half as many as a piece, is a piece by itself
_LEAST = 2.0  # times its noise: no other piece has fewer rows
_FEW = 3  # pieces, that of missing values included, beside which there is no line
_LEAST_DOUBLE = -np.finfo(np.float64).max
_BUCKETS = 2**12  # in which numbers are looked up: then a comparison with one start does, as a rule
_FLOOR = 0.03  # added to a coordinate's variance before the coordinate is scaled
_OTHER_ROWS = {"feature_ranges", "center_noise", "scale_noise"}  # of a certificate: they change rows in another way


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
    def has_pieces(self) -> bool:
        """Whether its pieces are declared."""
        return self.categories is not None or self.ends is not None

    @property
    def unknown(self) -> bool:
        """Whether it holds numbers of an unknown range, in no declared pieces."""
        return not self.has_pieces and self.low is None


def places(starts: FloatArray, values: FloatArray) -> IntArray:
    """In which interval each value lies, where the first begins at −∞; a missing one has the last place of all.

    >>> places(np.array([-np.inf, 0.0, 2.0]), np.array([-1.0, 0.0, 1.9, 2.0, np.nan])).tolist()
    [0, 1, 1, 2, 3]
    """
    inner = starts[1:]
    with np.errstate(all="ignore"):
        scale = _BUCKETS / (inner[-1] - inner[0]) if len(inner) and len(values) > _BUCKETS else 0.0
    if 0 < scale < np.inf and starts is not MAGNITUDES:  # these crowd in one bucket
        found = _by_buckets(inner, scale, np.ascontiguousarray(values))
    else:
        found = np.searchsorted(inner, values, side="right")
    return np.where(np.isnan(values), len(starts), found)


def _by_buckets(starts: FloatArray, scale: float, values: FloatArray) -> IntArray:
    """How many starts are at most each value: all in lower buckets, none in higher ones, and what a comparison says of
    the one in its own. The bucket of a number does not fall as the number rises, whatever is rounded.
    """

    def buckets(numbers: FloatArray) -> IntArray:
        return 1 + np.fmax(np.fmin((numbers - starts[0]) * scale, _BUCKETS), -1.0).astype(np.int16)

    with np.errstate(all="ignore"):
        of_starts, of_values = buckets(starts), buckets(values)
    counts, only = np.bincount(of_starts, minlength=_BUCKETS + 2), np.full(_BUCKETS + 2, np.nan)
    only[of_starts] = starts
    found = (np.cumsum(counts) - counts)[of_values] + (values >= only[of_values])
    crowded = counts[of_values] > 1
    found[crowded] = np.searchsorted(starts, values[crowded], side="right")
    return found


def listed(categories: int, values: FloatArray) -> IntArray:
    """Which category each value names: its own number, then one for all others and one for missing ones.

    >>> listed(3, np.array([0.0, 2.0, 3.0, -1.0, 0.5, np.nan])).tolist()
    [0, 2, 3, 3, 3, 4]
    """
    with np.errstate(invalid="ignore"):
        own = values.astype(np.int64)
    known = (own == values) & (own >= 0) & (own < categories)
    return np.where(np.isnan(values), categories + 1, np.where(known, own, categories))


def round_ends(low: float, high: float, most: int) -> FloatArray:
    """Ends of about so many equal cells between two ends, at multiples of 1, 2 or 5 times a power of ten.

    >>> round_ends(17.0, 20.0, 6).tolist()
    [17.0, 17.5, 18.0, 18.5, 19.0, 19.5, 20.0]
    """
    width = (high / 2 - low / 2) / max(most, 1) * 2
    if most > 1 and np.isfinite(width) and width > 1e-290 and width > 1e-12 * max(abs(low), abs(high)):
        power = math.floor(math.log10(width))
        leading = min((1, 2, 5, 10), key=lambda one: abs(math.log(one * 10.0**power / width)))
        first, last = (math.floor(end / (leading * 10.0**power)) for end in (low, high))
        multiples = np.arange(first, last + 1) * leading  # whole numbers, so that a product or ratio has few digits
        ends = multiples * 10.0**power if power >= 0 else multiples / 10.0**-power
    else:
        ends = np.linspace(low, high, most + 1)
    return np.unique(np.concatenate([[low], ends[(ends > low) & (ends < high)], [high]]))


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
        round_ends(bounds[j], bounds[j + 1], m)
        for j, m in zip(found, shares, strict=True)
        if bounds[j] > -np.inf and bounds[j + 1] < np.inf
    ]
    starts = np.unique(np.concatenate([[-np.inf], *cut]))
    own = places(MAGNITUDES, starts)
    return Cells(starts, np.where(np.isin(own, found), own, -1))


def cells_between(low: float, high: float, most: int) -> Cells:
    """Cut a declared range to equal cells; what lies outside of it has a cell at either side."""
    starts = np.append(-np.inf, round_ends(low, high, most))
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
    """The pieces of one column: `starts` says where those of numbers begin, the first at −∞; None for categories.

    `shares` are noisy shares of the rows in each, with a sum of 1. The last piece is that of missing values, and the
    one before it, of categories, that of others.
    """

    starts: FloatArray | None
    shares: FloatArray

    @classmethod
    def known(cls, column: Column, cells: Cells | None) -> PiecesOf:
        """The pieces of a column before any row is counted, all alike: those that are declared, or cells."""
        if column.categories is not None:
            return cls(None, _alike(column.categories + 2))
        starts = np.array([-np.inf, *(column.ends or ())]) if cells is None else cells.starts
        return cls(starts, _alike(len(starts) + 1))

    @property
    def size(self) -> int:
        """The number of pieces."""
        return len(self.shares)

    def codes(self, values: FloatArray) -> IntArray:
        """The piece of each value."""
        return listed(len(self.shares) - 2, values) if self.starts is None else places(self.starts, values)

    def coordinates(self) -> tuple[FloatArray, FloatArray]:
        """What each piece switches on: its own coordinate and, where a column of numbers has three pieces or more, a
        place along a line by rank; and the mean squares of these coordinates, which are centred.
        """
        own = self.shares
        one = np.eye(len(own)) - own
        if self.starts is not None and len(own) > _FEW:
            middle = own[:-1].sum() / 2
            along = np.append(np.cumsum(own[:-1]) - own[:-1] / 2 - middle, 0.0) / max(middle, 1e-300)
            one = np.column_stack([one, along])
        return one, own @ one**2


def _alike(size: int) -> FloatArray:
    return np.full(size, 1 / size)


def shares_of(counts: FloatArray, sigma: float, unusual: int = 1) -> FloatArray:
    """Noisy shares of pieces, none below 0. The last, `unusual` ones have none where noise may be all there is."""
    above = np.maximum(counts, 0.0)
    above[-unusual:] *= counts[-unusual:] > _ALONE * sigma
    return above / above.sum() if above.sum() > 0 else _alike(len(counts))


def maps_of(columns: Sequence[PiecesOf], *, longest: bool = False) -> list[FloatArray]:
    """What each piece adds to a row, for `CodedRows`: coordinates centred and scaled by the noisy shares.

    A centred coordinate of variance v is divided by (v + 0.03)^¼. The root of the rows' mean squared norm becomes norm
    1, and `CodedRows` shortens rows that are longer; with `longest` the norm of the longest row on pieces with rows.
    """
    maps, squared = [], 0.0
    for column in columns:
        one, variances = column.coordinates()
        scales = np.where(variances > 0, (variances + _FLOOR) ** -0.25, 0.0)  # a piece without rows has no effect
        maps.append(one * scales)
        norms = np.einsum("ij,ij->i", maps[-1], maps[-1])
        squared += float(norms[column.shares > 0].max() if longest else column.shares @ norms)
    radius = math.sqrt(squared) if squared > 0 else 1.0
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
    """How many rows each cell of every column has, where a cell is a piece that may become part of another one."""

    columns: tuple[tuple[int, PiecesOf], ...]

    def __call__(self, some: Some) -> IntArray:
        """See `Statistic`."""
        return np.concatenate([np.bincount(one.codes(some.X[:, j]), minlength=one.size) for j, one in self.columns])


def pieces_of(
    columns: Sequence[Column], noise: PieceNoise, n_rows: int, pieces: float
) -> Generator[Statistic, FloatArray, list[PiecesOf]]:
    """Ask for the noisy counts, and make pieces of them and of public numbers, about so many a column of numbers."""
    unknown = [j for j, column in enumerate(columns) if column.unknown]
    numbers = [j for j, column in enumerate(columns) if not column.has_pieces]
    known = [j for j, column in enumerate(columns) if column.has_pieces]
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
    before = [(j, PiecesOf.known(columns[j], cells.get(j))) for j in (*numbers, *known)]
    sizes = [one.size for _, one in before]
    split = sum(sizes[: len(numbers)])
    parts = ((noise.cells, split), (noise.categories, sum(sizes) - split))
    noises = tuple((sigma, size) for sigma, size in parts if sigma is not None)
    counts = yield Statistic(CellCounts(tuple(before)), noises)
    found = {}
    for (j, one), own in zip(before, np.split(counts, np.cumsum(sizes)[:-1]), strict=True):
        if j in cells:
            found[j] = _number(own, cells[j], noise, first.get(j), n_rows, pieces)
        else:
            assert noise.categories is not None
            found[j] = PiecesOf(one.starts, shares_of(own, noise.categories, 2 if one.starts is None else 1))
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
    return PiecesOf(cells.starts[starts], shares_of(np.append(np.add.reduceat(own, starts), counts[-1]), sigma))


@dataclass(frozen=True, eq=False)
class TableColumns(Outcome):
    """What is declared of a table: its columns, and about how many pieces a column of numbers is to have."""

    columns: tuple[Column, ...]
    pieces: float

    @property
    def counted(self) -> dict[str, int]:
        """How many columns are counted by what: the arguments of `recommended_pieces`."""
        known = sum(column.has_pieces for column in self.columns)
        unknown = sum(column.unknown for column in self.columns)
        return {"unknown": unknown, "numbers": len(self.columns) - known, "listed": known}

    @property
    def features(self) -> int:
        """About how many coordinates there will be, without the constant."""
        sizes = [_size_of_known(one) if one.has_pieces else math.ceil(self.pieces) + 2 for one in self.columns]
        return sum(sizes)

    def __str__(self) -> str:
        about = f"about {self.pieces:.0f} a column of numbers" if self.counted["numbers"] else "as they are declared"
        return f"in pieces ({about})"

    def published(self) -> dict[str, Any]:
        """Nothing: all of it is public."""
        return {}


def _size_of_known(column: Column) -> int:
    return PiecesOf.known(column, None).size


@dataclass(frozen=True, eq=False)
class Pieces(Outcome):
    """The pieces of every column, and the rows as codes that come of them; `longest` as for `maps_of`.

    >>> ages, towns = PiecesOf(np.array([-np.inf, 30.0]), np.array([0.5, 0.5, 0.0])), PiecesOf(None, np.ones(3) / 3)
    >>> Pieces((ages, towns)).codes(np.array([[18.0, 0.0], [30.0, 7.0], [np.nan, np.nan]])).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """

    changes_rows: ClassVar[bool] = True
    norm_after: ClassVar[str | None] = "clip"

    columns: tuple[PiecesOf, ...]
    longest: bool = False

    @classmethod
    def read(cls, published: FloatArray, *, longest: bool = False) -> Pieces:
        """The pieces that were `published`; `ValueError` for what no pieces publish."""
        if published.ndim != 2 or published.shape[1] != 3 or not np.isfinite(published).all():
            raise ValueError(f"pieces_ must be a table of three columns of finite numbers, got {published!r}")
        columns, ends = np.unique(published[:, 0], return_index=True)
        if not (np.diff(published[:, 0]) >= 0).all() or columns.tolist() != list(range(len(columns))):
            raise ValueError("pieces_ must name the columns in their order, from 0 on")
        return cls(tuple(_read(one) for one in np.split(published, ends[1:])), longest)

    def published(self) -> dict[str, Any]:
        """For each piece its column, where it begins and its share of the rows. The first of a column of numbers begins
        at the least double. Categories begin at 0, 1, …, others at the number after these, missing values at 0.
        """
        tables = []
        for place, one in enumerate(self.columns):
            begins = np.arange(one.size - 1.0) if one.starts is None else np.maximum(one.starts, _LEAST_DOUBLE)
            tables.append(np.column_stack([np.full(one.size, place), np.append(begins, 0.0), one.shares]))
        return {"pieces_": np.concatenate(tables)}

    @property
    def features(self) -> int:
        """See `Outcome.features`."""
        return sum(one.shape[1] for one in self.maps)

    @property
    def maps(self) -> list[FloatArray]:
        """See `maps_of`."""
        return _maps(self)

    def effects(self, theta: FloatArray) -> list[FloatArray]:
        """What each piece of each column adds to a score, shape (…, pieces) from θ of shape (…, D); mean 0."""
        maps = self.maps
        split = np.cumsum([one.shape[1] for one in maps])
        return [part @ one.T for part, one in zip(np.split(theta, split, axis=-1)[:-1], maps, strict=True)]

    def codes(self, X: FloatArray) -> IntArray:
        """Which piece of each column a row is on, shape (C, n)."""
        small = np.min_scalar_type(max(one.size for one in self.columns) - 1)
        return np.array([one.codes(X[:, j]) for j, one in enumerate(self.columns)], dtype=small)

    def apply(self, X: Any) -> CodedRows:
        """See `Outcome.apply`."""
        return CodedRows(self.codes(X.matrix), self.maps, X.constant)

    def whole(self, rows: TableRows) -> CodedRows:
        """As `apply`, for rows that are scored: a score is a sum of effects, whatever the row's length."""
        found = self.apply(rows)
        found.factors = np.ones(found.n_rows)
        return found

    def seen(self, rows: Rows, row_norm: str = "clip") -> CodedRows:
        """See `Outcome.seen`."""
        return self.apply(rows)


@lru_cache(maxsize=2)  # not a field, which would be sent to workers
def _maps(pieces: Pieces) -> list[FloatArray]:
    """The maps, once in memory for all blocks of rows."""
    return maps_of(pieces.columns, longest=pieces.longest)


def _read(published: FloatArray) -> PiecesOf:
    _, begins, shares = published.T
    listed_in_order = begins[:-1].tolist() == list(range(len(begins) - 1))
    starts = None if listed_in_order else np.append(-np.inf, begins[1:-1])
    if starts is not None and not (begins[0] == _LEAST_DOUBLE and (np.diff(begins[:-1]) > 0).all()):
        raise ValueError("pieces_ must begin at the least double and rise, or count from 0 on")
    if len(begins) < 2 or (shares < 0).any():
        raise ValueError("pieces_ must have two pieces or more a column, and shares of at least 0")
    return PiecesOf(starts, np.ascontiguousarray(shares))  # sums of numbers that lie apart may differ in a digit


class PiecesTaken(Taken[PieceNoise], takes=PieceNoise):
    """Noisy counts of a table's columns, and the pieces that are made of them; `TableColumns` have been declared."""

    fingerprinted = ("pieces_",)

    def released(self, step: PieceNoise, public: PublicRows) -> Generator[Statistic, FloatArray, Pieces]:
        """See `Taken.released`."""
        declared = public.known(TableColumns)
        assert declared is not None
        found = yield from pieces_of(declared.columns, step, public.n_rows, declared.pieces)
        return Pieces(tuple(found), public.unclipped)

    def refused(self, step: PieceNoise, problem: Any, facts: Mapping[str, Any]) -> str | None:
        """See `Taken.refused`."""
        declared = problem.declared
        if not isinstance(declared, TableColumns):
            return f"steps must hold no PieceNoise but for an additive model of a table, got {step!r}"
        told, columns = {name: getattr(step, name) for name in declared.counted}, problem.X.shape[1]
        if told != declared.counted or columns != step.columns:
            return f"steps must count the {columns} columns of X as {declared.counted!r}, got {told!r}"
        if beside := sorted(_OTHER_ROWS & set(facts)):
            return f"steps must hold no PieceNoise beside {' and '.join(beside)}, got {step!r}"
        return None

    def contradiction(self, certificate: Any) -> str | None:
        """See `Taken.contradiction`."""
        if self.step_of(certificate) is None:
            return None
        if getattr(certificate, "public_rows", None) is None:
            return "public_rows must be a number where steps count pieces, got None"
        if certificate.row_norm != Pieces.norm_after:
            return f"row_norm must be {Pieces.norm_after!r} where steps count pieces, got {certificate.row_norm!r}"
        beside = (name for name in sorted(_OTHER_ROWS) if getattr(certificate, name, None) is not None)
        return next((f"{name} must be None where steps count pieces" for name in beside), None)

    def lines(self, certificate: Any) -> list[str]:
        """See `Taken.lines`."""
        if (step := self.step_of(certificate)) is None:
            return []
        return [f"  pieces     {step}: part of the promise"]

    def covered(self, certificate: Any) -> list[str]:
        """See `Taken.covered`."""
        words = "the pieces of the columns and the share of the rows in each, with noise"
        return [] if self.step_of(certificate) is None else [words]

    def plausible(self, certificate: Any, published: Published, features: int) -> bool:
        """See `Taken.plausible`."""
        step, found = self.step_of(certificate), published["pieces_"]
        if step is None or found is None:
            return step is None and found is None
        try:
            read = Pieces.read(found)
        except ValueError:
            return False
        by_list = sum(one.starts is None for one in read.columns)  # numbers in declared pieces have starts, too
        return len(read.columns) == step.columns and by_list <= step.listed and read.features == features
