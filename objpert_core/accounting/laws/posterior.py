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
    """ω = ±(u²/2 − ρ/(2(1 + h)) − ½·log(1 + h)), V = ±|u| in standard deviations of u.

    "add" has + and u ~ N(√ρ, h), the law without the row; "remove" has − and u ~ N(√ρ/(1 + h), h/(1 + h)).

    Parameters
    ----------
    h : float > 0
    rho : float >= 0
    direction : {"remove", "add"}
    """

    h: float
    rho: float
    direction: str

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction == "add" else -1.0

    @property
    def _spread(self) -> float:
        return math.sqrt(self.h if self.direction == "add" else self.h / (1 + self.h))

    @property
    def _mean(self) -> float:
        """Of u, in standard deviations."""
        mean = math.sqrt(self.rho) / (1.0 if self.direction == "add" else 1 + self.h)
        return mean / self._spread

    @property
    def _constant(self) -> float:
        return self.rho / (2 * (1 + self.h)) + math.log1p(self.h) / 2

    def loss(self, v: FloatArray) -> FloatArray:
        """ω(v)."""
        return self._sign * (np.square(v * self._spread) / 2 - self._constant)

    def position(self, epsilon: FloatArray) -> FloatArray:
        """v with ω(v) = ε, 0 where there is none."""
        return self._sign * np.sqrt(np.maximum(2 * (self._sign * epsilon + self._constant), 0.0)) / self._spread

    def lowest(self) -> float:
        """0 for "add", the whole negative half-line for "remove"."""
        return 0.0 if self.direction == "add" else -np.inf

    def highest(self) -> float:
        """The loss at u = 0 where the row is removed."""
        return np.inf if self.direction == "add" else self._constant

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """log of the density of V at v: a normal one, folded."""
        size, mean = np.abs(v), self._mean
        return np.logaddexp(-0.5 * np.square(size - mean), -0.5 * np.square(size + mean)) - LOG_SQRT_2PI

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        """log P[V < low] and log P[V > high]."""
        if self.direction == "add":
            return self._log_inside(low), self._log_outside(high)
        return self._log_outside(-low), self._log_inside(-high)

    def _log_outside(self, size: float) -> float:
        return float(np.logaddexp(log_ndtr(self._mean - size), log_ndtr(-self._mean - size))) if size > 0 else 0.0

    def _log_inside(self, size: float) -> float:
        if size <= 0:
            return -math.inf
        upper, lower = float(log_ndtr(size - self._mean)), float(log_ndtr(-size - self._mean))
        return upper + math.log(-math.expm1(lower - upper)) if lower < upper else -math.inf

    def reach(self, nats: float) -> tuple[float, float]:
        """(low, high) such that V leaves the range with a probability of at most about e^{-nats}, either way."""
        width = math.sqrt(2 * nats)
        ends = max(self._mean - width, 0.0), self._mean + width
        return ends if self.direction == "add" else (-ends[1], -ends[0])
