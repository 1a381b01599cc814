"""One walk through a table: cells to rows and targets, which rows are used, and what the table's owner should know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from objpert_core._validation import FloatArray, IntArray
from objpert_core.blocks import Block, Blocks
from objpert_core.datasets.tables.cells import Cells
from objpert_core.datasets.tables.columns import BadCell, Categories, Tally
from objpert_core.datasets.tables.messages import TableError, quoted
from objpert_core.datasets.tables.numerals import Numerals, without_point
from objpert_core.datasets.tables.raw import Raw
from objpert_core.datasets.tables.schema import TableSchema, refusal
from objpert_core.datasets.tables.targets import NumericTarget, SeveralValues, TwoValues

MUCH = 0.05
"""The share of a column above which its owner should see at once that it was clipped."""


class Note(NamedTuple):
    """A sentence for the table's owner, and whether it tells of a column of which much was clipped."""

    text: str
    much: bool = False


class Encoded(NamedTuple):
    """Some of the `read` rows: codes, places among them, and targets and whose they are where these were asked for."""

    X: FloatArray
    y: NDArray[Any] | None
    people: NDArray[Any] | None
    places: IntArray
    read: int


@dataclass
class Encoding:
    """One walk: `block` encodes its blocks one after the other, and the rest says what happened so far.

    With `targets` the schema's rules about rows hold, for which an entry a person is kept in memory. Without, all rows
    are predicted, and with `skip_bad` those that cannot be encoded are left out and counted.
    """

    schema: TableSchema
    targets: bool = True
    skip_bad: bool = False
    rows: int = 0
    labels: set[float] = field(default_factory=set)
    first_bad: str = ""
    _tallies: dict[str, Tally] = field(default_factory=dict)
    _left: Counter[str] = field(default_factory=Counter)
    _seen: Counter[str] = field(default_factory=Counter)

    @property
    def names(self) -> list[str]:
        """The columns that are needed."""
        others = [self.schema.target.column, *([] if self.schema.person is None else [self.schema.person.column])]
        return [*self.schema.columns, *(others if self.targets else [])]

    def block(self, cells: Mapping[str, Cells], numerals: Numerals, count: int, first_row: int) -> Encoded:
        """Encode `count` rows, the first with the number `first_row`; `TableError` names the first bad cells."""
        numerals = self.schema.with_missing_words(numerals)
        places = np.arange(count)
        people = None
        if self.targets:
            places, people = self._used(cells, numerals, places, first_row)
        while True:
            own = cells if len(places) == count else {name: one.taken(places) for name, one in cells.items()}
            X = np.zeros((self.schema.n_features, len(places))).T  # columns are written, so they lie together
            y, of_target, bad = self._labels(own, numerals) if self.targets else (None, {}, {})
            tallies, wrong_features = self.schema.encode_cells(own, numerals, X)
            bad |= wrong_features
            if not bad:
                break
            error = refusal(bad, first_row + places)
            if not self.skip_bad:
                raise error
            self.first_bad = self.first_bad or str(error)
            wrong = np.unique([position for one in bad.values() for position, _ in one.cells])
            self._left["bad"] += len(wrong)
            places = np.delete(places, wrong)
        self.rows += len(places)
        for name, tally in (tallies | of_target).items():
            self._tallies[name] = self._tallies.get(name, Tally()) + tally
        return Encoded(np.ascontiguousarray(X), y, people, places, count)

    def _used(
        self, cells: Mapping[str, Cells], numerals: Numerals, places: IntArray, first_row: int
    ) -> tuple[IntArray, NDArray[Any] | None]:
        """The rows that are used, and whose they are where the schema says how to tell."""
        target, person = self.schema.target, self.schema.person
        if self.schema.drop_missing_target:
            gaps = cells[target.column].gaps(numerals, getattr(target, "values", ()))
            self._left["target"] += int(gaps.sum())
            places = places[~gaps]
        if person is None:
            return places, None
        whose = cells[person.column].taken(places)
        if (nobody := whose.gaps(numerals, ())).any():
            raise refusal({person.column: BadCell.where(nobody, "must say whose row it is")}, first_row + places)
        people = np.array([without_point(name) for name in whose.each()], dtype=object)
        used = np.zeros(len(places), dtype=bool)
        for place, name in enumerate(people):
            self._seen[name] += 1
            used[place] = self._seen[name] <= person.rows
        self._left["person"] += int((~used).sum())
        return places[used], people[used]

    def _labels(
        self, cells: Mapping[str, Cells], numerals: Numerals
    ) -> tuple[NDArray[Any] | None, dict[str, Tally], dict[str, BadCell]]:
        target = self.schema.target
        try:
            y, tally = target.write(cells[target.column].read_by(target, numerals))
        except BadCell as error:
            return None, {}, {target.column: error}
        if not isinstance(target, NumericTarget):
            self.labels |= set(np.unique(y).tolist())
        return y, {target.column: tally}, {}

    def add(self, more: Encoding) -> None:
        """Count what another walk through other rows of the table saw."""
        self.rows += more.rows
        self.labels |= more.labels
        self._left += more._left
        for name, tally in more._tallies.items():
            self._tallies[name] = self._tallies.get(name, Tally()) + tally

    @property
    def bad_rows(self) -> int:
        """How many rows could not be encoded."""
        return self._left["bad"]

    def notes(self) -> Iterator[Note]:
        """What the table's owner should know: how many rows and values were left out, clipped or replaced."""
        schema, n = self.schema, self.rows
        if count := self._left["target"]:
            yield Note(f"{_rows(count)} without a value of {quoted(schema.target.column)} {_was(count)} left out")
        if schema.person is not None and (count := self._left["person"]):
            yield Note(f"{_rows(count)} beyond the first {schema.person.rows:,} of a person {_was(count)} left out")
        for name, tally in self._tallies.items():
            where = f"column {quoted(name)}:"
            column = schema.columns.get(name, schema.target)
            if tally.clipped and not isinstance(column, (Categories, TwoValues, SeveralValues, Raw)):
                low, high = (end if isinstance(end, str) else f"{end:g}" for end in (column.low, column.high))
                outside = f"{_of(tally.clipped, n)} outside {low} to {high}"
                yield Note(f"{where} {outside} {_was(tally.clipped)} clipped", tally.clipped > MUCH * n)
            if tally.missing:
                replaced = "" if isinstance(column, Raw) else " and replaced"
                yield Note(f"{where} {_of(tally.missing, n)} {_was(tally.missing)} missing{replaced}")
            if tally.other:
                yield Note(f"{where} {_of(tally.other, n)} {_was(tally.other)} none of the categories")

    def refuse_too_few(self) -> None:
        """`TableError` where no row is used, or where every row holds the same value of the target."""
        target = self.schema.target
        if not self.rows:
            raise TableError("the table must have a row that is used, and it has none")
        if not isinstance(target, NumericTarget) and len(self.labels) == 1:
            only, name = target.values[int(*self.labels)], target.column
            what = "both values" if len(target.values) == 2 else "several values"
            raise TableError(f"column {quoted(name)} must hold {what}, and every row holds {quoted(only)}", column=name)


