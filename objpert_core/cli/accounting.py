"""`objpert accounting`: ε at δ, or δ at ε, of a mechanism or of a list of releases. It needs numpy and scipy only."""

from __future__ import annotations

import argparse
import math
from collections import Counter
from pathlib import Path
from typing import Any

from objpert_core.cli import mechanisms
from objpert_core.cli.files import read_bytes
from objpert_core.cli.mechanisms import ADJACENCIES, MECHANISMS
from objpert_core.cli.output import Answer, add_format, finite, show, typed, up
from objpert_core.cli.parsing import Failed, epilog
from objpert_core.cli.question import Found, Question, add_question, question

_LIST = "a list of releases: text or file from the app's page Several releases; - is standard input"


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "accounting",
        usage="objpert accounting [MECHANISM] (--delta X | --epsilon X) [options]",
        help="how private a mechanism is: ε at a δ, or δ at an ε",
        description="ε at a δ, or δ at an ε, of a mechanism or of a list of releases. Rounded up.",
        epilog=epilog(
            "objpert accounting --sigma 10 --lam 5 --delta 1e-5",
            "objpert accounting --sigma 10 --lam 5 --delta 1e-5 --all-bounds",
            "objpert accounting dp-sgd --noise-multiplier 1 --sample-rate 0.01 \\",
            "    --steps 1000 --epsilon 2 --json",
            "objpert accounting --ledger 'fit*3:8,10,1;gauss:20,1' --delta 1e-5",
            notes=mechanisms.table(calibrating=False),
        ),
    )
    asked = add_question(command)
    asked.add_argument("--repeat", type=int, metavar="K", help="K releases of the same rows, all fixed beforehand")
    asked.add_argument("--rows-per-person", type=int, metavar="N", help="a person has up to N rows")
    asked.add_argument("--all-bounds", action="store_true", help="list every proof about objective perturbation")
    asked.add_argument("--ledger", metavar="LIST", help=_LIST)
    asked.add_argument(
        "--certificates",
        nargs="+",
        metavar="RELEASE",
        help="releases that objpert fit wrote: folders, each with all that lies in it, or certificates' files",
    )
    mechanisms.add_mechanism(command, calibrating=False)
    add_format(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Account and print."""
    mechanisms.check_rows_per_person(options.rows_per_person)
    try:
        if options.ledger is not None:
            answer = _of_ledger(options)
        elif options.certificates is not None:
            answer = _of_certificates(options)
        else:
            answer = _all_bounds(options) if options.all_bounds else _one(options)
    except NotImplementedError as error:  # a proof that has no such answer
        raise ValueError(str(error)) from None
    except MemoryError:
        raise Failed("there is not enough memory to account for these numbers") from None
    show(answer, options.format)
    return 0


def _one(options: argparse.Namespace) -> Answer:
    asked, given = question(options), mechanisms.numbers(options, calibrating=False)
    single = _made(options, given)
    whole = _together(options, single)
    found, lower = asked.ask(whole), asked.lower(whole)
    by_renyi = asked.by_renyi(whole)
    adjacency = mechanisms.several(whole.adjacency, options.rows_per_person)
    words, proved = mechanisms.proof(options.mechanism, single, adjacency, renyi=by_renyi)
    facts = {
        "mechanism": _described(options, given),
        **words,
        "no proof below": asked.no_less(lower),
        "why": found.why,
    }
    document = {
        "command": "accounting",
        "inputs": _inputs(options, given, asked),
        **asked.entry(found),
        **proved,
        "lower_bound": None if lower is None else finite(lower),
    }
    return Answer(asked.headline(found.value), facts, document)


def _all_bounds(options: argparse.Namespace) -> Answer:
    from objpert_core.accounting import BOUND_REGISTRY

    if options.mechanism != "objective" or options.bound is not None:
        raise ValueError("--all-bounds is about objective perturbation and every proof: name no mechanism and no bound")
    asked, given = question(options), mechanisms.numbers(options, calibrating=False)
    rows, entries, lower = [], [], None
    best, by = math.inf, "any proof"
    for entry in BOUND_REGISTRY.values():
        for accountant in entry.accountants:
            if entry.needs_dimension and options.dimension is None:
                found, text = Found(math.inf, "it needs --dimension"), "–"
            else:
                whole = _together(options, _made(options, given | {"bound": entry.key}))
                lower = asked.lower(whole) if lower is None else lower
                one = Question(asked.quantity, asked.at, accountant == "rdp")
                try:
                    found = one.ask(whole)
                    text = up(found.value)
                except NotImplementedError as error:
                    found, text = Found(math.inf, str(error)), "–"
            named = entry.key if accountant == "profile" else f"{entry.key}, Rényi"
            if found.value < best:
                best, by = found.value, f"{named}, for {entry.coverage.words}"
            about = {"losses": entry.coverage.words, "source": entry.cited(accountant)}
            rows.append({"proof": named, asked.symbol: text, **about})
            entries.append({"bound": entry.key, "accountant": accountant, **asked.entry(found), **about})
    adjacency = mechanisms.several(ADJACENCIES[options.adjacency or "add/remove"], options.rows_per_person)
    facts = {
        "mechanism": _described(options, given),
        "neighbours": adjacency,
        "no proof below": asked.no_less(lower),
    }
    document = {
        "command": "accounting",
        "inputs": _inputs(options, given, asked),
        "adjacency": adjacency,
        "bounds": entries,
        "lower_bound": None if lower is None else finite(lower),
    }
    return Answer(f"{asked.headline(best)}, by {by}", facts, document, rows)


def _made(options: argparse.Namespace, given: dict[str, Any]) -> Any:
    import objpert_core.accounting as acc

    word = options.mechanism
    made = MECHANISMS[word].make(acc, mechanisms.with_adjacency(word, given, options.adjacency))
    wanted = made.adjacency if options.adjacency is None else ADJACENCIES[options.adjacency]
    if wanted == made.adjacency:
        return made
    if wanted == acc.ADD_REMOVE:
        raise ValueError(f"--adjacency must be replace for {word}, got {options.adjacency!r}")
    return acc.replace_one(made)


def _together(options: argparse.Namespace, single: Any) -> Any:
    import objpert_core.accounting as acc

    whole = single if options.rows_per_person is None else acc.group(single, options.rows_per_person)
    if options.repeat is None:
        return whole
    return acc.repeat(acc.symmetrised(whole) if whole.has_losses else whole, options.repeat)


def _described(options: argparse.Namespace, given: dict[str, Any]) -> str:
    numbers = ", ".join(f"{name} = {typed(value)}" for name, value in given.items())
    times = "" if options.repeat is None else f"; {options.repeat} releases together"
    return f"{MECHANISMS[options.mechanism].title}, {numbers}{times}"


def _inputs(options: argparse.Namespace, given: dict[str, Any], asked: Question) -> dict[str, Any]:
    counts = {name: value for name in ("repeat", "rows_per_person") if (value := getattr(options, name)) is not None}
    return {"mechanism": options.mechanism, **given, **counts, **asked.inputs}


_FIXED = "releases whose noise was fixed beforehand"
_SOURCE = "composition of privacy losses, docs/theorems.md, T8"
_HOW = {False: "by composition, docs/theorems.md, T8", True: "by Rényi curves alone"}


def _of_ledger(options: argparse.Namespace) -> Answer:
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


def _of_certificates(options: argparse.Namespace) -> Answer:
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
