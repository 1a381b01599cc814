"""How often intervals for the coefficients of a private logistic regression cover, and how wide they are.

    python -m benchmarks.experiments intervals coverage --report

Many data sets at a time are fitted side by side by Newton's method with the noise that the estimator would have. A
value is the share of the d coefficients that intervals of 95 % cover; `width` is the median of an interval's width
over that of the fit without privacy.

public      without privacy: the maximum of the likelihood, and the inverse of its curvature
interval    the estimator with ``intervals=True``
sandwich    the estimator with ``intervals="sandwich"``
naive       as "interval", forgetting the noise: released coefficients, inverse of the released curvature
lifted      as "interval", with eigenvalues lifted to s√D in place of the repair, and the noise of the curvature not
            carried
bootstrap   as "lifted", with percentiles of 200 draws from the model so estimated, the noise of the curvature included
wang2019    Wang, Kifer and Lee (2019) with the package's noise: a third of μ² each for coefficients, curvature and
            squared gradients; uncorrected coefficients, the curvature with λ, eigenvalues kept positive
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting import ApproximateMinima, IntervalNoise, calibrate_gaussian, recommended_interval_noise
from objpert_core.accounting.objective.calibration import calibrate_objective_perturbation
from objpert_core.accounting.terms import Terms
from objpert_core.experiments.intervals.shapes import CONSTANT, drawn
from objpert_core.experiments.results import Row
from objpert_core.learning.intervals.estimates import Noises, estimate
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.steps.curvature import Curvature, curvature_noise

DELTA, TAU, Z = 1e-6, 1e-6, 1.959963984540054
RADIUS = row_radius(CONSTANT)
BLOCK = 100
"""Data sets behind one seed."""
GRID = (
    ("even", 1_000, 2, 1.0), ("even", 1_000, 5, 1.0), ("even", 1_000, 20, 8.0), ("even", 2_000, 5, 1.0),
    ("even", 10_000, 2, 0.1), ("even", 10_000, 10, 0.3), ("even", 10_000, 20, 1.0), ("even", 10_000, 10, 8.0),
    ("correlated", 10_000, 10, 1.0), ("correlated", 2_000, 10, 1.0),
    ("collinear", 10_000, 5, 1.0), ("skewed", 10_000, 10, 1.0), ("skewed", 4_000, 5, 0.3), ("rare", 10_000, 10, 1.0),
    ("rare", 2_000, 2, 3.0), ("bent", 10_000, 5, 1.0), ("bent", 20_000, 10, 3.0),
    ("even", 100_000, 10, 0.1), ("even", 100_000, 20, 1.0),
    ("steep", 5_000, 4, 1.0), ("steep", 5_000, 4, 8.0), ("steep", 50_000, 4, 1.0), ("steep", 5_000, 10, 1.0),
    ("half-steep", 5_000, 4, 1.0), ("half-steep", 5_000, 4, 8.0), ("half-steep", 1_000, 4, 1.0),
    ("half-steep", 5_000, 10, 1.0),
)  # fmt: skip
CORNERS = (("even", 10_000, 10, 1.0), ("even", 1_000, 2, 0.3), ("rare", 10_000, 5, 1.0))
"""Where 2,000 data sets are drawn, and not 500: in the middle of the grid and at its ends."""
SHARE = "share "
_DRAWS = 200


@dataclass(frozen=True)
class Coverage(Row):
    """What one method covers on data sets of one shape; `worst` is the share at the coefficient least often covered."""

    VALUE = "covered"

    shape: str
    n: int
    d: int
    epsilon: float
    method: str
    seed: int
    covered: float
    worst: float
    width: float


class Recipe(NamedTuple):
    """The noise of the sums, and σ, λ and σ_out of the fit that keeps the promise beside them."""

    noise: IntervalNoise
    sigma: float
    lam: float
    output: float

    @property
    def noises(self) -> Noises:
        """As estimates take them."""
        hessian, outer = curvature_noise(self.noise, RADIUS)
        assert hessian is not None
        return Noises(self.lam, self.sigma, TAU, self.output, hessian, outer, CONSTANT)


@lru_cache(maxsize=256)
def recipe(epsilon: float, n: int, d: int, kind: str) -> Recipe:
    """The estimator's recipe with ``intervals=True`` or "sandwich"; thirds of μ² ("wang2019"), or a share of it."""
    whole = calibrate_gaussian(epsilon, DELTA).sigma
    if kind == "wang2019":
        noise = IntervalNoise(whole * math.sqrt(3), whole * math.sqrt(3))
    elif kind.startswith(SHARE):
        noise = IntervalNoise(whole / math.sqrt(float(kind.removeprefix(SHARE))))
    else:
        noise = recommended_interval_noise(epsilon, DELTA, n, d + 1, sandwich=kind == "sandwich")
    found = Terms(epsilon, DELTA, steps=(noise,)).calibrate(
        lambda left: calibrate_objective_perturbation(left, DELTA, lipschitz=RADIUS, tau=TAU)
    )
    assert isinstance(found, ApproximateMinima)
    return Recipe(noise, found.objective.sigma, found.objective.lam, found.sigma_out)


