"""Estimates with standard errors, from a released θ̂ and a noisy curvature: nothing here sees data.

With H₀ the curvature at θ̂ and b the noise in the objective, the stationarity condition at the population's θ₀ reads

    θ̃ − θ₀ ≈ −H₀⁻¹(Σ∇ℓ(θ₀) + b),     θ̃ = θ̂ + λH₀⁻¹θ̂,

so that Cov θ̃ ≈ H₀⁻¹(G + (σ² + τ²)I)H₀⁻¹ + σ_out²(I + λH₀⁻¹)², where G, the covariance of Σ∇ℓ, is H₀ if the model is
right. What is released is H₀ + E, with noise E of standard deviation s in every isometric coordinate. Three steps carry
E into the errors; only by chance does a step make the errors smaller than H₀ itself would:

1. Noise pushes small eigenvalues down, to second order by (s²/2)(1/h_k + Σ_j 1/h_j): this is given back.
2. An eigenvalue ĥ with noise of deviation s becomes the g with which ±z/g covers 95 % of N(0, 1/h²), h having the law
   N(ĥ, s²), cut off at 0: nearly ĥ where ĥ ≫ s, and a small share of s where ĥ is lost in noise. So intervals grow
   there.
3. λE H₀⁻¹θ̂, by which the correction of θ̂ is off, has covariance (λs)²/2·(‖u‖²I + uuᵀ) with u = H₀⁻¹θ̂.

A noisy G is made positive, and its own noise widens each error as Satterthwaite's degrees of freedom widen a normal
interval, to first order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from objpert_core._validation import FloatArray
from objpert_core.learning.intervals.curvature import Curvature

_Z = 1.959963984540054  # the normal quantile of 97.5 %
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_REACH = 9.0  # standard deviations beyond which a normal density does not count
_FURTHEST_DOWN = -6.0  # standard deviations below 0: no positive eigenvalue is pushed farther
_HALVINGS = 60


@dataclass(frozen=True)
class Noises:
    """The noise in a release, by its certificate: λ and σ of the objective, τ, σ_out, and that of both sums."""

    lam: float
    sigma: float
    tau: float
    output: float
    hessian: float
    outer: float | None = None


@dataclass(frozen=True)
class Estimates:
    """θ̃, shape (D,), without the regularisation's pull, and its covariance, shape (D, D)."""

    theta: FloatArray
    covariance: FloatArray

    @property
    def errors(self) -> FloatArray:
        """Standard errors, shape (D,)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))


def estimate(theta: FloatArray, curvature: Curvature, noises: Noises) -> Estimates:
    """The corrected estimate of a released θ, and how far it may be off."""
    values, vectors = np.linalg.eigh(curvature.hessian)
    repaired = repaired_eigenvalues(values, noises.hessian)
    inverse: FloatArray = (vectors / repaired) @ vectors.T
    hessian: FloatArray = (vectors * repaired) @ vectors.T
    identity = np.eye(len(theta))
    pull = inverse @ theta
    off = (noises.lam * noises.hessian) ** 2 / 2 * (float(pull @ pull) * identity + np.outer(pull, pull))
    middle = hessian if curvature.outer is None else _made_positive(curvature.outer)
    middle = middle + (noises.sigma**2 + noises.tau**2) * identity + off
    stretched = identity + noises.lam * inverse
    covariance = inverse @ middle @ inverse + noises.output**2 * (stretched @ stretched)
    if noises.outer is not None:
        widening = _widening(np.diagonal(covariance), noises.outer * (inverse**2).sum(axis=1))
        covariance *= np.outer(widening, widening)
    return Estimates(theta + noises.lam * pull, covariance)


def repaired_eigenvalues(values: FloatArray, noise: float) -> FloatArray:
    """Eigenvalues of a noisy curvature, shape (D,), made positive and as small as their noise asks for.

    >>> repaired_eigenvalues(np.array([-1.0, 2.0, 1000.0]), 1.0).round(2).tolist()
    [0.14, 2.04, 1000.54]
    """
    safe = np.maximum(values, noise * np.sqrt(len(values)))
    given_back = values + noise**2 / 2 * (1 / safe + (1 / safe).sum())
    return noise * _covering(given_back / noise)


def _covering(seen: Any) -> FloatArray:
    """g with P(|Z|/h ≤ z/g) = 95 %, for Z normal and h of the law N(seen, 1), cut off at 0."""
    seen = np.maximum(np.asarray(seen, dtype=np.float64), _FURTHEST_DOWN)
    low = np.maximum(seen - _REACH, 0.0)
    high = np.maximum(seen, 0.0) + _REACH
    places = low[:, None] + (high - low)[:, None] * (_NODES + 1) / 2
    density = _WEIGHTS * np.exp(-((places - seen[:, None]) ** 2 - np.minimum(seen, 0.0)[:, None] ** 2) / 2)
    density /= density.sum(axis=1, keepdims=True)
    below, above = np.full(len(seen), 1e-3), high
    for _ in range(_HALVINGS):
        middle = np.sqrt(below * above)
        covered = (density * (2 * ndtr(_Z * places / middle[:, None]) - 1)).sum(axis=1)
        enough = covered >= 2 * ndtr(_Z) - 1
        below, above = np.where(enough, middle, below), np.where(enough, above, middle)
    return below


def _made_positive(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _widening(variances: FloatArray, deviations: FloatArray) -> FloatArray:
    """By how much errors grow whose variances are off by `deviations`: 1 + (z² + 1)/4ν, ν = 2(variance/deviation)²."""
    freedom = 2 * (variances / deviations) ** 2
    return np.asarray(1 + (_Z**2 + 1) / (4 * freedom))
