"""What a posterior draw may know of the data: λ_min(X̃ᵀX̃) and log(1 + ‖θ*‖/‖Y‖), noisy and on the safe side.

Rows count as rows of norm 1: divided by R, R² = `row_smoothness`. Both are computed up to public errors, rounded to
lattices and get normal noise that covers what a row and both errors move: Gaussian mechanisms (docs/theorems.md, T40).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy.special import ndtri

from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.draw import Ridge
from objpert_core.learning.posterior.sums import EIGENVALUE_ERROR, RegressionSums
from objpert_core.learning.quadratic.certificate import row_smoothness

_SPACING = EIGENVALUE_ERROR
EIGENVALUE_SENSITIVITY = 1 + 4 * EIGENVALUE_ERROR
"""By how much neighbours move what is computed of λ_min: 1, two errors, and rounding to a lattice as fine as they."""
_NORM_ERROR = 2.0**-43  # both errors of a logarithm, rounding to the least lattice, and more


@dataclass(frozen=True)
class Statistics:
    """Both statistics' ratios μ of sensitivity over noise; each moves by `tail`·σ, and `shifted` by a sensitivity."""

    eigenvalue_mu: float
    norm_mu: float
    tail: float
    shifted: bool = True

    @classmethod
    def failing(cls, eigenvalue_mu: float, norm_mu: float, failure: float) -> Statistics:
        """Statistics of which one is on the unsafe side with a probability of at most `failure`, half of it each."""
        return cls(eigenvalue_mu, norm_mu, -float(ndtri(failure / 2)) * (1 + 1e-12))

    def least_eigenvalue(self, sums: RegressionSums, source: NoiseSource) -> float:
        """λ̃ >= 0, as a rule at most λ_min(X̃ᵀX̃)/R²."""
        sigma = EIGENVALUE_SENSITIVITY / self.eigenvalue_mu
        point = round(sums.least_eigenvalue / Fraction(row_smoothness(sums.constant)) / Fraction(_SPACING))
        noisy = float(point + int(source.rounded_normal(sigma / _SPACING, 1)[0])) * _SPACING
        return max(noisy - self.tail * sigma - self.shifted * EIGENVALUE_SENSITIVITY, 0.0)

    def log_slope(self, ridge: Ridge, leverage: float, source: NoiseSource) -> float:
        """log(L̃/‖Y‖), where L̃ is as a rule at least ‖Y‖ + R‖θ*‖, and so at least every |y − x̃ᵀθ*|."""
        spacing = max(power_of_two(math.log1p(leverage)) * 2.0**-22, 2.0**-50)
        sensitivity = math.log1p(leverage) * (1 + 2.0**-20) + _NORM_ERROR
        sigma = sensitivity / self.norm_mu
        point = round(ridge.log_slope() / Fraction(spacing)) + int(source.rounded_normal(sigma / spacing, 1)[0])
        return float(point) * spacing + self.tail * sigma + self.shifted * sensitivity
