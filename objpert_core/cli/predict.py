"""`objpert predict`: a released model's predictions for new rows."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path
from typing import Any

from objpert_core.cli import columns, releases
from objpert_core.cli.files import STANDARD, read_text, write_one
from objpert_core.cli.fit import SCHEMA
from objpert_core.cli.output import as_json
from objpert_core.cli.parsing import epilog
from objpert_core.tables import safe_cell


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "predict",
        usage="objpert predict MODEL DATA [options]",
        help="what a released model predicts for new rows",
        description="Predict a table's rows, one line each, in the table's order. The table need not have the target. "
        "Predictions for new people cost the people in the training data nothing more.",
        epilog=epilog(
            "objpert predict release new.csv",
            "objpert predict release/model.json new.csv --schema release/schema.json --json",
        ),
    )
    command.add_argument("model", metavar="MODEL", help="the folder that objpert fit wrote, or model.json")
    command.add_argument("data", metavar="DATA", help=columns.DATA)
    command.add_argument("--schema", metavar="FILE", help=f"default: {SCHEMA} beside the model")
    command.add_argument("--scores", action="store_true", help="the model's score of every row, too")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--out", default=STANDARD, metavar="FILE", help="default: standard output")
    command.add_argument("--overwrite", action="store_true", help="replace the file")
    columns.add_dialect(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, predict and write."""
    from objpert_core.datasets import open_table, read_features

    found = releases.model(options.model)
    known = known_columns(options, found)
    dialect, predicted, scores = columns.dialect(options), list[Any](), list[float]()
    walked = columns.is_walked(options.data)
    table = open_table(options.data, known, dialect, targets=False) if walked else None
    blocks = [(read_features(columns.content(options.data), known, dialect), None)] if table is None else table
    for X, _ in blocks:
        predicted += found.predict(X)
        scores += found.model.scores(X).tolist() if options.scores else []
    if options.json:
        document = {"command": "predict", "target": found.target, "predicted": predicted}
        text = as_json(document if not options.scores else {**document, "scores": scores}) + "\n"
    else:
        text = _csv(found.target, predicted, scores if options.scores else None)
    write_one(options.out, text, overwrite=options.overwrite)
    return 0


def known_columns(options: argparse.Namespace, found: Any) -> Any:
    """The `TableSchema` that was published with a model; `ValueError` if the one given is about other columns."""
    from objpert_core.datasets import TableSchema

    known = TableSchema.from_json(read_text(_schema(options), "the schema", columns.SCHEMA_SIZE))
    if wrong := releases.differing(known, found):
        raise ValueError(f"the schema must be the schema that was published with the model, got one with {wrong}")
    return known


def _schema(options: argparse.Namespace) -> str:
    if options.schema is not None:
        return str(options.schema)
    if options.model == STANDARD:
        raise ValueError("a model from standard input needs --schema FILE")
    path = Path(options.model)
    return str((path if path.is_dir() else path.parent) / SCHEMA)


def _csv(target: str, predicted: list[Any], scores: list[float] | None) -> str:
    """A table with the predictions; no cell of it is a spreadsheet's formula."""

    def cell(value: Any) -> Any:
        return safe_cell(value) if isinstance(value, str) else value

    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([cell(target), *(["score"] if scores is not None else [])])
    table.writerows([cell(value), *([] if scores is None else [scores[at]])] for at, value in enumerate(predicted))
    return text.getvalue()
