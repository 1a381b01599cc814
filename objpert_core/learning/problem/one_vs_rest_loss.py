"""The logistic loss of one class against all others, whose rows may count as shorter ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit

from objpert_core._validation import FloatArray, between, check_fields
from objpert_core.accounting.objective.one_vs_rest import SHORTEST_REST
from objpert_core.learning.problem.losses import LogisticLoss, Targets


@dataclass(frozen=True)
class RestWeighted(LogisticLoss):
    """f(u; +1) = ℓ(u) for a row of the class and f(u; −1) = ℓ(−w·u) for other rows, as if these were w times as long. A
    row of another class then has a gradient of norm wR at most and a curvature of w²R²/4, as rows of norm wR have.

    >>> RestWeighted(weight=0.5).slopes(np.zeros(2), np.array([1.0, -1.0])).tolist()
    [-0.5, 0.25]
    """

    weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, between(SHORTEST_REST, 1.0), "weight")

    def log_odds(self, scores: FloatArray) -> FloatArray:
        """log(η/(1 − η)) where a score has the least expected loss if a row is of the class with probability η."""
        if self.weight == 1.0:
            return super().log_odds(scores)
        ahead = log_expit(self.margin + self.weight * scores) - log_expit(self.margin - scores)
        return np.log(self.weight) + ahead

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """See `Loss.value`."""
        return super().value(scores, self._signed(targets))

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """See `Loss.derivatives`."""
        signed = self._signed(targets)
        slopes, curvature = super().derivatives(scores, signed)
        return slopes, curvature * signed**2

    def slopes(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """See `Loss.slopes`."""
        return super().slopes(scores, self._signed(targets))

    def kinks(self, slope: FloatArray | float, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """See `Loss.kinks`. A row of another class has a slope of w at most."""
        size = np.abs(self._signed(targets))
        low, high = super().kinks(np.asarray(slope) / size, targets)
        return low / size, high / size

    def _signed(self, targets: Targets) -> Any:
        """1 for a row of the class and −w for any other, in the precision of `targets`."""
        signs = np.asarray(targets)
        return np.where(signs > 0, signs, self.weight * signs).astype(signs.dtype, copy=False)
