"""What a column may be, by public knowledge alone: its range or its categories, and what a missing value becomes.

A cell's code depends on that cell and on what was typed here: neighbouring tables have neighbouring matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from objpert_core._validation import FloatArray, IntArray, boolean, finite
from objpert_core.datasets.tables.decoding import line_feeds
from objpert_core.datasets.tables.messages import MOST_BAD_CELLS, BadText, WrongCell, first_twice, listed, quoted
from objpert_core.datasets.tables.numerals import Numerals, without_point
from objpert_core.tables import is_formula

MOST_CATEGORIES = 2_000
"""Of a column."""
LONGEST_CATEGORY = 200
"""Characters."""
MOST_PIECE_ENDS = 255
"""Of a column."""
PRIVATE = "private"
"""In place of a number's range: nobody knows the range, and the fit learns it inside its promise."""

_OTHER = -1  # a code that no category has
_MISSING = -2
_Read = TypeVar("_Read")
NO_REPLACEMENT = "and no value is given that replaces a missing one"
"""How the complaint about a missing value ends."""


class BadCell(ValueError):  # noqa: N818 - it says which cell
    """Cells that their column refuses: the position of each in the column, from 0, and what is said of it."""

    def __init__(self, *cells: tuple[int, str]) -> None:
        super().__init__(cells[0][1])
        self.cells = cells

    @classmethod
    def where(cls, bad: NDArray[np.bool_], message: str) -> BadCell:
        """The positions where `bad` is true."""
        return cls(*((int(position), message) for position in np.flatnonzero(bad)))

    def spread(self, places: IntArray) -> BadCell:
        """The same in a column whose row i holds the cell at `places[i]`."""
        said = dict(self.cells)
        rows = np.flatnonzero(np.isin(places, list(said)))
        return BadCell(*((int(row), said[int(places[row])]) for row in rows))

    def wrong(self, column: str, rows: IntArray) -> list[WrongCell]:
        """The first of the cells, with the number of the row at each position."""
        return [WrongCell(int(rows[position]), column, message) for position, message in self.cells[:MOST_BAD_CELLS]]


class Tally(NamedTuple):
    """How many cells were clipped to their range, missing and replaced, or of no category: it depends on the data."""

    clipped: int = 0
    missing: int = 0
    other: int = 0

    def __add__(self, more: Tally) -> Tally:  # type: ignore[override]
        return Tally(*(one + other for one, other in zip(self, more, strict=True)))


def public_range(low: object, high: object) -> tuple[float, float]:
    """A typed range as two numbers; `ValueError` unless they are finite and low < high."""
    lowest, highest = finite("low", low), finite("high", high)
    if not lowest / 2 < highest / 2:  # halves: a range may be as wide as the doubles go
        raise ValueError(f"low must be below high, got {lowest:g} and {highest:g}")
    return lowest, highest


def _piece_ends(ends: Any, low: float, high: float) -> tuple[float, ...]:
    """Typed ends of pieces; `ValueError` unless they rise between the ends of the range, which are NaN if private."""
    if isinstance(ends, str) or not isinstance(ends, (Sequence, np.ndarray)) or not 1 <= len(ends) <= MOST_PIECE_ENDS:
        got = f"{len(ends)} of them" if isinstance(ends, (list, tuple, np.ndarray)) else type(ends).__name__
        raise ValueError(f"pieces must be a list of 1 to {MOST_PIECE_ENDS} numbers, got {got}")
    found = tuple(finite("pieces", end) for end in ends)
    for end in found:
        if end <= low or end >= high:
            raise ValueError(f"pieces must be numbers between {low:g} and {high:g}, got {end:g}")
    for end, after in pairwise(found):
        if end >= after:
            raise ValueError(f"pieces must be rising numbers, got {after:g} after {end:g}")
    return found


