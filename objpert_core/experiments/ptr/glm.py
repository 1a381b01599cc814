"""Logistic regression that asks for its curvature first, beside objective perturbation on the same splits.

The minimiser moves by −log(1 − 1/c) at most where the objective's least curvature there is c > 1 (`theory`). A noisy
lower bound on c, never below λ, sets the size of normal noise on every coordinate. Appendix C.2 of Redberg, Zhu and
Wang (2023) has noise shaped like the Hessian instead; their bound on its cost does not follow from their proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.special import expit

from objpert_core._validation import FloatArray, nonnegative_integer
from objpert_core.datasets import load
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.experiments.ptr.split_budget import split, whole
from objpert_core.experiments.results import Row
from objpert_core.learning import PerturbedObjective, Rows, solve
from objpert_core.theory.local_sensitivity import curvature_sensitivity, minimiser_sensitivity

DATASET, DELTA, SHARE, TAU = "synthetic-l", 1e-5, 0.25, 1e-8
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
LAMS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
"""λ of the methods that add noise to the minimum: all are stored, and the best by test accuracy is not paid for."""
SEEDS = tuple(range(20))
OBJECTIVE, ALONE = "objective", 0.0

LABELS: Mapping[str, str] = MappingProxyType(
    {
        OBJECTIVE: "Objective perturbation",
        "ptr": "Ask for the curvature first",
        "output": "Output perturbation, worst case",
        "free": "Curvature known, not private",
    }
)
"""The methods, by their keys."""


@dataclass(frozen=True)
class Accuracy(Row):
    """One fit's share of right test labels; λ is 0 for objective perturbation, which chooses its own."""

    VALUE = "accuracy"

    epsilon: float
    method: str
    lam: float
    seed: int
    accuracy: float


def minimum(X: FloatArray, y: FloatArray, lam: float) -> tuple[FloatArray, float]:
    """The regularised logistic minimum of unit rows with labels ±1, and the least curvature there."""
    objective = PerturbedObjective(Rows(X, "clip"), y, lam, np.zeros(X.shape[1]))
    theta = solve(objective, tau=TAU, solver="newton").theta
    share = expit(X @ theta)
    hessian = (X.T * (share * (1 - share))) @ X
    return theta, float(np.linalg.eigvalsh(hessian)[0]) + lam


def noise_of(method: str, curvature: float, lam: float, epsilon: float, generator: np.random.Generator) -> float:
    """The standard deviation of the noise on each coordinate; `curvature` is the least at the minimum."""
    if method == "ptr":
        asked = split(epsilon, DELTA, SHARE)
        below, mu = asked.below(curvature, curvature_sensitivity(), generator), asked.release_mu
    else:
        below, mu = curvature if method == "free" else lam, whole(epsilon, DELTA)
    worst = 1 / lam  # of any data: the objective is λ-strongly convex
    return min(minimiser_sensitivity(max(below, lam)), worst) / mu


def accuracies(seed: int, epsilons: Iterable[float] = EPSILONS, lams: Iterable[float] = LAMS) -> Iterator[Accuracy]:
    """Every method on one split."""
    data = load(DATASET, split_seed=nonnegative_integer("seed", seed))
    signs, truth = np.where(data.y_train == 1, 1.0, -1.0), data.y_test == 1
    minima = {lam: minimum(data.X_train, signs, lam) for lam in lams}
    for place, epsilon in enumerate(epsilons):
        model = ObjPertLogisticRegression(
            epsilon=epsilon,
            delta=DELTA,
            classes=[0, 1],
            fit_intercept=False,
            public_rows=len(signs),
            standardize=False,  # all methods here have the rows as they are
            random_state=seed,
        ).fit(data.X_train, data.y_train)
        yield Accuracy(epsilon, OBJECTIVE, ALONE, seed, float(model.score(data.X_test, data.y_test)))
        for method in LABELS:
            if method == OBJECTIVE:
                continue
            for lam, (theta, curvature) in minima.items():
                generator = np.random.default_rng([seed, place, round(1000 * lam)])
                noise = noise_of(method, curvature, lam, epsilon, generator)
                found = theta + noise * generator.standard_normal(theta.size)
                yield Accuracy(epsilon, method, lam, seed, float(((data.X_test @ found > 0) == truth).mean()))
