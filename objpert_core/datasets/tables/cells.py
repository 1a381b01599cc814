"""The cells of one column, however a reader has them: as texts, as different texts and their places, or as numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets.tables.columns import BadCell
from objpert_core.datasets.tables.numerals import Numerals, without_point


class Reader(Protocol):
    """What a column or a target is, to its cells."""

    def read(self, cells: Sequence[str], numerals: Numerals) -> NDArray[Any]:
        """A number for each text; `BadCell` for the bad ones."""
        ...


@dataclass(frozen=True)
class Cells:
    """Texts, and which of them each row has (`places`; None: one after the other); or numbers, NaN for a gap."""

    texts: Sequence[str] = ()
    places: IntArray | None = None
    numbers: FloatArray | None = None

    def read_by(self, reader: Reader, numerals: Numerals) -> NDArray[Any]:
        """What a column makes of each cell; `BadCell` for the bad ones."""
        if self.numbers is not None:
            return numerals.with_gaps(self.numbers)
        if self.places is None:
            return reader.read(self.texts, numerals)
        try:
            return reader.read(self.texts, numerals)[self.places]
        except BadCell as error:
            raise error.spread(self.places) from None

    def gaps(self, numerals: Numerals, values: Collection[str]) -> NDArray[np.bool_]:
        """Where a value is missing; what is listed among the `values` is none."""
        if self.numbers is not None:
            return np.isnan(numerals.with_gaps(self.numbers))
        listed = set(map(without_point, values))
        missing = {text: numerals.is_missing(text) and without_point(text) not in listed for text in set(self.texts)}
        found = np.fromiter(map(missing.__getitem__, self.texts), np.bool_, len(self.texts))
        return found if self.places is None else found[self.places]

    def each(self) -> list[str]:
        """The text of every row."""
        return list(self.texts) if self.places is None else [self.texts[place] for place in self.places]

    def taken(self, rows: IntArray) -> Cells:
        """The cells of these rows."""
        if self.numbers is not None:
            return Cells(numbers=self.numbers[rows])
        if self.places is None:
            return Cells([self.texts[row] for row in rows])
        places = self.places[rows]
        used = np.bincount(places, minlength=len(self.texts)) > 0
        return Cells([self.texts[place] for place in np.flatnonzero(used).tolist()], (np.cumsum(used) - 1)[places])
