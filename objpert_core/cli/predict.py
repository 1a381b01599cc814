"""`objpert predict`: a released model's predictions for new rows."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from objpert_core.cli import columns, releases
from objpert_core.cli.files import STANDARD, read_text, write_one
from objpert_core.cli.fit import SCHEMA
from objpert_core.cli.output import as_json, note
from objpert_core.cli.parsing import epilog
from objpert_core.tables import safe_cell


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "predict",
        usage="objpert predict MODEL DATA [options]",
        help="what a released model predicts for new rows",
        description="Predict a table's rows, one line each, in the table's order; a row that cannot be read has an "
        "empty prediction. The table need not have the target. "
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
    command.add_argument("--probabilities", action="store_true", help="the probability of each value, too")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--out", default=STANDARD, metavar="FILE", help="default: standard output")
    command.add_argument("--overwrite", action="store_true", help="replace the file")
    columns.add_dialect(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, predict and write."""
    found = releases.model(options.model)
    known = known_columns(options, found)
    if options.probabilities and not found.labels:
        raise ValueError("--probabilities must be left out where the target is a number")
    predicted: list[Any] = []
    beside: dict[str, list[Any]] = {"score": []} if options.scores else {}
    beside |= {f"probability of {label}": [] for label in found.labels} if options.probabilities else {}
    for block, given in _predicted(options, found, known):
        for column, values in zip((predicted, *beside.values()), given, strict=True):
            own: list[Any] = [None] * block.read
            for place, value in zip(block.places.tolist(), values, strict=True):
                own[place] = value
            column += own
    if options.json:
        document: dict[str, Any] = {"command": "predict", "target": found.target, "predicted": predicted}
        document |= {"scores": beside.pop("score")} if options.scores else {}
        document |= {"probabilities": dict(zip(found.labels, beside.values(), strict=True))} if beside else {}
        text = as_json(document) + "\n"
    else:
        text = _csv([found.target, *beside], [predicted, *beside.values()])
    write_one(options.out, text, overwrite=options.overwrite)
    return 0


def _predicted(options: argparse.Namespace, found: Any, known: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Blocks of rows, and of each the predictions and what else was asked for; then the notes."""
    from objpert_core.datasets import open_table
    from objpert_core.datasets.tables.encoding import Encoding
    from objpert_core.datasets.tables.reading import open_content

    dialect = columns.dialect(options)
    if columns.is_walked(options.data):
        table: Any = open_table(options.data, known, dialect, targets=False)
    else:
        table = open_content(columns.content(options.data), known, dialect, targets=False)
    encoding = Encoding(known, targets=False, skip_bad=True)
    for block in table.encoded(encoding):
        given = [found.predict(block.X)]
        if options.scores:
            given.append(found.model.scores(block.X).tolist())
        if options.probabilities:
            given += found.predict_proba(block.X).T.tolist()
        yield block, given
    if bad := encoding.bad_rows:
        note(f"{bad:,} of {bad + encoding.rows:,} rows have an empty prediction: {encoding.first_bad}")
    for text in table.notes:
        note(text)


def known_columns(options: argparse.Namespace, found: Any) -> Any:
    """The schema by which rows are encoded for a model, by the one that was published with it; `ValueError` if the one
    given is about other columns.
    """
    from objpert_core.datasets import TableSchema

    known = TableSchema.from_json(read_text(_schema(options), "the schema", columns.SCHEMA_SIZE))
    if wrong := releases.differing(known, found):
        raise ValueError(f"the schema must be the schema that was published with the model, got one with {wrong}")
    return found.encoding(known)


def _schema(options: argparse.Namespace) -> str:
    if options.schema is not None:
        return str(options.schema)
    if options.model == STANDARD:
        raise ValueError("a model from standard input needs --schema FILE")
    path = Path(options.model)
    return str((path if path.is_dir() else path.parent) / SCHEMA)


def _csv(names: Sequence[str], values: Sequence[Sequence[Any]]) -> str:
    """A table with the predictions; no cell of it is a spreadsheet's formula."""

    def cell(value: Any) -> Any:
        return safe_cell(value) if isinstance(value, str) else value

    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(map(cell, names))
    table.writerows(map(cell, row) for row in zip(*values, strict=True))
    return text.getvalue()
