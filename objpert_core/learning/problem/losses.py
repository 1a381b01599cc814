"""Losses of generalised linear models, as scalar functions of a row's score.

Conventions of this package, said once
--------------------------------------
* The objective is a *sum* over the n rows, not a mean (the privacy proofs need it that way)::

      J(θ) = Σᵢ f(uᵢ; tᵢ) + λ/2 ‖θ‖² + bᵀθ,     uᵢ = x̃ᵢᵀθ

* u is row i's "score", t its target: ±1.0 for a `MarginLoss`, f(u; t) = ℓ(t u), where t u is the "margin"; any number
  for a `ResidualLoss`, f(u; t) = ℓ(u − t).
* x̃ᵢ is row i after the row norm was enforced (`rows.Rows`), followed by the constant s = `intercept_scaling` where an
  intercept is fitted, which is penalised like every other entry. θ has shape (D,), D = d + 1 with an intercept.
* ‖x̃ᵢ‖ ≤ R = √(1 + s²). A loss with |f'| ≤ L and 0 ≤ f'' ≤ β has gradients of norm ≤ L R and Hessians of norm ≤ β R².
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit

from objpert_core._validation import FloatArray, choice, nonnegative, positive

Targets = FloatArray | float


class Loss(ABC):
    """A convex loss f(u; t) of a row's score u: what an objective and a privacy proof need to know of it."""

    name: ClassVar[str]
    """The name that certificates print and `loss_named` knows."""
    monotone: ClassVar[bool]
    """Whether f' has one sign for every target, so that the bound "monotone" covers the loss."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """The largest |f'|; `inf` where f' is unbounded."""

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """The largest f''; `inf` where f has a corner."""

    @property
    def smoothness_of_rows(self) -> FloatArray | float:
        """The largest f'' of each row's loss, shape (n,), where the rows differ; else `smoothness`."""
        return self.smoothness

    @property
    def lipschitz_of_rows(self) -> FloatArray | float:
        """The largest |f'| of each row's loss, shape (n,), where the rows differ; else `lipschitz`."""
        return self.lipschitz

    @property
    def takes_margins(self) -> bool:
        """Whether f(u; t) = ℓ(t u), rather than ℓ(u − t)."""
        return isinstance(self, MarginLoss)

    @property
    def parameter(self) -> float | None:
        """The loss's own constant, where it has one: what `loss_named` needs besides the name."""
        return None

    def part(self, where: slice) -> Loss:
        """Return the loss of these rows alone; itself, unless it has a constant for each row."""
        return self

    @abstractmethod
    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """f, elementwise, shape (n,)."""

    @abstractmethod
    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """(f', f'') with respect to the score, elementwise, from one pass."""

    def slopes(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """f' alone, the same numbers as from `derivatives`."""
        return self.derivatives(scores, targets)[0]

    @abstractmethod
    def kinks(self, slope: FloatArray | float, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """The scores (u_L, u_H) between which |f'| ≤ `slope` > 0; ∓inf where f' does not reach the slope."""


class MarginLoss(Loss):
    """f(u; t) = ℓ(t u) with t = ±1. Subclasses give ℓ, which falls: ℓ' ≤ 0."""

    monotone = True

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        return self._value(targets * scores)

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """Slope t ℓ'(t u) and curvature ℓ''(t u), elementwise."""
        slopes, curvature = self._derivatives(targets * scores)
        return targets * slopes, curvature

    def kinks(self, slope: FloatArray | float, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """See `Loss.kinks`. One of the two is infinite: ℓ is steep only on the side of wrong answers."""
        margin = self._margin_of_slope(np.asarray(slope, dtype=np.float64))
        low = np.where(np.asarray(targets) > 0, margin, -np.inf)
        high = np.where(np.asarray(targets) > 0, np.inf, -margin)
        return low, high

    @abstractmethod
    def _value(self, margins: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _derivatives(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]: ...

    @abstractmethod
    def _margin_of_slope(self, slope: FloatArray) -> FloatArray:
        """The margin below which ℓ' < −slope; −inf if ℓ' is never so steep."""


class ResidualLoss(Loss):
    """f(u; t) = ℓ(u − t) with ℓ even, for regression."""

    monotone = False

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        return self._value(scores - targets)

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """Slope ℓ'(u − t) and curvature ℓ''(u − t), elementwise."""
        return self._derivatives(scores - targets)

    def kinks(self, slope: FloatArray | float, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """The target less and plus the residual at which ℓ' = slope."""
        residual = self._residual_of_slope(np.asarray(slope, dtype=np.float64))
        return targets - residual, targets + residual

    @abstractmethod
    def _value(self, residuals: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _derivatives(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]: ...

    @abstractmethod
    def _residual_of_slope(self, slope: FloatArray) -> FloatArray:
        """The residual above which ℓ' > slope; inf if ℓ' is never so steep."""


@dataclass(frozen=True)
class LogisticLoss(MarginLoss):
    """The logistic loss ℓ(m) = log(1 + e^{k − m}) with a `margin` k >= 0 to be reached, stable for margins of any size.

    A margin costs no worst-case privacy: whatever k, ℓ' = −p and ℓ'' = p(1 − p) for a p between 0 and 1, and our
    theorem (bound "logistic") uses no more than that (docs/theorems.md, T2). But an ordinary row comes closer to the
    worst case: at the score 0 it pulls with half of what privacy is paid for without a margin, with 82 % where k = 1.5.

    >>> LogisticLoss().value(np.array([0.0, 800.0, -800.0])).round(6).tolist()
    [0.693147, 0.0, 800.0]
    """

    margin: float = 0.0

    name = "logistic"
    lipschitz = 1.0
    smoothness = 0.25

    def __post_init__(self) -> None:
        object.__setattr__(self, "margin", nonnegative("margin", self.margin))

    @property
    def parameter(self) -> float:
        """The margin k."""
        return self.margin

    def log_odds(self, scores: FloatArray) -> FloatArray:
        """log(η/(1 − η)) where a score has the least expected loss if the positive class has probability η.

        There η/(1 − η) = ℓ'(−u)/ℓ'(u), which is e^u without a margin.

        >>> LogisticLoss(2.0).log_odds(np.array([-2.0, 0.0, 3.0])).round(3).tolist()
        [-0.675, 0.0, 1.307]
        """
        if not self.margin:
            return scores
        return log_expit(self.margin + scores) - log_expit(self.margin - scores)

    def _value(self, margins: FloatArray) -> FloatArray:
        return -log_expit(margins - self.margin)  # neither overflows nor loses the tail

    def _derivatives(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        ahead = margins - self.margin
        wrong = expit(-ahead)  # p, without a margin the probability given to the wrong label: ℓ' = −p, ℓ'' = p(1 − p)
        # 1 − p loses its digits as p → 1; the other tail's expit does not.
        return -wrong, wrong * expit(ahead)

    def slopes(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """See `Loss.slopes`; half of what `derivatives` computes."""
        ahead = targets * scores - self.margin
        if ahead.dtype == np.float32:  # a rough objective's: tanh is faster, and tails need no digits there
            return targets * (np.tanh(ahead / 2) - 1) / 2
        return targets * -expit(-ahead)

    def _margin_of_slope(self, slope: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            ahead = np.where(slope < 1, np.log1p(-np.minimum(slope, 1.0)) - np.log(slope), -np.inf)
        return ahead + self.margin


@dataclass(frozen=True)
class SquaredHingeLoss(MarginLoss):
    """The squared hinge ℓ(m) = max(0, 1 − m)²/2; its slope is unbounded, so Algorithm 1 needs it clipped.

    >>> SquaredHingeLoss().value(np.array([2.0, 0.0, -1.0])).tolist()
    [0.0, 0.5, 2.0]
    """

    name = "squared-hinge"
    lipschitz = math.inf
    smoothness = 1.0

    def _value(self, margins: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - margins) ** 2 / 2

    def _derivatives(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        short = np.maximum(0.0, 1.0 - margins)
        return -short, (short > 0).astype(np.float64)

    def _margin_of_slope(self, slope: FloatArray) -> FloatArray:
        return 1.0 - slope


@dataclass(frozen=True)
class HuberisedHingeLoss(MarginLoss):
    """The hinge max(0, 1 − m) with its corner rounded by a parabola over |1 − m| ≤ `width`.

    The "Huber loss" of Chaudhuri, Monteleoni and Sarwate (2011), Section 3.4.2, which takes h = `width` = 0.5: in the
    corner it is (1 + h − m)²/(4h), so that |ℓ'| ≤ 1 and ℓ'' ≤ 1/(2h).

    >>> HuberisedHingeLoss(0.5).value(np.array([2.0, 1.0, 0.0, -1.0])).tolist()
    [0.0, 0.125, 1.0, 2.0]
    """

    width: float = 0.5

    name = "huberised-hinge"
    lipschitz = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", positive("width", self.width))

    @property
    def smoothness(self) -> float:
        """The parabola's curvature, 1/(2h)."""
        return 1 / (2 * self.width)

    @property
    def parameter(self) -> float:
        """Half the width h of the rounded corner."""
        return self.width

    def _value(self, margins: FloatArray) -> FloatArray:
        short = 1.0 - margins
        rounded = np.maximum(0.0, short + self.width) ** 2 / (4 * self.width)
        return np.where(short > self.width, short, rounded)

    def _derivatives(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        ramp = (1.0 - margins + self.width) / (2 * self.width)
        inside = (ramp > 0) & (ramp < 1)
        return -np.clip(ramp, 0.0, 1.0), np.where(inside, self.smoothness, 0.0)

    def _margin_of_slope(self, slope: FloatArray) -> FloatArray:
        return np.where(slope < 1, 1.0 + self.width - 2 * self.width * slope, -np.inf)


@dataclass(frozen=True)
class SquaredLoss(ResidualLoss):
    """The squared loss ℓ(r) = r²/2; its slope is unbounded, so Algorithm 1 needs it clipped.

    >>> SquaredLoss().value(np.array([3.0]), np.array([1.0])).tolist()
    [2.0]
    """

    name = "squared"
    lipschitz = math.inf
    smoothness = 1.0

    def _value(self, residuals: FloatArray) -> FloatArray:
        return residuals**2 / 2

    def _derivatives(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        return residuals, np.ones_like(residuals)

    def _residual_of_slope(self, slope: FloatArray) -> FloatArray:
        return slope


@dataclass(frozen=True)
class HuberLoss(ResidualLoss):
    """Huber's loss (1964): r²/2 up to |r| = `threshold` and a straight line beyond, so |ℓ'| ≤ threshold.

    >>> HuberLoss(1.0).value(np.array([0.5, 3.0]), 0.0).tolist()
    [0.125, 2.5]
    """

    threshold: float = 1.0

    name = "huber"
    smoothness = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", positive("threshold", self.threshold))

    @property
    def lipschitz(self) -> float:
        """The slope of the straight lines: the threshold."""
        return self.threshold

    @property
    def parameter(self) -> float:
        """The threshold, where the parabola ends."""
        return self.threshold

    def _value(self, residuals: FloatArray) -> FloatArray:
        size = np.abs(residuals)
        inner = np.minimum(size, self.threshold)
        return inner * (size - inner / 2)

    def _derivatives(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        inside = np.abs(residuals) <= self.threshold
        return np.clip(residuals, -self.threshold, self.threshold), inside.astype(np.float64)

    def _residual_of_slope(self, slope: FloatArray) -> FloatArray:
        return np.where(slope < self.threshold, slope, np.inf)


LOGISTIC = LogisticLoss()

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss for loss in (LogisticLoss, SquaredHingeLoss, HuberisedHingeLoss, SquaredLoss, HuberLoss)
}
"""Losses by the name that certificates print."""


def loss_named(
    name: str, parameter: float | None = None, among: Mapping[str, type[Loss]] = MappingProxyType(LOSSES)
) -> Loss:
    """Return the loss of that name, with its own constant `parameter` where it has one; ValueError if there is none.

    `nonsmooth.EVERY_LOSS` as `among` allows losses with corners, too.

    >>> loss_named("huber", 1.5)
    HuberLoss(threshold=1.5)
    """
    kind = among[choice("loss", name, tuple(among))]
    if parameter is None:
        return kind()
    if kind().parameter is None:
        raise ValueError(f"parameter must be None for the loss {name!r}, got {parameter!r}")
    return kind(parameter)  # type: ignore[call-arg]