def read_different(cells: Sequence[str], read: Callable[[str], _Read]) -> dict[str, _Read]:
    """What `read` makes of each text among the cells; `BadCell` names the cells that it refuses."""
    found: dict[str, _Read] = {}
    wrong: dict[str, str] = {}
    for cell in dict.fromkeys(cells):
        try:
            found[cell] = read(cell)
        except BadText as error:
            wrong[cell] = str(error)
    if wrong:
        raise BadCell(*((position, wrong[cell]) for position, cell in enumerate(cells) if cell in wrong))
    return found


def read_numbers(
    cells: Sequence[str], read: Callable[[str], float], numerals: Numerals, *, with_gaps: bool = False
) -> FloatArray:
    """The numbers in a column's cells, NaN for missing ones if these may be; `BadCell` for the bad ones."""

    def number_or_gap(cell: str) -> float:
        if not numerals.is_missing(cell):
            return read(cell)
        if not with_gaps:
            raise BadText(_no_value(cell))
        return math.nan

    numbers = read_different(cells, number_or_gap)
    return np.fromiter(map(numbers.__getitem__, cells), np.float64, len(cells))


def _no_value(cell: str) -> str:
    what = f"holds {quoted(cell)}, a missing value" if cell else "is empty"
    return f"{what}, {NO_REPLACEMENT}"


