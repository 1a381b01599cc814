"""`objpert accounting --ledger`: what a list of releases from the same rows costs together."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from objpert_core.cli import mechanisms
from objpert_core.cli.files import read_bytes
from objpert_core.cli.output import Answer, up
from objpert_core.cli.question import question


def total(options: argparse.Namespace) -> Answer:
    """Account for the releases so far after each entry.

    Parameters
    ----------
    options : Namespace
        Of the command `accounting`.

    Raises
    ------
    ValueError
        One sentence, for a list that is none, and for options that do not go with one.
    """
    import objpert_core.accounting as acc
    from objpert_core.accounting import ledger, ledger_file

    others = ("all_bounds", "rows_per_person", "repeat", "adjacency", *mechanisms.NUMBERS)
    if strangers := [name for name in others if getattr(options, name, None) not in (None, False)]:
        raise ValueError(f"--ledger says what the mechanisms are: leave out {mechanisms.flag(strangers[0])}")
    saved = ledger_file.read(_content(options.ledger))
    if not saved.entries:
        raise ValueError("--ledger must have a release or more, and it is empty")
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
        of_one, so_far = asked.entry(alone, "one_"), asked.entry(found, "running_")
        entries.append({"entry": entry.write(), "count": entry.count, **of_one, **so_far})
    facts = {
        "accounted": "by Rényi curves alone" if options.renyi else "by composition, docs/theorems.md, T8",
        "neighbours": acc.ADD_REMOVE,
        "holds for": "releases whose noise was fixed beforehand",
        "why": found.why,
    }
    document = {
        "command": "accounting",
        "inputs": {"ledger": ledger.write(saved.entries), **asked.inputs},
        **asked.entry(found),
        "source": "composition of privacy losses, docs/theorems.md, T8",
        "accountant": "rdp" if options.renyi else "profile",
        "adjacency": acc.ADD_REMOVE,
        "entries": entries,
    }
    return Answer(f"{asked.headline(found.value)} for all together", facts, document, rows)


def _content(given: str) -> bytes | str:
    """What stands in a file or on standard input; or the text of a list itself, which has a colon and is no file."""
    if given != "-" and ":" in given and not Path(given).is_file():
        return given
    return read_bytes(given, "the ledger", 100_000)
