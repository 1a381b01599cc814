"""A ledger as a file: a table or a JSON document with everything that is needed to compute it again, and back.

Of a file only `entry` of each row, `delta` and `target_epsilon` are read; all other numbers are computed anew.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from pages.composition import ledger
from pages.composition.totals import WIDTH, Line
from ui import sentences

FORMAT = "objpert privacy ledger 1"
LARGEST = 100_000  # bytes
_SHARED = ("delta", "target_epsilon", "adjacency")


class Saved(NamedTuple):
    """What a file or a pasted text holds: the ledger, and δ and the target where they are named."""

    entries: ledger.Ledger
    delta: float | None = None
    target: float | None = None


def rows(lines: Sequence[Line], delta: float, target: float) -> list[dict[str, Any]]:
    """One dictionary an entry: what it is, how to compute it, and the running totals."""
    return [
        {
            "position": position,
            "name": line.entry.label,
            "entry": line.entry.write(),
            "kind": line.entry.kind,
            "count": line.entry.count,
            "mechanism": line.entry.expression(),
            "epsilon_of_one": line.alone,
            "running_epsilon": line.total,
            "running_epsilon_certified_lower": line.low,
            "running_epsilon_renyi": line.renyi,
            "running_sum_of_epsilon": line.added,
            "delta": delta,
            "target_epsilon": target,
            "adjacency": sentences.ADJACENCY,
        }
        for position, line in enumerate(lines, 1)
    ]


def frame(lines: Sequence[Line], delta: float, target: float) -> pd.DataFrame:
    """The rows as a table; its columns are there for an empty ledger too."""
    example = Line(ledger.Entry("gauss", (1.0, 1.0)), 0.0, 0.0, 0.0, 0.0, 0.0)
    return pd.DataFrame(rows(lines, delta, target), columns=list(rows([example], delta, target)[0]))


def to_json(lines: Sequence[Line], delta: float, target: float) -> str:
    """The ledger as a JSON document; an infinite ε is null, as JSON has no infinity."""
    entries = [
        {key: _finite(value) for key, value in row.items() if key not in _SHARED}
        | {"parameters": line.entry.parameters}
        for row, line in zip(rows(lines, delta, target), lines, strict=True)
    ]
    document = {
        "format": FORMAT,
        "delta": delta,
        "target_epsilon": target,
        "adjacency": sentences.ADJACENCY,
        "import": "import objpert_core.accounting as acc",
        "relative_width": WIDTH,  # of epsilon_bounds, to compute the same numbers
        "entries": entries,
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read(content: bytes | str) -> Saved:
    """What a downloaded JSON or CSV file, or the short text, describes; raises `ValueError` with one sentence."""
    if len(content) > LARGEST:
        raise ValueError(f"the ledger's file must have at most {LARGEST // 1000} kB, got {len(content) / 1000:.0f} kB")
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content.removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise ValueError("the ledger's file must be text in UTF-8, as this page writes it") from None
    text = text.strip()
    if text.startswith("{"):
        return _saved(*_from_json(text))
    if "\n" in text or text.startswith("position,"):
        return _saved(*_from_csv(text))
    return Saved(ledger.parse(text))


def _from_json(text: str) -> tuple[list[Any], Mapping[str, Any]]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("the ledger's file must be complete JSON, as this page writes it") from None
    entries = document.get("entries")
    if document.get("format") != FORMAT or not isinstance(entries, list):
        raise ValueError(f"the ledger's file must say “format”: “{FORMAT}” and have a list of entries")
    return entries, document


def _from_csv(text: str) -> tuple[list[Any], Mapping[str, Any]]:
    try:
        found = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        raise ValueError("the ledger's file must be a complete CSV table, as this page writes it") from None
    return found, found[0] if found else {}


def _saved(entries: Sequence[Any], shared: Mapping[str, Any]) -> Saved:
    texts = [entry.get("entry") if isinstance(entry, dict) else None for entry in entries]
    if not all(isinstance(text, str) and text.strip() and ";" not in text for text in texts):
        raise ValueError("the ledger's file must have a column or field “entry” in every row")
    parsed = ledger.parse(";".join(map(str, texts)) or ledger.EMPTY)
    return Saved(parsed, _number(shared.get("delta")), _number(shared.get("target_epsilon")))


def _number(value: Any) -> float | None:
    """What a file has for a number, where it is a finite one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
