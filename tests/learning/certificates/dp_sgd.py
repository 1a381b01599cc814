"""Fits by DP-SGD, with changes that promise more or less."""

import math

import numpy as np

from objpert_core.estimators import (
    DPSGDLogisticRegression,
)
from tests.learning.certificates.kind import Kind, each, some_data, times

HONEST = {"learning_rates": [0.01, 0.1], "mean_runs": 2.5}
DISHONEST = {"learning_rates": [0.01, 0.1], "tuning": "dishonest"}


def trained(seed=0, judges=False, **parameters):
    X = np.random.default_rng(seed).normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    arguments = {"X_val": X[:50], "y_val": y[:50]} if judges else {}
    settings = {"classes": [0, 1], "epochs": 3, "batch_size": 40} | parameters
    return lambda: DPSGDLogisticRegression(**settings).fit(X, y, **arguments)


def trained_dishonestly():
    options = {"epochs": 1, "learning_rates": [0.1, 0.2], "tuning": "dishonest", "accountant": "rdp"}
    return DPSGDLogisticRegression(classes=[0, 1], **options).fit(*some_data())


MORE_NOISE = [{"noise_multiplier": times(2)}]
SGD = {
    "one run": Kind(
        trained(),
        [
            *each(epsilon=0.99, delta=0.999e-5, batch_size=41, epochs=2, public_rows=[301, -300], clip=-1.0),
            *each(validation_fraction=7.0, optimizer="evil", row_norm="none", accountant="magic", tuning="honest"),
            *each(noise_multiplier=1.0, sample_rate=0.9, steps=100, choice_covered=False, candidates=(0.1, 0.2)),
            *each(adjacency="replace one row", mechanism="PrivateSelection"),
            {"sample_rate": 0.05, "noise_multiplier": 2.0},
            {"steps": 1, "noise_multiplier": 4.0},
        ],
        MORE_NOISE,
        "slow",
    ),
    "honest": Kind(
        trained(**HONEST),
        each(score_noise=[1.0, None], mean_runs=[5.0, None]),
        [{"score_noise": times(2)}],
        "slow",
    ),
    "dishonest": Kind(
        trained_dishonestly,
        [
            *each(
                choice_covered=[1, "yes", True], candidates=[(math.nan, 0.1), (0.0, 0.1), [0.1, 0.2], ()], clip=math.inf
            ),
            *each(public_rows=math.inf, margin=[None, -1.0], validation_fraction=math.nan, lattice=2.0**-10),
        ],
        MORE_NOISE,
    ),
    "allocated": Kind(
        trained(sampling="allocation", batch_size=50, epochs=1),  # 50 of 300: both samplings have rate 1/6
        [
            *each(epsilon=0.99, sampling=["poisson", "shuffle"], mechanism="DPSGD", steps=12, epochs=2),
            *each(sample_rate=0.1, accountant="rdp", mean_runs=2.0, rows_per_person=2, schema=1, public_rows=600),
            {"noise_multiplier": 1.0},
            {"sampling": "poisson", "mechanism": "DPSGD"},
            {"mean_runs": 2.0, "tuning": "honest", "mechanism": "PrivateSelection"},
        ],
        MORE_NOISE,
        "slow",
    ),
} | {
    name: Kind(trained(**parameters), [], [], "slow")
    for name, parameters in {
        "by Rényi": {"accountant": "rdp", "optimizer": "sgd"},
        "clipped": {"clip": 0.2, "fit_intercept": False, "row_norm": "clip"},
        "honest by Rényi": HONEST | {"accountant": "rdp", "validation_fraction": 0.3},
        "dishonest, by profile": DISHONEST,
        "all rows in every step": {"batch_size": 1000},
        "allocated, dishonest": DISHONEST | {"sampling": "allocation"},
    }.items()
}
