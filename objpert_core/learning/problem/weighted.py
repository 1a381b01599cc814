"""Rows that count for less: each row's loss times a weight of its own, at most 1 (docs/theorems.md, T48)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.derived import DerivedLoss
from objpert_core.learning.problem.losses import Targets

LEAST_WEIGHT = 1e-150
"""A row that weighs less counts as none: quotients by a weight stay finite."""


def members_of(targets: FloatArray) -> NDArray[np.bool_]:
    """Whether each row is of each class, shape (K, n); `targets` has shape (K, n), or (n,) for two classes."""
    return np.asarray((np.array([-targets, targets]) if targets.ndim == 1 else targets) == 1.0)


def weights_by_class(targets: FloatArray, shares: FloatArray) -> FloatArray:
    """What each row weighs by its class; a row of no class weighs 1.

    >>> weights_by_class(np.array([-1.0, 1.0, np.nan]), np.array([0.5, 0.25])).tolist()
    [0.5, 0.25, 1.0]
    """
    return np.asarray(np.where(members_of(targets), shares[:, None], 1.0).min(axis=0))


@dataclass(frozen=True, eq=False)
class WeightedLoss(DerivedLoss):
    """w·f(u; t), w in (0, 1] for each row.

    Slope and curvature are w times those of f, so a bound on f's holds, and a theorem about f is one about w·f (T48).
    The logistic loss keeps its tight bound, too: with p' = w·p the curvature w·p(1 − p) is p'(1 − p'/w), at most
    p'(1 − p').

    >>> from objpert_core.learning.problem.losses import LOGISTIC
    >>> halved = WeightedLoss(LOGISTIC, np.array([1.0, 0.5]))
    >>> halved.slopes(np.zeros(2)).tolist(), halved.lipschitz, halved.smoothness_of_rows.tolist()
    ([-0.5, -0.25], 1.0, [0.25, 0.125])
    """

    weights: FloatArray

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or not ((weights > 0) & (weights <= 1)).all():
            raise ValueError(f"weights must be one number above 0 and at most 1 for each row, got {self.weights!r}")
        object.__setattr__(self, "weights", weights)

    @property
    def lipschitz_of_rows(self) -> FloatArray | float:
        """See `Loss.lipschitz_of_rows`."""
        return self.weights * self.loss.lipschitz_of_rows

    @property
    def smoothness_of_rows(self) -> FloatArray | float:
        """See `Loss.smoothness_of_rows`."""
        return self.weights * self.loss.smoothness_of_rows

    def part(self, where: slice) -> WeightedLoss:
        """See `Loss.part`."""
        return WeightedLoss(self.loss.part(where), self.weights[where])

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """See `Loss.value`."""
        return self.weights * self.loss.value(scores, targets)

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """See `Loss.derivatives`."""
        slopes, curvature = self.loss.derivatives(scores, targets)
        return self.weights * slopes, self.weights * curvature

    def slopes(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """See `Loss.slopes`; in the precision of the scores."""
        slopes = self.loss.slopes(scores, targets)
        return np.asarray(slopes * self.weights.astype(slopes.dtype, copy=False))

    def kinks(self, slope: FloatArray | float, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """See `Loss.kinks`."""
        wanted: Any = slope / self.weights
        return self.loss.kinks(wanted, targets)