class Found(NamedTuple):
    """Estimates, or by how much they are off, and the ends of intervals of 95 %; one shape for all three."""

    coefficients: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def by_errors(cls, coefficients: FloatArray, errors: FloatArray) -> Found:
        """With intervals that are as wide to either side, by standard errors."""
        return cls(coefficients, coefficients - Z * errors, coefficients + Z * errors)

    @property
    def widths(self) -> FloatArray:
        """Of the intervals."""
        return self.high - self.low


def repeated(shape: str, n: int, d: int, epsilon: float, seed: int, count: int = 100) -> dict[str, Found]:
    """By how much "public", "interval" and "naive" and their intervals' ends are off, shape (count, d) each."""
    generator = np.random.default_rng(seed)
    parts: dict[str, list[Found]] = {}
    for _ in range(0, count, 10):
        X, chances, theta = drawn(shape, n, d, generator)
        for method, one in ten(("interval",), X, chances, theta, epsilon, generator).items():
            parts.setdefault(method, []).append(Found(*((part - theta)[:, :d] for part in one)))
    return {
        method: Found(*(np.concatenate(part) for part in zip(*found, strict=True)))
        for method, found in parts.items()
        if method in ("public", "interval", "naive")
    }


def by_likelihood(X: FloatArray, labels: FloatArray | IntArray) -> Found:
    """Without privacy: where the likelihood of labels 0 and 1 is largest, shape (D,) each."""
    found = _without_privacy(_Data(X, labels[None].astype(float)), np.zeros((1, X.shape[1])))
    return Found(*(part[0] for part in found))


def forgetting(released: FloatArray, hessian: FloatArray, noise: float) -> Found:
    """Released coefficients, and errors by the released curvature as if there were no noise, shape (count, D) each."""
    errors = _errors(np.linalg.inv(_at_least(hessian, noise * math.sqrt(released.shape[1]))))
    return Found.by_errors(released, errors)


def _without_privacy(data: _Data, start: FloatArray) -> Found:
    exact = data.minimum(start, 1e-9, 0.0)
    return Found.by_errors(exact, _errors(np.linalg.inv(data.sum(exact))))


def ten(
    kinds: tuple[str, ...],
    X: FloatArray,
    chances: FloatArray,
    theta: FloatArray,
    epsilon: float,
    generator: np.random.Generator,
) -> dict[str, Found]:
    """Of every method on the same labels, shape (10, D) each."""
    (n, size), count = X.shape, 10
    data = _Data(X, (generator.random((count, n)) < chances).astype(float))
    start = np.tile(theta, (count, 1))
    found = {"public": _without_privacy(data, start)}
    for kind in kinds:
        plan = recipe(epsilon, n, size - 1, kind)
        tilt = plan.sigma * generator.standard_normal(start.shape)
        released = data.minimum(start, plan.lam, tilt) + plan.output * generator.standard_normal(start.shape)
        noises = plan.noises
        hessian = _noisy(data.sum(released), noises.hessian, generator)
        outer = None if noises.outer is None else _noisy(data.sum(released, squares=True), noises.outer, generator)
        found |= _of_kind(kind, released, hessian, outer, noises, generator)
    return found


