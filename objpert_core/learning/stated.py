"""What a certificate's field may say: a rule is a type, taken exactly, and a range.

A certificate may come from anybody. So True is not 1 here, 1 is not 1.0, and a NaN is no number. Each kind of
certificate has a table of such rules beside it (`PrivacyCertificate.STATED`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Stated:
    """A rule for one field: `allowed` goes on from "must be", and `met` answers for any value without raising.

    >>> POSITIVE.met(1.0), POSITIVE.met(1), POSITIVE.met(math.nan)
    (True, False, False)
    """

    allowed: str
    met: Callable[[Any], bool]


def _is_float(value: Any) -> bool:
    return type(value) in (float, np.float64)  # a subclass might compare as it likes


def number(allowed: str, good: Callable[[float], bool]) -> Stated:
    """Met by a float for which `good` holds."""
    return Stated(allowed, lambda value: _is_float(value) and bool(good(value)))


def whole(least: int) -> Stated:
    """Met by an int >= `least`."""
    return Stated(f"a whole number >= {least}", lambda value: type(value) is int and value >= least)


def one_of(*allowed: str) -> Stated:
    """Met by these strings."""
    return Stated("one of " + ", ".join(map(repr, allowed)), lambda value: type(value) is str and value in allowed)


def or_nothing(rule: Stated) -> Stated:
    """`rule`, met by None as well."""
    return Stated(f"None or {rule.allowed}", lambda value: value is None or rule.met(value))


def several(rule: Stated) -> Stated:
    """Met by a tuple of one or more different values, each of which meets `rule`."""
    return Stated(
        f"one or more different values in a tuple, each {rule.allowed}",
        lambda value: (
            type(value) is tuple and len(value) > 0 and all(map(rule.met, value)) and len(set(value)) == len(value)
        ),
    )


POSITIVE = number("a finite float > 0", lambda value: 0 < value < math.inf)
NONNEGATIVE = number("a finite float >= 0", lambda value: 0 <= value < math.inf)
OPEN_UNIT = number("a float strictly between 0 and 1", lambda value: 0 < value < 1)
RATE = number("a float above 0 and at most 1", lambda value: 0 < value <= 1)
POWER_OF_TWO = number(
    "a finite float > 0 that is a power of two", lambda value: 0 < value < math.inf and math.frexp(value)[0] == 0.5
)
COUNT = whole(1)
FROM_ZERO = whole(0)
TRUTH = Stated("True or False", lambda value: type(value) is bool)
TEXT = Stated("a text", lambda value: type(value) is str)
DIGEST = Stated(
    "the 64 hexadecimal digits of a SHA-256",
    lambda value: type(value) is str and re.fullmatch(r"[0-9a-f]{64}", value) is not None,
)
