"""Parameters that no double can account for are refused by their own names, before anything is computed."""

import re

import numpy as np
import pytest

from objpert_core.estimators import (
    DPSGDLogisticRegression,
    ObjPertLogisticRegression,
    ObjPertRegressor,
    ObjPertSVC,
    OutputPerturbationLogisticRegression,
)

X = np.random.default_rng(0).standard_normal((30, 3))
LABELS = X[:, 0] > 0
CASES = [
    *((ObjPertRegressor, "clip", value) for value in (1e-320, 1e-200, 1e200, 1e300)),
    *((ObjPertSVC, "clip", value) for value in (1e-200, 1e200)),
    (DPSGDLogisticRegression, "clip", 1e-200),
    *(
        (model, "intercept_scaling", value)
        for value in (1e-200, 1e200)
        for model in (ObjPertLogisticRegression, OutputPerturbationLogisticRegression, DPSGDLogisticRegression)
    ),
    (ObjPertRegressor, "target_scale", 1e-200),
    (ObjPertRegressor, "huber_threshold", 1e200),
    (ObjPertSVC, "hinge_width", 1e-200),
]


@pytest.mark.parametrize(("model", "name", "value"), CASES, ids=lambda item: getattr(item, "__name__", str(item)))
def test_refused_by_name(model, name, value):
    target = X[:, 0] if model is ObjPertRegressor else LABELS
    with pytest.raises(
        ValueError, match=rf"^{name} must be a number from 1e-50 to {re.escape('1e+50')}, got {re.escape(repr(value))}"
    ):
        model(**{name: value}).fit(X, target)


def test_what_is_in_range_but_out_of_the_ordinary_is_fitted_and_certified():
    fitted = ObjPertRegressor(clip=1e-20, random_state=0).fit(X, X[:, 0])
    assert fitted.privacy_.verify()
    assert np.isfinite(fitted.coef_).all()
