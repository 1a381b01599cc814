"""A ledger in a file: its short text, the JSON or CSV document that the Composition page writes, or events."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from objpert_core._validation import once_each
from objpert_core.accounting import ledger, ledger_events
from objpert_core.accounting.mechanisms import events

FORMAT = "objpert privacy ledger 1"
_READ: tuple[str, ...] = ("entry", "delta", "target_epsilon")  # of a table's columns
LARGEST = 100_000
"""Bytes."""


class Saved(NamedTuple):
    """What a file or a text holds; `delta` and `target` only where the file names them."""

    entries: ledger.Ledger
    delta: float | None = None
    target: float | None = None


def read(content: bytes | str) -> Saved:
    """What a downloaded JSON or CSV file, or the short text, describes; raises `ValueError` with one sentence."""
    if len(content) > LARGEST:
        raise ValueError(f"the ledger's file must have at most {LARGEST // 1000} kB, got {len(content) / 1000:.0f} kB")
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content.removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise ValueError("the ledger's file must be text in UTF-8, as the Composition page writes it") from None
    text = text.strip()
    if text.startswith("{"):
        document = _document(text)
        if document.get("format") == events.FORMAT:
            return Saved(ledger_events.read(text))
        return _saved(*_from_json(document))
    if "\n" in text or text.startswith("position,"):
        return _saved(*_from_csv(text))
    return Saved(ledger.parse(text))


def _document(text: str) -> Mapping[str, Any]:
    try:
        document: Mapping[str, Any] = json.loads(text, object_pairs_hook=once_each)
    except (ValueError, RecursionError):
        raise ValueError(
            "the ledger's file must be complete JSON, as the Composition page writes it, and name no key twice"
        ) from None
    return document


def _from_json(document: Mapping[str, Any]) -> tuple[list[Any], Mapping[str, Any]]:
    entries = document.get("entries")
    if document.get("format") != FORMAT or not isinstance(entries, list):
        either = f"“format”: “{FORMAT}” and have a list of entries, or “{events.FORMAT}” and have an event"
        raise ValueError(f"the ledger's file must say {either}")
    return entries, document


def _from_csv(text: str) -> tuple[list[Any], Mapping[str, Any]]:
    """The rows by name, of the columns that are read alone: short rows are not filled up to a long header."""
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except csv.Error:
        raise ValueError("the ledger's file must be a complete CSV table, as the Composition page writes it") from None
    if len(set(header)) < len(header):
        raise ValueError("the ledger's file must name no column twice")
    places = [(name, header.index(name)) for name in _READ if name in header]
    found = [{name: row[place] for name, place in places if place < len(row)} for row in rows if row]
    return found, found[0] if found else {}


def _saved(entries: Sequence[Any], shared: Mapping[str, Any]) -> Saved:
    texts = [entry.get("entry") if isinstance(entry, dict) else None for entry in entries]
    if not all(isinstance(text, str) and text.strip() and ";" not in text for text in texts):
        raise ValueError("the ledger's file must have a column or field “entry” in every row")
    parsed = ledger.parse(";".join(map(str, texts)) or ledger.EMPTY)
    return Saved(parsed, _number(shared.get("delta")), _number(shared.get("target_epsilon")))


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
