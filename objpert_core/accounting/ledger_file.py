"""A ledger in a file: its short text, the JSON or CSV document that the page Several releases writes, or events.

Events of Google's dp_accounting stand for noise, DP-SGD, and a fit that costs what Gaussian noise costs (λ >= 2σ²). Any
other release is written as the least Gaussian noise that covers it, so that no total is below the truth.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from objpert_core._validation import from_a_stranger
from objpert_core.accounting import ledger
from objpert_core.accounting.dp_sgd.mechanism import DPSGD
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms import events
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism
from objpert_core.accounting.mechanisms.composition import Composition, compose, repeat
from objpert_core.accounting.mechanisms.event_forms import PlainEvents
from objpert_core.accounting.mechanisms.events import read_dp_events, write_dp_events


def entries_of(mechanism: Mechanism) -> ledger.Ledger:
    """List a composition of Gaussian noise and DP-SGD as entries without names; `ValueError` for what no ledger has."""
    if mechanism.adjacency != ADD_REMOVE:
        raise ValueError(f"a ledger's releases must be about {ADD_REMOVE!r}, got {mechanism.adjacency!r}")
    parts = mechanism.parts if isinstance(mechanism, Composition) else ((mechanism, 1),)
    if len(parts) > ledger.MOST_ENTRIES:
        raise ValueError(f"ledger must have at most {ledger.MOST_ENTRIES} entries, got {len(parts)}")
    return ledger.checked([_entry(place, part, count) for place, (part, count) in enumerate(parts, 1)])


def _entry(place: int, part: Mechanism, count: int) -> ledger.Entry:
    try:
        if isinstance(part, Gaussian):
            return ledger.Entry("gauss", (part.sigma, part.sensitivity), count)
        if isinstance(part, DPSGD) and part.group_size == 1:
            return ledger.Entry("dpsgd", (part.noise_multiplier, part.sample_rate, part.steps), count)
    except ValueError as error:
        raise ValueError(f"event {place}: {error}") from None
    raise ValueError(f"event {place} must be Gaussian noise or DP-SGD with one row a person, got {type(part).__name__}")


def write_events(entries: ledger.Ledger) -> str:
    """Write a ledger as a document of events; entries without an event are covered by Gaussian noise.
    `NotImplementedError` means that nothing is proved about an entry."""
    return write_dp_events(_together(entries), cover=True)


def written(entries: ledger.Ledger) -> Mechanism:
    """What a reader of `write_events` accounts for: as private as the ledger, or less where an entry is covered."""
    return read_dp_events(write_events(entries))


def covered(entries: ledger.Ledger) -> tuple[int, ...]:
    """The numbers, from 1 on, of entries without an event."""
    return tuple(number for number, entry in enumerate(entries, 1) if not _has_event(entry.mechanism()))


def _has_event(mechanism: Mechanism) -> bool:
    try:
        mechanism.event(PlainEvents())
    except NotImplementedError:
        return False
    return True


def _together(entries: ledger.Ledger) -> Mechanism:
    if not entries:
        raise ValueError("ledger must have an entry to be written as events, got none")
    return compose(*(repeat(entry.mechanism(), entry.count) for entry in entries))


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
        raise ValueError("the ledger's file must be text in UTF-8, as the page Several releases writes it") from None
    text = text.strip()
    if text.startswith("{"):
        document = from_a_stranger("ledger's file", text, LARGEST)
        if document.get("format") == events.FORMAT:
            return Saved(entries_of(read_dp_events(text)))
        return _saved(*_from_json(document))
    if "\n" in text or text.startswith("position,"):
        return _saved(*_from_csv(text))
    return Saved(ledger.parse(text))


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
        raise ValueError("the ledger's file must be a complete CSV table, as Several releases writes it") from None
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
