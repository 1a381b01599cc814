"""Fits by objective perturbation, with changes that promise more or less."""

import dataclasses
import math

import numpy as np

from objpert_core.accounting import (
    ApproximateMinima,
    ObjectivePerturbation,
    calibrate_objective_perturbation,
    calibrate_remaining,
    full_standardisation,
)
from objpert_core.accounting.steps.class_counts import ClassCounts
from objpert_core.datasets import Categories, Number
from objpert_core.estimators import ObjPertAdditiveClassifier
from objpert_core.learning import HingeLoss, perturb_and_solve
from tests.learning.certificates.kind import NO_SIZE, Kind, each, logistic, some_data, times


def in_ball_of_envelopes():
    mechanism = ApproximateMinima(ObjectivePerturbation(9.0, 20.0, 1.0, 1.0, "monotone"), 1e-6, 1e-3)
    X, y = some_data(300)
    told = {"loss": HingeLoss(), "envelope": 1.0, "radius": 0.5, "intercept_scaling": 0.0, "random_state": 3}
    return perturb_and_solve(X, 2.0 * y - 1, mechanism, delta=1e-5, **told).certificate


def centred_and_scaled():
    def calibrate(left):
        return calibrate_objective_perturbation(left, 1e-5, lipschitz=1.09**0.5, tau=1e-6)

    plan, (X, y) = full_standardisation(1.0, 1e-5, 300, 3), some_data(300)
    mechanism = calibrate_remaining(1.0, 1e-5, calibrate, plan.mechanisms())
    told = {"epsilon": 1.0, "steps": (plan,), "public_rows": 300, "random_state": 0}
    return perturb_and_solve(X, 2.0 * y - 1, mechanism, delta=1e-5, **told).certificate


def of_pieces():
    X, y = some_data(300)
    table = np.column_stack([X, np.digitize(X[:, 1], [-0.5, 0.5])]).astype(object)
    columns = {1: Number(-3.0, 3.0), 3: Categories(["0", "1", "2"])}
    return ObjPertAdditiveClassifier(columns=columns, classes=[0, 1], random_state=1).fit(table, y)


def piece_noise(**changes):
    """The only step, with these numbers."""

    def changed(steps):
        (old,) = steps
        told = {name: new(getattr(old, name)) if callable(new) else new for name, new in changes.items()}
        return (dataclasses.replace(old, **told),)

    return changed


CLIPPED = {"clip": -1.0, "bound": "two-signed", "lipschitz": 1e-3, "smoothness": 1.09, "lam": 100.0, "sigma": 0.01}
OBJECTIVE = {
    "rule for lam": Kind(
        logistic(),
        [
            *each(reproducible=False, noise_source=["operating system", "dice"], gradient_norm=[-5.0, math.nan]),
            *each(n_iter=["lots", 2.5], public_rows=[math.inf, 60.0], rows_declared=[True, None, 0]),
            *each(epsilon=["x", True], lattice=[0.3, None, 2.0**-70, 1.0], on_error="hide", schema=[1, "2"]),
            {"coefficients_sha256": "f" * 63},
            {"bound": "kifer2012", "accountant": "rdp"},
        ],
        [{"epsilon": 1.1}, {"delta": 2e-5}],
    ),
    "least lam": Kind(
        logistic(lam=0.0),
        [
            *each(epsilon=0.999, delta=0.9999e-5, sigma=3.9, lam=0.71, sigma_out=1e-5, tau=1e-4, gradient_norm=2e-6),
            *each(lipschitz=1.0440, smoothness=0.2, intercept_scaling=0.5, bound="glm", row_norm="none"),
            *each(accountant="magic", mechanism="Gaussian", public_rows=-5),
            {"delta": 1.5, "sigma": 0.1},
            {"intercept_scaling": math.nan, "lipschitz": 1e-3, "sigma": 0.01},
            CLIPPED,
        ],
        [{"sigma": 4.2, "lam": 0.8}, {"epsilon": 1.1}],
    ),
    "centred and scaled": Kind(
        centred_and_scaled,
        [
            *each(center_noise=[0.0, "12", times(0.9)], scale_noise=[-1.0, True, times(0.9)], fits=[0, 1.0, 2]),
            *each(rest_weight=0.5, row_norm="clip"),
            {"public_rows": None, "rows_declared": None, "adjacency": "add/remove one row"},
        ],
        each(center_noise=[None, times(2.0)], scale_noise=None),
    ),
    "least lam, not for replaced rows": Kind(logistic(lam=0.0), each(adjacency="replace one row"), [], "slow"),
    "intervals": Kind(
        logistic(intervals="sandwich", epsilon=8.0, public_rows=2_000),
        [
            *each(hessian_noise=[*NO_SIZE, None, times(0.5)], outer_noise=[*NO_SIZE, times(0.99)], loss_parameter=1.0),
            *each(weighted=True, ball_radius=1.0, center_noise=20.0, public_rows=None, epsilon=7.99),
            {"fits": 2, "rest_weight": 1.0},
        ],
        [{"outer_noise": times(2.0)}, {"hessian_noise": times(2.0)}, {"epsilon": 8.1}],
    ),
    "pieces": Kind(
        of_pieces,
        [
            *each(steps=[piece_noise(**one) for one in each(magnitudes=times(0.9), cells=times(0.9), unknown=3)]),
            *each(steps=[piece_noise(**one) for one in each(categories=times(0.9), numbers=4, listed=2)]),
            *each(steps=[lambda old: [*old], lambda old: (*old, *old), lambda old: (*old, ClassCounts(9.0)), "pieces"]),
            *each(row_norm="normalize", feature_ranges="public", center_noise=1e9, scale_noise=1e9, epsilon=0.99),
            {"public_rows": None, "rows_declared": None, "adjacency": "add/remove one row"},
        ],
        each(steps=[(), piece_noise(magnitudes=times(2.0)), piece_noise(cells=times(2.0), categories=times(2.0))]),
    ),
    "envelope in a ball": Kind(
        in_ball_of_envelopes,
        [
            *each(ball_radius=[*NO_SIZE, True], envelope=[*NO_SIZE, None, 1.0 + 1e-9, 2.0], epsilon=0.1),
            *each(smoothness=[0.5, 1.0 - 1e-9, None], bound=["logistic", "kifer2012"], lipschitz=0.9),
            *each(loss=["absolute", "pinball", "squared-hinge", "epsilon-insensitive", "moreau"], loss_parameter=0.5),
            {"intercept_scaling": 0.3},
            {"loss": "logistic", "bound": "logistic"},
            {"loss": "huber", "loss_parameter": 1.5, "bound": "two-signed"},
            {"schema": 1, "lattice": None},
        ],
        each(ball_radius=[None, 7.0], envelope=0.5, loss="logistic"),  # what costs no privacy
    ),
}
