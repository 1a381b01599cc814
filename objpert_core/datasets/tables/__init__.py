"""A user's own table: a CSV file, encoded by public ranges and categories that somebody typed in, never learned.

    look_at(content)               the form of the file and the names of its columns, no value
    TableSchema(columns, target)   what is publicly known
    read_table(content, schema)    the matrix and the targets
    schema.encode(frame)           new rows for the model, or
    read_features(content, schema) the same from a file
    open_table(files, schema)      files of any size, a block at a time

From the ground up: `messages` (what is said of a bad file), `dialect`, `numerals` (numbers in text), `decoding`
(bytes to text), `sheet` (text to rows), `columns`, `written` and `targets` (cells to codes), `cells`, `schema`,
`encoding` (one walk through a table), `sketch`, `reading`, `walking`.
"""

from objpert_core.datasets.tables.columns import Categories, Number
from objpert_core.datasets.tables.dialect import Dialect
from objpert_core.datasets.tables.encoding import EncodedBlocks
from objpert_core.datasets.tables.messages import TableError, safe_label, safe_text
from objpert_core.datasets.tables.reading import (
    MOST_BYTES,
    MOST_CELLS,
    Table,
    open_content,
    read_features,
    read_or_open,
    read_table,
)
from objpert_core.datasets.tables.schema import MOST_FEATURES, Person, TableSchema
from objpert_core.datasets.tables.sheet import MOST_COLUMNS
from objpert_core.datasets.tables.sketch import Sketch, look_at
from objpert_core.datasets.tables.targets import NumericTarget, SeveralValues, TwoValues
from objpert_core.datasets.tables.walking import TableBlocks, names_of, open_table
from objpert_core.datasets.tables.written import Date, Money, Percent
from objpert_core.tables import safe_cell

__all__ = [
    "MOST_BYTES",
    "MOST_CELLS",
    "MOST_COLUMNS",
    "MOST_FEATURES",
    "Categories",
    "Date",
    "Dialect",
    "EncodedBlocks",
    "Money",
    "Number",
    "NumericTarget",
    "Percent",
    "Person",
    "SeveralValues",
    "Sketch",
    "Table",
    "TableBlocks",
    "TableError",
    "TableSchema",
    "TwoValues",
    "look_at",
    "names_of",
    "open_content",
    "open_table",
    "read_features",
    "read_or_open",
    "read_table",
    "safe_cell",
    "safe_label",
    "safe_text",
]
