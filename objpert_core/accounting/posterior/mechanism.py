"""Posterior sampling in linear regression: one draw from N(θ*, Λ⁻¹/γ), with the exact privacy of one row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from objpert_core._validation import FloatArray, between, check_fields, or_zero
from objpert_core.accounting.laws.base import PrivacyLoss, Steps
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI
from objpert_core.accounting.posterior import profile as posterior


@dataclass(frozen=True)
class PosteriorLoss(PrivacyLoss):
    """ω = ±(u²/2 − ρ/(2(1 + h)) − ½·log(1 + h)), V = ±(|u| − E[u]) in standard deviations of u.
    "add" has + and u ~ N(√ρ, h), the law without the row; "remove" has − and u ~ N(√ρ/(1 + h), h/(1 + h)). |u| is
    counted from its middle, so that no digits are lost where h is small."""

    h: float
    rho: float
    direction: str  # "remove" or "add"

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction == "add" else -1.0

    @property
    def _variance(self) -> float:
        return self.h if self.direction == "add" else self.h / (1 + self.h)

    @property
    def _mean(self) -> float:
        """The mean of u, in standard deviations."""
        mean = math.sqrt(self.rho) / (1.0 if self.direction == "add" else 1 + self.h)
        return mean / math.sqrt(self._variance)

    @property
    def _at_mean(self) -> float:
        shift = self.rho * self.h / (1 + self.h) / 2
        return (shift if self.direction == "add" else -shift / (1 + self.h)) - math.log1p(self.h) / 2

    def loss(self, v: FloatArray) -> FloatArray:
        away = self._sign * v
        return self._sign * (self._variance * away * (away / 2 + self._mean) + self._at_mean)

    def position(self, epsilon: FloatArray) -> FloatArray:
        """v with ω(v) = ε; the end of the range where ω does not reach ε."""
        more = 2 * (self._sign * epsilon - self._at_mean) / self._variance
        away = (
            more / (self._mean + np.sqrt(np.maximum(self._mean**2 + more, 0.0)))
            if self._mean
            else np.sqrt(np.maximum(more, 0.0))
        )
        return self._sign * np.maximum(away, -self._mean)

    def lowest(self) -> float:
        """Where u = 0 for "add", the whole negative half-line for "remove"."""
        return -self._mean if self.direction == "add" else -np.inf

    def highest(self) -> float:
        """The loss at u = 0 where the row is removed."""
        return np.inf if self.direction == "add" else self.rho / (2 * (1 + self.h)) + math.log1p(self.h) / 2

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """log of the density of V at v: a normal one, folded at u = 0."""
        away = self._sign * v
        folded = np.logaddexp(-0.5 * np.square(away), -0.5 * np.square(away + 2 * self._mean)) - LOG_SQRT_2PI
        return np.where(away >= -self._mean, folded, -np.inf)

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        if self.direction == "add":
            return self._log_nearer(low), self._log_farther(high)
        return self._log_farther(-low), self._log_nearer(-high)

    def _log_farther(self, away: float) -> float:
        if away <= -self._mean:
            return 0.0
        return float(np.logaddexp(log_ndtr(-away), log_ndtr(-away - 2 * self._mean)))

    def _log_nearer(self, away: float) -> float:
        if away <= -self._mean:
            return -math.inf
        upper, lower = float(log_ndtr(away)), float(log_ndtr(-away - 2 * self._mean))
        return upper + math.log(-math.expm1(lower - upper)) if lower < upper else -math.inf

    def reach(self, nats: float) -> tuple[float, float]:
        width = math.sqrt(2 * nats)
        ends = max(-width, -self._mean), width
        return ends if self.direction == "add" else (-ends[1], -ends[0])


@dataclass(frozen=True)
class PosteriorSampling(Mechanism):
    """One draw from N(θ*, (γΛ)⁻¹), θ* the ridge solution and Λ = XᵀX + λI, for one row (x, y) that is added or removed.

    Redberg, Zhu and Wang (2023), Section 5.1, have a bound on this; here it is exact. The whole release is the
    one-dimensional pair N(√ρ, h) and N(√ρ/(1 + h), h/(1 + h)) along one direction. δ grows with ρ, so a bound on ρ
    may stand for ρ.

    `leverage`, from 1e-100 to 1e6, is h = xᵀΛ⁻¹x, and `shift`, from 0 to 1e100, ρ = γ·(y − xᵀθ*)²; Λ and θ* are without
    the row.

    >>> one = PosteriorSampling(leverage=0.1, shift=0.5)
    >>> round(one.delta(1.0), 6), one.delta(0.5) > one.delta(1.0)
    (0.000335, True)
    """

    leverage: float
    shift: float

    def __post_init__(self) -> None:
        check_fields(self, between(1e-100, 1e6), "leverage")
        check_fields(self, or_zero(between(1e-100, 1e100)), "shift")

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        """log δ of an added row, which is never hidden better than one that is removed (docs/theorems.md, T38)."""
        return posterior.log_delta_added(epsilon, self.leverage, self.shift)

    def losses(self, direction: str = "remove") -> Steps | None:
        return ((PosteriorLoss(self.leverage, self.shift, direction), 1),)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        """The divergence of two normal laws whose variances differ by the factor 1 + h, in either order, without a
        difference of like numbers: s = α − 1 and g(x) = x − log(1 + x)."""
        h, order = self.leverage, alpha - 1
        y, moved = h / (1 + h), self.shift * h / (1 + h)
        s = np.where(order > 0, order, 1.0)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            spent = order * h * (1 + 2.0**-52)  # up: near 1 all of what is left is rounding
            room = np.where(spent < 1, 1 - spent, 1.0)
            mixed = np.where(order > 0, _bend(np.where(spent < 1, -spent, 0.0)) / s, 0.0)
            added = alpha * moved / (2 * room) + (_bend(np.array(h)) + mixed) / 2
            spread = np.where(order > 0, _bend(order * y) / s, 0.0)
            removed = alpha * moved / (2 * (1 + alpha * h)) + (_bend(np.array(-y)) + spread) / 2
        return np.where(spent < 1, np.maximum(added, removed) * (1 + 1e-12), np.inf)


def _bend(x: FloatArray) -> FloatArray:
    """x − log(1 + x), by its series for small x."""
    series = np.zeros_like(x)
    for power in range(11, 1, -1):
        series = x * (series + (-1.0) ** power / power)
    with np.errstate(divide="ignore"):
        return np.where(np.abs(x) < 0.02, x * series, x - np.log1p(x))
