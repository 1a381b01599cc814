"""A certificate's field and its rule in one line: ``sigma: float = fact(POSITIVE)``.

A rule is a type, taken exactly, and a range: True is not 1 here, 1 is not 1.0, and a NaN is no number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np

SCHEMA = 2
"""The form of a certificate that is written now. Form 1, whose texts have no key ``"schema"``, is read and verified."""
LATER = SCHEMA + 1
"""`since` of a field that came after the first texts of form 2: a text is silent on it where it has its default."""


@dataclass(frozen=True)
class Rule:
    """A rule for one field: `allowed` goes on from "must be", and `met` answers for any value without raising."""

    allowed: str
    met: Callable[[Any], bool]


@dataclass(frozen=True)
class Fact:
    """What there is to know of one field; `rule` is None where a field was declared without `fact`."""

    name: str
    default: Any
    rule: Rule | None = None
    since: int = 1
    diagnostic: bool = False
    texts: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None


def fact(
    rule: Rule,
    *,
    since: int = 1,
    diagnostic: bool = False,
    texts: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None,
    **default: Any,
) -> Any:
    """A field that says what `rule` allows, in texts from the form `since` on; a `diagnostic` depends on the data, and
    `texts` write a value as plain numbers and strings and read it again."""
    return field(metadata={"rule": rule, "since": since, "diagnostic": diagnostic, "texts": texts}, **default)


@cache
def facts_of(kind: type[Any]) -> tuple[Fact, ...]:
    """The facts of a kind of certificate, in the order of its fields."""
    return tuple(Fact(item.name, item.default, **item.metadata) for item in fields(kind))


def number(allowed: str, good: Callable[[float], bool]) -> Rule:
    """Met by a float for which `good` holds; a subclass might compare as it likes."""
    return Rule(allowed, lambda value: type(value) in (float, np.float64) and bool(good(value)))


def whole(least: int) -> Rule:
    """Met by an int >= `least`."""
    return Rule(f"a whole number >= {least}", lambda value: type(value) is int and value >= least)


def one_of(*allowed: str) -> Rule:
    """Met by these strings."""
    return Rule("one of " + ", ".join(map(repr, allowed)), lambda value: type(value) is str and value in allowed)


def form(first: int) -> Rule:
    """Met by the forms of certificates from `first` on."""
    allowed = range(first, SCHEMA + 1)
    return Rule(" or ".join(map(str, allowed)), lambda value: type(value) is int and value in allowed)


def or_nothing(rule: Rule) -> Rule:
    """`rule`, met by None as well."""
    return Rule(f"None or {rule.allowed}", lambda value: value is None or rule.met(value))


def several(rule: Rule) -> Rule:
    """Met by a tuple of one or more different values, each of which meets `rule`."""
    return Rule(
        f"one or more different values in a tuple, each {rule.allowed}",
        lambda value: (
            type(value) is tuple and len(value) > 0 and all(map(rule.met, value)) and len(set(value)) == len(value)
        ),
    )


FINITE = number("a finite float", math.isfinite)
POSITIVE = number("a finite float > 0", lambda value: 0 < value < math.inf)
NONNEGATIVE = number("a finite float >= 0", lambda value: 0 <= value < math.inf)
FROM_ONE = number("a finite float >= 1", lambda value: 1 <= value < math.inf)
OPEN_UNIT = number("a float strictly between 0 and 1", lambda value: 0 < value < 1)
RATE = number("a float above 0 and at most 1", lambda value: 0 < value <= 1)
PROBABILITY = number("a float >= 0 and below 1", lambda value: 0 <= value < 1)
ZERO = number("0.0", lambda value: value == 0)
ONE = number("1.0", lambda value: value == 1)
LENGTH = number("a float from 1e-50 to 1e50", lambda value: 1e-50 <= value <= 1e50)
ZERO_OR_LENGTH = number("0.0 or a float from 1e-50 to 1e50", lambda value: value == 0 or 1e-50 <= value <= 1e50)
POWER_OF_TWO = number(
    "a finite float > 0 that is a power of two", lambda value: 0 < value < math.inf and math.frexp(value)[0] == 0.5
)
COUNT = whole(1)
FROM_ZERO = whole(0)
TRUTH = Rule("True or False", lambda value: type(value) is bool)
TEXT = Rule("a text", lambda value: type(value) is str)
_NAMED = "“.{1,40}”"
_NO_TARGET = f"those without a value of {_NAMED} are left out"
_FIRST = f"the first (row|[1-9][0-9,]* rows) of each person by column {_NAMED}, in the table's order"
_ROWS = re.compile(f"{_NO_TARGET}|(?:{_NO_TARGET}; then )?{_FIRST}")
ROWS_USED = Rule(
    "a rule about rows in the words of a table's schema",
    lambda value: type(value) is str and value.isprintable() and _ROWS.fullmatch(value) is not None,
)


def rows_of_each_person(rows_used: str | None) -> int | None:
    """How many rows of each person a rule of `ROWS_USED` keeps; None where it keeps all."""
    found = None if rows_used is None else _ROWS.fullmatch(rows_used)
    if found is None or found[1] is None:
        return None
    return 1 if found[1] == "row" else int(found[1].removesuffix(" rows").replace(",", ""))


DIGEST = Rule(
    "the 64 hexadecimal digits of a SHA-256",
    lambda value: type(value) is str and re.fullmatch(r"[0-9a-f]{64}", value) is not None,
)
