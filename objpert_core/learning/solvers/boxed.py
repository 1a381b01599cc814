"""A quadratic, a weighted sum of absolute values and a box: the problem that a noisy Gram matrix poses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, nonnegative, positive

_U = 2.0**-53


@dataclass(frozen=True, eq=False)
class BoxedLasso:
    """The problem: `curvature` is B, `slope` c, `centre` θ̃ and `penalty` α; low and high may be infinite.

    >>> two = np.array([1.0, 1.0])
    >>> problem = BoxedLasso(2 * np.eye(2), np.array([-4.0, -0.5]), 0 * two, two, -9 * two, 9 * two)
    >>> problem.residual(np.array([1.5, 0.0])), problem.residual(np.array([1.0, 0.0]))
    (0.0, 1.0)
    """

    curvature: FloatArray
    slope: FloatArray
    centre: FloatArray
    penalty: FloatArray
    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        if self.curvature.shape != (self.dimension, self.dimension):
            raise ValueError(
                f"curvature must have shape {(self.dimension, self.dimension)} for a slope of {self.dimension} "
                f"numbers, got {self.curvature.shape}"
            )
        for name in ("centre", "penalty", "low", "high"):
            if (shape := getattr(self, name).shape) != (self.dimension,):
                raise ValueError(f"{name} must have shape {(self.dimension,)}, got {shape}")
        if not (self.penalty >= 0).all():
            raise ValueError(f"penalty must be numbers >= 0, got {float(self.penalty[~(self.penalty >= 0)][0])}")
        if not (self.low <= self.high).all():
            where = int(np.argmin(self.low <= self.high))
            raise ValueError(f"low must be at most high, got {float(self.low[where])} and {float(self.high[where])}")

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.slope)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """The quadratic's gradient, B(θ − θ̃) + c."""
        return np.asarray(self.curvature @ (theta - self.centre) + self.slope)

    def value(self, theta: FloatArray) -> float:
        """J(θ); the box is not looked at."""
        moved = theta - self.centre
        return float(moved @ (self.curvature @ moved) / 2 + self.slope @ moved + self.penalty @ np.abs(theta))

    def residual(self, theta: FloatArray, gradient: FloatArray | None = None) -> float:
        """The distance of 0 from ∂J(θ) plus the normals of the box at θ, a point of the box; `gradient` if known."""
        slope = self.gradient(theta) if gradient is None else gradient
        least = slope + np.where(theta > 0, self.penalty, -self.penalty)
        most = slope + np.where(theta < 0, -self.penalty, self.penalty)
        least[theta <= self.low] = -np.inf
        most[theta >= self.high] = np.inf
        return math.hypot(*np.maximum(0.0, np.maximum(least, -most)))  # which overflows no sooner than it must

    def rounding(self, theta: FloatArray) -> float:
        """How long a gradient computed in doubles may be next to the minimum: no residual need be smaller."""
        lengths = np.abs(theta - self.centre) + np.abs(theta)  # the second as θ itself is rounded
        sizes = np.abs(self.curvature) @ lengths + np.abs(self.slope) + self.penalty
        return 2 * (self.dimension + 4) * _U * math.hypot(*sizes)


def residual_for_gap(gap: float, curvature: float) -> float:
    """Find the residual at which J is surely within `gap` of its least value: √(2·gap·μ)."""
    return math.sqrt(2 * nonnegative("gap", gap) * positive("curvature", curvature))
