"""Privacy losses ω(V) of one random variable, which is all that discretisation and composition need.

ω never decreases in V, which has a known density: standard normal, a half of it, or the mixture of the subsampled
Gaussian. The profile of a release is E[1 − e^{ε − ω}]₊; losses of independent releases add up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from objpert_core._validation import FloatArray
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI
from objpert_core.accounting.numerics.mixture import log_mixed, unmixed
from objpert_core.accounting.numerics.quadrature import V_LOW


class PrivacyLoss(ABC):
    """ω(V), never decreasing in V, for one direction of the adjacency or for both."""

    @abstractmethod
    def loss(self, v: FloatArray) -> FloatArray:
        """ω(v)."""

    @abstractmethod
    def position(self, epsilon: FloatArray) -> FloatArray:
        """A point near which ω(v) crosses ε: where a quadrature needs a break point."""

    def kinks(self) -> FloatArray:
        """Break points for a quadrature where ω(v) is not smooth."""
        return np.empty(0)

    def lowest(self) -> float:
        """The lower end of the range of V; by default the law is that of a standard normal given V ≥ lowest."""
        return V_LOW

    def anchor(self) -> float:
        """A loss that the discretisation puts on its grid: where the law has an atom, or begins."""
        return 0.0

    def begins(self) -> bool:
        """Whether the law begins at the anchor, with a density: cells then end there, rather than be centred there."""
        return False

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """log of the density of V at v, where ω(v) = omega."""
        return -0.5 * v * v - LOG_SQRT_2PI - log_ndtr(-self.lowest())

    def expand(self, log_weight: FloatArray, omega: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points of the law (log weights, losses) from those of a quadrature over V: more where mass has no V."""
        return log_weight, omega

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        """log P[V < low] and log P[V > high]."""
        lowest = self.lowest()
        with np.errstate(divide="ignore"):
            below = np.log(max(ndtr(low) - ndtr(lowest), 0.0)) if lowest > -np.inf else log_ndtr(low)
        return float(below - log_ndtr(-lowest)), float(log_ndtr(-high) - log_ndtr(-lowest))

    def highest(self) -> float:
        """A loss that no finite one exceeds."""
        return np.inf

    def log_certain(self) -> float:
        """log of the mass at +∞: how often a release is one that the other data set cannot give."""
        return -np.inf

    def reach(self, nats: float) -> tuple[float, float]:
        """(low, high) such that V leaves the range with a probability of at most about e^{-nats}, either way."""
        width = float(np.sqrt(2 * nats))
        return max(self.lowest(), -width), width


@dataclass(frozen=True)
class GaussianLoss(PrivacyLoss):
    """ω = a²/2 + a·v, a = sensitivity/σ: the Gaussian mechanism, the same in both directions."""

    a: float

    def loss(self, v: FloatArray) -> FloatArray:
        return self.a * (self.a / 2 + v)

    def position(self, epsilon: FloatArray) -> FloatArray:
        return epsilon / self.a - self.a / 2

    def lowest(self) -> float:
        return -np.inf


class MixedLoss(PrivacyLoss):
    """log dP/dQ of one step whose released value is V where the row is removed, and −V where it is added."""

    direction: str  # "remove" or "add"

    @abstractmethod
    def _log_ratio(self, u: FloatArray) -> FloatArray:
        """log dP/dQ at the released value u."""

    @abstractmethod
    def _inverse(self, ratio: FloatArray) -> FloatArray:
        """u near log dP/dQ = ratio; −inf at and below its least value."""

    def loss(self, v: FloatArray) -> FloatArray:
        """ω(v); for addition v is the negative of the released value."""
        return self._log_ratio(v) if self.direction == "remove" else -self._log_ratio(-v)

    def position(self, epsilon: FloatArray) -> FloatArray:
        return self._inverse(epsilon) if self.direction == "remove" else -self._inverse(-epsilon)

    def lowest(self) -> float:
        return -np.inf


@dataclass(frozen=True)
class SubsampledLoss(MixedLoss):
    """One step of the Poisson-subsampled Gaussian mechanism, a = 1/noise multiplier, sampling rate q < 1.
    With P = (1 − q)·N(0, 1) + q·N(a, 1) and Q = N(0, 1), removal of a row has the loss log dP/dQ under P and addition
    log dQ/dP under Q: neither direction dominates the other at every ε (Zhu, Dong and Wang 2022, Theorem 11)."""

    a: float
    q: float
    direction: str  # "remove" or "add"

    def _log_ratio(self, u: FloatArray) -> FloatArray:
        """log dP/dQ at u: log(1 − q + q·e^{au − a²/2}), accurate near 0 and for large exponents."""
        return log_mixed(self.a * (u - self.a / 2), self.q)

    def _inverse(self, ratio: FloatArray) -> FloatArray:
        """u with log dP/dQ = ratio; −inf at and below log(1 − q)."""
        return unmixed(ratio, self.q) / self.a + self.a / 2

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """log of the density of V at v: the mixture for removal, standard normal for addition."""
        normal = -0.5 * v * v - LOG_SQRT_2PI
        return normal + omega if self.direction == "remove" else normal

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        if self.direction == "add":
            return float(log_ndtr(low)), float(log_ndtr(-high))
        stay, move = np.log1p(-self.q), np.log(self.q)
        below = np.logaddexp(stay + log_ndtr(low), move + log_ndtr(low - self.a))
        above = np.logaddexp(stay + log_ndtr(-high), move + log_ndtr(self.a - high))
        return float(below), float(above)

    def reach(self, nats: float) -> tuple[float, float]:
        width = float(np.sqrt(2 * nats))
        if self.direction == "add":
            return -width, width
        moved = self.a + float(np.sqrt(2 * max(nats + np.log(self.q), 1.0)))
        return -width, max(width, moved)


@dataclass(frozen=True)
class SymmetricLoss(PrivacyLoss):
    """The tightest symmetric pair above a law that dominates both directions of the adjacency."""

    base: PrivacyLoss
    start: float  # v at the threshold
    log_rest: float  # log of the mass at loss 0

    def loss(self, v: FloatArray) -> FloatArray:
        """ω(v) of the upper half, v ≥ start."""
        return self.base.loss(v)

    def position(self, epsilon: FloatArray) -> FloatArray:
        return self.base.position(epsilon)

    def kinks(self) -> FloatArray:
        return self.base.kinks()

    def lowest(self) -> float:
        """The threshold."""
        return self.start

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """log of the density of the base; what is below the threshold is replaced by the mirror image."""
        return self.base.log_density(v, omega)

    def expand(self, log_weight: FloatArray, omega: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The upper half, its mirror image and the atom at 0."""
        return (
            np.concatenate((log_weight, log_weight - omega, [self.log_rest])),
            np.concatenate((omega, -omega, [0.0])),
        )

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        """Bounds on log P[V < low] and log P[V > high], each with its mirror image, which weighs less."""
        below, above = self.base.log_tails(low, high)
        left_out = np.exp(below) - np.exp(self.base.log_tails(self.start, high)[0])
        with np.errstate(divide="ignore"):
            return float(np.log(max(2 * left_out, 0.0))), above + float(np.log(2))

    def reach(self, nats: float) -> tuple[float, float]:
        """From the threshold on."""
        return self.start, max(self.base.reach(nats)[1], self.start)


Steps = tuple[tuple[PrivacyLoss, int], ...]  # independent losses with their counts