@dataclass(frozen=True)
class Number:
    """A number with a public range, which is mapped to [−1, 1]; what lies outside is clipped to the range.

    Parameters
    ----------
    low, high : float
        The range, low < high. Take it from what is known of such numbers in general, and never from these data. Where
        nobody knows it, ``Number("private", "private")`` leaves the numbers as they are, and an estimator with
        ``feature_ranges=schema.feature_ranges`` finds their range privately.
    missing : float, optional
        What replaces a missing value: a public number of the range.
    missing_indicator : bool, default=False
        Whether another column says where the value was missing. Without `missing` the middle of the range replaces it;
        with a private range `missing` has to be given.
    pieces : sequence of float, optional
        Public numbers that cut the range to the pieces of an additive model, each but the first from such a number on:
        1 to 255 of them, rising, between `low` and `high`. Other models do not read them.

    Examples
    --------
    >>> age, out = Number(17, 90), np.zeros((3, 1))
    >>> age.write(age.read(["17", "90", "120"], Numerals()), out)
    Tally(clipped=1, missing=0, other=0)
    >>> out.ravel().tolist()
    [-1.0, 1.0, 1.0]
    """

    low: float
    high: float
    missing: float | None = None
    missing_indicator: bool = False
    pieces: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        private = all(end is math.nan or (isinstance(end, str) and end == PRIVATE) for end in (self.low, self.high))
        low, high = (math.nan, math.nan) if private else public_range(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        boolean("missing_indicator", self.missing_indicator)
        if private and self.missing_indicator and self.missing is None:
            raise ValueError(
                "missing must be a number where the range is private, got None: there is no middle to take"
            )
        if self.missing is not None:
            missing = finite("missing", self.missing)
            if not (private or low <= missing <= high):
                raise ValueError(f"missing must be a number from {low:g} to {high:g}, got {missing:g}")
            object.__setattr__(self, "missing", missing)
        if self.pieces is not None:
            object.__setattr__(self, "pieces", _piece_ends(self.pieces, low, high))

    @property
    def is_private(self) -> bool:
        """Whether the range is left to the fit, which finds it privately."""
        return math.isnan(self.low)

    @property
    def width(self) -> int:
        """How many columns this one becomes in the matrix."""
        return 1 + self.missing_indicator

    @property
    def largest_square(self) -> float:
        """The largest sum of squares that one row can have in these columns."""
        return 1.0 + self._replacement**2 if self.missing_indicator else 1.0

    @property
    def half_widths(self) -> tuple[float, ...]:
        """Half the width of the range, and 1 for the column that says where a value was missing."""
        return (self.high / 2 - self.low / 2, 1.0)[: self.width]

    @property
    def _replacement(self) -> float:
        return 0.0 if self.missing is None else float(self._scaled(np.array([self.missing]))[0])

    def _scaled(self, numbers: FloatArray) -> FloatArray:
        if self.is_private:
            return numbers
        middle, half = self.low / 2 + self.high / 2, self.high / 2 - self.low / 2
        return np.clip((np.clip(numbers, self.low, self.high) - middle) / half, -1.0, 1.0)

    def labels(self, name: str) -> tuple[str, ...]:
        """The names of the columns that this one becomes in the matrix."""
        return (name, f"{name} (missing)")[: self.width]

    def read(self, cells: Sequence[str], numerals: Numerals) -> FloatArray:
        """The number in each cell, NaN where one is missing; `BadCell` for the bad ones."""
        return read_numbers(cells, self.reader(numerals), numerals, with_gaps=self.may_have_gaps)

    def reader(self, numerals: Numerals) -> Callable[[str], float]:
        """What finds the number in a text that is not missing; it raises `BadText`."""
        return numerals.read

    @property
    def may_have_gaps(self) -> bool:
        """Whether something is said of missing values."""
        return self.missing is not None or self.missing_indicator

    def write(self, numbers: FloatArray, out: FloatArray) -> Tally:
        """Write the codes of numbers, NaN where one is missing, into `out`, zeros of shape (n, width)."""
        out[:, 0] = self._scaled(numbers)
        gaps = np.isnan(numbers)
        if gaps.any():
            if not self.may_have_gaps:
                raise BadCell.where(gaps, _no_value(""))
            out[gaps, 0] = self._replacement
            if self.missing_indicator:
                out[gaps, 1] = 1.0
        if (endless := np.isinf(numbers)).any():
            raise BadCell.where(endless, "must hold a finite number")
        outside = (numbers < self.low) | (numbers > self.high)
        return Tally(clipped=int(outside.sum()), missing=int(gaps.sum()))


@dataclass(frozen=True)
class Categories:
    """One of a few public categories: a column of zeros and ones for each.

    Parameters
    ----------
    categories : sequence of str
        What may stand in a cell, letter by letter, blanks around it aside; the order is that of the columns. Of a whole
        number, 1 and 1.0 are one category.
    other : bool, default=False
        Whether any other value is taken, as zeros in every column. Otherwise such a value is refused.
    missing : str, optional
        The category that replaces a missing value.
    missing_indicator : bool, default=False
        Whether another column says where the value was missing.
    reference : str, optional
        A category without a column: the others' coefficients are then differences from it. Without a reference the
        columns add up to 1 in every row, and beside a constant no data tell their coefficients apart.

    Examples
    --------
    >>> sex, out = Categories(["Female", "Male"], other=True), np.zeros((2, 2))
    >>> sex.write(sex.read(["Male", "male"], Numerals()), out)
    Tally(clipped=0, missing=0, other=1)
    >>> out.tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """

    categories: tuple[str, ...]
    other: bool = False
    missing: str | None = None
    missing_indicator: bool = False
    reference: str | None = None

    def __init__(
        self,
        categories: Sequence[str],
        other: bool = False,
        missing: str | None = None,
        missing_indicator: bool = False,
        reference: str | None = None,
    ) -> None:
        if isinstance(categories, str) or not isinstance(categories, Sequence):
            raise ValueError(f"categories must be a list of texts, got {type(categories).__name__}")
        if not 1 <= len(categories) <= MOST_CATEGORIES:
            raise ValueError(f"categories must be 1 to {MOST_CATEGORIES:,} texts, got {len(categories):,}")
        names = tuple(typed_value("categories", value) for value in categories)
        places = codes_of("categories", names)

        def listed_one(name: str, value: str | None) -> str | None:
            place = None if value is None else places.get(without_point(typed_value(name, value)), -1)
            return value if place is None or place < 0 else names[place]

        object.__setattr__(self, "categories", names)
        object.__setattr__(self, "other", boolean("other", other))
        object.__setattr__(self, "missing", listed_one("missing", missing))
        object.__setattr__(self, "missing_indicator", boolean("missing_indicator", missing_indicator))
        if self.missing is not None and self.missing not in names:
            raise ValueError(f"missing must be one of the categories {listed(names)}, got {quoted(self.missing)}")
        object.__setattr__(self, "reference", listed_one("reference", reference))
        if self.reference is not None and (self.reference not in names or len(names) < 2 or self.other):
            raise ValueError(
                f"reference must be one of two or more categories, with other=False, got {quoted(self.reference)}"
            )

    @property
    def width(self) -> int:
        """How many columns this one becomes in the matrix."""
        return len(self._shown) + self.missing_indicator

    @property
    def _shown(self) -> tuple[str, ...]:
        return tuple(category for category in self.categories if category != self.reference)

    @property
    def half_widths(self) -> tuple[float, ...]:
        """A category is there or not: 1 for every column."""
        return (1.0,) * self.width

    @property
    def largest_square(self) -> float:
        """The largest sum of squares that one row can have in these columns."""
        return 2.0 if self.missing_indicator and self.missing is not None else 1.0

    def labels(self, name: str) -> tuple[str, ...]:
        """The names of the columns that this one becomes in the matrix."""
        names = [f"{name} = {category}" for category in self._shown]
        return (*names, f"{name} (missing)")[: self.width]

    def read(self, cells: Sequence[str], numerals: Numerals) -> IntArray:
        """The place of each cell among the categories, below 0 where it has none; `BadCell` for the bad ones."""
        places = codes_of("categories", self.categories)

        def code(cell: str) -> int:
            place = places.get(without_point(cell))
            return self._code_of_unlisted(cell, numerals) if place is None else place

        codes = read_different(cells, code)
        return np.fromiter(map(codes.__getitem__, cells), np.intp, len(cells))

    def write(self, codes: IntArray, out: FloatArray) -> Tally:
        """Write what `read` found into `out`, zeros of shape (n, width)."""
        gaps = codes == _MISSING
        other = int((codes == _OTHER).sum())
        if self.missing_indicator:
            out[gaps, -1] = 1.0
        if self.missing is not None:
            codes = np.where(gaps, self.categories.index(self.missing), codes)
        for column, category in enumerate(self._shown):
            out[codes == self.categories.index(category), column] = 1.0
        return Tally(missing=int(gaps.sum()), other=other)

    def _code_of_unlisted(self, cell: str, numerals: Numerals) -> int:
        if numerals.is_missing(cell):
            if self.missing is None and not self.missing_indicator:
                raise BadText(_no_value(cell))
            return _MISSING
        if is_formula(cell):
            raise BadText(f"must hold a value and no formula, got {quoted(cell)}")
        if cell.startswith('"'):  # a blank before a quotation mark makes the mark a letter, which nobody means
            raise BadText(f"must begin with no quotation mark, or with no blank before it, got {quoted(cell)}")
        if not self.other:
            raise BadText(f"must hold {one_of(self.categories)}, got {quoted(cell)}")
        return _OTHER


def typed_value(name: str, value: object) -> str:
    """A category as the user typed it, without blanks around it; `ValueError` unless it is a short text."""
    if not isinstance(value, str) or not 0 < len(value.strip()) <= LONGEST_CATEGORY:
        got = quoted(value) if isinstance(value, str) else repr(value)
        raise ValueError(f"{name} must be texts of 1 to {LONGEST_CATEGORY} characters, got {got}")
    return line_feeds(value).strip()


def codes_of(name: str, values: tuple[str, ...]) -> dict[str, int]:
    """The place of each value, by its text without the point of a whole number; `ValueError` unless they differ."""
    plain = tuple(map(without_point, values))
    if (twice := first_twice(plain)) is not None:
        raise ValueError(f"{name} must differ from one another, got {quoted(twice)} twice")
    return {value: place for place, value in enumerate(plain)}


def one_of(values: tuple[str, ...]) -> str:
    """What a cell may hold, in words."""
    return listed(values) if len(values) == 1 else f"one of {listed(values)}"
