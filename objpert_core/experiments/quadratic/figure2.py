"""Figure 2 of Cortild and Cartis (2026): the empirical risk of a private lasso against the box that it must lie in.

Labels are xᵀθ* exactly, so that θ* minimises the loss of every record. The risk J is a sum over the rows plus ω‖θ‖₁.
Minima are exact here, where the paper takes 1000 steps of a splitting method. As in the paper no output noise is added
although the anchor is off by about √10: what is called a bend below is not private as it is run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from objpert_core._validation import FloatArray, nonnegative_integer, positive
from objpert_core.accounting import calibrate_quadratic_perturbation, linear_objective_noise
from objpert_core.accounting.quadratic.published_calibration import published_scale
from objpert_core.experiments.quadratic.lasso import box_lasso
from objpert_core.experiments.results import Row

EPSILON, DELTA = 0.5, 0.01
ROWS, DIMENSION, LARGEST_ENTRY, PENALTY, CLIP = 300, 100, 5.0, 1.0, 1e4
DEGREES = 2 * DIMENSION
SMOOTHNESS = DIMENSION * LARGEST_ENTRY**2
SEEDS = tuple(range(10))
KAPPAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "lop": "Tilt, published",
        "lop-replace": "Tilt at 2ζ, one row replaced",
        "lop-clip": "Tilt, clipped at 10⁴",
        "qop": "Bend, published",
        "qop-tight": "Bend, exact theorem",
        "anchor": "The anchor alone, no data",
        "no-privacy": "Without privacy",
    }
)
"""The methods, by their keys."""


@dataclass(frozen=True, eq=False)
class Problem:
    """One draw of data, anchor and perturbations, in the order in which they are drawn."""

    X: FloatArray
    theta: FloatArray
    anchor: FloatArray
    wishart: FloatArray
    tilt: FloatArray

    @classmethod
    def draw(cls, seed: int) -> Problem:
        """The problem of a seed."""
        generator = np.random.default_rng(nonnegative_integer("seed", seed))
        X = generator.standard_normal((ROWS, DIMENSION))
        X *= LARGEST_ENTRY / np.abs(X).max()
        theta = generator.standard_normal(DIMENSION)
        anchor = theta + math.sqrt(0.1) * generator.standard_normal(DIMENSION)
        factor = generator.standard_normal((DIMENSION, DEGREES))
        return cls(X, theta, anchor, factor @ factor.T, generator.standard_normal(DIMENSION))

    def risk(self, theta: FloatArray) -> float:
        """J(θ)."""
        residuals = self.X @ (theta - self.theta)
        return float(residuals @ residuals / 2 + PENALTY * np.abs(theta).sum())

    def gradient_bound(self, kappa: float) -> float:
        """ζ: no record's gradient is longer in the box [−κ, κ]^d."""
        longest = LARGEST_ENTRY * math.sqrt(DIMENSION)
        return (2 * kappa * math.sqrt(DIMENSION) * longest + float(np.abs(self.X @ self.theta).max())) * longest


@dataclass(frozen=True)
class Risk(Row):
    """The risk J of one method, a sum over the rows; `kappa` is half the side of the box."""

    VALUE = "risk"

    kappa: float
    method: str
    seed: int
    risk: float


def scales() -> dict[str, float]:
    """σ² of the bends, at 2d degrees of freedom: as published with δ₁ = δ₃ = δ/2, and by the exact theorem."""
    published = published_scale(EPSILON, DELTA, DIMENSION, DEGREES, SMOOTHNESS)
    exact = calibrate_quadratic_perturbation(EPSILON, DELTA, DIMENSION, SMOOTHNESS, DEGREES)
    return {"qop": published, "qop-tight": exact.scale}


def risks(seed: int, kappas: Iterable[float] = KAPPAS) -> Iterator[Risk]:
    """The risk of every method on one draw, for every box."""
    problem, bends = Problem.draw(seed), scales()
    gram = problem.X.T @ problem.X
    linear = gram @ problem.theta
    for kappa in kappas:
        zeta = problem.gradient_bound(positive("kappa", kappa))
        for method, bound in (("lop", zeta), ("lop-replace", 2 * zeta), ("lop-clip", min(zeta, CLIP))):
            variance, lam = linear_objective_noise(EPSILON, DELTA, bound, SMOOTHNESS)
            tilted = linear - math.sqrt(variance) * problem.tilt
            theta = box_lasso(gram + lam * np.eye(DIMENSION), tilted, PENALTY, kappa)
            yield Risk(kappa, method, seed, problem.risk(theta))
        for method, scale in bends.items():
            bent = scale * problem.wishart
            theta = box_lasso(gram + bent, linear + bent @ problem.anchor, PENALTY, kappa)
            yield Risk(kappa, method, seed, problem.risk(theta))
        yield Risk(kappa, "anchor", seed, problem.risk(np.clip(problem.anchor, -kappa, kappa)))
        yield Risk(kappa, "no-privacy", seed, problem.risk(box_lasso(gram, linear, PENALTY, kappa)))
