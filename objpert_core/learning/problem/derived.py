"""Losses made of another loss f, row by row: clipped, weighted (docs/theorems.md, T48), one class against the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from objpert_core._validation import FloatArray, IntArray, between, check_fields, like_input, positive_array
from objpert_core.accounting.objective.one_vs_rest import SHORTEST_REST
from objpert_core.learning.problem.losses import LogisticLoss, Loss, Targets

LEAST_WEIGHT = 1e-150
"""A row that weighs less counts as none: quotients by a weight stay finite."""


@dataclass(frozen=True, eq=False)
class DerivedLoss(Loss):
    """A loss made of `loss`, f, with f's name, constant, sign, slopes and curvature where it does not say otherwise."""

    loss: Loss

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of f."""
        return self.loss.name

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        """Whether the slope of f keeps its sign."""
        return self.loss.monotone

    @property
    def lipschitz(self) -> float:
        return self.loss.lipschitz

    @property
    def smoothness(self) -> float:
        return self.loss.smoothness

    @property
    def smoothness_of_rows(self) -> FloatArray | float:
        return self.loss.smoothness_of_rows

    @property
    def takes_margins(self) -> bool:
        return self.loss.takes_margins

    @property
    def parameter(self) -> float | None:
        return self.loss.parameter


@dataclass(frozen=True, eq=False)
class ClippedLoss(DerivedLoss):
    """f_C: the loss whose gradients are those of `loss`, clipped in norm, in closed form.

    Between its kinks f_C is f; beyond them it goes on straight, with slope ∓c. The gradient at a row x is that of f
    rescaled to norm ≤ C where c = C/‖x‖; f_C is convex and as smooth as f.

    Redberg, Koskela and Wang (2023), Theorems E.2 (after Song et al. 2020, Lemma 5.1) and E.3. In print, the straight
    parts lack f(u_L) and f(u_H), without which f_C jumps at the kinks. There f_C'' jumps; b ↦ θ is a bijection all the
    same, Lipschitz both ways. `slope`, c, is > 0: one for all rows, or an array of one for each.

    Examples
    --------
    >>> from objpert_core.learning.problem.losses import HuberLoss, SquaredLoss
    >>> clipped, scores = ClippedLoss(SquaredLoss(), 1.0), np.array([0.5, 3.0])
    >>> bool(np.all(clipped.value(scores, 0.0) == HuberLoss(1.0).value(scores, 0.0)))
    True
    """

    slope: FloatArray | float

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", like_input(self.slope, positive_array("slope", self.slope)))

    @property
    def lipschitz(self) -> float:
        """The largest c, or the loss's own where that is less."""
        return min(self.loss.lipschitz, float(np.max(self.slope)))

    @property
    def lipschitz_of_rows(self) -> FloatArray | float:
        """Each row's c, or the loss's own where that is less."""
        return np.minimum(self.loss.lipschitz_of_rows, self.slope)

    def part(self, where: slice) -> ClippedLoss:
        return ClippedLoss(self.loss.part(where), of_rows(self.slope, where))

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """The clipped loss f_C, elementwise: f between the kinks, straight lines beyond."""
        nearest = np.clip(scores, *self.kinks(math.inf, targets))
        return self.loss.value(nearest, targets) + self.slope * np.abs(scores - nearest)

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """f' clipped to [−c, c], and f'' where it is not clipped."""
        slopes, curvature = self.loss.derivatives(scores, targets)
        return np.clip(slopes, -self.slope, self.slope), np.where(np.abs(slopes) < self.slope, curvature, 0.0)

    def kinks(self, slope: FloatArray | float = math.inf, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """Where clipping sets in; for a `slope` below c, see `Loss.kinks`."""
        return self.loss.kinks(np.minimum(slope, self.slope), targets)


def of_rows(constant: FloatArray | float, where: slice | IntArray) -> FloatArray | float:
    """What some rows have of a constant: their entries, or the number that all rows share."""
    return constant[where] if isinstance(constant, np.ndarray) else constant


def members_of(targets: FloatArray) -> NDArray[np.bool_]:
    """Whether each row is of each class, shape (K, n); `targets` has shape (K, n), or (n,) for two classes."""
    return np.asarray((np.array([-targets, targets]) if targets.ndim == 1 else targets) == 1.0)


def weights_by_class(targets: FloatArray, shares: FloatArray) -> FloatArray:
    """What each row weighs by its class; a row of no class weighs 1."""
    return np.asarray(np.where(members_of(targets), shares[:, None], 1.0).min(axis=0))


@dataclass(frozen=True, eq=False)
class WeightedLoss(DerivedLoss):
    """w·f(u; t), w in (0, 1] for each row: bounds on f's slope and curvature hold, and so do theorems about f (T48)."""

    weights: FloatArray

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or not ((weights > 0) & (weights <= 1)).all():
            raise ValueError(f"weights must be one number above 0 and at most 1 for each row, got {self.weights!r}")
        object.__setattr__(self, "weights", weights)

    @property
    def lipschitz_of_rows(self) -> FloatArray | float:
        return self.weights * self.loss.lipschitz_of_rows

    @property
    def smoothness_of_rows(self) -> FloatArray | float:
        return self.weights * self.loss.smoothness_of_rows

    def part(self, where: slice) -> WeightedLoss:
        return WeightedLoss(self.loss.part(where), self.weights[where])

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        return self.weights * self.loss.value(scores, targets)

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        slopes, curvature = self.loss.derivatives(scores, targets)
        return self.weights * slopes, self.weights * curvature

    def slopes(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """See `Loss.slopes`; in the precision of the scores."""
        slopes = self.loss.slopes(scores, targets)
        return np.asarray(slopes * self.weights.astype(slopes.dtype, copy=False))

    def kinks(self, slope: FloatArray | float, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        wanted: Any = slope / self.weights
        return self.loss.kinks(wanted, targets)


@dataclass(frozen=True)
class RestWeighted(LogisticLoss):
    """f(u; +1) = ℓ(u) for a row of the class and f(u; −1) = ℓ(−w·u) for other rows, as if these were w times as
    long."""

    weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, between(SHORTEST_REST, 1.0), "weight")

    def log_odds(self, scores: FloatArray) -> FloatArray:
        if self.weight == 1.0:
            return super().log_odds(scores)
        ahead = log_expit(self.margin + self.weight * scores) - log_expit(self.margin - scores)
        return np.log(self.weight) + ahead

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        return super().value(scores, self._signed(targets))

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        signed = self._signed(targets)
        slopes, curvature = super().derivatives(scores, signed)
        return slopes, curvature * signed**2

    def slopes(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
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
