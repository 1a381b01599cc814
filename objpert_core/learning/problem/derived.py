"""Losses made of another loss f, row by row: each tells what of f it keeps by not saying anything else."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, IntArray, like_input, positive_array
from objpert_core.learning.problem.losses import Loss, Targets


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
        """The largest |f'|; `inf` where f' is unbounded."""
        return self.loss.lipschitz

    @property
    def smoothness(self) -> float:
        """The largest f''; `inf` where f has a corner."""
        return self.loss.smoothness

    @property
    def smoothness_of_rows(self) -> FloatArray | float:
        """The largest f'' of each row's loss."""
        return self.loss.smoothness_of_rows

    @property
    def takes_margins(self) -> bool:
        """Whether f takes margins."""
        return self.loss.takes_margins

    @property
    def parameter(self) -> float | None:
        """The constant of f, where it has one."""
        return self.loss.parameter


@dataclass(frozen=True, eq=False)
class ClippedLoss(DerivedLoss):
    """f_C: the loss whose gradients are those of `loss`, clipped in norm, in closed form.

    Between its kinks f_C is f; beyond them f_C goes on straight, with slope ∓c, so |f_C'| ≤ c. The gradient of f_C at a
    row x is that of f rescaled to norm ≤ C where c = C/‖x‖; f_C is convex and as smooth as f.

    Redberg, Koskela and Wang (2023), Theorems E.2 (after Song et al. 2020, Lemma 5.1) and E.3. In print, the straight
    parts of f_C lack the constants f(u_L) and f(u_H), without which f_C jumps at the kinks, and gradients are rescaled
    by the norm of u_x(θ), where the gradients' own norm is meant. At the kinks f_C' is continuous and f_C'' jumps; b ↦
    θ is a bijection all the same, Lipschitz both ways, and its Jacobian exists except on a null set, where θ almost
    never is.

    Parameters
    ----------
    loss : Loss
    slope : float > 0 or ndarray of shape (n,)
        c, one for all rows or one for each; ValueError unless finite and > 0.

    Examples
    --------
    >>> from objpert_core.learning.problem.losses import HuberLoss, SquaredLoss
    >>> clipped = ClippedLoss(SquaredLoss(), 1.0)
    >>> bool(np.all(clipped.value(np.array([0.5, 3.0]), 0.0) == HuberLoss(1.0).value(np.array([0.5, 3.0]), 0.0)))
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
        """Return the clipped loss of these rows, with their slopes."""
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
