"""`objpert evaluate`: a released model's scores on rows with known targets, inside a promise to the people in them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from objpert_core.cli import columns, releases
from objpert_core.cli.files import STANDARD, refuse_existing, write_one
from objpert_core.cli.fit import EVALUATION, TOGETHER, scores_document
from objpert_core.cli.output import Answer, add_format, private_note, show, typed, up
from objpert_core.cli.parsing import epilog, seed
from objpert_core.cli.predict import known_columns

_NOTES = """The scores may be published. They spend their ε on the people in DATA: where
these people are in the training data as well, both budgets are composed.
Refusals depend on people's data."""


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "evaluate",
        usage="objpert evaluate MODEL DATA --epsilon X [options]",
        help="a released model's scores, which may be published",
        description="Score a released model on a table's rows, with noise. Every score has a 95 % interval.",
        epilog=epilog("objpert evaluate release test.csv --epsilon 1 --out evaluation.json", notes=_NOTES),
    )
    command.add_argument("model", metavar="MODEL", help="the folder that objpert fit wrote, or model.json")
    command.add_argument("data", metavar="DATA", help="a table with the target: what objpert predict takes")
    command.add_argument("--epsilon", type=float, required=True, metavar="X", help="ε of the scores")
    command.add_argument("--delta", type=float, default=1e-5, metavar="X", help="δ; default 1e-5")
    command.add_argument(
        "--largest-error",
        type=float,
        metavar="X",
        help="for a target that is a number: larger errors count as X; default half its range",
    )
    command.add_argument("--seed", type=seed, metavar="N", help="draw the noise from a seed: not for publishing")
    command.add_argument("--schema", metavar="FILE", help="default: schema.json beside the model")
    command.add_argument("--out", metavar="FILE", help=f"the evaluation with its certificate, as {EVALUATION}")
    command.add_argument("--overwrite", action="store_true", help="replace the file")
    columns.add_dialect(command)
    add_format(command)
    command.set_defaults(run=run)


def _table(data: str, known: Any, dialect: Any) -> tuple[Any, Any, Any]:
    """Rows and targets of a file, or its blocks without targets beside them; and the table, which has the notes."""
    from objpert_core.datasets import Table, open_table
    from objpert_core.datasets.tables.reading import read_or_open

    walked = columns.is_walked(data)
    table = open_table(data, known, dialect) if walked else read_or_open(columns.content(data), known, dialect)
    return (table.X, table.y, table) if isinstance(table, Table) else (table, None, table)


def run(options: argparse.Namespace) -> int:
    """Read, score, write and print."""
    from objpert_core.estimators.own_table import scored

    if options.out not in (None, STANDARD):  # what is scored has been paid for
        out = Path(options.out)
        refuse_existing([out], overwrite=options.overwrite)
        if out.name == EVALUATION and (out.parent / TOGETHER).exists():
            raise ValueError(f"--out must not replace scores that {TOGETHER} counts, got {options.out!r}")
    found = releases.model(options.model)
    known = known_columns(options, found)
    dialect = columns.dialect(options)
    X, y, table = _table(options.data, known, dialect)
    more = {} if options.largest_error is None else {"largest_error": options.largest_error}
    more |= {} if known.person is None else {"rows_per_person": known.person.rows}
    budget = (options.epsilon, options.delta)
    evaluation = scored(found.model, known, X, y, *budget, random_state=options.seed, **more)
    if options.out is not None:
        write_one(options.out, evaluation.to_json() + "\n", overwrite=options.overwrite)
    for text in table.notes:
        private_note(text)
    spent = evaluation.certificate
    promise = f"ε = {up(spent.epsilon)}, δ = {typed(spent.delta)}"
    document = {"command": "evaluate", "scores": scores_document(evaluation), "certificate": spent.to_dict()}
    headline = f"scores with {promise} for the people in {'the data' if options.data == STANDARD else options.data}"
    show(Answer(headline, {}, document, evaluation.statement()), options.format)
    return 0
