"""`objpert accounting --ledger`: what a list of releases from the same rows costs together."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from objpert_core.cli import mechanisms
from objpert_core.cli.files import read_bytes
from objpert_core.cli.output import Answer, up
from objpert_core.cli.question import Found, Question, question

_FIXED = "releases whose noise was fixed beforehand"
_SOURCE = "composition of privacy losses, docs/theorems.md, T8"
_HOW = {False: "by composition, docs/theorems.md, T8", True: "by Rényi curves alone"}


def total(options: argparse.Namespace) -> Answer:
    """Account for the releases so far after each entry."""
    import objpert_core.accounting as acc
    from objpert_core.accounting import ledger, ledger_file

    _alone(options, "ledger", "certificates")
    saved = ledger_file.read(_content(options.ledger))
    if not saved.entries:
        raise ValueError("--ledger must have a release or more, got an empty ledger")
    asked = question(options, saved.delta)
    counts: Counter[Any] = Counter()
    rows: list[dict[str, str]] = []
    entries: list[dict[str, Any]] = []
    for entry in saved.entries:
        one = entry.mechanism()
        counts[one] += entry.count
        whole = acc.compose(*(acc.repeat(part, k) for part, k in counts.items()))
        alone, found = asked.ask(one), asked.ask(whole)
        rows.append(
            {
                "release": entry.label,
                "entry": entry.write(),
                f"{asked.symbol} of one": up(alone.value),
                f"{asked.symbol} so far": up(found.value),
            }
        )
        entries.append({"entry": entry.write(), "count": entry.count, **asked.both(alone, found)})
    facts = {"neighbours": acc.ADD_REMOVE}
    document = {"inputs": {"ledger": ledger.write(saved.entries)}, "adjacency": acc.ADD_REMOVE, "entries": entries}
    return _answer(asked, found, facts, document, rows)


def certificates(options: argparse.Namespace) -> Answer:
    """Account for the releases of several certificates; `ValueError` where one does not hold, or neighbours differ."""
    from objpert_core.cli.releases import whole, without_scores
    from objpert_core.estimators.own_table import together
    from objpert_core.learning.certificates.shown import neighbours_in_words

    _alone(options, "certificates")
    asked = question(options)
    known: list[Any] = []
    rows: list[dict[str, str]] = []
    entries: list[dict[str, Any]] = []
    for name in options.certificates:
        known.append(whole(name))
        if not known[-1].verify():
            raise ValueError(f"the certificate of {name!r} does not hold: see objpert verify")
        alone, found = asked.ask(together(known[-1:])), asked.ask(together(known))
        rows.append(
            {
                "release": name,
                f"{asked.symbol} of one": up(alone.value),
                f"{asked.symbol} so far": up(found.value),
                "neighbours": neighbours_in_words(known[-1].adjacency),
            }
        )
        entries.append({"release": name, "adjacency": known[-1].adjacency, **asked.both(alone, found)})
    fits = list(filter(without_scores, options.certificates))
    named = list(dict.fromkeys(one.adjacency for one in known))
    neighbours = named[0] if len(named) == 1 else "data sets that are neighbours in the sense of every release"
    facts = {
        "neighbours": neighbours_in_words(neighbours),
        "without scores": f"{', '.join(fits)}: name the folder, which counts them" if fits else "",
    }
    document = {"inputs": {"certificates": options.certificates}, "adjacency": neighbours, "entries": entries}
    return _answer(asked, found, facts, document, rows)


def _answer(
    asked: Question, found: Found, facts: dict[str, str], document: dict[str, Any], rows: list[dict[str, str]]
) -> Answer:
    """The answer for all together, with what every list says of itself."""
    facts = {"accounted": _HOW[asked.renyi], **facts, "holds for": _FIXED, "why": found.why}
    document = {
        "command": "accounting",
        "inputs": document["inputs"] | asked.inputs,
        **asked.entry(found),
        "source": _SOURCE,
        "accountant": "rdp" if asked.renyi else "profile",
        "adjacency": document["adjacency"],
        "entries": document["entries"],
    }
    return Answer(f"{asked.headline(found.value)} for all together", facts, document, rows)


def _alone(options: argparse.Namespace, own: str, *rivals: str) -> None:
    others = (*rivals, "all_bounds", "rows_per_person", "repeat", "adjacency", *mechanisms.NUMBERS)
    if strangers := [name for name in others if getattr(options, name, None) not in (None, False)]:
        raise ValueError(f"--{own} says what the mechanisms are: leave out {mechanisms.flag(strangers[0])}")


def _content(given: str) -> bytes | str:
    """The text of a file or of standard input; or the text of a list itself, which has a colon and is no file."""
    if given != "-" and ":" in given and not Path(given).is_file():
        return given
    return read_bytes(given, "the ledger", 100_000)
