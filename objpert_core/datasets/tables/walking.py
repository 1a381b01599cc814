"""Tables of any size, Parquet or CSV, encoded a block at a time by what is publicly known of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.blocks import Block, Blocks, OnWorkers
from objpert_core.datasets.tables.columns import BadCell, Number
from objpert_core.datasets.tables.dialect import Dialect
from objpert_core.datasets.tables.messages import TableError, quoted
from objpert_core.datasets.tables.numerals import Numerals
from objpert_core.datasets.tables.schema import TableSchema, as_text
from objpert_core.datasets.tables.sheet import clean_name
from objpert_core.datasets.tables.targets import NumericTarget

_NUMBERS = 2**21  # of a block after the encoding, about: 16 MB
_LEAST_ROWS = 1024  # of a block
_CSV_BYTES = 2**22  # of a CSV file that become a block
_PARQUET, _CSV = (".parquet", ".pq"), (".csv", ".tsv", ".txt")
_PLAIN = Dialect()


class _Piece(NamedTuple):
    """A part of a file: one group of its rows, read at once, or, where `group` is None, all its rows, read a block at a
    time. `row` is the number of its first row.
    """

    path: Path
    group: int | None = None
    row: int = 1


class TableBlocks(Blocks):
    """Files of one table, encoded by a schema whenever they are walked; `open_table` makes them.

    Attributes
    ----------
    schema : TableSchema
    files : tuple of Path
    """

    def __init__(self, files: Sequence[Path], schema: TableSchema, dialect: Dialect, *, targets: bool) -> None:
        super().__init__(self._blocks)
        self.files, self.schema = tuple(files), schema
        self._dialect, self._targets = dialect, targets

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The matrix's columns by name."""
        return self.schema.feature_names

    def on(self, client: Any) -> Blocks:
        """See `Blocks.on`; workers must find the files under the same names."""
        return OnWorkers.of_readers(client, [partial(self._whole, piece) for piece in self._pieces()])

    def _pieces(self) -> Iterator[_Piece]:
        """What a worker reads at once: a group of rows of a Parquet file, or a CSV file."""
        for path in self.files:
            if _is_csv(path):
                yield _Piece(path)
                continue
            with _arrow("parquet").ParquetFile(path) as file:
                row = 1
                for group in range(file.num_row_groups):
                    yield _Piece(path, group, row)
                    row += file.metadata.row_group(group).num_rows

    def _whole(self, piece: _Piece) -> Block:
        first, *more = blocks = list(_or_else(self._nothing, self._read(piece)))
        if not more:
            return first
        return np.concatenate([X for X, _ in blocks]), np.concatenate([y for _, y in blocks]) if self._targets else None

    def _blocks(self) -> Iterator[Block]:
        return _or_else(self._nothing, chain.from_iterable(self._read(_Piece(path)) for path in self.files))

    def _nothing(self) -> Block:
        """No row, with all columns: a fit that must not tell that there is none needs them."""
        return np.zeros((0, self.schema.n_features)), np.zeros(0) if self._targets else None

    def _read(self, piece: _Piece) -> Iterator[Block]:
        is_csv = _is_csv(piece.path)
        row = piece.row + is_csv
        for batch in self._csv(piece.path) if is_csv else self._parquet(piece):
            try:
                yield self._encoded(batch, row)
            except TableError as error:
                raise _in_file(piece.path, error) from None
            row += batch.num_rows

    @property
    def _names(self) -> list[str]:
        return [*self.schema.columns, *([self.schema.target.column] if self._targets else [])]

    def _parquet(self, piece: _Piece) -> Iterator[Any]:
        with _arrow("parquet").ParquetFile(piece.path, pre_buffer=False) as file:  # which would hold whole groups
            raw = self._raw_names(piece.path, file.schema_arrow.names)
            rows, groups = max(_LEAST_ROWS, _NUMBERS // self.schema.n_features), None
            if piece.group is not None:
                rows, groups = max(1, file.metadata.row_group(piece.group).num_rows), [piece.group]
            for batch in file.iter_batches(rows, groups, columns=raw):
                yield batch.select(raw).rename_columns(self._names)

    def _csv(self, path: Path) -> Iterator[Any]:
        csv, arrow = _arrow("csv"), _arrow()
        parse = csv.ParseOptions(delimiter=self._delimiter(path), newlines_in_values=True)
        read = csv.ReadOptions(block_size=_CSV_BYTES, encoding=self._dialect.encoding or "utf-8")
        try:
            with csv.open_csv(path, read, parse) as file:
                names = file.schema.names
            if self._dialect.delimiter is None and any("\t" in name for name in names):  # `read_table` takes tabs
                raise TableError(f"{path.name} has a tab in its header: name the delimiter", asks="delimiter")
            raw = self._raw_names(path, names)
            texts = csv.ConvertOptions(
                include_columns=raw, column_types=dict.fromkeys(names, arrow.string()), strings_can_be_null=False
            )
            with csv.open_csv(path, read, parse, texts) as file:
                for batch in file:
                    yield batch.rename_columns(self._names)
        except (arrow.ArrowInvalid, UnicodeDecodeError):  # its text holds the row
            raise TableError(
                f"{path.name} must be a CSV file in UTF-8 whose rows have as many cells as its header"
            ) from None

    def _delimiter(self, path: Path) -> str:
        return self._dialect.delimiter or ("\t" if path.suffix.lower() == ".tsv" else ",")

    def _raw_names(self, path: Path, names: Sequence[str]) -> list[str]:
        """The file's own names of the columns that count."""
        cleaned: dict[str, list[str]] = {}
        for name in names:
            cleaned.setdefault(clean_name(name), []).append(name)
        for name in self._names:
            if (found := len(cleaned.get(name, ()))) != 1:
                raise TableError(f"{path.name} must have the column {quoted(name)} once, got {found}", column=name)
        return [cleaned[name][0] for name in self._names]

    def _encoded(self, batch: Any, row: int) -> Block:
        """A batch as rows and targets; `TableError` names the first bad cells of the leftmost column that has one."""
        schema, numerals = self.schema, Numerals(self._dialect.decimal or ".", self._dialect.thousands)
        X, start = np.zeros((schema.n_features, batch.num_rows)).T, 0  # columns are written, so they lie together
        for name, column in schema.columns.items():
            out, cells = X[:, start : start + column.width], batch.column(name)
            start += column.width
            with _Located(row, name):
                if type(column) is Number and _is_numeric(cells):
                    column.encode_numbers(_numbers(cells), out)
                else:
                    _write(cells, out, partial(_encoded_texts, column, numerals))
        X /= schema.largest_norm
        return np.ascontiguousarray(X), self._encoded_targets(batch, numerals, row) if self._targets else None

    def _encoded_targets(self, batch: Any, numerals: Numerals, row: int) -> Any:
        target, cells = self.schema.target, batch.column(self.schema.target.column)
        with _Located(row, target.column):
            if isinstance(target, NumericTarget) and _is_numeric(cells):
                numbers = _numbers(cells)
                if (endless := ~np.isfinite(numbers)).any():
                    raise BadCell.where(endless, "must hold a finite number")
                return np.clip(numbers, target.low, target.high)
            texts, places = _distinct(cells)
            try:
                return target.encode(texts, numerals)[0][places]
            except BadCell as error:
                raise error.spread(places) from None


class _Located:
    """A bad cell within becomes the sentence that says where it stands."""

    def __init__(self, row: int, name: str) -> None:
        self._row, self._name = row, name

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Say where."""
        if isinstance(error, BadCell):
            raise TableError.of_cells(error.wrong(self._name, self._row)) from None


def open_table(
    source: str | Path | Sequence[str | Path], schema: TableSchema, dialect: Dialect = _PLAIN, *, targets: bool = True
) -> TableBlocks:
    """Open a table of any size, to be walked a block at a time: Parquet files, CSV files, or a folder of such files.

    Nothing is read here but names of files. A row has the code that it has by `read_table`, or one of the two refuses
    the file: `read_table` alone works out a file's form, and it alone refuses text behind a closing quotation mark, a
    quotation mark that nothing closes, empty rows, control characters, and one class alone. The function needs pyarrow:
    ``pip install '/path/to/checkout[tables]'``.

    Parameters
    ----------
    source : path, or list of paths
        Files that end in .parquet, .pq, .csv, .tsv or .txt, or folders that hold such files, which are taken in the
        order of their names. A CSV file has a header.
    schema : TableSchema
        What is publicly known.
    dialect : Dialect
        How CSV files are written. Nothing is worked out here: without a dialect, a file has commas, a decimal point and
        UTF-8.
    targets : bool, default=True
        Whether the target's column is read; False for rows to predict.

    Returns
    -------
    TableBlocks
        For an estimator's `fit`, `predict` and `score`. While the table is walked, `TableError` names file, row and
        column of a cell that cannot be encoded; a CSV file's header is its row 1. The sentence is for the owner of the
        file.

    Raises
    ------
    ValueError
        If there is no such file, or it is of another kind.
    ImportError
        Without pyarrow.

    Examples
    --------
    >>> import tempfile
    >>> from objpert_core.datasets import Number, TwoValues
    >>> schema = TableSchema({"age": Number(17, 90)}, TwoValues("income", negative="low", positive="high"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "people.csv").write_text("age,income\\n17,low\\n95,high\\n")
    ...     [(X.ravel().tolist(), y.tolist()) for X, y in open_table(folder, schema)]
    [([-1.0, 1.0], [0, 1])]
    """
    _arrow()
    paths = [source] if isinstance(source, (str, Path)) else list(source)
    files = [file for path in paths for file in _files(Path(path))]
    if not files:
        raise ValueError("source must name at least one file, got none")
    return TableBlocks(files, schema, dialect, targets=targets)


def _or_else(nothing: Callable[[], Block], blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks, or `nothing` if there are none."""
    first = next(blocks, None)
    yield nothing() if first is None else first
    yield from blocks


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() in _CSV


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(one for one in path.iterdir() if one.suffix.lower() in _PARQUET + _CSV)
        if not found:
            raise ValueError(f"source must be a folder with Parquet or CSV files, got none in {str(path)!r}")
        return found
    if not path.is_file():
        raise ValueError(f"source must be a file or a folder, got {str(path)!r}")
    if path.suffix.lower() not in _PARQUET + _CSV:
        raise ValueError(f"source must end in one of {', '.join(_PARQUET + _CSV)}, got {path.name!r}")
    return [path]


def _arrow(module: str = "") -> Any:
    try:
        return importlib.import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError:
        raise ImportError("a table of any size needs pyarrow: pip install '/path/to/checkout[tables]'") from None


def _is_numeric(cells: Any) -> bool:
    types = _arrow("types")
    return bool(types.is_floating(cells.type) or types.is_integer(cells.type))


def _numbers(cells: Any) -> FloatArray:
    return np.asarray(cells.cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)


def _distinct(cells: Any) -> tuple[list[str], Any]:
    """The different cells as texts, in the order in which they come, and which of them each row has."""
    encoded = cells if hasattr(cells, "dictionary") else cells.dictionary_encode(null_encoding="encode")
    places = encoded.indices.to_numpy(zero_copy_only=False)
    texts = [as_text(value) for value in encoded.dictionary.to_pylist()]
    if encoded.indices.null_count:  # a dictionary of the file's own, which has no entry for what is missing
        places = np.where(np.isnan(places.astype(float)), len(texts), places).astype(np.intp)
        texts.append("")
    used, first, places = np.unique(places, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.argsort(order)
    return [texts[place] for place in used[order]], ranks[places]


def _encoded_texts(column: Any, numerals: Numerals, texts: list[str], codes: FloatArray) -> None:
    column.encode(texts, numerals, codes)


def _write(cells: Any, out: FloatArray, encode: Callable[[list[str], FloatArray], object]) -> None:
    """Encode the different cells, and write their codes to every row that has them."""
    texts, places = _distinct(cells)
    codes = np.zeros((len(texts), out.shape[1]))
    try:
        encode(texts, codes)
    except BadCell as error:
        raise error.spread(places) from None
    out[:] = codes[places]


def _in_file(path: Path, error: TableError) -> TableError:
    named = TableError(f"{path.name}: {error}", row=error.row, column=error.column)
    named.cells = error.cells
    return named