class EncodedBlocks(Blocks):
    """A table that is encoded whenever it is walked."""

    def __init__(self, schema: TableSchema, read: Callable[[Encoding], Iterator[Encoded]], *, targets: bool) -> None:
        super().__init__(self._pairs)
        self.schema = schema
        self._read, self._targets = read, targets
        self._walked: Encoding | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The matrix's columns by name."""
        return self.schema.feature_names

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last whole walk tells the table's owner, as `Table.notes`; none before the first."""
        return tuple(note.text for note in self._told)

    @property
    def much_clipped(self) -> tuple[str, ...]:
        """As `Table.much_clipped`, of the last whole walk."""
        return tuple(note.text for note in self._told if note.much)

    def refuse_too_few(self) -> None:
        """`TableError` where the last whole walk saw no row, or one value of the target alone."""
        if self._walked is not None:
            self._walked.refuse_too_few()

    @property
    def _told(self) -> list[Note]:
        return [] if self._walked is None else list(self._walked.notes())

    @property
    def with_people(self) -> Blocks:
        """Triples of rows, targets and whose rows they are, for `split_by_coin`; the schema has a `person`."""
        return Blocks(lambda: ((block.X, block.y, block.people) for block in self.encoded(Encoding(self.schema))))

    def encoded(self, encoding: Encoding) -> Iterator[Encoded]:
        """One walk; at least one block."""
        any_block = False
        for block in self._read(encoding):
            any_block = True
            yield block
        if not any_block:
            yield from self.nothing()
        self._walked = encoding

    def nothing(self) -> Iterator[Encoded]:
        """No row, with all columns: a fit that must not tell that there is none needs them."""
        none = np.zeros(0)
        yield Encoded(np.zeros((0, self.schema.n_features)), none, none.astype(object), none.astype(np.intp), 0)

    def _pairs(self) -> Iterator[Block]:
        for block in self.encoded(Encoding(self.schema, self._targets)):
            yield block.X, (block.y if self._targets else None)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _of(count: int, n: int) -> str:
    return f"{count:,} of {n:,} values"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
