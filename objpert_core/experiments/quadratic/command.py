"""The command line of the experiments on bends: `python -m objpert_core.experiments quadratic …`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from objpert_core.experiments.quadratic import stored
from objpert_core.experiments.store import session

_SEEDS = {"figure1": "none: nothing is random"}


def add_to(commands: Any) -> None:
    """Add the command to a parser's commands."""
    told = "; ".join(f"{name}: {one.title}" for name, one in stored.EXPERIMENTS.items())
    command = commands.add_parser(
        "quadratic",
        help="the figures of Cortild and Cartis (2026), and where data matter",
        description=f"{told[0].upper()}{told[1:]}.",
        epilog="Finished pieces are stored one by one and skipped when the same command is given again.",
    )
    every = list(stored.EXPERIMENTS)
    command.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=f"of {', '.join(every)}; default: all")
    command.add_argument("--out", type=Path, help="folder for quadratic_NAME.csv; default as for figure2")
    command.add_argument("--pieces", type=int, help="stop each after so many pieces")
    command.add_argument("--report", action="store_true", help="run nothing: print the means of what is stored")


def run(options: argparse.Namespace, command: str) -> int:
    """Carry the command out; what `sys.exit` should be given.

    Parameters
    ----------
    options : Namespace
        Of the parser that `add_to` made.
    command : str
        The command line; its experiment is stored with the rows.
    """
    for name in options.experiments or stored.EXPERIMENTS:
        stored.path_of(name, options.out)  # an unknown one is refused before the first is run
    for name in options.experiments or stored.EXPERIMENTS:
        if not options.report:
            own = f"{command} {name}"
            made_by = session(own) | {"seeds": _SEEDS.get(name, "in the column seed")}
            added = stored.make(name, made_by, options.out, most=options.pieces)
            print(f"{name}: {added} pieces added to {stored.path_of(name, options.out)}")
        print(stored.report(stored.load(name, options.out)))
    return 0
