"""The command line of a family of experiments: `python -m objpert_core.experiments quadratic …`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from objpert_core.experiments.experiment import Family
from objpert_core.experiments.store import session
from objpert_core.tables import FORMATS


def add_family(commands: Any, family: Family) -> None:
    """Add a family's command to `commands`, which `ArgumentParser.add_subparsers` made."""
    told = "; ".join(f"{name}: {one.title}" for name, one in family.experiments.items())
    command = commands.add_parser(
        family.name,
        help=family.about,
        description=f"{told[0].upper()}{told[1:]}.",
        epilog="Finished pieces are stored one by one and skipped when the same command is given again.",
    )
    every = ", ".join(family.experiments)
    command.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=f"of {every}; default: all")
    command.add_argument("--out", type=Path, help=f"folder for {family.name}_NAME.csv; default as for figure2")
    command.add_argument("--pieces", type=int, help="stop each after so many pieces")
    command.add_argument("--report", action="store_true", help="run nothing: print the means of what is stored")
    add_format(command)


def add_format(command: argparse.ArgumentParser) -> None:
    """Add the option that says how tables are written."""
    command.add_argument("--format", choices=FORMATS, default="text", help="how the table is written; default: text")


def run_family(options: argparse.Namespace, family: Family) -> int:
    """Carry out a family's command, parsed by what `add_family` added; returns the exit status."""
    chosen = options.experiments or list(family.experiments)
    for name, experiment in [
        (name, family[name]) for name in chosen
    ]:  # an unknown one is refused before the first runs
        if not options.report:
            made_by = session(f"python -m objpert_core.experiments {experiment.command}")
            added = experiment.make(made_by | {"seeds": experiment.seeds}, options.out, most=options.pieces)
            print(f"{name}: {added} pieces added to {experiment.path(options.out)}")
        print(experiment.report(experiment.results(options.out), options.format))
    return 0
