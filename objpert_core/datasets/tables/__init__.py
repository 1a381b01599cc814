"""A user's own table: a CSV file, encoded by public ranges and categories that somebody typed in, never learned.

look_at(content)               the form of the file and the names of its columns, no value
TableSchema(columns, target)   what is publicly known
read_table(content, schema)    the matrix and the targets
schema.encode(frame)           new rows for the model, or
read_features(content, schema) the same from a file
open_table(files, schema)      files of any size, a block at a time
"""

from objpert_core.datasets.tables.reading import MOST_BYTES, MOST_CELLS
from objpert_core.datasets.tables.schema import MOST_FEATURES
from objpert_core.datasets.tables.sheet import MOST_COLUMNS

__all__ = [
    "MOST_BYTES",
    "MOST_CELLS",
    "MOST_COLUMNS",
    "MOST_FEATURES",
]
