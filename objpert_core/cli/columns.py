"""What is public about a table, typed on the command line or in a file: options that make a `TableSchema`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from objpert_core.cli.files import STANDARD, read_bytes, read_text

PRIVATE = "private"
"""In place of a range: nobody knows the range, and the fit learns it."""
MISSING_WORDS = "--missing-words"
SCHEMA_SIZE = 4_000_000
"""Bytes of a schema's file."""


class Column(NamedTuple):
    """One column as an option says it; `values` are texts."""

    kind: str
    name: str
    values: tuple[str, ...]


def _ranged(kind: str, text: str, example: str) -> Column:
    name, sign, last = text.rpartition(":")
    if sign and name and last == PRIVATE:
        return Column(kind, name, (PRIVATE, PRIVATE))
    name, *ends = text.rsplit(":", 2)
    if len(ends) != 2 or not name:
        raise argparse.ArgumentTypeError(
            f"{text!r} must look like NAME:LOW:HIGH, for example {example}, or like NAME:{PRIVATE}"
        )
    return Column(kind, name, tuple(ends))


def _money(text: str) -> Column:
    column, separator, sign = text.rpartition(":")
    if not (column and separator and sign):
        raise argparse.ArgumentTypeError(f"{text!r} must look like NAME:LOW:HIGH:SIGN, for example rent:0:5000:$")
    found = _ranged("money", column, "rent:0:5000:$")
    return Column("money", found.name, (*found.values, sign))


def _date(text: str) -> Column:
    name, *parts = text.rsplit("=", 3)
    if len(parts) != 3 or not all((name, *parts)):
        raise argparse.ArgumentTypeError(
            f"{text!r} must look like NAME=FORM=FIRST=LAST, for example joined=%d.%m.%Y=1.1.2000=31.12.2024"
        )
    return Column("date", name, tuple(parts))


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


def _listed(kind: str, text: str, separators: str, example: str) -> Column:
    """A column and its values, between the first of the separators that is there, or the last."""
    name, sign, values = text.partition("=")
    separator = next((one for one in separators if one in text), separators[-1])
    found = tuple(value.strip() for value in values.split(separator) if value.strip())
    if not (name and sign and found):
        raise argparse.ArgumentTypeError(f"{text!r} must look like {example}")
    return Column(kind, name, found)


_OPTIONS: dict[str, tuple[Callable[[str], Column], str, str]] = {
    "number": (
        partial(_ranged, "number", example="age:0:120"),
        "NAME:LOW:HIGH",
        f"a number and its range; NAME:{PRIVATE} learns the range inside the promise",
    ),
    "percent": (partial(_ranged, "percent", example="discount:0:100"), "NAME:LOW:HIGH", "numbers such as 12.5 %%"),
    "money": (_money, "NAME:LOW:HIGH:SIGN", "sums such as $1,500, with their sign"),
    "date": (_date, "NAME=FORM=FIRST=LAST", "dates; FORM is such as %%d.%%m.%%Y"),
    "categories": (
        partial(_listed, "categories", separators=";,", example="colour=red,green,blue"),
        "NAME=A,B,…",
        "a column and its categories",
    ),
    "two-values": (_two_values, "NAME=NO:YES", "the target's values, label 0 first"),
    "several-values": (
        partial(_listed, "several values", separators=":", example="species=setosa:versicolor:virginica"),
        "NAME=A:B:C…",
        "the target's values",
    ),
}
"""Options that name a column: how each is read, and how its help shows it."""
_NAMES: dict[str, Any] = {"metavar": "NAME", "action": "append", "default": []}


def add_columns(command: argparse.ArgumentParser) -> None:
    """Add the options that say what is public about a table's columns."""
    group = command.add_argument_group("what is public about the columns, from general knowledge and not from the file")
    group.add_argument(
        "--schema", metavar="FILE", help="all of it, in a file that the page Your own data or objpert schema writes"
    )
    group.add_argument("--target", metavar="NAME", help="the column that is predicted")
    for name, (read, metavar, help_text) in _OPTIONS.items():
        repeated: dict[str, Any] = {"dest": "columns", "action": "append", "default": [], "type": read}
        group.add_argument(f"--{name}", metavar=metavar, help=help_text, **repeated)
    group.add_argument(
        "--missing", type=_missing, metavar="NAME=VALUE", action="append", default=[], help="the value that fills gaps"
    )
    group.add_argument("--mark-missing", **_NAMES, help="add a feature that says where this column has a gap")
    group.add_argument(
        "--feature-ranges",
        choices=[PRIVATE],
        help="learn the ranges of all numbers inside the promise, whatever ranges are given",
    )
    group.add_argument("--other", **_NAMES, help="in this column, a value that is not listed counts as no category")
    group.add_argument(
        MISSING_WORDS, metavar="A,B,…", help='words for a missing value beside NA and the like, such as "-,unknown"'
    )
    group.add_argument("--drop-missing-target", action="store_true", help="leave out rows without a target")
    group.add_argument(
        "--person",
        metavar="NAME",
        help="the column that says whose row it is: of each person the first rows are used, as many as "
        "--rows-per-person says",
    )


