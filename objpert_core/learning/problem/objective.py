"""The perturbed objective J(θ) = Σᵢ f(x̃ᵢᵀθ; tᵢ) + ½ θᵀΛθ + bᵀθ (conventions: `losses`); Λ = λI in most proofs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, positive
from objpert_core.learning.problem.lanes import slices, summed
from objpert_core.learning.problem.losses import LOGISTIC, Loss, MarginLoss
from objpert_core.learning.problem.rows import Rows

_WIDE = 200  # coefficients of all points, from which on a row's products take long beside its losses


@dataclass(frozen=True)
class PerturbedObjective:
    """Value, gradient and Hessian of J for one data set and one draw of the noise b.

    `rows` are n design rows, norms enforced; `targets`, shape (n,), −1.0 or +1.0 for a `MarginLoss`, any number for a
    `ResidualLoss`. `lam` is λ > 0, or a symmetric positive definite Λ of shape (D, D). `linear`, shape (D,), is b;
    zeros give ridge-penalised regression without privacy, scikit-learn's with C = 1/λ. ValueError for a loss with
    corners.

    >>> rows = Rows(np.array([[1.0], [1.0]]), "clip")
    >>> objective = PerturbedObjective(rows, np.array([1.0, -1.0]), lam=1.0, linear=np.array([0.5]))
    >>> gradient, curvature = objective.gradient(np.zeros(1))
    >>> gradient.round(9).tolist(), objective.hessian(curvature).round(9).tolist()
    ([0.5], [[1.5]])
    """

    rows: Rows
    targets: FloatArray
    lam: float | FloatArray
    linear: FloatArray
    loss: Loss = LOGISTIC

    def __post_init__(self) -> None:
        if not math.isfinite(self.loss.smoothness):
            raise ValueError(f"loss must have no corners, got {self.loss!r}: give its MoreauEnvelope instead")
        object.__setattr__(self, "lam", _definite(self.lam, self.dimension))
        linear = np.asarray(self.linear, dtype=np.float64)
        if linear.shape != (self.dimension,):  # NumPy would give every coordinate the same noise
            raise ValueError(f"linear must be of shape ({self.dimension},), got shape {linear.shape}")
        object.__setattr__(self, "linear", linear)

    @property
    def dimension(self) -> int:
        """The length D of θ."""
        return self.rows.dimension

    @property
    def n_rows(self) -> int:
        """The number n of rows."""
        return self.rows.n_rows

    @property
    def row_smoothness(self) -> float:
        """β: the largest curvature of one row's loss as a function of θ."""
        return float((self.loss.smoothness_of_rows * self.rows.norms() ** 2).max(initial=0.0))

    @property
    def smoothness(self) -> float:
        """An upper bound on J's curvature: Σᵢ βᵢ + λ, at most the paper's L = nβ + λ."""
        return float((self.loss.smoothness_of_rows * self.rows.norms() ** 2).sum()) + self.tilt_smoothness

    @property
    def strong_convexity(self) -> float:
        """λ, or the least eigenvalue of Λ: a lower bound on J's curvature."""
        return self._spectrum[0]

    @property
    def tilt_smoothness(self) -> float:
        """λ, or the greatest eigenvalue of Λ: the curvature of `tilt`."""
        return self._spectrum[1]

    @cached_property
    def _spectrum(self) -> tuple[float, float]:
        if np.ndim(self.lam) == 0:
            return float(self.lam), float(self.lam)
        values = np.linalg.eigvalsh(self.lam)
        return float(values[0]), float(values[-1])

    def _bend(self, theta: FloatArray) -> FloatArray:
        return np.dot(self.lam, theta)

    def tilt(self, theta: FloatArray) -> FloatArray:
        """Λθ + b, the part of the gradient that needs no data."""
        return self._bend(theta) + self.linear

    def slopes(self, theta: FloatArray) -> FloatArray:
        """f' of every row at θ, shape (n,)."""
        return self.loss.slopes(self.rows.margins(theta), self.targets)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Σᵢ wᵢx̃ᵢ, shape (D,); with the slopes as weights, the gradient of the losses."""
        return self.rows.combine(weights)

    def _gradient_from(self, theta: FloatArray, slopes: FloatArray) -> FloatArray:
        return self.combine(slopes) + self.tilt(theta)

    def gradient(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """∇J(θ), shape (D,), and every row's curvature f'', shape (n,), which the Hessian needs."""
        slopes, curvature = self.loss.derivatives(self.rows.margins(theta), self.targets)
        return self._gradient_from(theta, slopes), curvature

    def value_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """J(θ) and ∇J(θ) from one pass over the data."""
        scores = self.rows.margins(theta)
        slopes, _ = self.loss.derivatives(scores, self.targets)
        bend = self.lam / 2 * (theta @ theta) if np.ndim(self.lam) == 0 else theta @ self._bend(theta) / 2
        value = self.loss.value(scores, self.targets).sum() + bend + self.linear @ theta
        return float(value), self._gradient_from(theta, slopes)

    def hessian(self, curvature: FloatArray, stride: int = 1) -> FloatArray:
        """Upper triangle of ∇²J, shape (D, D); `stride` > 1 estimates it from a sample of the rows."""
        hessian = self.rows.gram(curvature, stride)
        if np.ndim(self.lam) == 0:
            np.einsum("ii->i", hessian)[:] += self.lam
        else:
            hessian += self.lam
        return hessian

    def hessian_product(self, curvature: FloatArray, vector: FloatArray) -> FloatArray:
        """∇²J · vector without forming ∇²J, shape (D,)."""
        return self.rows.combine(curvature * self.rows.margins(vector)) + self._bend(vector)

    def greatest_hessian_product(self, vector: FloatArray) -> FloatArray:
        """(β Σᵢ x̃ᵢx̃ᵢᵀ + Λ) · vector with β the loss's largest curvature: no Hessian of J is larger."""
        return self.hessian_product(np.full(self.n_rows, self.loss.smoothness_of_rows), vector)

    def sampled(self, stride: int) -> PerturbedObjective:
        """An estimate of this objective, divided by `stride`, from every `stride`-th row."""
        where = slice(None, None, stride)
        lam, linear = self.lam / stride, self.linear / stride
        return PerturbedObjective(self.rows.every(stride), self.targets[where], lam, linear, self.loss.part(where))

    def without_rows(self) -> PerturbedObjective:
        """Return the same tilt, without data."""
        none = slice(0, 0)
        return PerturbedObjective(self.rows.part(none), self.targets[none], self.lam, self.linear)

    def parts(self, size: int) -> list[LossPart]:
        """Split the rows' losses into consecutive parts of `size` rows (the last may be smaller), data shared."""
        return [self._part(where) for where in slices(self.n_rows, size)]

    def summed(self, term: Callable[[LossPart], Any], size: int, points: int = 1) -> tuple[Any, int]:
        """Σ of what `term` makes of parts of `size` rows, or a few more, and how many additions a row goes through at
        most, those within a part included.
        """
        size = min(max(size, self.rows.at_once), self.n_rows)
        blocks = slices(self.n_rows, size or 1)
        narrow = points * self.dimension < _WIDE
        total = summed(lambda where: term(self._part(where)), blocks, narrow=narrow)
        return total, self.rows.additions(size) + len(blocks)

    def _part(self, where: slice) -> LossPart:
        return LossPart(where, self.rows.part(where), self.targets[where], self.loss.part(where))


