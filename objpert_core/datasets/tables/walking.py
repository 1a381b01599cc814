"""Tables of any size, Parquet or CSV, encoded a block at a time by what is publicly known of them."""

from __future__ import annotations

import codecs
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.blocks import Block, Blocks, OnWorkers
from objpert_core.datasets.tables.cells import Cells
from objpert_core.datasets.tables.columns import Number
from objpert_core.datasets.tables.decoding import encoding_of, line_feeds, refuse_other_files
from objpert_core.datasets.tables.dialect import Dialect
from objpert_core.datasets.tables.encoding import Encoded, EncodedBlocks, Encoding
from objpert_core.datasets.tables.messages import TableError, quoted
from objpert_core.datasets.tables.numerals import Numerals
from objpert_core.datasets.tables.raw import typed
from objpert_core.datasets.tables.reading import numerals_of
from objpert_core.datasets.tables.schema import TableSchema, as_text
from objpert_core.datasets.tables.sheet import SEPARATOR_LINE, clean_name, open_sheet
from objpert_core.datasets.tables.targets import NumericTarget

_NUMBERS = 2**21  # of a block after the encoding, about: 16 MB
_LEAST_ROWS = 1024  # of a block
_CSV_BYTES = 2**22  # of a CSV file that become a block
_LOOKED_AT = 2**20  # bytes of a CSV file that tell its form
_PARQUET, _CSV = (".parquet", ".pq"), (".csv", ".tsv", ".txt")
_PLAIN = Dialect()


class _Piece(NamedTuple):
    """A part of a file from `row` on: one group of its rows, read at once, or (None) all, read a block at a time."""

    path: Path
    group: int | None = None
    row: int = 1


class _Form(NamedTuple):
    """How a CSV file is written, the names in its header, and whether a spreadsheet's hint stands above it."""

    dialect: Dialect
    names: tuple[str, ...]
    hint: bool


