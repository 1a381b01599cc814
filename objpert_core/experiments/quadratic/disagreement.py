"""What a bend leaks once two records disagree, exactly: one dimension, two data sets that differ in one label.

The anchor is θ* = 1. All records have x = 1 and the label θ*, but for one, whose label is off by e: up in the first
data set, down in the second. With r(θ) = ωθ and W ~ χ²_m the release is

    θ = 1 − (ω ∓ e)/B,   B = n + σ²W,

so that 1/(1 − θ) is B/(ω − e) against B/(ω + e): the same law on two scales. The bend's certificate does not cover this
leak, as its theorem supposes e = 0. The tilt of theorem T34 mends it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc

from objpert_core._validation import check_fields, finite, nonnegative, positive, positive_integer
from objpert_core.accounting import Gaussian


@dataclass(frozen=True)
class ScaledChiSquare:
    """The law of a + b·Y, Y ~ χ²_m, with a = `start` and b = `scale`."""

    start: float
    scale: float
    degrees_of_freedom: int

    def __post_init__(self) -> None:
        finite("start", self.start)
        positive("scale", self.scale)
        positive_integer("degrees_of_freedom", self.degrees_of_freedom)

    def log_density(self, u: float) -> float:
        """log of its density at u, right of where it starts."""
        half, y = self.degrees_of_freedom / 2, (u - self.start) / (2 * self.scale)
        return (half - 1) * math.log(y) - y - math.lgamma(half) - math.log(2 * self.scale)

    def between(self, low: float, high: float) -> float:
        """P[low < a + bY <= high], by whichever tail is the smaller one."""
        left, right = (max(end - self.start, 0.0) / (2 * self.scale) for end in (low, high))
        half = self.degrees_of_freedom / 2
        if left > half:
            return float(gammaincc(half, left) - gammaincc(half, right))
        return float(gammainc(half, right) - gammainc(half, left))


def divergence(first: ScaledChiSquare, second: ScaledChiSquare, epsilon: float) -> float:
    """The hockey-stick divergence ∫ [p − e^ε q]₊ of two such laws with the same m."""
    nonnegative("epsilon", epsilon)
    if first.degrees_of_freedom != second.degrees_of_freedom:
        raise ValueError(
            f"degrees_of_freedom must be those of the first law, {first.degrees_of_freedom}, "
            f"got {second.degrees_of_freedom}"
        )
    edge = max(first.start, second.start)
    alone = first.between(first.start, edge)  # where the second law has nothing

    def excess(u: float) -> float:
        return first.log_density(u) - second.log_density(u) - epsilon

    total, ends = alone, [edge, *_turning_points(first, second, edge), _far(first, second, edge)]
    for low, high in itertools.pairwise(ends):
        inside = low + 1e-13 * (high - low)  # the log-density may be infinite at the edge itself
        if excess(inside) > 0 < excess(high):
            part = (low, high)
        elif excess(inside) > 0:
            part = (low, brentq(excess, inside, high, xtol=1e-14 * max(high, 1.0)))
        elif excess(high) > 0:
            part = (brentq(excess, inside, high, xtol=1e-14 * max(high, 1.0)), high)
        else:
            continue
        total += first.between(*part) - math.exp(epsilon) * second.between(*part)
    return min(max(total, 0.0), 1.0)


def _turning_points(first: ScaledChiSquare, second: ScaledChiSquare, edge: float) -> list[float]:
    """Where the ratio of the densities turns, right of the edge: at most two places, the roots of a quadratic."""
    power = first.degrees_of_freedom / 2 - 1
    rate = 1 / (2 * second.scale) - 1 / (2 * first.scale)
    if rate == 0:
        return []
    # power·(a₁ − a₂) + rate·(u − a₁)(u − a₂) = 0
    middle, half = (first.start + second.start) / 2, (first.start - second.start) / 2
    square = half * half - 2 * power * half / rate
    if square <= 0:
        return []
    root = math.sqrt(square)
    return [u for u in (middle - root, middle + root) if u > edge]


def _far(first: ScaledChiSquare, second: ScaledChiSquare, edge: float) -> float:
    """A place beyond which neither law has anything that a double could tell."""
    m = first.degrees_of_freedom
    return max(edge + 1.0, *(law.start + law.scale * (m + 60 * math.sqrt(m) + 1600) for law in (first, second)))


@dataclass(frozen=True)
class Disagreement:
    """One of n records (x = 1) has a label off the interpolation, this way or that; `scale` is σ² and `penalty` ω."""

    scale: float
    degrees_of_freedom: int
    rows: int
    penalty: float

    def __post_init__(self) -> None:
        check_fields(self, positive, "scale", "penalty")
        check_fields(self, positive_integer, "degrees_of_freedom", "rows")

    def law(self, displacement: float) -> ScaledChiSquare:
        """The law of 1/(1 − θ) where the label is off by `displacement`, between −ω and ω."""
        if not abs(displacement) < self.penalty:
            raise ValueError(
                f"displacement must be a number strictly between -{self.penalty:g} and {self.penalty:g}, "
                f"got {displacement!r}"
            )
        slope = self.penalty - displacement
        return ScaledChiSquare(self.rows / slope, self.scale / slope, self.degrees_of_freedom)

    def delta(self, displacement: float, epsilon: float) -> float:
        """The true δ of releasing θ by the bend alone, the larger of both directions."""
        up, down = self.law(displacement), self.law(-displacement)
        return max(divergence(up, down, epsilon), divergence(down, up, epsilon))


def tilted_delta(displacement: float, epsilon: float, residual_bound: float, sigma: float) -> float:
    """The true δ of all that a solver sees of bend and tilt in these data, and hence no less than that of θ."""
    limit = positive("residual_bound", residual_bound)
    moved = 2 * min(abs(finite("displacement", displacement)), limit)
    return float(Gaussian(positive("sigma", sigma), moved).delta(epsilon)) if moved > 0 else 0.0
