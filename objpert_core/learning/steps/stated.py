"""What certificates state of the steps beside a fit, steps from outside included, and what fingerprints cover."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from objpert_core.accounting.steps.base import Step, asked
from objpert_core.learning.certificates.field_rules import Rule
from objpert_core.learning.steps.base import Taken, kind_of, kinds, other_steps


def kinds_for(certificate: Any) -> list[Taken[Any]]:
    """The kinds with fields of their own, and those of the certificate's other steps."""
    own = [kind for kind in kinds() if kind.fields]
    return own + [kind_of(step) for step in other_steps(certificate)]


def steps_of(certificate: Any) -> tuple[Step, ...]:
    """The steps that a certificate states, in their order."""
    return asked(*(kind.step_of(certificate) for kind in kinds_for(certificate)))


def stated(steps: Iterable[Step]) -> dict[str, Any]:
    """The certificate's fields about these steps."""
    flat, others = dict[str, Any](), tuple[Step, ...]()
    for step in steps:
        own = kind_of(step).stated(step)
        others += own.pop("steps", ())
        flat |= own
    return flat | ({"steps": others} if others else {})


def fingerprinted() -> list[str]:
    """The attributes of a model that its fingerprint covers beside coefficients, in their order there."""
    places = [(kind.place, name) for kind in kinds() for name in kind.fingerprinted]
    return [name for _, name in sorted(places)]


def covered(certificate: Any) -> list[str]:
    """What was published beside coefficients, in words, in the order of the fingerprint."""
    told = getattr(certificate, "fit_certificate", certificate)
    return [words for kind in sorted(kinds_for(told), key=lambda kind: kind.place) for words in kind.covered(told)]


def published_by(model: Any) -> dict[str, Any]:
    """What was released beside a model's coefficients; None where nothing was."""
    return {name: getattr(model, name, None) for name in fingerprinted()}


# --- steps from outside, in a certificate's texts ------------------------------------------------------------------


def _others(value: Any) -> bool:
    found = [Taken.KINDS.get(type(step)) for step in value] if type(value) is tuple else [None]
    return len(set(found)) == len(found) and all(kind is not None and not kind.fields for kind in found)


STEPS = Rule("steps of different kinds, none of which has fields of its own, in a tuple", _others)


def written(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Steps as plain numbers and strings."""
    return [{"step": step.name, **asdict(step)} for step in steps]


def read(value: Any) -> Any:
    """The steps that `written` wrote; `ValueError` for a kind that is not known, or other fields than its own."""
    if type(value) is not list or any(type(one) is not dict for one in value):
        return value  # which breaks the rule
    return tuple(_one(dict(one)) for one in value)


def _one(given: dict[str, Any]) -> Step:
    named = given.pop("step", None)
    kind = next((kind for kind in Taken.KINDS if kind.name == named), None)
    if kind is None:
        raise ValueError(f"steps must be of kinds that are known, got {named!r}")
    if set(given) != (own := {item.name for item in fields(kind)}):
        raise ValueError(f"steps must have exactly the fields of a {kind.__name__}, {sorted(own)!r}, got {given!r}")
    try:
        return kind(**{name: tuple(value) if type(value) is list else value for name, value in given.items()})
    except TypeError as problem:  # from outside: its fields may be compared before they are looked at
        raise ValueError(f"steps must hold what a {kind.__name__} allows, got {given!r}: {problem}") from None
