"""Losses with corners: their slope jumps, so no solver and no proof of objective perturbation takes them as such."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from objpert_core._validation import FloatArray, check_fields, in_open_unit, nonnegative
from objpert_core.learning.problem.losses import LOSSES, Loss, MarginLoss, ResidualLoss, Targets


@dataclass(frozen=True)
class HingeLoss(MarginLoss):
    """The hinge ℓ(m) = max(0, 1 − m) of support vector machines.

    >>> HingeLoss().value(np.array([2.0, 0.0, -1.0])).tolist()
    [0.0, 1.0, 2.0]
    """

    name = "hinge"
    lipschitz = 1.0
    smoothness = math.inf

    def _value(self, margins: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - margins)

    def _derivatives(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -(margins < 1.0).astype(np.float64), np.zeros_like(margins)

    def _margin_of_slope(self, slope: FloatArray) -> FloatArray:
        return np.where(slope < 1, 1.0, -np.inf)


@dataclass(frozen=True)
class AbsoluteLoss(ResidualLoss):
    """The absolute loss ℓ(r) = |r|: its best constant is the median.

    >>> AbsoluteLoss().value(np.array([3.0, -2.0]), np.array([1.0, 1.0])).tolist()
    [2.0, 3.0]
    """

    name = "absolute"
    lipschitz = 1.0
    smoothness = math.inf

    def _value(self, residuals: FloatArray) -> FloatArray:
        return np.abs(residuals)

    def _derivatives(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.sign(residuals), np.zeros_like(residuals)

    def _residual_of_slope(self, slope: FloatArray) -> FloatArray:
        return np.where(slope < 1, 0.0, np.inf)


@dataclass(frozen=True)
class EpsilonInsensitiveLoss(ResidualLoss):
    """The loss ℓ(r) = max(0, |r| − `width`) of support vector regression: residuals up to `width` >= 0 cost nothing.

    The field calls the width ε; here ε is privacy.

    >>> EpsilonInsensitiveLoss(0.5).value(np.array([0.25, -2.0]), 0.0).tolist()
    [0.0, 1.5]
    """

    width: float = 0.1

    name = "epsilon-insensitive"
    lipschitz = 1.0
    smoothness = math.inf

    def __post_init__(self) -> None:
        check_fields(self, nonnegative, "width")

    @property
    def parameter(self) -> float:
        """The width: residuals up to it cost nothing."""
        return self.width

    def _value(self, residuals: FloatArray) -> FloatArray:
        return np.maximum(0.0, np.abs(residuals) - self.width)

    def _derivatives(self, residuals: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.sign(residuals) * (np.abs(residuals) > self.width), np.zeros_like(residuals)

    def _residual_of_slope(self, slope: FloatArray) -> FloatArray:
        return np.where(slope < 1, self.width, np.inf)


@dataclass(frozen=True)
class PinballLoss(Loss):
    """The pinball loss of quantile regression: f(u; t) = τ(t − u) below the target, (1 − τ)(u − t) above.

    Koenker and Bassett (1978). `quantile` is τ, strictly between 0 and 1: at 1/2 the loss is half the absolute loss.

    >>> PinballLoss(0.25).value(np.array([-4.0, 4.0]), 0.0).tolist()
    [1.0, 3.0]
    """

    quantile: float = 0.5

    name = "pinball"
    monotone = False
    smoothness = math.inf

    def __post_init__(self) -> None:
        check_fields(self, in_open_unit, "quantile")

    @property
    def lipschitz(self) -> float:
        """The steeper of the two slopes, max(τ, 1 − τ)."""
        return max(self.quantile, 1.0 - self.quantile)

    @property
    def parameter(self) -> float:
        """The quantile τ."""
        return self.quantile

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        residuals = scores - targets
        return np.maximum(-self.quantile * residuals, (1.0 - self.quantile) * residuals)

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """−τ below the target and 1 − τ above; 0 at the target."""
        residuals = scores - targets
        slopes = np.where(residuals > 0, 1.0 - self.quantile, np.where(residuals < 0, -self.quantile, 0.0))
        return slopes, np.zeros_like(slopes)

    def kinks(self, slope: FloatArray | float, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """The target, on the sides that are steeper than `slope`."""
        low = np.where(np.asarray(slope) < self.quantile, targets, -np.inf)
        high = np.where(np.asarray(slope) < 1.0 - self.quantile, targets, np.inf)
        return low, high


NON_SMOOTH_LOSSES: Mapping[str, type[Loss]] = MappingProxyType(
    {loss.name: loss for loss in (HingeLoss, AbsoluteLoss, PinballLoss, EpsilonInsensitiveLoss)}
)
"""Losses with corners, by name."""

EVERY_LOSS: Mapping[str, type[Loss]] = MappingProxyType({**LOSSES, **NON_SMOOTH_LOSSES})
"""All losses by name, for `loss_named(name, parameter, EVERY_LOSS)`."""
