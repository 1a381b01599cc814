"""What a bend leaks once two records disagree, exactly: one dimension, two data sets that differ in one label.

The anchor is θ* = 1. All records have x = 1 and the label θ*, but for one: its label is off by e in the first data set.
With r(θ) = ωθ and W ~ χ²_m the release is

    θ = 1 − (ω − e)/B,   B = n + σ²W,

so that 1/(1 − θ) is B/(ω − e), against B/ω in the second data set: the same law on another scale. Both have a density,
and their divergence is a sum of differences of cumulative distributions. The bend's certificate says nothing of it, as
its theorem supposes e = 0. The tilt of theorem T34 mends it: then the solver sees B and a noisy sum of clipped
residuals only, of which everything that leaks is the Gaussian mechanism's.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from objpert_core._validation import finite, nonnegative, positive, positive_integer
from objpert_core.accounting import Gaussian


@dataclass(frozen=True)
class ScaledChiSquare:
    """The law of a + b·Y, Y ~ χ²_m.

    Attributes
    ----------
    start : float
        a.
    scale : float > 0
        b.
    degrees_of_freedom : int >= 1
        m.
    """

    start: float
    scale: float
    degrees_of_freedom: int

    def __post_init__(self) -> None:
        finite("start", self.start)
        positive("scale", self.scale)
        positive_integer("degrees_of_freedom", self.degrees_of_freedom)

    def log_density(self, u: float) -> float:
        """log of its density at u."""
        return float(chi2.logpdf((u - self.start) / self.scale, self.degrees_of_freedom) - math.log(self.scale))

    def between(self, low: float, high: float) -> float:
        """P[low < a + bY <= high], by whichever tail is the smaller one."""
        left, right = ((end - self.start) / self.scale for end in (low, high))
        m = self.degrees_of_freedom
        if left > m:
            return float(chi2.sf(left, m) - chi2.sf(right, m))
        return float(chi2.cdf(right, m) - chi2.cdf(left, m))


def divergence(first: ScaledChiSquare, second: ScaledChiSquare, epsilon: float) -> float:
    """The hockey-stick divergence of two such laws with one m: ∫ [p − e^ε q]₊.

    Parameters
    ----------
    first, second : ScaledChiSquare
    epsilon : float >= 0

    Raises
    ------
    ValueError
        If their degrees of freedom differ, or `epsilon` is out of range.

    Examples
    --------
    >>> law = ScaledChiSquare(0.0, 1.0, 5)
    >>> divergence(law, law, 0.1)
    0.0
    """
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
    """Beyond this neither law has anything that a double could tell."""
    m = first.degrees_of_freedom
    return max(edge + 1.0, *(law.start + law.scale * (m + 60 * math.sqrt(m) + 1600) for law in (first, second)))


@dataclass(frozen=True)
class Disagreement:
    """One record's label moves off the interpolation.

    Attributes
    ----------
    scale : float > 0
        σ².
    degrees_of_freedom : int >= 2
        m.
    rows : int >= 1
        n, with x = 1 each.
    penalty : float > 0
        ω.

    Raises
    ------
    ValueError
        If one of them is out of range.

    Examples
    --------
    >>> data = Disagreement(scale=20.0, degrees_of_freedom=10, rows=10, penalty=5.0)
    >>> data.delta(0.0, 1.0), 0.01 < data.delta(1.0, 1.0) < data.delta(2.0, 1.0) < 1
    (0.0, True)
    """

    scale: float
    degrees_of_freedom: int
    rows: int
    penalty: float

    def __post_init__(self) -> None:
        positive("scale", self.scale)
        positive_integer("degrees_of_freedom", self.degrees_of_freedom)
        positive_integer("rows", self.rows)
        positive("penalty", self.penalty)

    def law(self, displacement: float) -> ScaledChiSquare:
        """The law of 1/(1 − θ) where the label is off by `displacement` < ω."""
        slope = self.penalty - displacement
        if not 0 < slope < math.inf:
            raise ValueError(f"displacement must be a finite number < {self.penalty:g}, got {displacement!r}")
        return ScaledChiSquare(self.rows / slope, self.scale / slope, self.degrees_of_freedom)

    def delta(self, displacement: float, epsilon: float) -> float:
        """The true δ of releasing θ by the bend alone, the larger of both directions."""
        off, on = self.law(displacement), self.law(0.0)
        return max(divergence(off, on, epsilon), divergence(on, off, epsilon))


def tilted_delta(displacement: float, epsilon: float, residual_bound: float, sigma: float) -> float:
    """The true δ of all that a solver sees of bend and tilt in these data, and hence no less than that of θ.

    Both data sets have the same Gram matrix, so that only the noisy sum of residuals tells them apart.

    Parameters
    ----------
    displacement : float
        By how much the label is off; clipped to `residual_bound`.
    epsilon : float >= 0
    residual_bound : float > 0
    sigma : float > 0
        Standard deviation of the tilt.

    Raises
    ------
    ValueError
        If one of them is out of range.

    Examples
    --------
    >>> tilted_delta(2.0, 1.0, 1.0, 4.0) == tilted_delta(1.0, 1.0, 1.0, 4.0) > tilted_delta(0.5, 1.0, 1.0, 4.0)
    True
    """
    limit = positive("residual_bound", residual_bound)
    moved = abs(float(np.clip(finite("displacement", displacement), -limit, limit)))
    return float(Gaussian(positive("sigma", sigma), moved).delta(epsilon)) if moved > 0 else 0.0
