"""A CSV file and a schema to a matrix and targets, and to what the file's owner should know of the cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from objpert_core._validation import FloatArray
from objpert_core.datasets.tables.columns import BadCell, Categories, Number, Tally
from objpert_core.datasets.tables.dialect import Dialect
from objpert_core.datasets.tables.messages import MOST_BAD_CELLS, TableError, WrongCell, quoted
from objpert_core.datasets.tables.numerals import Numerals
from objpert_core.datasets.tables.schema import TableSchema
from objpert_core.datasets.tables.sheet import Sheet, open_sheet
from objpert_core.datasets.tables.targets import NumericTarget, SeveralValues, TwoValues

MOST_CELLS = 8_000_000
"""Rows times columns after the encoding: 64 MB."""
MUCH = 0.05
"""The share of a column above which its owner should see at once that it was clipped."""

_ANYTHING = Dialect()
_CHUNK = 100_000  # cells of a file that are held as texts at once


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A file, encoded.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        float64, in the order of rows of the file; every row has norm at most 1, up to rounding.
    y : ndarray, shape (n,)
        int64 labels 0 and 1, or float64 targets in the file's units, clipped to their range.
    feature_names : tuple of str
    notes : tuple of str
        How many values were clipped, replaced, or none of the categories. They depend on the data and no certificate
        covers them: they are for the file's owner, not for publishing.
    much_clipped : tuple of str
        Those of the notes that tell of a column of which more than 5 % was clipped.
    """

    X: FloatArray
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    notes: tuple[str, ...]
    much_clipped: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """The number of rows, so of people."""
        return len(self.y)

    def __repr__(self) -> str:
        return f"Table({self.X.shape[0]} rows, {self.X.shape[1]} features)"


def read_table(content: bytes, schema: TableSchema, dialect: Dialect = _ANYTHING) -> Table:
    r"""A CSV file as a private learner takes it, encoded by public knowledge alone.

    No row is left out without a word. A row that cannot be encoded is refused, and the error names the column, so that
    the file's owner gives the column a public replacement, or mends the file. If rows were left out, `public_rows`
    would not be the file's number of rows, and people with gaps are seldom like the others.

    Parameters
    ----------
    content : bytes
        The file, at most 5 MB. One row is one person.
    schema : TableSchema
        What somebody typed from general knowledge.
    dialect : Dialect
        What is known of the file's form; the rest is found out. A cell's number does not depend on what is found: the
        number is the same, or the cell is refused.

    Raises
    ------
    TableError
        One sentence with row and column where there is one, for each of the first bad cells. The sentence depends on
        the data, and may quote a value.

    Examples
    --------
    >>> from objpert_core.datasets.tables import Number, TwoValues
    >>> schema = TableSchema({"age": Number(17, 90)}, TwoValues("income", negative="low", positive="high"))
    >>> table = read_table(b"age,income\n17,low\n95,high\n", schema)
    >>> table.X.ravel().tolist(), table.y.tolist()
    ([-1.0, 1.0], [0, 1])
    >>> table.notes
    ('column “age”: 1 of 2 values outside 17 to 90 was clipped',)
    """
    sheet = open_sheet(content, dialect)
    places = _places(sheet, (*schema.columns, schema.target.column))
    numerals = _numerals(sheet, (*schema.columns.values(), schema.target))
    n = _rows(sheet, schema)
    X = np.zeros((n, schema.n_features))
    y = np.empty(n, dtype=np.float64 if isinstance(schema.target, NumericTarget) else np.int64)
    tallies = dict.fromkeys([*schema.columns, schema.target.column], Tally())
    wrong: list[WrongCell] = []
    for start, cells in _chunks(sheet, places):
        part = slice(start, start + len(cells[schema.target.column]))
        try:
            for name, tally in _encode(schema, cells, numerals, X[part], y[part], start + 2).items():
                tallies[name] += tally
        except TableError as error:
            wrong += error.cells
            if len(wrong) >= MOST_BAD_CELLS:
                break
    if wrong:
        raise TableError.of_cells(wrong)
    _refuse_one_class(schema, y)
    told = list(_notes(schema, tallies, n))
    much = tuple(note for note, clipped in told if clipped > MUCH * n)
    return Table(X, y, schema.feature_names, tuple(note for note, _ in told), much)


