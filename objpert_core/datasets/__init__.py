"""Data sets to learn on: two real ones fetched on first use, the others work offline.

    >>> from objpert_core import datasets
    >>> datasets.load("synthetic-l").X_train.shape
    (8000, 20)

Every matrix is encoded by public constants only and has rows of norm one. `Dataset.stand_in` says when the rows are not
the real data; whoever shows a result then says so too.

A table of your own comes from `read_table`, by a `TableSchema` of public ranges and categories (docs/own_data.md).
"""

from objpert_core.blocks import Blocks
from objpert_core.datasets._catalogue import (
    RawTable,
    available,
    damage,
    default_name,
    describe,
    fetch,
    load,
    load_raw,
    names,
)
from objpert_core.datasets._dataset import Dataset
from objpert_core.datasets._files import data_folder
from objpert_core.datasets.tables.columns import Categories, Number
from objpert_core.datasets.tables.dialect import Dialect
from objpert_core.datasets.tables.messages import TableError, safe_label, safe_text
from objpert_core.datasets.tables.reading import Table, read_features, read_table
from objpert_core.datasets.tables.schema import Person, TableSchema
from objpert_core.datasets.tables.sheet import Sketch, look_at
from objpert_core.datasets.tables.targets import NumericTarget, SeveralValues, TwoValues
from objpert_core.datasets.tables.walking import TableBlocks, open_table
from objpert_core.datasets.tables.written import Date, Money, Percent
from objpert_core.datasets.which_library import library_pieces
from objpert_core.tables import safe_cell

__all__ = [
    "Blocks",
    "Categories",
    "Dataset",
    "Date",
    "Dialect",
    "Money",
    "Number",
    "NumericTarget",
    "Percent",
    "Person",
    "RawTable",
    "SeveralValues",
    "Sketch",
    "Table",
    "TableBlocks",
    "TableError",
    "TableSchema",
    "TwoValues",
    "available",
    "damage",
    "data_folder",
    "default_name",
    "describe",
    "fetch",
    "library_pieces",
    "load",
    "load_raw",
    "look_at",
    "names",
    "open_table",
    "read_features",
    "read_table",
    "safe_cell",
    "safe_label",
    "safe_text",
]
