"""Asking the data first: where it pays to ask for a curvature or an eigengap, and the figures of the paper.

A budget is split between one noisy statistic and the Gaussian noise that follows it. The statistic is released with
normal noise, and lowered until it is above the truth with probability `failure` at most.

Logistic regression: the minimiser moves by −log(1 − 1/c) at most where the objective's least curvature there is c > 1
(`theory`). A noisy lower bound on c, never below λ, sets the size of normal noise on every coordinate. Appendix C.2 of
Redberg, Zhu and Wang (2023) has noise shaped like the Hessian instead; their bound on its cost does not follow from
their proof. First principal directions: beside noise on AᵀA as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from benchmarks.experiments.experiment import Experiment, Makers
from benchmarks.experiments.regressions import REGRESSION
from benchmarks.experiments.votes import PATE, VOTING
from objpert_core._validation import FloatArray, in_open_unit, nonnegative_integer, positive, positive_integer
from objpert_core.accounting import calibrate_gaussian
from objpert_core.datasets import load
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.experiments.ptr.stored import FAMILY, Accuracy, Lost
from objpert_core.learning import PerturbedObjective, Rows, solve
from objpert_core.theory.local_sensitivity import (
    GAP_SENSITIVITY,
    curvature_sensitivity,
    minimiser_sensitivity,
    projector_sensitivity,
)

TAU = 1e-8
CURVATURE_SHARE, GAP_SHARE = 0.25, 0.1
"""Of μ²: what the statistic takes."""
FAILURE = 0.1
"""Of δ: what the statistic's lower bound may fail by."""


@dataclass(frozen=True)
class Asked:
    """How a budget is spent: μ of the statistic (0: nothing is asked), μ of the release, how often the bound fails."""

    test_mu: float
    release_mu: float
    failure: float

    def below(self, statistic: float, sensitivity: float, generator: np.random.Generator) -> float:
        """A private number, above `statistic` with probability `failure`; one row moves it by `sensitivity`."""
        sigma = positive("sensitivity", sensitivity) / self.test_mu
        return statistic + sigma * (float(generator.standard_normal()) + float(ndtri(self.failure)))


def split(epsilon: float, delta: float, share: float) -> Asked:
    """Give the statistic a share of μ², and the rest to what follows."""
    in_open_unit("share", share)
    failure = FAILURE * in_open_unit("delta", delta)
    mu = 1 / calibrate_gaussian(epsilon, delta - failure).sigma
    return Asked(mu * math.sqrt(share), mu * math.sqrt(1 - share), failure)


def whole(epsilon: float, delta: float) -> float:
    """μ where nothing is asked."""
    return 1 / calibrate_gaussian(epsilon, delta).sigma


# --- logistic regression -----------------------------------------------------------------------------------------


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
        asked = split(epsilon, Accuracy.DELTA, CURVATURE_SHARE)
        below, mu = asked.below(curvature, curvature_sensitivity(), generator), asked.release_mu
    else:
        below, mu = curvature if method == "free" else lam, whole(epsilon, Accuracy.DELTA)
    worst = 1 / lam  # of any data: the objective is λ-strongly convex
    return min(minimiser_sensitivity(max(below, lam)), worst) / mu


