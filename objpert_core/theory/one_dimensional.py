"""Objective perturbation with one parameter, where everything is explicit: the picture on the home page.

Conventions
    J(θ) = Σ log(1 + exp(k − yᵢ xᵢ θ)) + λ/2 θ²,  xᵢ real, yᵢ ∈ {−1, +1}, θ real, margin k ≥ 0
    M    = argmin J(θ) + bθ with b ~ N(0, σ²)

b ↦ M is a decreasing bijection with inverse b(θ) = −J′(θ), so by change of variables M has density
φ_σ(J′(θ)) · J″(θ) and distribution function Φ(J′(θ)/σ): no integral and no sampling is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, ndtri

from objpert_core._validation import (
    FloatArray,
    check_fields,
    epsilon_array,
    in_open_unit,
    like_input,
    nonnegative,
    positive,
    sign_labels,
)

_BISECTIONS = 100  # more than a double's 53 bits from any bracket; Newton steps usually need five
_LARGEST = 500.0  # ε; e^ε beyond it leaves little room before it overflows


@dataclass(frozen=True)
class OneDimensionalLogistic:
    """The law of objective perturbation's minimiser for logistic regression with one parameter.

    The change of variables is that of Redberg et al. (2023), proof of Theorem 3.1, in one dimension.

    `features` are n floats, `labels` n values in {-1, +1}, and n may be 0; `sigma` and `lam` are > 0, and `margin` >= 0
    is k, see `LogisticLoss`.

    >>> law = OneDimensionalLogistic([0.5, -1.0], [1, -1], sigma=2.0, lam=1.0)
    >>> grid = np.linspace(-15, 15, 3001)
    >>> round(float(np.trapezoid(law.density(grid), grid)), 6)
    1.0
    """

    features: Any
    labels: Any
    sigma: float
    lam: float
    margin: float = 0.0

    def __post_init__(self) -> None:
        x = np.array(self.features, dtype=float)
        if x.ndim != 1 or not np.isfinite(x).all():
            raise ValueError(f"features must be a sequence of finite numbers, got {self.features!r}")
        y = sign_labels(self.labels, x.size, "features")
        for name, value in (("features", x), ("labels", y)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        check_fields(self, positive, "sigma", "lam")
        check_fields(self, nonnegative, "margin")

    def add(self, feature: float, label: int) -> OneDimensionalLogistic:
        """The neighbouring data set with one more row."""
        return replace(self, features=np.append(self.features, feature), labels=np.append(self.labels, label))

    def objective(self, theta: Any, tilt: Any = 0.0) -> FloatArray:
        """J(θ) + tilt·θ at each θ; `tilt` is a number, or an array of θ's shape."""
        t = np.asarray(theta, dtype=float)
        margins = t[..., None] * (self.labels * self.features)
        return np.logaddexp(0.0, self.margin - margins).sum(axis=-1) + self.lam / 2 * t**2 + tilt * t

    def slope(self, theta: Any) -> FloatArray:
        """J′(θ): −b at the minimiser θ."""
        t = np.asarray(theta, dtype=float)
        signed = self.labels * self.features
        return self.lam * t - (signed * expit(self.margin - t[..., None] * signed)).sum(axis=-1)

    def curvature(self, theta: Any) -> FloatArray:
        """J″(θ) >= λ: the Jacobian of θ ↦ b."""
        t = np.asarray(theta, dtype=float)
        signed = self.labels * self.features
        ahead = t[..., None] * signed - self.margin
        return self.lam + (signed**2 * expit(ahead) * expit(-ahead)).sum(axis=-1)

    def log_density(self, theta: Any) -> FloatArray:
        """Natural logarithm of the density of the released minimiser."""
        scaled = self.slope(theta) / self.sigma
        constant = math.log(self.sigma) + 0.5 * math.log(2 * math.pi)
        return np.log(self.curvature(theta)) - scaled**2 / 2 - constant

    def density(self, theta: Any) -> FloatArray:
        """Density of the released minimiser, in units of 1/θ."""
        return np.exp(self.log_density(theta))

    def cdf(self, theta: Any) -> FloatArray:
        """Probability that the released minimiser is at most θ."""
        return ndtr(self.slope(theta) / self.sigma)

    def minimiser(self, tilt: Any) -> Any:
        """The θ that minimises J(θ) + tilt·θ, for a number or an array of tilts b."""
        b = np.asarray(tilt, dtype=float)
        reach = float(np.abs(self.features).sum())
        low, high = (-b - reach) / self.lam, (-b + reach) / self.lam
        theta = (low + high) / 2
        for _ in range(_BISECTIONS):
            slope = self.slope(theta) + b
            low, high = np.where(slope <= 0, theta, low), np.where(slope >= 0, theta, high)
            newton = theta - slope / self.curvature(theta)
            inside = (newton >= low) & (newton <= high)
            update = np.where(inside, newton, (low + high) / 2)
            if np.all(np.abs(update - theta) <= 4e-16 * np.maximum(1.0, np.abs(theta))):
                break
            theta = update
        return like_input(tilt, theta)

    def interval(self, outside: float = 1e-6) -> tuple[float, float]:
        """The θ between which the minimiser falls except with probability `outside`, half on each side."""
        reach = -self.sigma * float(ndtri(in_open_unit("outside", outside) / 2))
        low, high = self.minimiser(np.array([reach, -reach]))
        return float(low), float(high)

    def hockey_stick(self, other: OneDimensionalLogistic, epsilon: float, *, cells: int = 4000) -> float:
        """Integrate E[1 − e^{ε−loss}]₊ of this law against `other`: the exact δ of this pair of data sets at ε >= 0.

        A lower bound, which approaches the exact value from below as the `cells` get finer.
        """
        first, second = self._cells(other, cells)
        return float(np.maximum(first - math.exp(float(epsilon_array(epsilon))) * second, 0.0).sum())

    def pair_epsilon(self, other: OneDimensionalLogistic, delta: float, *, cells: int = 4000) -> float:
        """The smallest ε at which this pair of data sets is (ε, δ)-indistinguishable, in both directions.

        What one person in one data set pays, not a promise to anybody else. A lower bound, which approaches the exact
        value from below as the `cells` get finer; `math.inf` where a cell is reached from one data set only.

        >>> crowd = OneDimensionalLogistic([1.0] * 80, [1] * 48 + [-1] * 32, sigma=4.0, lam=1.0)
        >>> round(crowd.pair_epsilon(crowd.add(1.0, 1), 1e-5), 3)  # certified for everybody: 0.927
        0.502
        """
        target = in_open_unit("delta", delta)
        first, second = self._cells(other, cells)

        def excess(factor: float) -> float:
            return max(np.maximum(a - factor * b, 0.0).sum() for a, b in ((first, second), (second, first))) - target

        if excess(1.0) <= 0:
            return 0.0
        low, high = 0.0, 1.0
        while excess(math.exp(high)) > 0:
            low, high = high, 2 * high
            if high > _LARGEST:
                return math.inf
        for _ in range(_BISECTIONS // 2):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(math.exp(middle)) > 0 else (low, middle)
        return low

    def _cells(self, other: OneDimensionalLogistic, cells: int) -> tuple[FloatArray, FloatArray]:
        """Both laws' probabilities of `cells` intervals that hold all but 1e-15 of each, and of the two ends."""
        spans = np.array([self.interval(1e-15), other.interval(1e-15)])
        edges = np.concatenate(([-np.inf], np.linspace(spans.min(), spans.max(), cells + 1), [np.inf]))
        return self._masses(edges), other._masses(edges)

    def _masses(self, edges: FloatArray) -> FloatArray:
        """Probability of each interval between `edges`, without cancellation in the upper tail."""
        ends = np.concatenate(([-np.inf], self.slope(edges[1:-1]) / self.sigma, [np.inf]))
        low, high = ends[:-1], ends[1:]
        return np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
