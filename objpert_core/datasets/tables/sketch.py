"""A first look at a file: its form and the names of its columns, and nothing of its values."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core.datasets.tables.dialect import Dialect
from objpert_core.datasets.tables.sheet import open_sheet

_ANYTHING = Dialect()


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

    No statistic, no category and no range is read off the values: whatever is learned from people's values, even an
    extreme, is a release without privacy. `TableError` for a file that is no complete table.

    >>> sketch = look_at(b"age;income\n39;1,5\n50;2,25\n")
    >>> sketch.names, sketch.rows, sketch.dialect.delimiter, sketch.dialect.decimal
    (('age', 'income'), 2, ';', ',')
    """
    sheet = open_sheet(content, dialect)
    rows = sum(1 for _ in sheet.rows())
    return Sketch(tuple(name for name in sheet.names if name), rows, sheet.dialect, sheet.cautions)
