"""Fits of 300 rows, for random changes, with changes that promise more or less."""

from types import SimpleNamespace

import numpy as np

from objpert_core.accounting import (
    ApproximateMinima,
    ObjectivePerturbation,
)
from objpert_core.estimators import (
    DPSGDLogisticRegression,
    ObjPertLogisticRegression,
    ObjPertRegressor,
    ObjPertSVC,
    OutputPerturbationLogisticRegression,
)
from objpert_core.learning import HingeLoss, LogisticLoss, perturb_and_solve
from tests.learning.certificates.kind import Kind, times


def many_rows(estimator, level="slow", **parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    model = estimator(**({} if estimator is ObjPertRegressor else {"classes": [0, 1]}), **parameters)
    return Kind(lambda: model.fit(X, (X[:, 0] > 0).astype(int)), [], [{"epsilon": times(1.5)}], level)


def in_ball(loss, bound, envelope):
    """A fit in a ball about rows that are added or removed: those of the estimators are slower to account for."""

    def model():
        X = np.random.default_rng(0).normal(size=(300, 4))
        mechanism = ApproximateMinima(
            ObjectivePerturbation(8.0, 6.0, 1.0, envelope or loss.smoothness, bound), 1e-6, 0.01
        )
        told = {"loss": loss, "intercept_scaling": 0.0, "radius": 0.5, "envelope": envelope}
        release = perturb_and_solve(X, np.where(X[:, 0] > 0, 1.0, -1.0), mechanism, delta=1e-5, **told)
        coef, intercept = release.theta.reshape(1, -1), np.zeros(1)
        return SimpleNamespace(coef_=coef, intercept_=intercept, privacy_=release.certificate.about(coef, intercept))

    return Kind(model, [], [{"epsilon": times(1.5)}], "slow")


OUTPUT = OutputPerturbationLogisticRegression
STEPS = {"batch_size": 100, "epochs": 1}
TUNED = STEPS | {"learning_rates": [0.1, 0.2], "accountant": "rdp"}
FITTED = {
    "declared": many_rows(ObjPertLogisticRegression, public_rows=300),
    "read off": many_rows(ObjPertLogisticRegression),
    "no rule": many_rows(ObjPertLogisticRegression, lam=0.0, random_state=1, fit_intercept=False),
    "monotone": many_rows(
        ObjPertLogisticRegression, "thorough", bound="monotone", row_norm="clip", fit_intercept=False
    ),
    "glm": many_rows(ObjPertLogisticRegression, "thorough", bound="glm", lam=0.0),
    "kifer2012": many_rows(ObjPertLogisticRegression, bound="kifer2012", lam=0.0),
    "non-glm": many_rows(ObjPertLogisticRegression, "thorough", bound="non-glm", accountant="rdp", epsilon=8.0),
    "by Rényi": many_rows(ObjPertLogisticRegression, accountant="rdp", noise_ratio=1.3),
    "hinge": many_rows(ObjPertSVC, clip=0.5),
    "rounded hinge": many_rows(ObjPertSVC, loss="huberised-hinge", clip=None),
    "ridge": many_rows(ObjPertRegressor, target_range=(-3.0, 3.0)),
    "huber": many_rows(ObjPertRegressor, loss="huber", clip=None, huber_threshold=0.5, bound="two-signed"),
    "output": many_rows(OUTPUT),
    "output, declared": many_rows(OUTPUT, public_rows=300, random_state=1, margin=1.0),
    "output, replaced": many_rows(OUTPUT, adjacency="replace"),
    "output, lam": many_rows(OUTPUT, lam=3.0),
    "DP-SGD": many_rows(DPSGDLogisticRegression, **STEPS | {"epochs": 2}, public_rows=300, accountant="rdp"),
    "DP-SGD, read off": many_rows(DPSGDLogisticRegression, **STEPS, clip=0.3, fit_intercept=False),
    "allocated": many_rows(DPSGDLogisticRegression, **STEPS, sampling="allocation"),
    "honest": many_rows(DPSGDLogisticRegression, **TUNED, mean_runs=2.5),
    "dishonest": many_rows(DPSGDLogisticRegression, **TUNED, tuning="dishonest"),
    "ball": in_ball(LogisticLoss(), "logistic", None),
    "envelope in a ball": in_ball(HingeLoss(), "monotone", 0.5),
}