def read_features(content: bytes, schema: TableSchema, dialect: Dialect = _ANYTHING) -> FloatArray:
    r"""New rows from a CSV file, shape (n, n_features), for a model of this schema; the file need not have the target.

    Arguments and `TableError` are those of `read_table`, the matrix is that of `TableSchema.encode`.

    >>> from objpert_core.datasets.tables import Number, TwoValues
    >>> schema = TableSchema({"age": Number(17, 90)}, TwoValues("income", negative="low", positive="high"))
    >>> read_features(b"name,age\nx,17\ny,95\n", schema).tolist()
    [[-1.0], [1.0]]
    """
    sheet = open_sheet(content, dialect)
    places = _places(sheet, tuple(schema.columns))
    numerals = _numerals(sheet, tuple(schema.columns.values()))
    X = np.zeros((_rows(sheet, schema), schema.n_features))
    for start, cells in _chunks(sheet, places):
        rows = len(next(iter(cells.values())))
        schema.encode_cells(cells, numerals, X[start : start + rows], first_row=start + 2)
    return X


def _rows(sheet: Sheet, schema: TableSchema) -> int:
    """How many rows the file has; `TableError` where there is none, or no room for them."""
    n = sum(1 for _ in sheet.rows())
    if n == 0:
        raise TableError("the file must have rows after the header, and it has none", row=1)
    if n * schema.n_features > MOST_CELLS:
        raise TableError(
            f"the table must have at most {MOST_CELLS:,} cells after the encoding, "
            f"got {n:,} rows with {schema.n_features:,} features"
        )
    return n


def _places(sheet: Sheet, names: Sequence[str]) -> dict[str, int]:
    """Where each of these columns stands in the file."""
    for name in names:
        if name not in sheet.names:
            raise TableError(f"row 1 must name the column {quoted(name)} of the schema", row=1, column=name)
    return {name: sheet.names.index(name) for name in names}


def _numerals(sheet: Sheet, parts: Sequence[object]) -> Numerals:
    """How numbers are written, where a part of the schema is one."""
    decimal = sheet.dialect.decimal
    if decimal is None:
        if any(type(part) in (Number, NumericTarget) for part in parts):
            raise TableError(
                "the file does not tell its decimal mark, so that it must be named: . or ,", asks="decimal"
            )
        decimal = "."
    return Numerals(decimal, sheet.dialect.thousands)


def _chunks(sheet: Sheet, places: dict[str, int]) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """The cells of the columns at `places`, some rows at a time, and how many rows came before them."""
    rows = (cells for _, cells in sheet.rows())
    size, start = max(1, _CHUNK // len(sheet.names)), 0
    while chunk := list(islice(rows, size)):
        columns = list(zip(*chunk, strict=True))
        yield start, {name: [cell.strip() for cell in columns[place]] for name, place in places.items()}
        start += len(chunk)


def _encode(
    schema: TableSchema,
    cells: dict[str, list[str]],
    numerals: Numerals,
    X: FloatArray,
    y: NDArray[Any],
    first_row: int,
) -> dict[str, Tally]:
    """Write some rows into `X` and `y`; `TableError` names the first bad cells, in a row that of the target first."""
    target = schema.target.column
    wrong: list[WrongCell] = []
    tallies = {}
    try:
        y[:], tallies[target] = schema.target.encode(cells[target], numerals)
    except BadCell as error:
        wrong += error.wrong(target, first_row)
    try:
        tallies |= schema.encode_cells(cells, numerals, X, first_row=first_row)
    except TableError as error:
        wrong += error.cells
    if wrong:
        raise TableError.of_cells(wrong)
    return tallies


def _refuse_one_class(schema: TableSchema, y: NDArray[Any]) -> None:
    if not isinstance(schema.target, NumericTarget) and y.min() == y.max():
        only, name = schema.target.values[y[0]], schema.target.column
        what = "both values" if len(schema.target.values) == 2 else "several values"
        raise TableError(f"column {quoted(name)} must hold {what}, and every row holds {quoted(only)}", column=name)


def _notes(schema: TableSchema, tallies: dict[str, Tally], n: int) -> Iterator[tuple[str, int]]:
    """The notes, each with how many values it says were clipped."""
    for name, tally in tallies.items():
        where = f"column {quoted(name)}:"
        column = schema.columns.get(name, schema.target)
        if tally.clipped and not isinstance(column, (Categories, TwoValues, SeveralValues)):
            low, high = (end if isinstance(end, str) else f"{end:g}" for end in (column.low, column.high))
            outside = f"{_of(tally.clipped, n)} outside {low} to {high}"
            yield f"{where} {outside} {_was(tally.clipped)} clipped", tally.clipped
        if tally.missing:
            yield f"{where} {_of(tally.missing, n)} {_was(tally.missing)} missing and replaced", 0
        if tally.other:
            yield f"{where} {_of(tally.other, n)} {_was(tally.other)} none of the categories", 0


def _of(count: int, n: int) -> str:
    return f"{count:,} of {n:,} values"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
