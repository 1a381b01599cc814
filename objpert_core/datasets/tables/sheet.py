"""Text to rows of cells, counted as a spreadsheet counts them; and a first look at a file's form and columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from objpert_core.datasets.tables.decoding import decode
from objpert_core.datasets.tables.dialect import DELIMITERS, Dialect
from objpert_core.datasets.tables.messages import TableError, letters, quoted
from objpert_core.datasets.tables.numerals import decimal_mark

MOST_COLUMNS = 1_000
"""Columns of a file."""
LONGEST_ROW = 500_000
"""Characters of a row, quoted line ends included."""
LONGEST_NAME = 100
"""Characters of a column's name."""

_ANYTHING = Dialect()
_LOOKED_AT = 100_000  # cells that tell the decimal mark
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\n', re.IGNORECASE)  # a spreadsheet's own hint; it does not count as a row
_QUOTED = re.compile(r'(^|[,;\t|])"(?:[^"]|"")*+"')
_LOOKS_LIKE_A_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*")
_CELL = {  # possessive: a cell that does not end as it should is read once
    mark: re.compile(rf'(?:"(?:[^"]|"")*+"|(?!")[^{re.escape(mark)}\n]*+){re.escape(mark)}') for mark in DELIMITERS
}


@dataclass(frozen=True, repr=False)
class Sheet:
    """A file of known form and header; `dialect.decimal` is None where the file does not tell its decimal mark."""

    text: str
    dialect: Dialect
    names: tuple[str, ...]
    cautions: tuple[str, ...] = ()

    @property
    def delimiter(self) -> str:
        """What separates columns."""
        return self.dialect.delimiter or ","

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """(row, cells) after the header, but blank ones at the end; `TableError` for a row of another form."""
        width, blank = len(self.names), 0
        for row, cells in islice(_records(self.text, self.delimiter, self.names), 1, None):
            if not any(cells) or not any(cell.strip() for cell in cells):
                blank = blank or row
                continue
            if blank:
                raise TableError(f"row {blank} is empty, but other rows follow: delete the empty row", row=blank)
            if len(cells) != width:
                raise self._ragged(row, len(cells))
            yield row, cells

    def _ragged(self, row: int, cells: int) -> TableError:
        message = f"row {row} has {cells:,} cell{'s' if cells != 1 else ''}, but row 1 names {len(self.names)} columns"
        if cells > len(self.names):
            message += f": a cell with {DELIMITERS[self.delimiter]} in it needs quotation marks around it"
        return TableError(message, row=row)


