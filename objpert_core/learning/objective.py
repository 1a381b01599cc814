"""The perturbed objective J(θ) = Σᵢ f(x̃ᵢᵀθ; tᵢ) + λ/2 ‖θ‖² + bᵀθ (conventions: `losses`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from objpert_core.learning.losses import LOGISTIC, FloatArray, Loss
from objpert_core.learning.rows import Rows


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

    def _gradient_from(self, theta: FloatArray, slopes: FloatArray) -> FloatArray:
        return self.rows.combine(slopes) + self.lam * theta + self.linear

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
