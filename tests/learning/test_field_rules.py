"""Rules of certificates' fields, each at the ends of what it allows: a float on either side, and other types of it."""

import math
import types

import numpy as np
import pytest

from objpert_core.learning.certificates import field_rules
from objpert_core.learning.certificates.field_rules import SCHEMA, form, one_of, or_nothing, several

LARGEST, LEAST = np.finfo(float).max, math.ulp(0.0)


def after(value):
    return math.nextafter(value, math.inf)


def before(value):
    return math.nextafter(value, -math.inf)


NUMBERS = {  # the ends that are allowed, and their neighbours that are not
    "FINITE": ((-LARGEST, -0.0, LARGEST), (-math.inf, math.inf)),
    "POSITIVE": ((LEAST, LARGEST), (0.0, -0.0, -LEAST, math.inf)),
    "NONNEGATIVE": ((0.0, -0.0, LARGEST), (-LEAST, math.inf)),
    "FROM_ONE": ((1.0, LARGEST), (before(1.0), math.inf)),
    "OPEN_UNIT": ((LEAST, before(1.0)), (0.0, 1.0)),
    "RATE": ((LEAST, 1.0), (0.0, after(1.0))),
    "PROBABILITY": ((0.0, before(1.0)), (-LEAST, 1.0)),
    "ZERO": ((0.0, -0.0), (LEAST, -LEAST)),
    "ONE": ((1.0,), (before(1.0), after(1.0), -1.0)),
    "LENGTH": ((1e-50, 1e50), (0.0, before(1e-50), after(1e50), -1.0)),
    "ZERO_OR_LENGTH": ((0.0, 1e-50, 1e50), (LEAST, before(1e-50), after(1e50), -1.0)),
    "POWER_OF_TWO": ((LEAST, 0.5, 1.0, 2.0**1023), (0.0, after(1.0), 3.0, -2.0, math.inf)),
}
OTHERS = {
    "COUNT": ((1, 10**400), (0, -1, 1.0, True, np.int64(1))),
    "FROM_ZERO": ((0, 10**400), (-1, 0.0, False, np.int64(0))),
    "TRUTH": ((True, False), (0, 1, 1.0, np.True_)),
    "TEXT": (("", "a"), (b"a", np.str_("a"))),
    "DIGEST": (("0123456789abcdef" * 4,), ("a" * 63, "a" * 65, "a" * 64 + "\n", "g" * 64, "A" * 64, b"a" * 64)),
}
_LEFT_OUT, _FIRST = "those without a value of “y” are left out", "the first {} of each person by column “who”, "
_FIRST += "in the table's order"
OTHERS["ROWS_USED"] = (
    (_LEFT_OUT, _FIRST.format("row"), f"{_LEFT_OUT}; then {_FIRST.format('3 rows')}"),
    (
        "",
        _LEFT_OUT + "\n",
        f"{_LEFT_OUT} ",
        _FIRST.format("0 rows"),
        f"{_LEFT_OUT}; then {_LEFT_OUT}",
        _LEFT_OUT.encode(),
    ),
)
MADE = {
    "one_of": (one_of("a", "b"), ("a", "b"), ("", "ab", np.str_("a"), ("a",))),
    "form": (form(1), (1, SCHEMA), (0, SCHEMA + 1, 1.0, True)),
    "or_nothing": (or_nothing(field_rules.OPEN_UNIT), (None, 0.5), (0.0, 1.0, False)),
    "several": (several(field_rules.COUNT), ((1,), (1, 2)), ((), (1, 1), (0, 1), [1], 1)),
}
RULES = {name: value for name, value in vars(field_rules).items() if isinstance(value, field_rules.Rule)}
ENDS = (
    {
        name: (RULES[name], good, (*bad, math.nan, 1, True, "1.0", np.float32(1)))
        for name, (good, bad) in NUMBERS.items()
    }
    | {name: (RULES[name], good, (*bad, math.nan, [])) for name, (good, bad) in OTHERS.items()}
    | MADE
)


@pytest.mark.parametrize("name", ENDS)
def test_a_rule_holds_up_to_its_ends_and_not_a_float_beyond(name):
    rule, good, bad = ENDS[name]
    assert [value for value in good if rule.met(value) is not True] == []
    wrong = bad if name == "or_nothing" else (*bad, None)
    assert [value for value in wrong if rule.met(value) is not False] == []
    if name in NUMBERS:
        assert all(rule.met(np.float64(value)) for value in good)


def test_every_rule_is_looked_at():
    made = [
        name
        for name, value in vars(field_rules).items()
        if isinstance(value, types.FunctionType) and value.__annotations__.get("return") == "Rule"
    ]
    assert set(ENDS) == {*RULES, *made} - {"number", "whole"}  # which make the rules above
