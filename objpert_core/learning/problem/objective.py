"""The perturbed objective J(θ) = Σᵢ f(x̃ᵢᵀθ; tᵢ) + λ/2 ‖θ‖² + bᵀθ (conventions: `losses`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from objpert_core.learning.problem.losses import LOGISTIC, ClippedLoss, FloatArray, Loss
from objpert_core.learning.problem.rows import Rows


@dataclass(frozen=True)
class PerturbedObjective:
    """Value, gradient and Hessian of J for one data set and one draw of the noise b.

    Parameters
    ----------
    rows : Rows
        The n design rows, norms enforced.
    targets : ndarray, shape (n,)
        −1.0 or +1.0 for a `MarginLoss`, any number for a `ResidualLoss`.
    lam : float
        λ > 0, so that J is λ-strongly convex.
    linear : ndarray, shape (D,)
        b. Zeros give ridge-penalised regression without privacy, scikit-learn's with C = 1/λ.
    loss : Loss

    Examples
    --------
    >>> rows = Rows(np.array([[1.0], [1.0]]), "clip")
    >>> objective = PerturbedObjective(rows, np.array([1.0, -1.0]), lam=1.0, linear=np.array([0.5]))
    >>> gradient, curvature = objective.gradient(np.zeros(1))
    >>> gradient.round(9).tolist(), objective.hessian(curvature).round(9).tolist()
    ([0.5], [[1.5]])
    """

    rows: Rows
    targets: FloatArray
    lam: float
    linear: FloatArray
    loss: Loss = LOGISTIC

    @property
    def dimension(self) -> int:
        """D, the length of θ."""
        return self.rows.dimension

    @property
    def n_rows(self) -> int:
        """The number of rows n."""
        return self.rows.n_rows

    @property
    def row_smoothness(self) -> float:
        """β: the largest curvature of one row's loss as a function of θ."""
        return self.loss.smoothness * float(self.rows.norms().max(initial=0.0)) ** 2

    @property
    def smoothness(self) -> float:
        """An upper bound on J's curvature: Σᵢ βᵢ + λ, at most the paper's L = nβ + λ."""
        return self.loss.smoothness * float((self.rows.norms() ** 2).sum()) + self.lam

    def tilt(self, theta: FloatArray) -> FloatArray:
        """λθ + b, the part of the gradient that needs no data."""
        return self.lam * theta + self.linear

    def slopes(self, theta: FloatArray) -> FloatArray:
        """f' of every row at θ, shape (n,)."""
        return self.loss.derivatives(self.rows.margins(theta), self.targets)[0]

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
        value = self.loss.value(scores, self.targets).sum() + self.lam / 2 * (theta @ theta) + self.linear @ theta
        return float(value), self._gradient_from(theta, slopes)

    def hessian(self, curvature: FloatArray, stride: int = 1) -> FloatArray:
        """Upper triangle of ∇²J, shape (D, D); `stride` > 1 estimates it from a sample of the rows."""
        hessian = self.rows.gram(curvature, stride)
        np.einsum("ii->i", hessian)[:] += self.lam
        return hessian

    def hessian_product(self, curvature: FloatArray, vector: FloatArray) -> FloatArray:
        """∇²J · vector without forming ∇²J, shape (D,)."""
        return self.rows.combine(curvature * self.rows.margins(vector)) + self.lam * vector

    def greatest_hessian_product(self, vector: FloatArray) -> FloatArray:
        """(β Σᵢ x̃ᵢx̃ᵢᵀ + λ) · vector with β the loss's largest curvature: no Hessian of J is larger."""
        return self.hessian_product(np.full(self.n_rows, self.loss.smoothness), vector)

    def parts(self, size: int) -> list[LossPart]:
        """The rows' losses in consecutive parts of `size` rows (the last may be smaller), data shared."""
        ends = range(size, self.n_rows + size, size)
        return [self._part(slice(end - size, min(end, self.n_rows))) for end in ends]

    def _part(self, where: slice) -> LossPart:
        return LossPart(where, self.rows.part(where), self.targets[where], _restricted(self.loss, where))


@dataclass(frozen=True)
class LossPart:
    """The losses of some consecutive rows, without the tilt λθ + b.

    Attributes
    ----------
    where : slice
        Which rows of the objective they are.
    rows : Rows
    targets : ndarray, shape (the number of these rows,)
    loss : Loss
    """

    where: slice
    rows: Rows
    targets: FloatArray
    loss: Loss

    def slopes(self, theta: FloatArray) -> FloatArray:
        """f' of each of these rows at θ."""
        return self.loss.derivatives(self.rows.margins(theta), self.targets)[0]

    def combine(self, weights: FloatArray) -> FloatArray:
        """Σ wᵢx̃ᵢ over these rows, shape (D,)."""
        return self.rows.combine(weights)

    def smoothness(self) -> float:
        """An upper bound on the curvature of the sum of these losses; meant for few rows."""
        return self.loss.smoothness * self.rows.squared_norm()


def _restricted(loss: Loss, where: slice) -> Loss:
    """`loss` for some rows only: a clipped loss may have a slope for each."""
    if isinstance(loss, ClippedLoss):
        slope = loss.slope[where] if isinstance(loss.slope, np.ndarray) else loss.slope
        return ClippedLoss(_restricted(loss.loss, where), slope)
    return loss
