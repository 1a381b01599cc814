"""Estimates with standard errors, from a released θ̂ and a noisy curvature: nothing here sees data.

With H₀ the curvature at θ̂ and b the noise in the objective, stationarity at the population's θ₀ reads

    θ̃ − θ₀ ≈ −H₀⁻¹(Σ∇ℓ(θ₀) + b),     θ̃ = θ̂ + λH₀⁻¹θ̂,

so that Cov θ̃ ≈ H₀⁻¹(G + (σ² + τ²)I)H₀⁻¹ + σ_out²(I + λH₀⁻¹)², where G, the covariance of Σ∇ℓ, is H₀ if the model is
right. Released is H₀ + E, with noise E of deviation s. Four steps carry E into the errors, which grow by them:

1. Noise pushes small eigenvalues down, to second order by (s²/2)(1/h_k + Σ_j 1/h_j): this is given back.
2. An eigenvalue ĥ becomes the g with which ±z/g covers 95 % of N(0, 1/h²), h having the law N(ĥ, s²), cut off at 0.
3. λE H₀⁻¹θ̂, by which the correction of θ̂ is off, has covariance (λs)²/2·(‖u‖²I + uuᵀ) with u = H₀⁻¹θ̂.
4. What noise may have added along θ̂ above π²/3·Σp(1 − p), the most that θ̂ᵀHθ̂ can be for scores around 0, is taken
   away, and the interval's end away from 0 is moved outwards (`Estimates.ends`).

A noisy G is made positive, and its own noise widens each error as Satterthwaite's degrees of freedom do, to first
order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from objpert_core._validation import FloatArray
from objpert_core.learning.steps.curvature import Curvature

_Z = 1.959963984540054  # the normal quantile of 97.5 %
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_REACH = 9.0  # standard deviations beyond which a normal density does not count
_FURTHEST_DOWN = -6.0  # standard deviations below 0: no positive eigenvalue is pushed farther
_HALVINGS = 60
_FLAT = np.pi**2 / 3  # the mean square of scores that are spread evenly, weighed by p(1 − p)
_LIKELY = 2.0  # standard deviations of noise that are taken away at most
_LARGEST = 7.0  # logarithm of a factor: an end a thousand times as far as the coefficient says nothing
_ROUGH = 0.15  # steepness times x from which an end is rough


@dataclass(frozen=True)
class Noises:
    """The noise in a release, by its certificate; `constant` is what every row has in its last place, or 0."""

    lam: float
    sigma: float
    tau: float
    output: float
    hessian: float
    outer: float | None = None
    constant: float = 0.0


@dataclass(frozen=True)
class Estimates:
    """θ̃, shape (D,), its covariance, and `ray`, θ̂ with 0 in the constant's place; `steepness` is from 0 to 1."""

    theta: FloatArray
    covariance: FloatArray
    ray: FloatArray
    steepness: float

    @property
    def errors(self) -> FloatArray:
        """Standard errors, shape (D,)."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    def ends(self, reach: float, of: FloatArray | None = None) -> FloatArray:
        """Lower and upper ends of intervals so many errors wide to either side, shape (D, 2), or (m, 2) of so many
        linear combinations, shape (m, D).

        The end away from 0 goes by f(x) = (1 + (1 − b)x)^{1/(1 − b)} in place of 1 + x, b the steepness; e^x where b =
        1.
        """
        of = np.eye(len(self.theta)) if of is None else of
        stretched = of @ self.ray * self._beyond(self._reached(reach, of))
        plain = (of @ self.theta)[:, None] + reach * np.outer(self._errors(of), (-1.0, 1.0))
        return np.asarray(plain + np.column_stack([np.minimum(stretched, 0.0), np.maximum(stretched, 0.0)]))

    def rough(self, reach: float) -> bool:
        """Whether some end is where the curvature may be another by much than the one that was released."""
        return bool(self.steepness * self._reached(reach, np.eye(len(self.theta))).max() > _ROUGH)

    def _errors(self, of: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(np.einsum("ij,jk,ik->i", of, self.covariance, of)))

    def _reached(self, reach: float, of: FloatArray) -> FloatArray:
        """x at each combination's end away from 0, where it is positive, shape (m,)."""
        length, own = float(self.ray @ self.ray) or 1.0, of @ self.ray
        moved = np.sign(own) * reach * (of @ (self.covariance @ self.ray)) / np.maximum(self._errors(of), 1e-300)
        return np.asarray(np.where(own == 0, 0.0, np.maximum((self.ray @ self.theta + moved) / length - 1, 0.0)))

    def _beyond(self, x: FloatArray) -> FloatArray:
        straight = max(1 - self.steepness, 1e-9)
        return np.maximum(np.expm1(np.minimum(np.log1p(straight * x) / straight, _LARGEST)) - x, 0.0)


def estimate(theta: FloatArray, curvature: Curvature, noises: Noises) -> Estimates:
    """The corrected estimate of a released θ, and how far it may be off."""
    ray = theta.copy()
    if noises.constant:
        ray[-1] = 0.0
    weight = _weight(curvature.hessian, noises.constant)
    values, vectors = np.linalg.eigh(_lowered(curvature.hessian, ray, weight, noises))
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
    along = _along(hessian, ray, noises.constant)
    spread = float(along @ hessian @ along)
    steepness = spread / (_FLAT * weight) if spread < _FLAT * weight else 1.0
    return Estimates(theta + noises.lam * pull, covariance, ray, steepness)


def _weight(hessian: FloatArray, constant: float) -> float:
    """Σp(1 − p), by the constant's place; or, of rows no longer than √(1 + constant²), what it is at least."""
    least = float(np.trace(hessian)) / (1 + constant**2)
    return max(least, float(hessian[-1, -1]) / constant**2) if constant else least


def _along(hessian: FloatArray, ray: FloatArray, constant: float) -> FloatArray:
    """θ̂ with an intercept by which its scores have the weighted mean 0, shape (D,)."""
    moved = ray.copy()
    if constant and hessian[-1, -1] > 0:
        moved[-1] = -float(hessian[-1] @ ray) / hessian[-1, -1]
    return moved


def _lowered(hessian: FloatArray, ray: FloatArray, weight: float, noises: Noises) -> FloatArray:
    """The curvature without what noise may have added along θ̂ to the most that scores around 0 have."""
    along = _along(hessian, ray, noises.constant)
    slope = hessian @ along
    seen = float(along @ slope)
    most = max(_FLAT * weight, seen - _LIKELY * noises.hessian * float(along @ along))
    return hessian if seen <= max(most, 0.0) else hessian - (1 - most / seen) / seen * np.outer(slope, slope)


def repaired_eigenvalues(values: FloatArray, noise: float) -> FloatArray:
    """Eigenvalues of a noisy curvature, shape (D,), made positive and as small as their noise asks for."""
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