class _Data:
    """The same rows with several lists of labels."""

    def __init__(self, X: FloatArray, labels: FloatArray) -> None:
        self.X, self.labels, self.size = X, labels, X.shape[1]
        self.above = np.triu_indices(self.size)

    def minimum(self, start: FloatArray, lam: float, tilt: FloatArray | float) -> FloatArray:
        """Newton's method; steps that are short keep the curvature of the step before."""
        theta, near = start.copy(), False
        curvature = self.sum(theta)
        for _ in range(40):
            slope = (expit(theta @ self.X.T) - self.labels) @ self.X + lam * theta + tilt
            step = np.linalg.solve(curvature + lam * np.eye(self.size), slope[..., None])[..., 0]
            length = np.linalg.norm(step, axis=1, keepdims=True)
            theta -= step * np.minimum(1.0, 4.0 / np.maximum(length, 1e-300))
            if length.max() < 1e-7:
                return theta
            curvature = curvature if near else self.sum(theta)
            near = length.max() < 0.3
        raise RuntimeError("Newton's method must converge on generated data")

    def sum(self, theta: FloatArray, *, squares: bool = False) -> FloatArray:
        """The curvature at each θ, or the squared gradients, shape (count, D, D)."""
        chances = expit(theta @ self.X.T)
        weights = (chances - self.labels) ** 2 if squares else chances * (1 - chances)
        return np.array([(self.X * own[:, None]).T @ self.X for own in weights])


def _noisy(sums: FloatArray, sigma: float, generator: np.random.Generator) -> FloatArray:
    return np.asarray(sums + sigma * _symmetric(generator, *sums.shape[:2]))


def _symmetric(generator: np.random.Generator, count: int, size: int) -> FloatArray:
    """Noise of deviation 1 in every isometric coordinate of symmetric matrices."""
    noise = generator.standard_normal((count, size, size))
    return np.asarray((noise + np.swapaxes(noise, 1, 2)) / 2)


def _of_kind(
    kind: str,
    released: FloatArray,
    hessian: FloatArray,
    outer: FloatArray | None,
    noises: Noises,
    generator: np.random.Generator,
) -> dict[str, Found]:
    if kind == "wang2019":
        assert outer is not None
        return {kind: _uncorrected(released, hessian, outer, noises)}
    pairs = [
        estimate(theta, Curvature(own, None if outer is None else outer[place]), noises)
        for place, (theta, own) in enumerate(zip(released, hessian, strict=True))
    ]
    ends = np.array([one.ends(Z) for one in pairs])
    found = {kind: Found(np.array([one.theta for one in pairs]), ends[..., 0], ends[..., 1])}
    if kind == "interval":
        size = released.shape[1]
        lifted = _at_least(hessian, noises.hessian * math.sqrt(size))
        inverse = np.linalg.inv(lifted)
        pull = noises.lam * np.einsum("mij,mj->mi", inverse, released)
        errors = _errors(inverse @ (lifted + noises.sigma**2 * np.eye(size)) @ inverse)
        found["naive"] = forgetting(released, hessian, noises.hessian)
        found["lifted"] = Found.by_errors(released + pull, errors)
        found["bootstrap"] = Found.by_errors(released + pull, _drawn(lifted, noises, generator))
    return found


def _uncorrected(released: FloatArray, hessian: FloatArray, outer: FloatArray, noises: Noises) -> Found:
    identity = np.eye(released.shape[1])
    inverse = np.linalg.inv(_at_least(hessian + noises.lam * identity, noises.lam))
    middle = _at_least(outer, 0.0) + noises.sigma**2 * identity
    return Found.by_errors(released, _errors(inverse @ middle @ inverse))


def _drawn(hessian: FloatArray, noises: Noises, generator: np.random.Generator) -> FloatArray:
    """Half the width over z of percentile intervals, from data drawn by the model that was estimated."""
    size = hessian.shape[1]
    identity, deviations = np.eye(size), []
    for own in hessian:
        other = _at_least(own + noises.hessian * _symmetric(generator, _DRAWS, size), noises.hessian * math.sqrt(size))
        root = np.linalg.cholesky(own + noises.sigma**2 * identity)
        shifts = generator.standard_normal((_DRAWS, size)) @ root.T
        moved = np.abs(np.linalg.solve(other, shifts[..., None])[..., 0])
        deviations.append(np.quantile(moved, 0.95, axis=0) / Z)
    return np.array(deviations)


def _at_least(matrices: FloatArray, least: float) -> FloatArray:
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, least)[:, None, :]) @ np.swapaxes(vectors, 1, 2))


def _errors(covariances: Any) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("mii->mi", covariances)))
