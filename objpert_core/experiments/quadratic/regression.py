"""Bend and tilt beside other private linear regressions, on data without interpolation: excess test error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, nonnegative_integer, positive, positive_integer
from objpert_core.accounting import calibrate_gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.estimators import ObjPertRegressor, QOPLasso
from objpert_core.experiments.results import Row

DELTA, NOISE, FAILURE = 1e-5, 0.1, 0.05
CASES = ((20_000, 10, 0.1), (20_000, 10, 1.0), (20_000, 50, 1.0))
"""(n, d, ε)."""
SEEDS = tuple(range(20))

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "centred": "Bend and tilt",
        "bend-tilt": "Bend and tilt, noise's mean kept",
        "adassp": "AdaSSP, published noise",
        "adassp-tight": "AdaSSP, tight accounting",
        "objective": "Objective perturbation, clipped",
        "zero": "θ = 0, learns nothing",
    }
)
"""The methods, by their keys."""

Solve = Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray]


@dataclass(frozen=True)
class Excess(Row):
    """What one method loses on new rows: its mean squared error above the least."""

    VALUE = "excess"

    n: int
    d: int
    epsilon: float
    method: str
    seed: int
    excess: float


def bend_and_tilt(epsilon: float, *, centred: bool = False) -> Solve:
    """The minimum of the bent and tilted objective, theorem T34: `QOPLasso` without a penalty."""
    positive("epsilon", epsilon)

    def solve(X: FloatArray, y: FloatArray, generator: np.random.Generator) -> FloatArray:
        seed = int(generator.integers(2**31))
        told: dict[str, Any] = {"adjacency": ADD_REMOVE, "debias": centred, "random_state": seed}
        return np.asarray(QOPLasso(epsilon, DELTA, alpha=0.0, **told).fit(X, y).coef_)

    return solve


def adassp(epsilon: float, *, tight: bool = False) -> Solve:
    """AdaSSP (Wang 2018, Algorithm 2): a third of the budget each for λ_min, XᵀX and Xᵀy, then a ridge by λ_min."""
    positive("epsilon", epsilon)
    if tight:
        noise = math.sqrt(3) * calibrate_gaussian(epsilon, DELTA).sigma
        margin = 2 * noise
    else:
        noise = math.sqrt(math.log(6 / DELTA)) / (epsilon / 3)
        margin = math.log(6 / DELTA) / (epsilon / 3)

    def solve(X: FloatArray, y: FloatArray, generator: np.random.Generator) -> FloatArray:
        d = X.shape[1]
        gram = X.T @ X
        least = max(float(np.linalg.eigvalsh(gram)[0]) + noise * generator.standard_normal() - margin, 0.0)
        ridge = max(noise * math.sqrt(d * math.log(2 * d * d / FAILURE)) - least, 0.0)
        square = np.triu(generator.standard_normal((d, d)))
        symmetric = square + np.triu(square, 1).T
        linear = X.T @ y + noise * generator.standard_normal(d)
        return np.asarray(np.linalg.solve(gram + noise * symmetric + ridge * np.eye(d), linear))

    return solve


def objective(epsilon: float) -> Solve:
    """This project's `ObjPertRegressor` without an intercept, other parameters at their defaults."""
    positive("epsilon", epsilon)

    def solve(X: FloatArray, y: FloatArray, generator: np.random.Generator) -> FloatArray:
        seed = int(generator.integers(2**31))
        model = ObjPertRegressor(epsilon=epsilon, delta=DELTA, fit_intercept=False, random_state=seed)
        return np.asarray(model.fit(X, y).coef_)

    return solve


def solvers(epsilon: float) -> dict[str, Solve]:
    """How each method learns, by its key of `LABELS`."""
    return {
        "bend-tilt": bend_and_tilt(epsilon),
        "centred": bend_and_tilt(epsilon, centred=True),
        "adassp": adassp(epsilon),
        "adassp-tight": adassp(epsilon, tight=True),
        "objective": objective(epsilon),
        "zero": lambda X, y, generator: np.zeros(X.shape[1]),
    }


def draw(n: int, d: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows, clipped targets and θ of a seed."""
    generator = np.random.default_rng([nonnegative_integer("seed", seed), n, d])
    X = generator.standard_normal((positive_integer("n", n), positive_integer("d", d)))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    theta = generator.standard_normal(d)
    theta /= np.linalg.norm(theta)
    return X, np.clip(X @ theta + NOISE * generator.standard_normal(n), -1.0, 1.0), theta


def losses(seed: int, cases: Iterable[tuple[int, int, float]] = CASES) -> Iterator[Excess]:
    """What every method loses on one draw, for every (n, d, ε)."""
    for n, d, epsilon in cases:
        X, y, theta = draw(n, d, seed)
        for place, (method, solve) in enumerate(solvers(epsilon).items()):
            found = solve(X, y, np.random.default_rng([seed, n, d, place, round(1e6 * epsilon)]))
            yield Excess(n, d, epsilon, method, seed, float(np.square(found - theta).sum() / d))
