"""Rows that cannot be used: refused, or as if they were not there where errors must not tell."""

import math
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor

from objpert_core.exceptions import PrivacyBudgetWarning, UncoveredDataWarning
from tests.estimators.contract.case import Case, Untouchable, assert_unfitted, frame


def rows_with_nan_or_infinity_are_refused(case: Case) -> None:
    for value in (np.nan, np.inf, -np.inf):
        for convert in (np.asarray, sp.csr_matrix, frame):
            X = case.data[0].copy()
            X[4, 2] = value
            model = case.new()
            with pytest.raises(ValueError, match=r"X must hold finite numbers \(no NaN, no inf.*row 4"):
                model.fit(convert(X), case.data[1])
            assert_unfitted(model)
        with pytest.raises(ValueError, match="X must hold finite numbers"):
            case.fitted.predict(np.full((1, 4), value))


def empty_data_and_mismatched_lengths_are_refused(case: Case) -> None:
    X, y = case.data
    for rows, labels, message in (
        (X[:0], y[:0], "0 sample"),
        (X[:, :0], y, "0 feature"),
        (X, y[:-1], "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            case.new().fit(rows, labels)
    with pytest.raises(ValueError, match=r"X has 3 features|X must have the 4 columns of the fit, got 3"):
        case.fitted.predict(X[:, :3])


def invalid_rows_count_as_none_where_errors_must_not_tell(case: Case) -> None:
    X, y = case.data
    known = case.of(on_error="release", public_rows=len(y), classes=[0, 1])
    alone = case.fit(**known)
    bad = [[np.nan, 0, 0, 0], [0, np.inf, 0, 0], [1e200, 0, 0, 0], ["no", 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    labels = [0, 1, 0, 1, math.nan, math.inf if is_regressor(alone) else "another"]
    rows, targets = X.astype(object).tolist() + bad, y.tolist() + labels
    numbers = np.vstack([X, bad[:3]]), np.append(y, labels[:3])
    for data in ((rows, targets), (frame(np.array(rows, dtype=object)), pd.Series(targets)), numbers):
        model = case.new(random_state=0, **known).fit(*data)
        np.testing.assert_array_equal(model.coef_, alone.coef_)
        np.testing.assert_array_equal(model.intercept_, alone.intercept_)
        assert model.privacy_.public() == alone.privacy_.public()
        assert model.privacy_.verify()
    assert alone.privacy_.on_error == "release"
    assert "invalid rows are ignored" in repr(alone.privacy_)
    assert case.fitted.privacy_.on_error == "raise"


class Warns:
    """An entry that warns, or raises, whatever it is asked."""

    def __float__(self) -> float:
        warnings.warn("this entry is there", stacklevel=1)
        return 0.5

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("this entry is there")

    __repr__ = __eq__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


NO_NUMBERS: tuple[Any, ...] = (
    np.longdouble("1e4000"), np.complex128(1 + 2j), np.clongdouble(1 + 2j), 1j, np.ma.masked, math.inf, -math.inf, None,
    "no", "1e4000", "9" * 5_000, 10**400, Fraction(10**400), Decimal("1e4000"), Decimal("sNaN"), pd.NA, pd.NaT,
    np.array([1.0, 2.0]), np.array([]), np.ma.array([1.0], mask=True), [1.0], {}, b"\xff", Warns(),
)  # fmt: skip
NUMBERS: tuple[Any, ...] = (
    True, np.True_, 1, Fraction(1, 1), Decimal(1), np.longdouble(1), np.complex128(1), "1", b"1",
)  # fmt: skip
"""Entries that are the number 1, however they are written."""


def no_entry_makes_a_fit_warn_or_raise_where_errors_must_not_tell(case: Case) -> None:
    """With warnings as errors, and errors of floating-point numbers, too: either would say that the row is there."""
    X, y = case.data
    known = case.of(on_error="release", public_rows=len(y), classes=case.labels, random_state=0)
    ones = np.ones((len(NUMBERS), 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = case.new(**known).fit(X, y)
        sparse = case.new(**known).fit(sp.csr_array(X), y)  # rows are not centred
        beside = case.new(**known).fit(np.vstack([X, ones]), np.append(y, np.ones(len(ones))))
    good = [1 if is_classifier(alone) and isinstance(one, (str, bytes)) else one for one in NUMBERS]  # another label
    bad = [[0.1, entry, 0.1, 0.1] for entry in NO_NUMBERS]
    fits: list[tuple[Any, Any, Any]] = [
        ([*X.tolist(), *bad], [*y.tolist(), *[1] * len(bad)], alone),
        ([*X.tolist(), *np.ones((len(bad), 4)).tolist()], [*y.tolist(), *NO_NUMBERS], alone),
        ([*X.tolist(), *[[1, 1, one, 1.0] for one in NUMBERS]], [*y.tolist(), *good], beside),
        (np.vstack([X, X[:1] + 2j]), np.append(y, 1), alone),
        (np.vstack([X, np.full((1, 4), np.longdouble("1e4000"))]), np.append(y, 1), alone),
        (np.ma.vstack([X, np.ma.array(X[:1], mask=True)]), np.append(y, 1), alone),
        ([*X.tolist(), np.ma.array([1.0] * 4, mask=[0, 1, 0, 0])], np.append(y, 1), alone),
        (sp.csr_array(np.vstack([X, X[:1] + 2j])), np.append(y, 1), sparse),
        (np.vstack([X, X[:1]]), np.ma.array(np.append(y, 1), mask=[*[False] * len(y), True]), alone),
        *((np.vstack([X, X[:1]]), np.append(y, one), alone) for one in (1 + 2j, np.longdouble("1e4000"))),
    ]
    for rows, targets, expected in fits:
        model = case.new(**known)
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            for public in (PrivacyBudgetWarning, UncoveredDataWarning):  # of parameters, and of a second fit
                warnings.simplefilter("ignore", public)
            model.fit(rows, targets)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.intercept_, expected.intercept_)


def without_any_valid_row_there_is_an_answer(case: Case) -> None:
    known = case.of(on_error="release", public_rows=300, classes=[0, 1])
    none = case.new(random_state=0, **known).fit(np.zeros((0, 4)), [])
    invalid = case.new(random_state=0, **known).fit(np.full((5, 4), np.nan), np.zeros(5))
    np.testing.assert_array_equal(none.coef_, invalid.coef_)
    assert np.isfinite(none.coef_).all()
    assert none.privacy_.verify()


def labels_must_be_declared_where_errors_must_not_tell(case: Case) -> None:
    if not is_classifier(case.new()):
        return
    with pytest.raises(ValueError, match="classes must be the labels that can occur where on_error='release'"):
        case.new(on_error="release", classes=None).fit(Untouchable(), Untouchable())
