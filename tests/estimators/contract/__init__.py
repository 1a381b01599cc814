"""What every estimator promises, as functions of one `Case`: to be run on this package's estimators and on any other.

>>> @parametrize_with_contract([Case("my estimator", MyEstimator)])
... def test_my_estimator_keeps_the_contract(case, promise):
...     promise(case)

A promise is a function with the argument `case` alone, in one of the modules here; it is found by that.
"""

from collections.abc import Iterable
from inspect import getmodule, isfunction, signature

import pytest

from tests.estimators.contract import (
    cautions,
    certificates,
    copies,
    fits,
    invalid_rows,
    recipes,
    rows,
    sizes,
    targets,
)
from tests.estimators.contract.case import Case, Promise

CONTRACT: tuple[Promise, ...] = tuple(
    one
    for module in (fits, recipes, certificates, rows, sizes, invalid_rows, targets, copies, cautions)
    for one in vars(module).values()
    if isfunction(one) and getmodule(one) is module and list(signature(one).parameters) == ["case"]
)
"""Every promise."""


SLOW = (
    invalid_rows.no_entry_makes_a_fit_warn_or_raise_where_errors_must_not_tell,
    sizes.the_number_of_rows_decides_nothing_unless_it_is_named_in_any_setting,
)
"""Promises that take seconds."""


def parametrize_with_contract(cases: Iterable[Case]) -> pytest.MarkDecorator:
    """Run a test with `case` and `promise` once for every case and every promise."""
    return pytest.mark.parametrize(
        ("case", "promise"),
        [
            pytest.param(
                case,
                promise,
                id=f"{case.name}-{promise.__name__}",
                marks=[pytest.mark.slow] if case.slow or promise in SLOW else [pytest.mark.thorough] * case.thorough,
            )
            for case in cases
            for promise in CONTRACT
        ],
    )
