"""What commands print: numbers rounded to the safe side, facts in two columns, tables, and one JSON object."""

from __future__ import annotations

import argparse
import codecs
import json
import math
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import objpert_core
from objpert_core._literals import plain
from objpert_core.tables import FORMATS, as_typed, write

WIDTH = 79
INFINITE = "infinite: nothing is proved"
PLAIN_LETTERS = "objpert.plain_letters"
"""The name of what encoders do with letters that a terminal does not have."""
_SPELT = {
    "é": "e",
    "ε": "epsilon",
    "δ": "delta",
    "σ": "sigma",
    "λ": "lambda",
    "β": "beta",
    "τ": "tau",
    "μ": "mu",
    "ρ": "rho",
}
_SPELT |= {"–": "-", "−": "-", "’": "'", "“": '"', "”": '"', "…": "...", "≥": ">=", "≤": "<=", "→": "->", "²": "^2"}


@dataclass(frozen=True)
class Answer:
    """What a command has found: facts as texts (an empty one is left out), a table, and all digits for JSON."""

    headline: str
    facts: Mapping[str, str]
    document: Mapping[str, Any]
    rows: Sequence[Mapping[str, str]] = field(default=())


def add_format(command: argparse.ArgumentParser) -> None:
    """Add the options that say how the answer is written."""
    command.add_argument(
        "--json", dest="format", action="store_const", const="json", default="text", help="print one JSON object"
    )
    command.add_argument(
        "--format", choices=FORMATS, default="text", metavar="FORMAT", help=f"{', '.join(FORMATS)}; default text"
    )


def show(answer: Answer, form: str) -> None:
    """Print an answer in one of `objpert_core.tables.FORMATS`."""
    if form == "json":
        print(as_json(answer.document))
    elif form == "text":
        for line in (answer.headline, *in_columns(answer.facts)):
            print(printable(line))
        if answer.rows:
            print("\n" + write(answer.rows, "text"), end="")
    else:
        facts = {"result": answer.headline} | {name: text for name, text in answer.facts.items() if text}
        rows = answer.rows or [{"what": name, "value": text} for name, text in facts.items()]
        print(write(rows, form, caption=answer.headline), end="")


def in_columns(facts: Mapping[str, str]) -> list[str]:
    """Lines with the names in one column and the texts beside them, at most `WIDTH` wide."""
    facts = {name: text for name, text in facts.items() if text}
    gap = max(map(len, facts), default=0) + 2
    lines = []
    for name, text in facts.items():
        first, *more = textwrap.wrap(text, WIDTH - gap, break_long_words=False, break_on_hyphens=False) or [""]
        lines += [name.ljust(gap) + first, *(" " * gap + line for line in more)]
    return lines


def printable(text: str) -> str:
    """A line without characters that steer a terminal: names and certificates may be a stranger's."""
    return "".join(one if one.isprintable() else "·" for one in text)


def as_json(document: Mapping[str, Any]) -> str:
    """One JSON object, with the version in front; ASCII where the output has no other letters."""
    utf = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") in ("utf8", "utf16")
    whole = {"version": objpert_core.__version__, **document}
    return json.dumps(whole, ensure_ascii=not utf, indent=2, allow_nan=False)


def finite(value: float) -> float | None:
    """A number for JSON, which has no infinity."""
    return float(value) if math.isfinite(value) else None


def up(value: float, digits: int = 3) -> str:
    """A promised number, rounded up."""
    return _rounded(value, digits)


def down(value: float, digits: int = 3) -> str:
    """A lower bound, rounded down."""
    return _rounded(-value, digits).removeprefix("-")


def _rounded(value: float, digits: int) -> str:
    from objpert_core.accounting.numerics.rounding import significant  # numpy comes with it

    if not math.isfinite(value):
        return "infinite"
    if value == 0:
        return "0"
    rounded = significant(value, digits, up=True)
    return (
        plain(float(rounded))
        if abs(value) < 1e-3
        else f"{int(rounded)}"
        if abs(value) >= 10**digits
        else short(rounded)
    )


def short(number: Any) -> str:
    """A decimal number without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def typed(value: Any) -> str:
    """A parameter as somebody would type it, with all its digits."""
    if not isinstance(value, float):
        return str(value)
    return plain(value) if float(plain(value)) == value else repr(value)


def note(text: str) -> None:
    """A line on standard error beside the answer, or several of a text that has them."""
    tell(f"note: {text}")


def tell(text: str) -> None:
    """A message on standard error, in a terminal's letters: a list keeps its lines."""
    for line in as_typed(text).splitlines():
        print(printable(line), file=sys.stderr)


_WORDS = {"random_state": "seed", "k": "repeat"}
"""What Python calls an option that has another name here."""
_POSITIONAL = frozenset(("command", "data", "model", "certificate", "columns", "format", "run", "rest", "mechanism"))


def in_options(text: str, options: argparse.Namespace) -> str:
    """A message about Python's arguments with the names of the command's options."""
    known = {name: f"--{name.replace('_', '-')}" for name in vars(options) if name not in _POSITIONAL}
    known |= {name: known[own] for name, own in _WORDS.items() if own in known}

    def option(found: re.Match[str]) -> str:
        name = found[1]
        told = "_" in name or (found.start() == 0 and text.startswith(f"{name} must"))  # else a word of the sentence
        if name not in known or not told:
            return found[0]
        return known[name] + found[2].replace("=", " ").replace("None", "left out")

    return re.sub(r"(?<![\w“'\"./-])([a-z]+(?:_[a-z]+)*)\b(=| must be None\b|)", option, text)


def private_note(text: str) -> None:
    """A note about the table's own values: for its owner, and not for publishing."""
    note(f"for your eyes only, outside of the certificate: {text}")


def spell(error: UnicodeError) -> tuple[str, int]:
    """What to write for letters that an encoding lacks: their names, or question marks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_SPELT.get(letter, "?") for letter in missing), error.end


codecs.register_error(PLAIN_LETTERS, spell)