@dataclass(frozen=True)
class LossPart:
    """The losses of some consecutive rows (`where`) of an objective, without the tilt Λθ + b."""

    where: slice
    rows: Rows
    targets: FloatArray
    loss: Loss

    def slopes(self, theta: FloatArray) -> FloatArray:
        """f' of each of these rows at θ; at each of k points, shape (k, rows), where `theta` has shape (k, D)."""
        return self.loss.slopes(self.rows.margins(theta), self.targets)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Σ wᵢx̃ᵢ over these rows, shape (D,), or (k, D) for k lines of weights."""
        return self.rows.combine(weights)

    def smoothness(self) -> float:
        """An upper bound on the curvature of the sum of these losses; meant for few rows."""
        together = self.loss.smoothness * self.rows.squared_norm()
        each = self.loss.smoothness_of_rows
        return together if np.ndim(each) == 0 else min(together, float((each * self.rows.norms() ** 2).sum()))


def _definite(lam: float | FloatArray, dimension: int) -> float | FloatArray:
    """A number > 0, or a symmetric positive definite matrix of shape (dimension, dimension); else `ValueError`."""
    if np.ndim(lam) == 0:
        return positive("lam", lam)
    matrix = np.asarray(lam)
    allowed = f"a number > 0 or a symmetric positive definite matrix of shape ({dimension}, {dimension})"
    if matrix.dtype.kind not in "fiu":
        raise ValueError(f"lam must be {allowed}, got entries of type {matrix.dtype}")
    if matrix.shape != (dimension, dimension):
        raise ValueError(f"lam must be {allowed}, got shape {matrix.shape}")
    if not (np.isfinite(matrix).all() and np.array_equal(matrix, matrix.T)):
        raise ValueError(f"lam must be {allowed}, got one that is not symmetric or not finite")
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise ValueError(f"lam must be {allowed}, got one that is not positive definite") from None
    return matrix.astype(np.float64, copy=False)


def check_targets(targets: FloatArray, n_rows: int, loss: Loss, least: int = 1) -> None:
    """Refuse targets that are not one for each of n ≥ `least` rows, or for which `loss` is not defined."""
    if n_rows < least:
        raise ValueError(f"X must have at least one row, got {n_rows}")
    if targets.shape != (n_rows,):
        raise ValueError(f"targets must be one number for each of X's {n_rows} rows, got shape {targets.shape}")
    if isinstance(loss, MarginLoss) and not (np.abs(targets) == 1.0).all():
        raise ValueError(f"targets must be -1.0 or 1.0, got {targets[np.abs(targets) != 1.0][0]!r}")
    if not np.isfinite(targets).all():
        raise ValueError(f"targets must be finite numbers, got {targets[~np.isfinite(targets)][0]!r}")