def add_dialect(command: argparse.ArgumentParser) -> None:
    """Add the options that say how a CSV file is written."""
    group = command.add_argument_group("how the file is written, if the command cannot work it out")
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
    return read_bytes(name, "the data")


def is_walked(name: str) -> bool:
    """Whether a table is walked a block at a time: a folder, a Parquet file, or a large CSV file."""
    from objpert_core.datasets.tables import MOST_BYTES

    path = Path(name)
    return path.is_dir() or is_parquet(name) or (path.is_file() and path.stat().st_size > MOST_BYTES)


def is_parquet(name: str) -> bool:
    """Whether a file's name says that it is a Parquet file."""
    return Path(name).suffix.lower() in (".parquet", ".pq")


def schema(options: argparse.Namespace) -> Any:
    """The `TableSchema` of a file or of the options, never of the data; `ValueError` names the column."""
    from objpert_core.datasets import TableSchema

    typed = [*options.columns, *options.missing, *options.mark_missing, *options.other]
    if options.schema is None:
        return _with_rows(_typed(options), options)
    if typed or options.missing_words is not None:
        raise ValueError("give --schema, or the columns one by one, and not both")
    if options.schema == STANDARD == options.data:
        raise ValueError("standard input can be the data or the schema, and not both")
    found = TableSchema.from_json(read_text(options.schema, "the schema", SCHEMA_SIZE))
    if options.target not in (None, found.target.column):
        raise ValueError(f"--target must be the schema's, {found.target.column!r}, got {options.target!r}")
    return _with_rows(_with_private_ranges(found) if options.feature_ranges == PRIVATE else found, options)


def _with_rows(found: Any, options: argparse.Namespace) -> Any:
    from dataclasses import replace

    from objpert_core.datasets import Person

    if options.drop_missing_target:
        found = replace(found, drop_missing_target=True)
    if options.person is not None:
        found = replace(found, person=Person(options.person, options.rows_per_person or 1))
    return found


def _with_private_ranges(found: Any) -> Any:
    from dataclasses import replace

    from objpert_core.datasets import Number

    changed: dict[str, Any] = {"low": PRIVATE, "high": PRIVATE}
    columns = dict(found.columns)
    for name, column in columns.items():
        if isinstance(column, Number):
            columns[name] = _about(Column("number", name, ()), lambda _, one=column: replace(one, **changed))
    return replace(found, columns=columns)


def _typed(options: argparse.Namespace) -> Any:
    from objpert_core.datasets import TableSchema

    if not options.columns:
        raise ValueError(
            "say what is public about the columns: --schema FILE, which objpert schema writes to be filled in, "
            "or --number, --percent, --money, --date, --categories, --two-values, --several-values"
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
        raise ValueError(f"say what the target {options.target!r} may hold: --two-values, --several-values or --number")
    words = tuple(word.strip() for word in (options.missing_words or "").split(",") if word.strip())
    return TableSchema(columns, target, words)


def _about(column: Column, make: Any, *more: Any) -> Any:
    try:
        return make(column, *more)
    except ValueError as error:
        raise ValueError(f"column {column.name!r}: {error}") from None


def _target(column: Column) -> Any:
    from objpert_core.datasets import NumericTarget, SeveralValues, TwoValues

    if column.kind == "number":
        return NumericTarget(column.name, *map(_real, column.values))
    if column.kind == "two values":
        return TwoValues(column.name, *column.values)
    if column.kind == "several values":
        return SeveralValues(column.name, column.values)
    raise ValueError("a target has two or more values or is a number: --two-values, --several-values or --number")


def _feature(column: Column, gaps: dict[str, str], options: argparse.Namespace) -> Any:
    from objpert_core.datasets import Categories, Date, Money, Number, Percent

    marked, gap = column.name in options.mark_missing, gaps.get(column.name)
    if column.kind in ("two values", "several values"):
        option = column.kind.replace(" ", "-")
        raise ValueError(f"--{option} is about the target; name a feature's values by --categories")
    if column.kind != "categories" and column.name in options.other:
        raise ValueError(f"--other must name a column of categories, got {column.name!r}")
    if column.kind == "date":
        form, first, last = column.values
        return Date(first, last, gap, marked, format=form)
    if column.kind in ("number", "percent", "money"):
        private = column.values[0] == PRIVATE or options.feature_ranges == PRIVATE
        low, high = (PRIVATE, PRIVATE) if private else map(_real, column.values[:2])
        known: Any = (low, high, None if gap is None else _real(gap), marked)
        written: dict[str, Any] = {"decimal": options.decimal or "."}
        if column.kind == "money":
            return Money(*known, sign=column.values[2], thousands=options.thousands, **written)
        return Percent(*known, **written) if column.kind == "percent" else Number(*known)
    return Categories(column.values, column.name in options.other, gap, marked)


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"a number was expected, got {text!r}") from None
