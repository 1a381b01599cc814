"""The privacy loss of posterior sampling in linear regression, where a row is added or removed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from objpert_core._validation import FloatArray
from objpert_core.accounting.laws.base import PrivacyLoss
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI


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
        """ω(v)."""
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
        """See `PrivacyLoss.log_tails`."""
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
        """See `PrivacyLoss.reach`."""
        width = math.sqrt(2 * nats)
        ends = max(-width, -self._mean), width
        return ends if self.direction == "add" else (-ends[1], -ends[0])
