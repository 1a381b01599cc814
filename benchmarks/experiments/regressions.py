"""Figure 1 of Redberg, Zhu and Wang (2023), corrected: test error of private linear regressions against ε.

Rows have norm 1 and targets lie in [−1, 1]; 60 % are fitted, 10 % judge, 30 % test. The rows that judge are taken as
public, and so are n and every scaling. Every method keeps (ε, 10⁻⁶) where one row is added or removed. OPS-PTR is drawn
here with plain doubles, all runs at once, from the shares that `OPSPTRRegressor` uses; AdaOPS and AdaSSP are the
estimators.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import fetch_california_housing, load_diabetes

from benchmarks.experiments.experiment import Experiment
from objpert_core._validation import FloatArray, at_least, choice, nonnegative_integer, positive
from objpert_core.accounting import (
    AdaptiveSampling,
    calibrate_adaptive_sampling,
    calibrate_gaussian,
    posterior_precision,
)
from objpert_core.accounting.posterior.profile import LARGEST_LEVERAGE
from objpert_core.datasets import data_folder
from objpert_core.estimators import AdaOPSRegressor, AdaSSPRegressor
from objpert_core.experiments.ptr.stored import Error
from objpert_core.learning.posterior.adaptive import CANDIDATES
from objpert_core.learning.posterior.shares import Shares
from objpert_core.learning.posterior.statistics import Statistics

# --- data --------------------------------------------------------------------------------------------------------

_CALIFORNIA = "cal_housing_py3.pkz"
Rows = tuple[FloatArray, FloatArray]


def _unit(X: FloatArray) -> FloatArray:
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _synthetic() -> Rows:
    generator = np.random.default_rng(12345)
    X = generator.standard_normal((10_000, 10))
    theta = generator.standard_normal(10)
    theta /= np.linalg.norm(theta)
    X = _unit(X)
    return X, np.clip(X @ theta + 0.1 * generator.standard_normal(len(X)), -1.0, 1.0)


def _diabetes() -> Rows:
    X, y = load_diabetes(return_X_y=True)
    return _unit(X * math.sqrt(len(X))), (y - 152) / 194


def _home() -> Path | None:
    """The folder that holds the file of California housing."""
    own = Path(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")).expanduser()
    return next((folder for folder in (data_folder(), own) if (folder / _CALIFORNIA).is_file()), None)


def _california() -> Rows:
    X, y = fetch_california_housing(data_home=_home(), download_if_missing=False, return_X_y=True)
    return _unit((X - X.mean(axis=0)) / X.std(axis=0)), np.clip((y - 2.5) / 2.5, -1.0, 1.0)


_MAKE: Mapping[str, Callable[[], Rows]] = {"synthetic-r": _synthetic, "diabetes": _diabetes, "california": _california}


@lru_cache(maxsize=4)
def load_table(name: str) -> Rows:
    """Rows of norm 1 and targets from −1 to 1; `OSError` if the data set's file is not on this machine."""
    return _MAKE[choice("name", name, tuple(_MAKE))]()


# --- posterior draws in plain doubles: many λ at once, and the best of many runs ----------------------------------

MEAN_RUNS = len(CANDIDATES) / 0.05
"""E[K], as published: the best of 30 candidates is among those tried with probability .954."""


class Posterior:
    """Posterior draws of a ridge regression for many λ at once."""

    def __init__(self, X: FloatArray, y: FloatArray) -> None:
        self.values, self._vectors = np.linalg.eigh(X.T @ X)
        self._linear = self._vectors.T @ (X.T @ y)

    def lengths(self, lams: FloatArray) -> FloatArray:
        """‖θ*‖, shape (K,)."""
        return np.linalg.norm(self._linear / (self.values + lams[:, None]), axis=1)

    def draws(self, lams: FloatArray, gammas: FloatArray, normals: FloatArray) -> FloatArray:
        """Draws from N(θ*, (γΛ)⁻¹), made of standard normal ones; all arrays but `lams` and `gammas` are (K, d)."""
        curved = self.values + lams[:, None]
        return np.asarray((self._linear / curved + normals / np.sqrt(gammas[:, None] * curved)) @ self._vectors.T)


