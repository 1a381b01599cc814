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
    tables,
    targets,
)
from tests.estimators.contract.case import Case, Promise

CONTRACT: tuple[Promise, ...] = tuple(
    one
    for module in (fits, recipes, certificates, rows, sizes, invalid_rows, targets, tables, copies, cautions)
    for one in vars(module).values()
    if isfunction(one) and getmodule(one) is module and list(signature(one).parameters) == ["case"]
)
"""Every promise."""


OF_NUMBERS = (
    rows.the_container_of_the_rows_does_not_matter,
    rows.the_norm_of_the_rows_is_enforced_in_fit_and_in_predict,
    rows.a_zero_row_is_scored_by_the_intercept,
    rows.without_an_intercept_there_is_none,
    invalid_rows.rows_with_nan_or_infinity_are_refused,
    invalid_rows.invalid_rows_count_as_none_where_errors_must_not_tell,
    invalid_rows.no_entry_makes_a_fit_warn_or_raise_where_errors_must_not_tell,
    copies.a_released_copy_and_a_pipeline_of_scikit_learns_predict_the_same,
)
"""Promises about rows of numbers, each of which a coefficient multiplies; tables have promises of their own."""
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
            if promise not in OF_NUMBERS or not case.table
            if getmodule(promise) is not tables or case.table
        ],
    )