class TableBlocks(EncodedBlocks):
    """Files of one table, encoded by a schema whenever they are walked; `open_table` makes them."""

    def __init__(self, files: Sequence[Path], schema: TableSchema, dialect: Dialect, *, targets: bool) -> None:
        super().__init__(schema, self._of_files, targets=targets)
        self.files = tuple(files)
        self._dialect = dialect
        self._forms: dict[Path, _Form] = {}

    def on(self, client: Any) -> Blocks:
        """See `Blocks.on`; `ValueError` where the schema has a `person`, whose rows workers could not count."""
        if self.schema.person is not None:
            raise ValueError("person must be None on a cluster, whose workers do not see each other's rows")
        return OnWorkers.of_readers(client, [partial(self._whole, piece) for piece in self._pieces()])

    def notes_by(self, client: Any) -> tuple[str, ...]:
        """The notes of a walk that the workers of a cluster make."""
        walked = Encoding(self.schema, self._targets)
        for one in client.gather([client.submit(self._walk_of, piece, pure=False) for piece in self._pieces()]):
            walked.add(one)
        self._walked = walked
        return self.notes

    def _walk_of(self, piece: _Piece) -> Encoding:
        encoding = Encoding(self.schema, self._targets)
        for _ in self._of_piece(encoding, piece):
            pass
        return encoding

    def _pieces(self) -> Iterator[_Piece]:
        """What a worker reads at once: a group of rows of a Parquet file, or a CSV file."""
        for path in self.files:
            if _is_csv(path):
                yield _Piece(path)
                continue
            with _parquet_file(path) as file:
                row = 1
                for group in range(file.num_row_groups):
                    yield _Piece(path, group, row)
                    row += file.metadata.row_group(group).num_rows

    def _whole(self, piece: _Piece) -> Block:
        blocks = list(self._of_piece(Encoding(self.schema, self._targets), piece)) or list(self.nothing())
        X = np.concatenate([block.X for block in blocks])
        return X, np.concatenate([block.y for block in blocks]) if self._targets else None

    def _of_files(self, encoding: Encoding) -> Iterator[Encoded]:
        return chain.from_iterable(self._of_piece(encoding, _Piece(path)) for path in self.files)

    def _of_piece(self, encoding: Encoding, piece: _Piece) -> Iterator[Encoded]:
        is_csv, names = _is_csv(piece.path), encoding.names
        numerals = Numerals()
        if is_csv:
            numerals = numerals_of(self._form(piece.path).dialect, self.schema, targets=encoding.targets)
        row = piece.row + is_csv
        for batch in self._csv(piece.path, names) if is_csv else self._parquet(piece, names):
            try:
                yield encoding.block(self._cells(batch, names), numerals, batch.num_rows, row)
            except TableError as error:
                raise _in_file(piece.path, error) from None
            row += batch.num_rows

    def _cells(self, batch: Any, names: Sequence[str]) -> dict[str, Cells]:
        target, types = self.schema.target, _arrow("types")
        parts = {name: typed(column) for name, column in self.schema.columns.items()} | {target.column: target}
        for name in names:
            if types.is_nested(kind := batch.column(name).type):
                raise TableError(f"column {quoted(name)} must hold numbers or texts, got the type {kind}", column=name)
        return {
            name: Cells(numbers=_numbers(batch.column(name)))
            if type(parts.get(name)) in (Number, NumericTarget) and _is_numeric(batch.column(name))
            else _distinct(batch.column(name), parts.get(name))
            for name in names
        }

    def _parquet(self, piece: _Piece, names: Sequence[str]) -> Iterator[Any]:
        with _parquet_file(piece.path) as file:
            raw = _raw_names(piece.path, file.schema_arrow.names, names)
            rows, groups = max(_LEAST_ROWS, _NUMBERS // self.schema.n_features), None
            if piece.group is not None:
                rows, groups = max(1, file.metadata.row_group(piece.group).num_rows), [piece.group]
            for batch in file.iter_batches(rows, groups, columns=raw):
                yield batch.select(raw).rename_columns(names)

    def _csv(self, path: Path, names: Sequence[str]) -> Iterator[Any]:
        csv, arrow = _arrow("csv"), _arrow()
        form = self._form(path)
        parse = csv.ParseOptions(delimiter=form.dialect.delimiter, newlines_in_values=True)
        read = csv.ReadOptions(block_size=_CSV_BYTES, encoding=form.dialect.encoding, skip_rows=int(form.hint))
        try:
            with csv.open_csv(path, read, parse) as file:
                all_names = file.schema.names
            raw = _raw_names(path, all_names, names)
            texts = csv.ConvertOptions(
                include_columns=raw, column_types=dict.fromkeys(all_names, arrow.string()), strings_can_be_null=False
            )
            with csv.open_csv(path, read, parse, texts) as file:
                for batch in file:
                    yield batch.rename_columns(names)
        except UnicodeDecodeError:  # its text holds the row
            raise TableError(
                f"{path.name} holds letters that are not {form.dialect.encoding}", asks="encoding"
            ) from None
        except arrow.ArrowInvalid as error:
            if "UTF8" in str(error):
                message = f"{path.name} holds letters that are not utf-8; they may be windows-1252"
                raise TableError(message, asks="encoding") from None
            raise TableError(f"{path.name} must be a CSV file whose rows have as many cells as its header") from None

    def _form(self, path: Path) -> _Form:
        if path not in self._forms:
            try:
                self._forms[path] = _form_of(path, self._dialect)
            except TableError as error:
                raise _in_file(path, error) from None
        return self._forms[path]


def open_table(
    source: str | Path | Sequence[str | Path], schema: TableSchema, dialect: Dialect = _PLAIN, *, targets: bool = True
) -> TableBlocks:
    """Open a table of any size, to be walked a block at a time: Parquet files, CSV files, or a folder of such files.

    Nothing is read here but names of files. A row has the code that it has by `read_table`, or one of the two refuses
    the file: `read_table` alone refuses text behind a closing quotation mark, a quotation mark that nothing closes,
    empty rows, and control characters beyond the first million letters. The function needs pyarrow: ``pip install
    '/path/to/checkout[tables]'``.

    Parameters
    ----------
    source : path, or list of paths
        Files that end in .parquet, .pq, .csv, .tsv or .txt, or folders that hold such files, which are taken in the
        order of their names. A CSV file has a header.
    schema : TableSchema
        What is publicly known.
    dialect : Dialect
        What is known of how CSV files are written; the rest is found out from the beginning of each file, its encoding
        from the whole file.
    targets : bool, default=True
        Whether the target's column is read; False for rows to predict.

    Returns
    -------
    TableBlocks
        For an estimator's `fit`, `predict` and `score`. While the table is walked, `TableError` names file, row and
        column of a cell that cannot be encoded; a CSV file's header is its row 1. The sentence is for the owner of the
        file. So are `notes`, what the last walk clipped or left out.

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


def names_of(source: str | Path, dialect: Dialect = _PLAIN) -> tuple[str, ...]:
    """The names of the columns of a table of any size, read off its first file; errors as in `open_table`."""
    first = _files(Path(source))[0]
    if _is_csv(first):
        try:
            return tuple(name for name in _form_of(first, dialect).names if name)
        except TableError as error:
            raise _in_file(first, error) from None
    with _parquet_file(first) as file:
        return tuple(map(clean_name, file.schema_arrow.names))


def _parquet_file(path: Path) -> Any:
    arrow, parquet = _arrow(), _arrow("parquet")
    try:
        return parquet.ParquetFile(path, pre_buffer=False)  # which would hold whole groups
    except arrow.ArrowInvalid:  # its text may hold bytes of the file
        raise TableError(f"{path.name} must be a Parquet file, and it is none") from None


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
    doubles = cells.cast("float64", safe=False)  # as a text of as many digits is read
    return np.asarray(doubles.to_numpy(zero_copy_only=False), dtype=np.float64)


def _distinct(cells: Any, part: Any) -> Cells:
    """The different cells of a column or target as texts, and which of them each row has."""
    encoded = cells if hasattr(cells, "dictionary") else cells.dictionary_encode(null_encoding="encode")
    places = encoded.indices.to_numpy(zero_copy_only=False)
    texts = [as_text(value, part) for value in encoded.dictionary.to_pylist()]
    if encoded.indices.null_count:  # a dictionary of the file's own, which has no entry for what is missing
        places = np.where(np.isnan(places.astype(float)), len(texts), places)
        texts.append("")
    every = np.arange(len(places))
    return Cells(texts, places.astype(np.intp)).taken(every)  # a file's own dictionary may hold what no row has


def _form_of(path: Path, dialect: Dialect) -> _Form:
    with path.open("rb") as file:
        start = file.read(_LOOKED_AT)
        refuse_other_files(start)
        file.seek(0)
        encoding = dialect.encoding or encoding_of(_whole_letters(file))
    text = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)("replace").decode(start)
    text = line_feeds(text)
    if path.stat().st_size > len(start) and (end := text.rfind("\n")) > 0:
        text = text[:end]
    sheet = open_sheet(text.encode(), replace(dialect, encoding="utf-8"))
    return _Form(replace(sheet.dialect, encoding=encoding), sheet.names, SEPARATOR_LINE.match(text) is not None)


def _whole_letters(file: BinaryIO) -> Iterator[bytes]:
    """A file's pieces, none of which ends within a letter of UTF-8."""
    while piece := file.read(_LOOKED_AT):
        while piece[-1] >= 0x80 and (more := file.read(1)):
            piece += more
        yield piece


def _raw_names(path: Path, names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    cleaned: dict[str, list[str]] = {}
    for name in names:
        cleaned.setdefault(clean_name(name), []).append(name)
    for name in wanted:
        if (found := len(cleaned.get(name, ()))) != 1:
            raise TableError(f"{path.name} must have the column {quoted(name)} once, got {found}", column=name)
    return [cleaned[name][0] for name in wanted]


def _in_file(path: Path, error: TableError) -> TableError:
    named = TableError(f"{path.name}: {error}", row=error.row, column=error.column, asks=error.asks)
    named.cells = error.cells
    return named
