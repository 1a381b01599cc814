"""`objpert schema`: what is public about a table as a file, with blanks to fill in."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from objpert_core.cli import columns
from objpert_core.cli.files import STANDARD, write_one
from objpert_core.cli.output import note
from objpert_core.cli.parsing import epilog

_LOOKED_AT = (
    "looked at: the names in the header and how the file is written; no range and no category was read off the values"
)
_TO_DO = (
    "fill in every null, empty text and empty list from general knowledge, and remove the columns that the model "
    "is not to use"
)
_WRITTEN = {"date": "dates", "percent": "percentages", "money": "sums of money"}


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "schema",
        usage="objpert schema DATA --target NAME [options]",
        help="a file to fill in: what is public about a table's columns",
        description="Write a schema for a table: the names of its columns, with blanks for ranges and categories. "
        "Ranges and categories that are read off the data would reveal something about people.",
        epilog=epilog("objpert schema people.csv --target moved --categories job --out schema.json"),
    )
    command.add_argument("data", metavar="DATA", help=columns.DATA)
    command.add_argument("--target", required=True, metavar="NAME", help="the column that is predicted")
    command.add_argument("--number", action="store_true", help="the target is a number; default: two values")
    command.add_argument(
        "--categories", metavar="NAME", action="append", default=[], help="a column with categories; may be repeated"
    )
    for kind, what in _WRITTEN.items():
        command.add_argument(
            f"--{kind}", metavar="NAME", action="append", default=[], help=f"a column with {what}; may be repeated"
        )
    command.add_argument("--several-values", action="store_true", help="the target has more than two values")
    command.add_argument(
        "--feature-ranges", choices=[columns.PRIVATE], help="a fit learns the ranges of all numbers inside its promise"
    )
    columns.add_dialect(command)
    command.add_argument("--out", default=STANDARD, metavar="FILE", help="default: standard output")
    command.add_argument("--overwrite", action="store_true", help="replace the file")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Look at the header and write."""
    from objpert_core.datasets.tables.schema import FORMAT

    names, cautions = _names(options)
    kinds = {name: kind for kind in ("categories", *_WRITTEN) for name in getattr(options, kind)}
    for name in (options.target, *kinds):
        if name not in names:
            raise ValueError(f"the file has no column {name!r}")
    if options.target in kinds:
        raise ValueError(f"the target has values or is a number: leave the target out of --{kinds[options.target]}")
    if options.number and options.several_values:
        raise ValueError("give --number or --several-values, and not both")
    target: dict[str, Any] = {"kind": "two values", "column": options.target, "negative": "", "positive": ""}
    if options.number:
        target = {"kind": "number", "column": options.target, "low": None, "high": None}
    if options.several_values:
        target = {"kind": "several values", "column": options.target, "values": []}
    known = [name for name in names if name != options.target]
    features = [_blank(name, kinds.get(name, "number"), options.feature_ranges) for name in known]
    document = {"format": FORMAT, "columns": features, "target": target}
    write_one(options.out, json.dumps(document, ensure_ascii=False, indent=2) + "\n", overwrite=options.overwrite)
    for caution in cautions:
        note(caution)
    note(_LOOKED_AT)
    note(_TO_DO)
    return 0


def _names(options: argparse.Namespace) -> tuple[Sequence[str], Sequence[str]]:
    """The names of a table's columns, and sentences for its owner on how the file is written."""
    from objpert_core.datasets import look_at
    from objpert_core.datasets.tables.walking import names_of

    if columns.is_walked(options.data):
        return names_of(options.data, columns.dialect(options)), ()
    sketch = look_at(columns.content(options.data), columns.dialect(options))
    return sketch.names, sketch.cautions


def _blank(name: str, kind: str, end: str | None) -> dict[str, Any]:
    if kind == "categories":
        return {"name": name, "kind": kind, "categories": [], "other": False, "missing": None}
    end = None if kind == "date" else end  # a date's range is typed
    blank = {"name": name, "kind": kind, "low": end, "high": end, "missing": None}
    return blank | ({"format": ""} if kind == "date" else {"sign": ""} if kind == "money" else {})
