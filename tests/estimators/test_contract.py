"""Every estimator keeps the contract; `contract.py` says what that is."""

import math

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from objpert_core import estimators
from objpert_core.estimators import (
    DPSGDLogisticRegression,
    ObjPertLogisticRegression,
    ObjPertRegressor,
    ObjPertSVC,
    OutputPerturbationLogisticRegression,
)
from tests.estimators.contract import ABOVE_ZERO, COUNT, FROM_ZERO, Case, parametrize_with_contract

LOGISTIC = {
    "bound": ("one of 'logistic', 'monotone', 'two-signed', 'glm', 'kifer2012', 'non-glm'", ("tight", None)),
    "lam": (FROM_ZERO, (-1.0, math.inf)),
}
SVC = {
    "loss": ("one of 'squared-hinge', 'huberised-hinge'", ("hinge", "logistic")),
    "bound": ("one of 'monotone', 'two-signed', 'glm', 'non-glm'", ("logistic",)),
    "hinge_width": (ABOVE_ZERO, (0.0, math.nan)),
}
REGRESSOR = {
    "loss": ("one of 'squared', 'huber'", ("absolute", "squared-hinge")),
    "bound": ("one of 'glm', 'two-signed', 'non-glm'", ("monotone", "logistic")),
    "huber_threshold": (ABOVE_ZERO, (-1.0, 0.0)),
    "target_scale": (ABOVE_ZERO, (0.0, -2.0)),
    "target_offset": ("a finite number", (math.nan, "mean", None)),
}
OUTPUT = {
    "lam": (ABOVE_ZERO, (0.0, -1.0)),
    "adjacency": ("one of 'add/remove', 'replace'", ("swap", None)),
}
DPSGD = {
    "accountant": ("one of 'pld', 'rdp'", ("prv", None)),
    "learning_rate": (ABOVE_ZERO, (-0.1, 0.0)),
    "batch_size": (COUNT, (0, 1.5)),
    "epochs": (COUNT, (0, 1.5)),
    "optimizer": ("one of 'adam', 'sgd'", ("lbfgs",)),
    "mean_runs": (ABOVE_ZERO, (-2.0, 0.0)),
    "learning_rates": ("one or more different numbers > 0", ([], [0.1, 0.1])),
    "tuning": ("one of 'honest', 'dishonest'", ("maybe",)),
    "validation_fraction": ("a number strictly between 0 and 1", (1.0, 0.0)),
}
STEPS = {"epochs": 2, "batch_size": 100, "classes": [0, 1]}
HONEST = {"learning_rates": [0.03, 0.1], "mean_runs": 20.0}
DISHONEST = {"learning_rates": [0.03, 0.1], "tuning": "dishonest"}
HUBERISED = {"loss": "huberised-hinge", "clip": None, "solver": "lbfgs"}
HUBER = {"loss": "huber", "clip": None, "target_offset": 3.0, "target_scale": 2.0}

CASES = [
    Case("logistic regression", ObjPertLogisticRegression, ranges=LOGISTIC),
    Case("published", ObjPertLogisticRegression.published, ranges=LOGISTIC),
    Case("kifer2012", ObjPertLogisticRegression.kifer2012, ranges=LOGISTIC),
    Case("svc", ObjPertSVC, ranges=SVC),
    Case("huberised svc", ObjPertSVC, parameters=HUBERISED, ranges=SVC, slow=True),
    Case("regressor", ObjPertRegressor, ranges=REGRESSOR),
    Case("huber regressor", ObjPertRegressor, parameters=HUBER, ranges=REGRESSOR, slow=True),
    Case("output perturbation", OutputPerturbationLogisticRegression, ranges=OUTPUT),
    Case("replaced rows", OutputPerturbationLogisticRegression, parameters={"adjacency": "replace"}, ranges=OUTPUT),
    Case("dp-sgd", DPSGDLogisticRegression, parameters=STEPS, ranges=DPSGD, first_step=1),
    Case("honest", DPSGDLogisticRegression, parameters=STEPS | HONEST, ranges=DPSGD, first_step=1, slow=True),
    Case("dishonest", DPSGDLogisticRegression, parameters=STEPS | DISHONEST, ranges=DPSGD, first_step=1, slow=True),
]


@parametrize_with_contract(CASES)
def test_the_contract(case, promise):
    promise(case)


def test_every_estimator_is_under_contract():
    exported = [getattr(estimators, name) for name in estimators.__all__]
    models = {kind for kind in exported if issubclass(kind, BaseEstimator)}
    assert models == {type(case.new()) for case in CASES}


ignoring_budgets = pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")


@parametrize_with_checks(
    [
        ObjPertLogisticRegression(),
        ObjPertSVC(),
        ObjPertRegressor(target_offset=3.0, target_scale=2.0),
        OutputPerturbationLogisticRegression(epsilon=8.0),
    ]
)
@ignoring_budgets
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        ObjPertLogisticRegression(solver="lbfgs", row_norm="clip"),
        ObjPertLogisticRegression(solver="newton-cg", fit_intercept=False),
        ObjPertLogisticRegression.published(),
        ObjPertSVC(loss="huberised-hinge", clip=None, solver="lbfgs", row_norm="clip", fit_intercept=False),
        ObjPertRegressor(loss="huber", clip=None, solver="lbfgs", row_norm="normalize", fit_intercept=False),
        OutputPerturbationLogisticRegression(adjacency="replace", row_norm="clip", fit_intercept=False, lam=5.0),
        DPSGDLogisticRegression(),
        DPSGDLogisticRegression(optimizer="sgd", learning_rate=3.0, row_norm="clip", fit_intercept=False),
        DPSGDLogisticRegression(learning_rates=[0.03, 0.1], mean_runs=4.0, random_state=0),
        DPSGDLogisticRegression(learning_rates=[0.03, 0.1], tuning="dishonest"),
    ]
)
@ignoring_budgets
def test_scikit_learns_own_checks_of_other_set_ups(estimator, check):
    check(estimator)