def open_sheet(content: bytes, dialect: Dialect) -> Sheet:
    """A file's text, form and header; what `dialect` leaves open is found by the header's separators and by how the
    first rows write numbers.
    """
    text, encoding, cautions = decode(content, dialect.encoding)
    delimiter = dialect.delimiter
    if hint := SEPARATOR_LINE.match(text):
        text = text[hint.end() :]
        if delimiter is None and hint[1] in DELIMITERS:
            delimiter = hint[1]
    delimiter = _delimiter(text) if delimiter is None else delimiter
    names = _names(text, delimiter)
    numbers = sum(bool(_LOOKS_LIKE_A_NUMBER.fullmatch(name)) for name in names)
    if numbers:
        cautions += (f"row 1 must hold the names of the columns; {numbers} of them look like numbers",)
    found = replace(dialect, delimiter=delimiter, encoding=encoding)
    sheet = Sheet(text, found, names, cautions)
    if found.decimal is None:
        first = islice(_until_a_fault(sheet.rows()), max(1, _LOOKED_AT // len(names)))
        mark = decimal_mark((cell.strip() for _, cells in first for cell in cells), delimiter)
        sheet = replace(sheet, dialect=replace(found, decimal=mark))
    return sheet


@dataclass(frozen=True)
class Sketch:
    """What may be shown before anybody has typed a schema.

    Attributes
    ----------
    names : tuple of str
        The columns that may get a role, in the file's order. A first column without a name is left out: R and pandas
        write the names of rows so.
    rows : int
        The number of rows after the header. This number depends on the data: the certificate of a fit says whether it
        counts as known.
    dialect : Dialect
        The file's form; `decimal` is None where the user has to say it.
    cautions : tuple of str
        Sentences for the file's owner.
    """

    names: tuple[str, ...]
    rows: int
    dialect: Dialect
    cautions: tuple[str, ...] = ()


def look_at(content: bytes, dialect: Dialect = _ANYTHING) -> Sketch:
    r"""The form of a CSV file, the names of its columns and the number of its rows; `dialect` is what is known of the
    form.

    No statistic, no category and no range is read off the values: that would be a release without privacy. `TableError`
    for a file that is no complete table.

    >>> sketch = look_at(b"age;income\n39;1,5\n50;2,25\n")
    >>> sketch.names, sketch.rows, sketch.dialect.delimiter, sketch.dialect.decimal
    (('age', 'income'), 2, ';', ',')
    """
    sheet = open_sheet(content, dialect)
    rows = sum(1 for _ in sheet.rows())
    return Sketch(tuple(name for name in sheet.names if name), rows, sheet.dialect, sheet.cautions)


def _until_a_fault(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """The rows before one that cannot be read, of which whoever reads them all will hear."""
    with suppress(TableError):
        yield from rows


def clean_name(name: str) -> str:
    """A column's name without blanks and line ends around or within, but for single blanks."""
    return " ".join(name.split())


def _delimiter(text: str) -> str:
    header = _QUOTED.sub(r"\1", text[:LONGEST_ROW]).partition("\n")[0]
    found = [mark for mark in DELIMITERS if mark in header]
    if "\t" in found:  # nobody has tabs in names
        return "\t"
    if {",", ";"} <= set(found):
        raise TableError(
            "row 1 has commas and semicolons, so that the delimiter must be named: , or ;", row=1, asks="delimiter"
        )
    if not found:
        raise TableError(
            "row 1 must name at least two columns with a comma, a semicolon, a tab or a bar between them",
            row=1,
            asks="delimiter",
        )
    return found[0]


def _names(text: str, delimiter: str) -> tuple[str, ...]:
    line = text.partition("\n")[0]
    if len(line) > LONGEST_ROW and line.count(delimiter) >= MOST_COLUMNS:
        raise _too_many_columns(line.count(delimiter) + 1)
    _, cells = next(_records(text, delimiter, ()))
    names = tuple(clean_name(cell) for cell in cells)
    if len(names) > MOST_COLUMNS:
        raise _too_many_columns(len(names))
    if not any(names):
        raise TableError("row 1 must hold the names of the columns, and it is empty", row=1)
    if len(names) < 2:
        raise TableError(
            f"row 1 must name at least two columns, and there are no {DELIMITERS[delimiter]} in it",
            row=1,
            asks="delimiter",
        )
    first: dict[str, int] = {}
    for position, name in enumerate(names):
        where = f"row 1, column {letters(position)}"
        if not name and position > 0:
            raise TableError(f"{where} has no name", row=1)
        if len(name) > LONGEST_NAME:
            raise TableError(
                f"{where} must have a name of at most {LONGEST_NAME} characters, got {quoted(name)}", row=1
            )
        if name in first:
            both = f"{letters(first[name])} and {letters(position)}"
            raise TableError(f"row 1 names two columns {quoted(name)}, {both}", row=1, column=name)
        first[name] = position
    return names


def _too_many_columns(columns: int) -> TableError:
    return TableError(f"row 1 must name at most {MOST_COLUMNS:,} columns, got {columns:,}", row=1)


class _Lines:
    """The lines of a text, for a reader that asks for as many as a row needs; a row that gets too long is refused."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0
        self.start = 0
        self.row = 1

    def begin(self, row: int) -> None:
        """The next line begins this row."""
        self.start, self.row = self.position, row

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        begin = self.position
        if begin >= len(self._text):
            raise StopIteration
        self.position = self._text.find("\n", begin) + 1 or len(self._text)
        if self.position - self.start > LONGEST_ROW:
            raise TableError(f"row {self.row} must have at most {LONGEST_ROW:,} characters", row=self.row)
        return self._text[begin : self.position]


def _records(text: str, delimiter: str, names: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """(row, cells) for every row, the header included; `names` are for messages."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)  # quotes as pyarrow reads them
    row = 1
    while True:
        lines.begin(row)
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _wrong_cell(text[lines.start : lines.start + LONGEST_ROW], delimiter, row, names, error) from None
        yield row, cells
        row += 1


def _wrong_cell(rest: str, delimiter: str, row: int, names: tuple[str, ...], error: csv.Error) -> TableError:
    """The fault of the row that `rest` begins with: the first of its cells that does not end as it should."""
    position = column = 0
    while (found := _CELL[delimiter].match(rest, position)) and len(found[0]) <= csv.field_size_limit():
        position, column = found.end(), column + 1
    name = names[column] if column < len(names) else ""
    where = f"row {row}, column " + (quoted(name) if name else letters(column))
    if "expected after" in str(error):
        message = f"{where} goes on behind its closing quotation mark: a quotation mark that is text must be doubled"
    elif rest.startswith('"', position):
        message = f"{where} begins with a quotation mark, and none closes it"
    else:
        message = f"{where} must have at most {csv.field_size_limit():,} characters"
    return TableError(message, row=row, column=name or None)
