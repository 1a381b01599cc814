"""`objpert experiments`: the paper's figure and tables and this project's experiments."""

from __future__ import annotations

import argparse
from typing import Any

PROGRAM = "objpert experiments"


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "experiments",
        help="the paper's figure and tables, and other experiments",
        add_help=False,  # the program has its own
    )
    command.set_defaults(run=run, rest=[])


def run(options: argparse.Namespace) -> int:
    """Run `python -m objpert_core.experiments` under its other name, with the arguments in `rest`."""
    from objpert_core.experiments.__main__ import main

    return main(options.rest, program=PROGRAM)
