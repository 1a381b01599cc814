"""`objpert serve`: several processes of the app behind nginx, for a class (docs/deploying.md)."""

from __future__ import annotations

import argparse
import os
from typing import Any

from objpert_core.cli.launch import launch


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "serve",
        help="serve the app to a class: several processes behind nginx",
        add_help=False,  # the script has its own
    )
    command.set_defaults(run=run, rest=[])


def run(options: argparse.Namespace) -> int:
    """Run the script with the arguments in `rest`; `ValueError` on a system that the script does not run on."""
    if os.name != "posix":
        raise ValueError("objpert serve needs Linux or macOS; on Windows docs/deploying.md has a container")
    words = ["-m", "deploy.serve", "--started-as", "objpert serve", *options.rest]
    return launch(["-P", *words])  # -P: not a folder deploy of the current one
