"""Figure 1 of Redberg, Zhu and Wang (2023), corrected: test error of private linear regressions against ε.

Rows have norm 1 and targets lie in [−1, 1]; 60 % are fitted, 10 % judge, 30 % test. The rows that judge are taken as
public, and so are n and every scaling. Every method keeps (ε, 10⁻⁶) where one row is added or removed. OPS-PTR is drawn
here with plain doubles, all runs at once, from the shares that `OPSPTRRegressor` uses; AdaOPS and AdaSSP are the
estimators.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, nonnegative_integer, positive
from objpert_core.accounting import calibrate_gaussian, posterior_precision
from objpert_core.estimators import AdaOPSRegressor, AdaSSPRegressor
from objpert_core.experiments.ptr.samples import Posterior, best_of_runs
from objpert_core.experiments.ptr.tables import TABLES, load_table
from objpert_core.experiments.results import Row

DELTA = 1e-6
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
FREE = math.inf
"""ε of what is not private, or needs no private rows."""

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "output": "Output perturbation",
        "balanced": "OPS-Balanced, exact γ",
        "ada-split": "AdaOPS, shares of ε",
        "ada-tight": "AdaOPS, accounted as a whole",
        "ptr-split": "OPS-PTR, shares of ε",
        "ptr-tight": "OPS-PTR, accounted as a whole",
        "adassp": "AdaSSP",
        "ridge": "Ridge, not private",
        "judges": "Ridge on the validation rows alone",
        "zero": "θ = 0, learns nothing",
    }
)
"""The methods, by their keys."""
UNPAID = ("ridge", "judges", "zero")
"""Those that spend nothing; they are measured once, at `FREE`."""

Fit = Callable[[FloatArray, FloatArray, int], FloatArray]
Estimator = Callable[..., Any]


@dataclass(frozen=True)
class Error(Row):
    """One fit's mean squared error on test rows; ε is `FREE` for methods that spend nothing."""

    VALUE = "error"

    dataset: str
    epsilon: float
    method: str
    seed: int
    error: float
    refused: float


@dataclass(frozen=True, eq=False)
class Split:
    """Rows and targets to fit (`X`, `y`), public ones to judge (`judges`, `judged`) and to test (`tests`, `tested`)."""

    X: FloatArray
    y: FloatArray
    judges: FloatArray
    judged: FloatArray
    tests: FloatArray
    tested: FloatArray

    def error(self, theta: FloatArray) -> float:
        """Mean squared error on test rows."""
        return float(np.mean((self.tests @ theta - self.tested) ** 2))


def split(dataset: str, seed: int) -> Split:
    """Split a data set at random."""
    X, y = load_table(dataset)
    order = np.random.default_rng(1000 + nonnegative_integer("seed", seed)).permutation(len(y))
    fitted, judging, testing = np.split(order, [int(0.6 * len(y)), int(0.7 * len(y))])
    return Split(X[fitted], y[fitted], X[judging], y[judging], X[testing], y[testing])


def ridge(X: FloatArray, y: FloatArray, lam: float) -> FloatArray:
    """The ridge solution."""
    return np.asarray(np.linalg.solve(X.T @ X + positive("lam", lam) * np.eye(X.shape[1]), X.T @ y))


def output_lam(rows: int, epsilon: float) -> tuple[float, float]:
    """λ and noise of output perturbation, by public numbers: λ minimises nσ²Δ² + λ, σΔ being the noise."""
    lams = np.geomspace(1e-2, 1e5, 701)
    noise = calibrate_gaussian(epsilon, DELTA).sigma * (1 + math.sqrt(rows + 1) / (2 * np.sqrt(lams))) / lams
    best = int(np.argmin(rows * noise**2 + lams))
    return float(lams[best]), float(noise[best])


def balanced_lam(rows: int, dimension: int, epsilon: float) -> float:
    """λ of OPS-Balanced (Wang 2018), by public numbers."""
    log_term, confidence = math.log(2 / DELTA), math.log(20)
    share = min(epsilon / 2, math.sqrt(epsilon / 2))
    first = (dimension / 2 + math.sqrt(dimension * confidence) + confidence) * log_term / share**2
    return max((first * rows / 2) ** (1 / 3), (1 + log_term) / epsilon)


def _output(epsilon: float) -> Fit:
    def fit(X: FloatArray, y: FloatArray, seed: int) -> FloatArray:
        lam, noise = output_lam(len(y), epsilon)
        return ridge(X, y, lam) + noise * np.random.default_rng(seed).standard_normal(X.shape[1])

    return fit


def _balanced(epsilon: float) -> Fit:
    def fit(X: FloatArray, y: FloatArray, seed: int) -> FloatArray:
        n, d = X.shape
        lam = balanced_lam(n, d, epsilon)
        gamma = posterior_precision(epsilon, DELTA, 1 / lam, 1 + math.sqrt(n / lam) / 2)
        draws = np.random.default_rng(seed).standard_normal((1, d))
        return Posterior(X, y).draws(np.array([lam]), np.array([gamma]), draws)[0]

    return fit


def errors(dataset: str, seed: int, epsilons: Iterable[float] = EPSILONS) -> Iterator[Error]:
    """Every method on one split."""
    data = split(dataset, seed)
    zero, posterior, judges = np.zeros(data.X.shape[1]), Posterior(data.X, data.y), (data.judges, data.judged)
    fixed = {"ridge": ridge(data.X, data.y, 1.0), "judges": ridge(data.judges, data.judged, 1.0), "zero": zero}
    for method in UNPAID:
        yield Error(dataset, FREE, method, seed, data.error(fixed[method]), 0.0)
    for place, epsilon in enumerate(epsilons):
        fits: dict[str, Fit] = {
            "output": _output(epsilon),
            "balanced": _balanced(epsilon),
            "ada-split": _estimated(partial(AdaOPSRegressor, accounting="split"), epsilon),
            "ada-tight": _estimated(AdaOPSRegressor, epsilon),
            "adassp": _estimated(AdaSSPRegressor, epsilon),
        }
        for number, (method, fit) in enumerate(fits.items()):
            state = 1000 * seed + 10 * place + number
            yield Error(dataset, epsilon, method, seed, data.error(fit(data.X, data.y, state)), 0.0)
        for number, accounting in enumerate(("split", "tight")):
            generator = np.random.default_rng([seed, place, number])
            theta, refused = best_of_runs(posterior, judges, epsilon, DELTA, accounting, generator)
            error = data.error(zero if theta is None else theta)
            yield Error(dataset, epsilon, f"ptr-{accounting}", seed, error, refused)


def _estimated(kind: Estimator, epsilon: float) -> Fit:
    def fit(X: FloatArray, y: FloatArray, seed: int) -> FloatArray:
        return np.asarray(kind(epsilon=epsilon, delta=DELTA, random_state=seed).fit(X, y).coef_)

    return fit


PIECES = tuple((name, seed) for name, table in TABLES.items() for seed in range(table.splits) if table.here())