def accuracies(
    seed: int, epsilons: Iterable[float] = Accuracy.EPSILONS, lams: Iterable[float] = Accuracy.LAMS
) -> Iterator[Accuracy]:
    """Every method on one split."""
    data = load(Accuracy.DATASET, split_seed=nonnegative_integer("seed", seed))
    signs, truth = np.where(data.y_train == 1, 1.0, -1.0), data.y_test == 1
    minima = {lam: minimum(data.X_train, signs, lam) for lam in lams}
    for place, epsilon in enumerate(epsilons):
        model = ObjPertLogisticRegression(
            epsilon=epsilon,
            delta=Accuracy.DELTA,
            classes=[0, 1],
            fit_intercept=False,
            public_rows=len(signs),
            standardize=False,  # all methods here have the rows as they are
            random_state=seed,
        ).fit(data.X_train, data.y_train)
        yield Accuracy(epsilon, Accuracy.OBJECTIVE, Accuracy.ALONE, seed, float(model.score(data.X_test, data.y_test)))
        for method in Accuracy.LABELS:
            if method == Accuracy.OBJECTIVE:
                continue
            for lam, (theta, curvature) in minima.items():
                generator = np.random.default_rng([seed, place, round(1000 * lam)])
                noise = noise_of(method, curvature, lam, epsilon, generator)
                found = theta + noise * generator.standard_normal(theta.size)
                yield Accuracy(epsilon, method, lam, seed, float(((data.X_test @ found > 0) == truth).mean()))


# --- principal directions ----------------------------------------------------------------------------------------


def symmetric_noise(dimension: int, generator: np.random.Generator) -> FloatArray:
    """A symmetric matrix with N(0, 1) on the diagonal and N(0, ½) beside it: standard normal in Frobenius' norm."""
    square = generator.standard_normal((positive_integer("dimension", dimension), dimension))
    return (square + square.T) / 2


def direction(matrix: FloatArray) -> FloatArray:
    """The eigenvector of the largest eigenvalue of a symmetric matrix."""
    return np.asarray(np.linalg.eigh(matrix)[1][:, -1])


def released(method: str, gram: FloatArray, epsilon: float, generator: np.random.Generator) -> FloatArray:
    """The direction that a method finds."""
    noise = symmetric_noise(len(gram), generator)
    mu = whole(epsilon, Lost.DELTA)
    if method == "gram":
        return direction(gram + noise / mu)
    values, vectors = np.linalg.eigh(gram)
    gap = float(values[-1] - values[-2])
    if method == "ptr":
        asked = split(epsilon, Lost.DELTA, GAP_SHARE)
        gap, mu = asked.below(gap, GAP_SENSITIVITY, generator), asked.release_mu
    most = math.sqrt(2) if method == "worst" or gap <= 0 else projector_sensitivity(gap)
    return direction(np.outer(vectors[:, -1], vectors[:, -1]) + most / mu * noise)


def losses(
    seed: int, rows: Iterable[int] = Lost.ROWS, spreads: Iterable[float] = Lost.SPREADS, epsilon: float = Lost.EPSILON
) -> Iterator[Lost]:
    """Every method on one draw of data, for every number of rows and spread."""
    for n in rows:
        for spread in spreads:
            generator = np.random.default_rng([nonnegative_integer("seed", seed), n, round(100 * spread)])
            A = generator.standard_normal((n, Lost.DIMENSION))
            A[:, 0] *= spread
            A /= np.linalg.norm(A, axis=1, keepdims=True)
            gram = A.T @ A
            values, vectors = np.linalg.eigh(gram)
            for place, method in enumerate(Lost.LABELS):
                found = released(method, gram, epsilon, np.random.default_rng([seed, n, round(100 * spread), place]))
                error = 1 - min(abs(float(found @ vectors[:, -1])), 1.0) ** 2
                yield Lost(n, spread, method, seed, error, float(values[-1] - values[-2]))


MAKERS = Makers(
    FAMILY,
    "the figures of Redberg, Zhu and Wang (2023, generalised propose-test-release), corrected, and where asking "
    "the data first pays",
    {
        "voting": VOTING,
        "pate": PATE,
        "regression": REGRESSION,
        "glm": Experiment(
            Accuracy,
            "test accuracy of logistic regression that asks for its curvature first",
            tuple((seed,) for seed in Accuracy.SEEDS),
            accuracies,
            by=("seed",),
        ),
        "pca": Experiment(
            Lost,
            "squared sine of the angle to the first principal direction, asking for the eigengap first",
            tuple((seed,) for seed in Lost.SEEDS),
            losses,
            by=("seed",),
        ),
    },
)