def best_of_runs(
    posterior: Posterior,
    judges: tuple[FloatArray, FloatArray],
    epsilon: float,
    delta: float,
    accounting: str,
    generator: np.random.Generator,
    mean_runs: float = MEAN_RUNS,
) -> tuple[FloatArray | None, float]:
    """OPS-PTR: the best of a geometric number of runs, judged by the public rows and targets `judges`, and the share of
    runs that refused.
    """
    choice("accounting", accounting, ("tight", "split")), at_least("mean_runs", mean_runs, 1)
    rows, targets = judges
    runs = int(generator.geometric(1 / mean_runs))
    lams = generator.choice(np.array(CANDIDATES), runs)
    released, slope, normals = (
        generator.standard_normal(shape) for shape in (runs, runs, (runs, posterior.values.size))
    )
    if accounting == "tight":
        mechanism = _mechanism(epsilon, delta, mean_runs)
        own = Statistics.failing(mechanism.eigenvalue_mu, mechanism.norm_mu, mechanism.failure)
    else:
        shares = Shares.valid(epsilon / 3, delta / mean_runs, statistics=1 / 3, draw=1 / 3)
        own = shares.statistics
    least = np.maximum(posterior.values[0] + (released - own.tail) / own.eigenvalue_mu - own.shifted, 0.0)
    if accounting == "tight":
        lams = np.maximum(lams, 1 / mechanism.leverage - least)
    h = 1 / (lams + least)
    raised = np.log1p(h) * ((slope + own.tail) / own.norm_mu + own.shifted)
    bound = (1 + posterior.lengths(lams)) * np.exp(np.minimum(raised, 300.0))
    if accounting == "tight":
        gammas = (mechanism.separation * (1 + h) / bound) ** 2 / h
    else:
        gammas = _shift(shares.release_epsilon, shares.release_delta, h) / bound**2
    good = gammas > 0
    refused = 1 - float(good.mean())
    if not good.any():
        return None, refused
    found = posterior.draws(lams[good], gammas[good], normals[good])
    scores = ((found @ rows.T - targets) ** 2).mean(axis=1)
    return found[np.argmin(scores)], refused


@lru_cache(maxsize=32)
def _mechanism(epsilon: float, delta: float, mean_runs: float) -> AdaptiveSampling:
    return calibrate_adaptive_sampling(epsilon, delta, mean_runs=mean_runs)


def _shift(epsilon: float, delta: float, leverage: FloatArray) -> FloatArray:
    """γL² by leverage: exact on a fine grid; between its points γL² of the next larger leverage, which is less."""
    grid, found = _shifts(epsilon, delta)
    place = np.searchsorted(grid, np.log(leverage))
    return np.where(place < grid.size, found[np.minimum(place, grid.size - 1)], 0.0)


@lru_cache(maxsize=32)
def _shifts(epsilon: float, delta: float) -> tuple[FloatArray, FloatArray]:
    grid = np.linspace(math.log(1e-5), math.log(LARGEST_LEVERAGE), 1200)
    return grid, np.array([posterior_precision(epsilon, delta, math.exp(one)) for one in grid])


# --- methods -----------------------------------------------------------------------------------------------------

Fit = Callable[[FloatArray, FloatArray, int], FloatArray]
Estimator = Callable[..., Any]


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
    noise = calibrate_gaussian(epsilon, Error.DELTA).sigma * (1 + math.sqrt(rows + 1) / (2 * np.sqrt(lams))) / lams
    best = int(np.argmin(rows * noise**2 + lams))
    return float(lams[best]), float(noise[best])


def balanced_lam(rows: int, dimension: int, epsilon: float) -> float:
    """λ of OPS-Balanced (Wang 2018), by public numbers."""
    log_term, confidence = math.log(2 / Error.DELTA), math.log(20)
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
        gamma = posterior_precision(epsilon, Error.DELTA, 1 / lam, 1 + math.sqrt(n / lam) / 2)
        draws = np.random.default_rng(seed).standard_normal((1, d))
        return Posterior(X, y).draws(np.array([lam]), np.array([gamma]), draws)[0]

    return fit


def errors(dataset: str, seed: int, epsilons: Iterable[float] = Error.EPSILONS) -> Iterator[Error]:
    """Every method on one split."""
    data = split(dataset, seed)
    zero, posterior, judges = np.zeros(data.X.shape[1]), Posterior(data.X, data.y), (data.judges, data.judged)
    fixed = {"ridge": ridge(data.X, data.y, 1.0), "judges": ridge(data.judges, data.judged, 1.0), "zero": zero}
    for method in Error.UNPAID:
        yield Error(dataset, Error.FREE, method, seed, data.error(fixed[method]), 0.0)
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
            theta, refused = best_of_runs(posterior, judges, epsilon, Error.DELTA, accounting, generator)
            error = data.error(zero if theta is None else theta)
            yield Error(dataset, epsilon, f"ptr-{accounting}", seed, error, refused)


def _estimated(kind: Estimator, epsilon: float) -> Fit:
    def fit(X: FloatArray, y: FloatArray, seed: int) -> FloatArray:
        return np.asarray(kind(epsilon=epsilon, delta=Error.DELTA, random_state=seed).fit(X, y).coef_)

    return fit


_SPLITS = {"synthetic-r": 20, "diabetes": 40} | ({"california": 20} if _home() else {})
REGRESSION = Experiment(
    Error,
    "the test error of private linear regressions against ε",
    tuple((name, seed) for name, count in _SPLITS.items() for seed in range(count)),
    errors,
    by=("dataset", "seed"),
)
