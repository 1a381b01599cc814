"""`objpert calibrate`: the least noise with which a mechanism is (ε, δ)-private."""

from __future__ import annotations

import argparse
import math
from dataclasses import fields, is_dataclass, replace
from typing import Any

from objpert_core.cli import mechanisms
from objpert_core.cli.mechanisms import ADJACENCIES, MECHANISMS
from objpert_core.cli.output import Answer, add_format, show, typed, up
from objpert_core.cli.parsing import epilog

_UPWARDS = ("sigma", "lam", "sigma_out", "noise_multiplier", "scale")
_DIGITS = 6
_MORE = (0.0, *(1e-6 * 2**step for step in range(10)))
"""How far above the least noise the printed one may be, relatively: ε from a grid does not fall to the last digit."""


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "calibrate",
        usage="objpert calibrate [MECHANISM] --epsilon X --delta X [options]",
        help="the noise that a promise (ε, δ) needs",
        description="The least noise with which a mechanism keeps a promise (ε, δ). Noise is rounded up.",
        epilog=epilog(
            "objpert calibrate --epsilon 1 --delta 1e-5",
            "objpert calibrate dp-sgd --sample-rate 0.01 --steps 500 \\",
            "    --epsilon 1 --delta 1e-5",
            notes=mechanisms.table(calibrating=True),
        ),
    )
    target = command.add_argument_group("the promise")
    target.add_argument("--epsilon", type=float, metavar="X", required=True, help="ε of the promise")
    target.add_argument("--delta", type=float, metavar="X", required=True, help="δ of the promise")
    target.add_argument("--rows-per-person", type=int, metavar="N", help="a person has up to N rows")
    target.add_argument("--renyi", action="store_true", help="account by the Rényi curve alone")
    mechanisms.add_mechanism(command, calibrating=True)
    add_format(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Calibrate and print; `ValueError`, too, where no noise keeps the promise."""
    import objpert_core.accounting as acc

    mechanisms.check_rows_per_person(options.rows_per_person)
    word, given = options.mechanism, mechanisms.numbers(options, calibrating=True)
    made = _calibrated(acc, options, given)

    def whole(mechanism: Any) -> Any:
        several = options.rows_per_person if word == "objective" else None  # a DP-SGD's group is a number of its own
        together = mechanism if several is None else acc.group(mechanism, several)
        return acc.via_rdp(together) if options.renyi else together

    tried = (_as_printed(made, tuple(given), more) for more in _MORE)
    printed = next((one for one in tried if whole(one).epsilon(options.delta) <= options.epsilon), made)
    kept = float(whole(made).epsilon(options.delta))
    if whole(made).delta(options.epsilon) <= options.delta:
        kept = min(kept, options.epsilon)  # the way back from δ to ε may round up what was found by its δ
    found = dict(_numbers(made))
    adjacency = mechanisms.several(made.adjacency, options.rows_per_person)
    words, proved = mechanisms.proof(word, made, adjacency, renyi=options.renyi)
    shown = {name: up(value, _DIGITS) if name in _UPWARDS else typed(value) for name, value in _numbers(printed)}
    facts = {
        "mechanism": MECHANISMS[word].title,
        **{name: text for name, text in shown.items() if name not in ("bound", "adjacency")},
        **words,
        "achieved": f"ε = {up(kept)} at δ = {typed(options.delta)}",
    }
    document = {
        "command": "calibrate",
        "inputs": {"mechanism": word, **given, "epsilon": options.epsilon, "delta": options.delta},
        "numbers": {name: value for name, value in found.items() if not _endless(value)},
        "epsilon": kept,
        "delta": options.delta,
        **proved,
    }
    least = ", ".join(f"{name} = {shown[name]}" for name in _UPWARDS if name in shown) or "found"
    show(
        Answer(f"{least} for ε = {typed(options.epsilon)}, δ = {typed(options.delta)}", facts, document), options.format
    )
    return 0


def _calibrated(acc: Any, options: argparse.Namespace, given: dict[str, Any]) -> Any:
    word = options.mechanism
    make = MECHANISMS[word].calibrate
    assert make is not None, word
    arguments = mechanisms.with_adjacency(word, given, options.adjacency)
    if options.rows_per_person is not None:
        if word not in ("objective", "dp-sgd"):
            raise ValueError(f"{word} has no --rows-per-person here: calibrate for one row")
        arguments["rows_per_person"] = options.rows_per_person
    if options.renyi:
        if word not in ("objective", "dp-sgd", "batches"):
            raise ValueError(f"{word} has no --renyi here")
        arguments["accountant"] = "rdp"
    made = make(acc, {"epsilon": options.epsilon, "delta": options.delta, **arguments})
    if options.adjacency is not None and made.adjacency != ADJACENCIES[options.adjacency]:
        other = next(name for name in ADJACENCIES if name != options.adjacency)
        raise ValueError(f"--adjacency must be {other} for {word}, got {options.adjacency!r}")
    return made


def _as_printed(mechanism: Any, given: tuple[str, ...], more: float) -> Any:
    """The mechanism with the noise that is printed: rounded up, and `more` relatively where it was not given."""
    changed = {}
    for field in fields(mechanism):
        value = getattr(mechanism, field.name)
        if is_dataclass(value):
            changed[field.name] = _as_printed(value, given, more)
        elif field.name in _UPWARDS and value:
            changed[field.name] = float(up(value if field.name in given else value * (1 + more), _DIGITS))
    return replace(mechanism, **changed)


def _numbers(mechanism: Any) -> list[tuple[str, Any]]:
    found = []
    for field in fields(mechanism):
        value = getattr(mechanism, field.name)
        found += _numbers(value) if is_dataclass(value) else [(field.name, value)]
    return [(name, value) for name, value in found if value]  # an output noise of 0 is none


def _endless(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
