"""What estimators of several kinds have in common beside the contract: they learn, with noise for what a row can do."""

import math
import re
from functools import partial

import numpy as np
import pytest

import objpert_core.estimators as est
from objpert_core.accounting import calibrate_objective_perturbation
from objpert_core.estimators import (
    DPSGDLogisticRegression,
    ObjPertLogisticRegression,
    ObjPertRegressor,
    ObjPertSVC,
    OutputPerturbationLogisticRegression,
)
from tests.estimators.rows import labelled, numbered

RADIUS = math.sqrt(1 + 0.3**2)
slow = partial(pytest.param, marks=pytest.mark.slow)
descent = partial(est.DPSGDLogisticRegression, 2.0, 1e-6, random_state=0)


LEARNERS = [
    (est.ObjPertSVC(1.0, 1e-6), labelled, 0.85, ("monotone", "squared-hinge", 1.0)),
    (est.ObjPertSVC(1.0, 1e-6, loss="huberised-hinge"), labelled, 0.85, ("monotone", "huberised-hinge", 1.0)),
    (est.ObjPertRegressor(2.0, 1e-6), numbered, 0.8, ("glm", "squared", 1.0)),
    (est.OutputPerturbationLogisticRegression(4.0, random_state=0), labelled, 0.85, None),
    pytest.param(est.ObjPertLogisticRegression(1.0, 1e-6), labelled, 0.85, None, marks=pytest.mark.thorough),
    slow(descent(learning_rate=0.03), labelled, 0.85, None),
    slow(descent(learning_rate=3.0, optimizer="sgd"), labelled, 0.85, None),
]


@pytest.mark.parametrize(
    ("model", "data", "least", "says"), LEARNERS, ids=lambda value: repr(value) if hasattr(value, "fit") else ""
)
def test_it_learns_and_says_what_it_spent(model, data, least, says):
    X, y = data()
    spent = model.fit(X[:1500], y[:1500]).privacy_
    assert model.score(X[1500:], y[1500:]) > least
    assert (spent.epsilon, spent.delta) == (model.epsilon, model.delta)
    assert spent.verify()
    assert says is None or (spent.bound, spent.loss, spent.clip) == says
    if isinstance(model, est.DPSGDLogisticRegression):
        assert model.n_iter_ == spent.steps == 60 * 6
        assert model.learning_rate_ == model.learning_rate


MARGINS = [(est.OutputPerturbationLogisticRegression, {}), slow(est.DPSGDLogisticRegression, {"epochs": 5})]


@pytest.mark.parametrize(("kind", "more"), MARGINS)
def test_a_margin_changes_the_model_and_not_the_promise(kind, more):
    X, y = labelled()
    plain, ahead = (kind(margin=margin, random_state=0, **more).fit(X, y) for margin in (0.0, 2.0))
    noise = "sigma" if kind is est.OutputPerturbationLogisticRegression else "noise_multiplier"
    assert getattr(plain.privacy_, noise) == getattr(ahead.privacy_, noise)
    assert ahead.privacy_.verify()
    assert (plain.margin_, ahead.margin_) == (0.0, 2.0)
    assert np.linalg.norm(ahead.coef_) > 1.1 * np.linalg.norm(plain.coef_)


HUBERISED = {"loss": "huberised-hinge"}
HUBER = {"loss": "huber", "huber_threshold": 0.5}


CALIBRATED = [
    (est.ObjPertSVC(clip=0.7), 0.7, 1.0),
    (est.ObjPertSVC(**HUBERISED, clip=None, advanced={"hinge_width": 2.0}), RADIUS, 0.25),
    (est.ObjPertSVC(**HUBERISED, clip=9.0), RADIUS, 1.0),
    (est.ObjPertSVC(**HUBERISED, clip=0.2), 0.2, 1.0),
    (est.ObjPertRegressor(clip=0.7), 0.7, 1.0),
    (est.ObjPertRegressor(**HUBER, clip=None), 0.5 * RADIUS, 1.0),
    (est.ObjPertRegressor(**HUBER, clip=9.0), 0.5 * RADIUS, 1.0),
    (est.ObjPertRegressor(**HUBER, clip=0.2), 0.2, 1.0),
]


@pytest.mark.parametrize(("model", "gradient", "curvature"), CALIBRATED, ids=repr)
def test_noise_is_calibrated_to_the_gradient_that_one_row_can_have(model, gradient, curvature):
    regressor = isinstance(model, est.ObjPertRegressor)
    spent = model.fit(*(numbered if regressor else labelled)(50)).privacy_
    bound = "glm" if regressor else "monotone"
    expected = calibrate_objective_perturbation(1.0, 1e-5, gradient, curvature * RADIUS**2, bound, tau=1e-6)
    assert spent.lipschitz == pytest.approx(gradient)
    assert spent.smoothness == pytest.approx(curvature * RADIUS**2)
    assert (spent.sigma, spent.lam) == pytest.approx((expected.objective.sigma, expected.objective.lam))
    assert spent.lam > spent.smoothness or not regressor
    assert spent.verify()


# Extreme parameters


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
