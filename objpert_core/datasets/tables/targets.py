"""What is to be predicted: one of two or more values, or a number with a public range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets.tables.columns import (
    BadCell,
    Tally,
    codes_of,
    one_of,
    public_range,
    read_different,
    read_numbers,
    typed_value,
)
from objpert_core.datasets.tables.messages import BadText, quoted
from objpert_core.datasets.tables.numerals import Numerals, without_point

MOST_CLASSES = 100
"""Values of a target."""


class ListedValues:
    """A target that has one of several values, spelt letter by letter, whose places are the labels."""

    values: Any

    @property
    def classes(self) -> list[int]:
        """The labels, for an estimator's `classes`."""
        return list(range(len(self.values)))

    def read(self, cells: Sequence[str], numerals: Numerals) -> IntArray:
        """The place of each cell among the values; `BadCell` for the others."""
        places = codes_of("values", self.values)

        def label(cell: str) -> int:
            place = places.get(without_point(cell))
            if place is None:
                got = "and it is empty" if not cell else f"got {quoted(cell)}"
                raise BadText(f"must hold {one_of(self.values)}, {got}")
            return place

        found = read_different(cells, label)
        return np.fromiter(map(found.__getitem__, cells), np.int64, len(cells))

    def write(self, labels: IntArray) -> tuple[IntArray, Tally]:
        """What `read` found as labels."""
        return labels, Tally()


@dataclass(frozen=True)
class TwoValues(ListedValues):
    """A target with two values, spelt letter by letter: `negative` and `positive` become the labels 0 and 1.

    Of a whole number, 1 and 1.0 are one value.

    >>> TwoValues("income", negative="<=50K", positive=">50K").read([">50K", "<=50K"], Numerals()).tolist()
    [1, 0]
    """

    column: str
    negative: str
    positive: str

    def __post_init__(self) -> None:
        for name in ("negative", "positive"):
            object.__setattr__(self, name, typed_value(name, getattr(self, name)))
        if without_point(self.negative) == without_point(self.positive):
            raise ValueError(f"positive must differ from negative, got {quoted(self.positive)} for both")

    @property
    def values(self) -> tuple[str, str]:
        """Both values, that of label 0 first."""
        return self.negative, self.positive


@dataclass(frozen=True)
class SeveralValues(ListedValues):
    """A target with several values, spelt letter by letter, which become the labels 0, 1, 2, …

    >>> species = SeveralValues("species", ["setosa", "versicolor", "virginica"])
    >>> species.read(["virginica", "setosa"], Numerals()).tolist(), species.classes
    ([2, 0], [0, 1, 2])
    """

    column: str
    values: tuple[str, ...]

    def __init__(self, column: str, values: Sequence[str]) -> None:
        if isinstance(values, str) or not isinstance(values, Sequence) or not 2 <= len(values) <= MOST_CLASSES:
            got = type(values).__name__ if isinstance(values, str) or not isinstance(values, Sequence) else len(values)
            raise ValueError(f"values must be a list of 2 to {MOST_CLASSES} texts, got {got}")
        names = tuple(typed_value("values", value) for value in values)
        codes_of("values", names)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "values", names)


@dataclass(frozen=True)
class NumericTarget:
    """A target that is a number, clipped to its range, low < high, which has to be public knowledge.

    >>> target = NumericTarget("rent", low=0, high=3000)
    >>> target.write(target.read(["950", "4000"], Numerals()))[0].tolist(), target.offset, target.scale
    ([950.0, 3000.0], 1500.0, 1500.0)
    """

    column: str
    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = public_range(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def offset(self) -> float:
        """The middle of the range."""
        return self.low / 2 + self.high / 2

    @property
    def scale(self) -> float:
        """Half the width of the range."""
        return self.high / 2 - self.low / 2

    def read(self, cells: Sequence[str], numerals: Numerals) -> FloatArray:
        """The number in each cell; `BadCell` for those that hold none."""
        return read_numbers(cells, numerals.read, numerals)

    def write(self, numbers: FloatArray) -> tuple[FloatArray, Tally]:
        """Numbers that were read, clipped; `BadCell` where one is not finite."""
        if (endless := ~np.isfinite(numbers)).any():
            raise BadCell.where(endless, "must hold a finite number")
        clipped = np.clip(numbers, self.low, self.high)
        return clipped, Tally(clipped=int((clipped != numbers).sum()))
