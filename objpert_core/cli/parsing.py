"""How the command line is read: parsers whose refusals are one line, epilogs, and checked files."""

from __future__ import annotations

import argparse
import os
import textwrap
from typing import Any, NoReturn

DONE, FAILED, USAGE, STOPPED = 0, 1, 2, 130
CODES = f"exit codes: {DONE} done; {FAILED} it ran and failed; {USAGE} wrong usage or bad input; {STOPPED} stopped"
_WIDTH = 79


class Failed(Exception):  # noqa: N818 - what it says is told, and no trace
    """A command that ran and failed; its text is the line that says why."""


class Parser(argparse.ArgumentParser):
    """A parser whose options have to be written out, and which refuses with one line."""

    def __init__(self, **options: Any) -> None:
        usual: dict[str, Any] = {"allow_abbrev": False, "formatter_class": _Formatter}
        super().__init__(**{**usual, **options})

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where help is; exit code 2."""
        self.exit(USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


class _Formatter(argparse.HelpFormatter):
    """Help for any width up to 80 columns; a text with line breaks keeps them, as examples need."""

    def __init__(self, prog: str, **options: Any) -> None:
        usual: dict[str, Any] = {"max_help_position": 26, "width": _width()}
        super().__init__(prog, **{**usual, **options})

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" not in text:
            return super()._fill_text(text, width, indent)
        return "".join(indent + line for line in text.splitlines(keepends=True))


def _width() -> int:
    try:
        return max(40, min(_WIDTH, int(os.environ.get("COLUMNS", _WIDTH))))
    except ValueError:
        return _WIDTH


def seed(text: str) -> int:
    """A seed as it is typed."""
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"must be a whole number >= 0, got {text!r}")
    return int(text)


def epilog(*examples: str, notes: str = "") -> str:
    """The text below a command's options: examples as they are typed, lines of notes, and the exit codes."""
    title = "example" if len(examples) == 1 else "examples"
    parts = [f"{title}:\n" + "\n".join(f"  {line}" for line in examples)]
    return "\n\n".join([*parts, *([notes] if notes else []), textwrap.fill(CODES, _WIDTH, subsequent_indent="  ")])
