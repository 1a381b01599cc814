"""The privacy loss of a noisy Gram matrix, XᵀX + σ²W with W ~ Wishart_d(m), where a row is added or removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln

from objpert_core._validation import FloatArray
from objpert_core.accounting.laws.base import PrivacyLoss
from objpert_core.accounting.laws.discrete import DiscreteLoss

_LEFT_OUT = 1e-10  # of the mass at +∞: a finite loss that is rarer counts as infinite
_STRAIGHT, _BENT = 6.0, 4.0  # how far below its centre log Z is in step with V, and how much it goes ahead then
_LEAST = -740.0  # log of the least double


@dataclass(frozen=True)
class BendLoss(PrivacyLoss):
    """ω = ±(s/2 − k·log(1 + s/Z)): "remove" has + and Z = Y, "add" has − and Z = Y − s, infinite where Y ≤ s, for Y ~
    χ²_{2k+2}. V is log Z up to sign and scale, ahead of it far below, so that ω never decreases in V.
    """

    s: float  # squared length of the row over σ²
    k: float  # (m − d − 1)/2
    direction: str  # "remove" or "add"

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction == "remove" else -1.0

    @property
    def _moved(self) -> float:
        """Y − Z."""
        return 0.0 if self.direction == "remove" else self.s

    @property
    def _scale(self) -> float:
        """About the standard deviation of log Z."""
        return float(np.sqrt(1 / (self.k + 1)))

    @property
    def _centre(self) -> float:
        return float(np.log(2 * self.k + 2))

    def _z(self, v: FloatArray) -> FloatArray:
        below = -self._sign * v
        over = np.maximum(below - _STRAIGHT, 0.0)
        return np.exp(np.maximum(self._centre - self._scale * (below + _BENT * over * over), _LEAST))

    def _v(self, z: FloatArray) -> FloatArray:
        below = (self._centre - np.log(z)) / self._scale
        over = np.maximum(below - _STRAIGHT, 0.0)
        bent = _STRAIGHT + (np.sqrt(1 + 4 * _BENT * over) - 1) / (2 * _BENT)
        return -self._sign * np.where(over > 0, bent, below)

    def kinks(self) -> FloatArray:
        """Where log Z begins to go ahead of V."""
        return np.array([-self._sign * _STRAIGHT])

    def loss(self, v: FloatArray) -> FloatArray:
        return self._sign * (self.s / 2 - self.k * np.log1p(self.s / self._z(v)))

    def position(self, epsilon: FloatArray) -> FloatArray:
        """v with ω(v) = ε; beyond what ω can be, a v that is far out."""
        rate = np.maximum((self.s / 2 - self._sign * epsilon) / self.k, 1e-300)
        with np.errstate(over="ignore", divide="ignore"):
            z = self.s / np.expm1(rate)
        return self._v(np.clip(z, 1e-300, 1e300))

    def lowest(self) -> float:
        return -np.inf

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        z = self._z(v)
        y = z + self._moved
        log_chi = self.k * np.log(y) - y / 2 - (self.k + 1) * np.log(2) - gammaln(self.k + 1)
        slope = 1 + 2 * _BENT * np.maximum(-self._sign * v - _STRAIGHT, 0.0)
        return np.asarray(log_chi + np.log(z) + np.log(self._scale * slope))

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        """log P[V < low] and log P[V > high], the mass at +∞ included."""
        with np.errstate(over="ignore"):
            y = (self._z(np.array([low, high])) + self._moved) / 2
        lower, upper = gammainc(self.k + 1, y), gammaincc(self.k + 1, y)
        below, above = (lower[0], upper[1]) if self.direction == "remove" else (upper[0], lower[1])
        with np.errstate(divide="ignore"):
            return float(np.log(below)), float(np.log(above))

    def highest(self) -> float:
        """s/2 where the row is removed."""
        return self.s / 2 if self.direction == "remove" else np.inf

    def log_certain(self) -> float:
        """log of the mass at +∞: "add" has it, for Y ≤ s."""
        if self.direction == "remove":
            return -np.inf
        with np.errstate(divide="ignore"):
            return float(np.log(gammainc(self.k + 1, self.s / 2)))

    def reach(self, nats: float) -> tuple[float, float]:
        """See `PrivacyLoss.reach`; above, V also ends where the finite losses left are nothing beside infinite ones."""
        shape = self.k + 1
        largest = 2 * (shape + np.sqrt(2 * shape * nats) + nats)  # of Y (Laurent and Massart 2000)
        log_share = max(self.log_certain() + np.log(_LEFT_OUT), -nats)
        least = 2 * np.exp((gammaln(shape + 1) + log_share) / shape)  # P[Y < y] is at most (y/2)^shape/Γ(shape + 1)
        if self.direction == "add":
            # the density of Y grows by at most e from s to s + s/(k + 1)
            log_density = self.k * np.log(self.s) - self.s / 2 - shape * np.log(2) - gammaln(shape)
            near = np.exp(min(log_share - log_density - 1, np.log(self.s / shape)))
            least = max(least - self.s, near)
        log_least = min(max(np.log(least), _LEAST), self._centre - 1)
        ends = self._v(np.exp(np.array([log_least, np.log(largest)])))
        return float(ends.min()), float(ends.max())


def bend_loss(s: float, k: float, direction: str) -> PrivacyLoss:
    """The loss of one direction; at k = 0 its only finite value is ±s/2."""
    if k > 0:
        return BendLoss(s, k, direction)
    if direction == "remove":
        return DiscreteLoss(np.array([s / 2]), np.zeros(1), -np.inf)
    return DiscreteLoss(np.array([-s / 2]), np.array([-s / 2]), float(np.log(-np.expm1(-s / 2))))
