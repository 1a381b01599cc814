"""`objpert accounting`: ε at δ, or δ at ε, of a mechanism or of a list of releases. It needs numpy and scipy only."""

from __future__ import annotations

import argparse
import math
from typing import Any

from objpert_core.cli import ledgers, mechanisms
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
            answer = ledgers.total(options)
        elif options.certificates is not None:
            answer = ledgers.certificates(options)
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
