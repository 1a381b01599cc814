"""A column as an additive model reads it: one number a cell, whatever is missing or of no category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.datasets.tables.columns import Categories, Number, Tally, codes_of, read_different, read_numbers
from objpert_core.datasets.tables.numerals import Numerals, without_point
from objpert_core.datasets.tables.written import Date


@dataclass(frozen=True)
class Raw:
    """A column whose code is the number in a cell, or the place of its category; NaN where the value is missing.

    A date's number is its day. Any value that is no listed category has the place behind the last. What the column says
    of missing and of other values does not count, since an additive model has pieces for them.

    Examples
    --------
    >>> Raw(Categories(["cook", "smith"])).read(["smith", "clerk", "NA"], Numerals()).tolist()
    [1.0, 2.0, nan]
    >>> Raw(Number(0, 9)).read(["12", ""], Numerals()).tolist()
    [12.0, nan]
    """

    column: Number | Categories | Date

    is_private = True
    """As of a private range: numbers stay as they are."""
    width = 1
    half_widths = (1.0,)
    largest_square = math.inf

    @property
    def number(self) -> Number | None:
        """The range and the pieces of numbers, or of days; None for categories."""
        if isinstance(self.column, Date):
            return self.column.number
        return self.column if isinstance(self.column, Number) else None

    def labels(self, name: str) -> tuple[str, ...]:
        """The name of the column in the matrix."""
        return (name,)

    def read(self, cells: Sequence[str], numerals: Numerals) -> FloatArray:
        """The number of each cell; `BadCell` for those that hold no number where one must stand."""
        if not isinstance(self.column, Categories):
            return read_numbers(cells, self.column.reader(numerals), numerals, with_gaps=True)
        places = codes_of("categories", self.column.categories)

        def place(cell: str) -> float:
            if (found := places.get(without_point(cell))) is not None:
                return float(found)
            return math.nan if numerals.is_missing(cell) else float(len(places))

        found = read_different(cells, place)
        return np.fromiter(map(found.__getitem__, cells), np.float64, len(cells))

    def write(self, numbers: FloatArray, out: FloatArray) -> Tally:
        """Write numbers into `out`, of shape (n, 1)."""
        out[:, 0] = numbers
        size = len(self.column.categories) if isinstance(self.column, Categories) else math.nan
        return Tally(missing=int(np.isnan(numbers).sum()), other=int((numbers == size).sum()))


def typed(part: Any) -> Any:
    """A column as it was typed; a target, and anything else, as it is."""
    return part.column if isinstance(part, Raw) else part
