"""Two parameters: one objective, and the same objective tilted and bent, each with its minimum in a disc.

    J(θ) = ½‖X(θ − θ*)‖² + ω/2 ‖θ‖²      over ‖θ‖ <= κ

The penalty draws the minimum away from θ*. A tilt adds aᵀθ and Δ/2‖θ‖² (Theorem 5.1 of Cortild and Cartis, at 2ζ, since
a record is replaced); a bend adds σ²/2 (θ − θ*)ᵀW(θ − θ*), by the exact theorem. All three are quadratics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from scipy.optimize import brentq

from objpert_core._validation import FloatArray, nonnegative_integer, positive, positive_integer
from objpert_core.accounting import QuadraticPerturbation, calibrate_quadratic_perturbation, linear_objective_noise
from objpert_core.learning.quadratic.wishart import wishart

THETA = (0.6, 0.3)
"""θ*, where every record's loss is least."""
SHARE = 0.25
"""ω as a share of n."""
_TOWARDS, _SPREAD = 2.0, 0.6  # the rows' directions, in radians: a bowl that is longer one way
KINDS = ("plain", "tilt", "bend")


@dataclass(frozen=True, eq=False)
class Bowl:
    """A quadratic ½(θ − c)ᵀH(θ − c): its `centre` c without the disc, and its `minimum` in the disc."""

    hessian: FloatArray
    centre: FloatArray
    minimum: FloatArray

    def level(self, height: float, points: int = 121) -> FloatArray:
        """The ellipse on which the quadratic is `height` above its centre; an array of shape (points, 2)."""
        values, vectors = np.linalg.eigh(self.hessian)
        turn = np.linspace(0.0, 2 * math.pi, points)
        axes = np.sqrt(2 * positive("height", height) / values)
        return self.centre + (np.column_stack([np.cos(turn), np.sin(turn)]) * axes) @ vectors.T


def least_in_ball(hessian: FloatArray, linear: FloatArray, radius: float) -> FloatArray:
    """The minimiser of ½·θᵀHθ − cᵀθ over ‖θ‖ <= κ, with H positive definite."""
    positive("radius", radius)
    values, vectors = np.linalg.eigh(hessian)
    slopes = vectors.T @ linear

    def beyond(pull: float) -> float:
        return float(np.linalg.norm(slopes / (values + pull))) / radius - 1

    if beyond(0.0) <= 0:
        return np.asarray(vectors @ (slopes / values))
    most = float(np.linalg.norm(linear)) / radius
    pull = brentq(beyond, 0.0, most, xtol=1e-14 * most, rtol=1e-14)
    theta = vectors @ (slopes / (values + pull))
    return np.asarray(theta * (radius / np.linalg.norm(theta)))


@dataclass(frozen=True)
class Plane:
    """What is drawn: n unit rows around one direction, in a disc of radius κ; one record is replaced."""

    epsilon: float = 1.0
    delta: float = 1e-5
    rows: int = 300
    radius: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        positive_integer("rows", self.rows)
        positive("radius", self.radius)
        nonnegative_integer("seed", self.seed)

    def bowls(self) -> dict[str, Bowl]:
        """The objective, tilted and bent, by `KINDS`."""
        return next(self._drawn())

    def others(self, draws: int = 60) -> dict[str, FloatArray]:
        """The minima of that many further tilts and bends of the same data; arrays of shape (draws, 2)."""
        found = list(islice(self._drawn(), 1, 1 + positive_integer("draws", draws)))
        return {kind: np.array([bowls[kind].minimum for bowls in found]) for kind in KINDS if kind != "plain"}

    def excess(self, theta: FloatArray) -> float:
        """J(θ) less the least J in the disc."""
        best = self.bowls()["plain"]
        moved, least = theta - best.centre, best.minimum - best.centre
        return float(moved @ best.hessian @ moved - least @ best.hessian @ least) / 2

    def _drawn(self) -> Iterator[dict[str, Bowl]]:
        """The same data with one tilt and bend after the other."""
        angles = _TOWARDS + _SPREAD * np.random.default_rng([self.seed, 0]).standard_normal(self.rows)
        X = np.column_stack([np.cos(angles), np.sin(angles)])
        gram, theta, ridge = X.T @ X, np.array(THETA), SHARE * self.rows * np.eye(2)
        variance, lam = self.tilt()
        bend = self.bend
        generator = np.random.default_rng([self.seed, 1])
        while True:
            slope = math.sqrt(variance) * generator.standard_normal(2)
            bent = gram + bend.scale * wishart(generator, 2, bend.degrees_of_freedom)
            quadratics = {
                "plain": (gram + ridge, gram @ theta),
                "tilt": (gram + ridge + lam * np.eye(2), gram @ theta - slope),
                "bend": (bent + ridge, bent @ theta),
            }
            yield {
                kind: Bowl(hessian, np.linalg.solve(hessian, linear), least_in_ball(hessian, linear, self.radius))
                for kind, (hessian, linear) in quadratics.items()
            }

    @property
    def bend(self) -> QuadraticPerturbation:
        """The bend, calibrated by the exact theorem."""
        return calibrate_quadratic_perturbation(self.epsilon, self.delta, 2)

    def tilt(self) -> tuple[float, float]:
        """(variance, Δ) of the tilt: no record's gradient is longer than ζ = κ + ‖θ*‖ in the disc."""
        zeta = self.radius + math.hypot(*THETA)
        return linear_objective_noise(self.epsilon, self.delta, zeta, 1.0, corrected=True)
