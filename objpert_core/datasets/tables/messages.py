"""The sentences about a file that cannot be read, and how text of a stranger's file is made safe to show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from objpert_core.tables import LOOKALIKES

_LOOKALIKES = str.maketrans({mark: other for mark, other in LOOKALIKES.items() if mark not in "_:."})
_NO_TAGS = str.maketrans("<>", "‹›")
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")  # one within a word is no mark of Markdown's
_COLON = re.compile(r":(?=[^\s\d])")
_ADDRESS = re.compile(r"(www)\.", re.IGNORECASE)


MOST_BAD_CELLS = 20
"""That one message names."""
MOST_BAD_COLUMNS = 5
"""Whose cells one message names."""
_MOST_ROWS = 3
"""That one sentence names."""


class BadText(ValueError):  # noqa: N818 - it says what the text is
    """A text that a column refuses; the message goes on from "row 7, column “age”"."""


class WrongCell(NamedTuple):
    """A cell that is refused, and what is said of it."""

    row: int
    column: str
    complaint: str


class TableError(ValueError):
    """A file that is refused: one sentence with row, as a spreadsheet counts it, and column, where there is one.

    Bad cells get a sentence each, one a line: the first 20, of at most five columns. `row` and `column` are those of
    the first cell. The sentence may quote a value of the data: do not log it, do not publish it. Whether and where a
    file is refused depends on the data, and no certificate covers it.

    Attributes
    ----------
    row : int or None
        The header is row 1.
    column : str or None
        The column's name.
    asks : {"delimiter", "decimal", "encoding"} or None
        The field of `Dialect` that would mend the file, where the file alone does not tell.
    cells : tuple of (int, str, str)
        Row, column and complaint of each bad cell that the message names, by rows.
    """

    cells: tuple[WrongCell, ...] = ()

    def __init__(
        self, message: str, *, row: int | None = None, column: str | None = None, asks: str | None = None
    ) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.asks = asks

    @classmethod
    def of_cells(cls, wrong: Iterable[WrongCell]) -> TableError:
        """The error about these cells, of which there is at least one; of many it names the first."""
        ordered = sorted(wrong, key=lambda cell: cell.row)
        columns = list(dict.fromkeys(cell.column for cell in ordered))[:MOST_BAD_COLUMNS]
        named = [cell for cell in ordered if cell.column in columns][:MOST_BAD_CELLS]
        alike: dict[tuple[str, str], list[int]] = {}
        for row, name, complaint in named:
            alike.setdefault((name, complaint), []).append(row)
        lines = [f"{_rows(rows)}, column {quoted(name)} {complaint}" for (name, complaint), rows in alike.items()]
        if len(lines) > 1:
            full = len(named) == MOST_BAD_CELLS or len(columns) == MOST_BAD_COLUMNS  # there may be more
            what = f"the first {len(named)} cells that cannot be read" if full else f"{len(named)} cells cannot be read"
            lines = [f"{what}:", *(f"- {line}" for line in lines)]
        error = cls("\n".join(lines), row=named[0].row, column=named[0].column)
        error.cells = tuple(named)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with its attributes."""
        return type(self), (str(self),), dict(self.__dict__)


def _rows(rows: list[int]) -> str:
    first = ", ".join(map(str, rows[:_MOST_ROWS]))
    return f"row{'s' * (len(rows) > 1)} {first}{' and more' * (len(rows) > _MOST_ROWS)}"


def safe_text(text: str, length: int = 40) -> str:
    """Text of a file as it can be shown in a message, in Markdown, in HTML and in a chart.

    The text is shortened; control characters become "·" and marks of Markdown, HTML, TeX and plotly's templates become
    characters that look alike and mean nothing.

    >>> safe_text("[see](http://a.example/?q=<b>)")
    '［see］(http∶//a.example/?q=‹b›)'
    >>> safe_text("x" * 50, length=10)
    'xxxxxxxxx…'
    """
    text = _UNDERSCORE.sub(LOOKALIKES["_"], _printable(text, length).translate(_LOOKALIKES))
    return _ADDRESS.sub(rf"\1{LOOKALIKES['.']}", _COLON.sub(LOOKALIKES[":"], text))


def safe_label(text: str, length: int = 40) -> str:
    """Text of a file as a chart's label.

    In a label only tags mean something, so names such as "age [years]" keep their letters.

    >>> safe_label("age [years]"), safe_label("<a href='http://a.example'>", length=60)
    ('age [years]', "‹a href='http://a.example'›")
    """
    return _printable(text, length).translate(_NO_TAGS)


def _printable(text: str, length: int) -> str:
    text = text[: length + 1]
    text = "".join(one if one.isprintable() else " " if one in "\t\r\n" else "·" for one in text)
    return text if len(text) <= length else text[: length - 1] + "…"


def quoted(text: str) -> str:
    """A value or a name as a message quotes it."""
    return f"“{safe_text(text)}”"


def letters(position: int) -> str:
    """The column's letters in a spreadsheet; position 0 is A."""
    text = ""
    position += 1
    while position:
        position, digit = divmod(position - 1, 26)
        text = chr(ord("A") + digit) + text
    return text


def first_twice(texts: tuple[str, ...]) -> str | None:
    """The first text that stands there twice, if there is one."""
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            return text
        seen.add(text)
    return None


def listed(values: tuple[str, ...], most: int = 5) -> str:
    """Values quoted one after the other; of many only the first."""
    text = ", ".join(quoted(value) for value in values[:most])
    return text if len(values) <= most else f"{text}, … ({len(values):,} in all)"
