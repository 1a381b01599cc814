"""A CSV file and a schema to a matrix and targets, and to what the file's owner should know of the cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from objpert_core._validation import FloatArray
from objpert_core.datasets.tables.cells import Cells
from objpert_core.datasets.tables.columns import Number
from objpert_core.datasets.tables.dialect import Dialect
from objpert_core.datasets.tables.encoding import Encoded, EncodedBlocks, Encoding
from objpert_core.datasets.tables.messages import MOST_BAD_CELLS, TableError, WrongCell, quoted
from objpert_core.datasets.tables.numerals import Numerals
from objpert_core.datasets.tables.raw import typed
from objpert_core.datasets.tables.schema import TableSchema
from objpert_core.datasets.tables.sheet import Sheet, open_sheet
from objpert_core.datasets.tables.targets import NumericTarget

MOST_BYTES = 5_000_000
"""A larger CSV file is walked by the command, and not taken by the app."""
MOST_CELLS = 8_000_000
"""Rows times columns after the encoding, 64 MB: a table with more of them is walked."""

_ANYTHING = Dialect()
_CHUNK = 100_000  # cells of a file that are held as texts at once
_NUMBERS = 2**21  # and of the matrix, about: 16 MB


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
    people : ndarray of str, shape (n,), or None
        Whose row it is, where the schema has a `person`: for `split_by_coin`, and not for publishing.
    """

    X: FloatArray
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    notes: tuple[str, ...]
    much_clipped: tuple[str, ...] = ()
    people: NDArray[Any] | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    def __repr__(self) -> str:
        return f"Table({self.X.shape[0]} rows, {self.X.shape[1]} features)"


def read_table(content: bytes, schema: TableSchema, dialect: Dialect = _ANYTHING) -> Table:
    r"""A CSV file as a private learner takes it, encoded by public knowledge alone.

    No row is left out without a word: a row that cannot be encoded is refused, and the error names the column. A schema
    may say that rows without a target are left out, or that the first rows of each person are used: such rules look at
    each row, or at each person's rows, alone.

    Parameters
    ----------
    content : bytes
        The file. One row is one person, unless the schema has a `person`.
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
    >>> from objpert_core.datasets import Number, TwoValues
    >>> schema = TableSchema({"age": Number(17, 90)}, TwoValues("income", negative="low", positive="high"))
    >>> table = read_table(b"age,income\n17,low\n95,high\n", schema)
    >>> table.X.ravel().tolist(), table.y.tolist()
    ([-1.0, 1.0], [0, 1])
    >>> table.notes
    ('column “age”: 1 of 2 values outside 17 to 90 was clipped',)
    """
    return _read(open_sheet(content, dialect), schema)


def _read(sheet: Sheet, schema: TableSchema) -> Table:
    encoding = Encoding(schema)
    n = _rows(sheet)
    X = np.zeros((n, schema.n_features))
    y = np.empty(n, dtype=np.float64 if isinstance(schema.target, NumericTarget) else np.int64)
    people = np.empty(n if schema.person else 0, dtype=object)
    wrong: list[WrongCell] = []
    for batch in _batches(sheet, encoding):
        part = slice(encoding.rows, None)
        try:
            block = encoding.block(*batch)
        except TableError as error:
            wrong += error.cells
            if len(wrong) >= MOST_BAD_CELLS:
                break
            continue
        part = slice(part.start, encoding.rows)
        X[part], y[part] = block.X, np.asarray(block.y)
        if schema.person is not None:
            people[part] = np.asarray(block.people)
    if wrong:
        raise TableError.of_cells(wrong)
    encoding.refuse_too_few()
    told = list(encoding.notes())
    notes, much = tuple(note.text for note in told), tuple(note.text for note in told if note.much)
    used = encoding.rows
    return Table(X[:used], y[:used], schema.feature_names, notes, much, people[:used] if schema.person else None)


def read_features(content: bytes, schema: TableSchema, dialect: Dialect = _ANYTHING) -> FloatArray:
    r"""New rows from a CSV file, shape (n, n_features), for a model of this schema; the file need not have the target.

    Arguments and `TableError` are those of `read_table`, the matrix is that of `TableSchema.encode`.

    >>> from objpert_core.datasets import Number, TwoValues
    >>> schema = TableSchema({"age": Number(17, 90)}, TwoValues("income", negative="low", positive="high"))
    >>> read_features(b"name,age\nx,17\ny,95\n", schema).tolist()
    [[-1.0], [1.0]]
    """
    blocks = open_content(content, schema, dialect, targets=False)
    return np.concatenate([X for X, _ in blocks])


def open_content(
    content: bytes, schema: TableSchema, dialect: Dialect = _ANYTHING, *, targets: bool = True
) -> EncodedBlocks:
    """As `open_table`, of a CSV file in memory; it needs no pyarrow. `TableError` as in `read_table`."""
    return _opened(open_sheet(content, dialect), schema, targets=targets)


def read_or_open(content: bytes, schema: TableSchema, dialect: Dialect = _ANYTHING) -> Table | EncodedBlocks:
    """As `read_table`; but as `open_content` where the matrix would have more than `MOST_CELLS` cells."""
    sheet = open_sheet(content, dialect)
    is_large = _rows(sheet) * schema.n_features > MOST_CELLS
    return _opened(sheet, schema, targets=True) if is_large else _read(sheet, schema)


def _opened(sheet: Sheet, schema: TableSchema, *, targets: bool) -> EncodedBlocks:
    _rows(sheet)

    def read(encoding: Encoding) -> Iterator[Encoded]:
        return (encoding.block(*batch) for batch in _batches(sheet, encoding))

    return EncodedBlocks(schema, read, targets=targets)


def _rows(sheet: Sheet) -> int:
    n = sum(1 for _ in sheet.rows())
    if n == 0:
        raise TableError("the file must have rows after the header, and it has none", row=1)
    return n


def _places(sheet: Sheet, names: Sequence[str]) -> dict[str, int]:
    for name in names:
        if name not in sheet.names:
            raise TableError(f"row 1 must name the column {quoted(name)} of the schema", row=1, column=name)
    return {name: sheet.names.index(name) for name in names}


def numerals_of(dialect: Dialect, schema: TableSchema, *, targets: bool) -> Numerals:
    """How numbers are written; `TableError` where the file does not tell, and a part of the schema is one."""
    if dialect.decimal is None:
        parts = (*schema.columns.values(), *([schema.target] if targets else []))
        if any(type(typed(part)) in (Number, NumericTarget) for part in parts):
            raise TableError(
                "the file does not tell its decimal mark, so that it must be named: . or ,", asks="decimal"
            )
    return Numerals(dialect.decimal or ".", dialect.thousands)


def _batches(sheet: Sheet, encoding: Encoding) -> Iterator[tuple[dict[str, Cells], Numerals, int, int]]:
    """What `Encoding.block` takes, some rows at a time."""
    places = _places(sheet, encoding.names)
    numerals = numerals_of(sheet.dialect, encoding.schema, targets=encoding.targets)
    rows = (cells for _, cells in sheet.rows())
    size, row = max(1, min(_CHUNK // len(sheet.names), _NUMBERS // encoding.schema.n_features)), 2
    while chunk := list(islice(rows, size)):
        columns = list(zip(*chunk, strict=True))
        cells = {name: Cells([cell.strip() for cell in columns[place]]) for name, place in places.items()}
        yield cells, numerals, len(chunk), row
        row += len(chunk)
