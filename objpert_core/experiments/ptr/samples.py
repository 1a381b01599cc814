"""Posterior draws of ridge regressions in plain doubles, for measuring: many λ at once, and the best of many runs."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from objpert_core._validation import FloatArray, at_least, choice
from objpert_core.accounting import AdaptiveSampling, calibrate_adaptive_sampling, posterior_precision
from objpert_core.accounting.posterior.profile import LARGEST_LEVERAGE
from objpert_core.learning.posterior.adaptive import CANDIDATES
from objpert_core.learning.posterior.shares import Shares
from objpert_core.learning.posterior.statistics import Statistics

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
