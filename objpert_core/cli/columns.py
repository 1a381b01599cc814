"""What is public about a table, typed on the command line or in a file: options that make a `TableSchema`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

from objpert_core.cli.files import STANDARD, read_bytes, read_text

SCHEMA_SIZE = 4_000_000
"""Bytes of a schema's file."""


class Column(NamedTuple):
    """One column as an option says it; `values` are texts."""

    kind: str
    name: str
    values: tuple[str, ...]


def _number(text: str) -> Column:
    name, *ends = text.rsplit(":", 2)
    if len(ends) != 2 or not name:
        raise argparse.ArgumentTypeError(f"{text!r} must look like NAME:LOW:HIGH, for example age:0:120")
    return Column("number", name, tuple(ends))


def _categories(text: str) -> Column:
    return _listed("categories", text, ";" if ";" in text else ",", "colour=red,green,blue")


def _two_values(text: str) -> Column:
    found = _listed("two values", text, ":", "member=no:yes")
    if len(found.values) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} must name two values, that of label 0 first: member=no:yes")
    return found


def _missing(text: str) -> Column:
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise argparse.ArgumentTypeError(f"{text!r} must look like NAME=VALUE, for example age=40")
    return Column("missing", name, (value,))


def _listed(kind: str, text: str, separator: str, example: str) -> Column:
    name, sign, values = text.partition("=")
    found = tuple(value.strip() for value in values.split(separator) if value.strip())
    if not (name and sign and found):
        raise argparse.ArgumentTypeError(f"{text!r} must look like {example}")
    return Column(kind, name, found)


def add_columns(command: argparse.ArgumentParser) -> None:
    """Add the options that say what is public about a table's columns."""
    group = command.add_argument_group("what is public about the columns, from general knowledge and not from the file")
    group.add_argument("--schema", metavar="FILE", help="all of it, as the page Your own data and objpert schema write")
    group.add_argument("--target", metavar="NAME", help="the column that is predicted")
    repeated: dict[str, Any] = {"dest": "columns", "action": "append", "default": []}
    group.add_argument("--number", type=_number, metavar="NAME:LOW:HIGH", help="a number and its range", **repeated)
    group.add_argument(
        "--categories", type=_categories, metavar="NAME=A,B,…", help="a column and its categories", **repeated
    )
    group.add_argument(
        "--two-values", type=_two_values, metavar="NAME=NO:YES", help="the target's values, label 0 first", **repeated
    )
    group.add_argument(
        "--missing", type=_missing, metavar="NAME=VALUE", action="append", default=[], help="in place of gaps"
    )
    group.add_argument(
        "--mark-missing", metavar="NAME", action="append", default=[], help="a feature says where there is a gap"
    )
    group.add_argument(
        "--other", metavar="NAME", action="append", default=[], help="a category that is not listed counts as none"
    )


def add_dialect(command: argparse.ArgumentParser) -> None:
    """Add the options that say how a CSV file is written."""
    group = command.add_argument_group("how the file is written, where it does not tell")
    group.add_argument("--delimiter", metavar="C", help="comma, semicolon, tab or bar, or the character")
    group.add_argument("--decimal", metavar="C", help="the decimal mark: . or ,")
    group.add_argument("--thousands", metavar="C", default="", help="between groups of three digits; default: none")
    group.add_argument("--encoding", metavar="NAME", help="utf-8, utf-16 or windows-1252")


_SPELT = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|"}


def dialect(options: argparse.Namespace) -> Any:
    """The `Dialect` that was typed."""
    from objpert_core.datasets import Dialect

    delimiter = _SPELT.get(options.delimiter, options.delimiter)
    return Dialect(delimiter, options.decimal, options.thousands, options.encoding)


DATA = "a CSV file with a header, a Parquet file, or a folder of such files, of any size; - is standard input"


def content(name: str) -> bytes:
    """The bytes of a CSV file; errors as in `read_bytes`."""
    from objpert_core.datasets.tables import MOST_BYTES

    return read_bytes(name, "the data", MOST_BYTES)


def is_walked(name: str) -> bool:
    """Whether a table is walked a block at a time: a folder, a Parquet file, or a CSV file above 5 MB."""
    from objpert_core.datasets.tables import MOST_BYTES

    path = Path(name)
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        return True
    return path.is_file() and path.stat().st_size > MOST_BYTES


def schema(options: argparse.Namespace) -> Any:
    """The `TableSchema` of a file or of the options, never of the data; `ValueError` names the column."""
    from objpert_core.datasets import TableSchema

    typed = [*options.columns, *options.missing, *options.mark_missing, *options.other]
    if options.schema is None:
        return _typed(options)
    if typed:
        raise ValueError("give --schema, or the columns one by one, and not both")
    if options.schema == STANDARD == options.data:
        raise ValueError("standard input can be the data or the schema, and not both")
    found = TableSchema.from_json(read_text(options.schema, "the schema", SCHEMA_SIZE))
    if options.target not in (None, found.target.column):
        raise ValueError(f"--target must be the schema's, {found.target.column!r}, got {options.target!r}")
    return found


def _typed(options: argparse.Namespace) -> Any:
    from objpert_core.datasets import TableSchema

    if not options.columns:
        raise ValueError(
            "say what is public about the columns: --schema FILE, which objpert schema writes to be filled in, "
            "or --number, --categories, --two-values"
        )
    if options.target is None:
        raise ValueError("say which column is predicted: --target NAME")
    columns: dict[str, Any] = {}
    target = None
    gaps = {column.name: column.values[0] for column in options.missing}
    for column in options.columns:
        if column.name in columns or (column.name == options.target and target is not None):
            raise ValueError(f"column {column.name!r} must be named once, got it twice")
        if column.name == options.target:
            target = _about(column, _target)
        else:
            columns[column.name] = _about(column, _feature, gaps, options)
    named = {name: option for option in ("mark_missing", "other") for name in getattr(options, option)}
    for name, option in [*((name, "missing") for name in gaps), *named.items()]:
        if name not in columns:
            raise ValueError(f"--{option.replace('_', '-')} must name a feature that is given, got {name!r}")
    if target is None:
        raise ValueError(f"say what the target {options.target!r} may hold: --two-values or --number")
    return TableSchema(columns, target)


def _about(column: Column, make: Any, *more: Any) -> Any:
    """What `make` makes of a column; its `ValueError` names the column."""
    try:
        return make(column, *more)
    except ValueError as error:
        raise ValueError(f"column {column.name!r}: {error}") from None


def _target(column: Column) -> Any:
    from objpert_core.datasets import NumericTarget, TwoValues

    if column.kind == "number":
        return NumericTarget(column.name, *map(_real, column.values))
    if column.kind == "two values":
        return TwoValues(column.name, *column.values)
    raise ValueError("a target has two values or is a number: --two-values or --number")


def _feature(column: Column, gaps: dict[str, str], options: argparse.Namespace) -> Any:
    from objpert_core.datasets import Categories, Number

    marked, gap = column.name in options.mark_missing, gaps.get(column.name)
    if column.kind == "number":
        if column.name in options.other:
            raise ValueError("--other is about categories")
        low, high = map(_real, column.values)
        return Number(low, high, None if gap is None else _real(gap), marked)
    if column.kind == "two values":
        raise ValueError("--two-values is about the target; name a feature's values by --categories")
    return Categories(column.values, column.name in options.other, gap, marked)


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"a number was expected, got {text!r}") from None
