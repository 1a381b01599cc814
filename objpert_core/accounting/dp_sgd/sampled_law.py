"""One step of a batch of fixed size: how often the replaced row was drawn may be told without loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, logsumexp

from objpert_core._validation import FloatArray
from objpert_core.accounting.dp_sgd.batches import listed, log_at_zero, log_shares
from objpert_core.accounting.laws.base import PrivacyLoss, SymmetricLoss
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI
from objpert_core.accounting.numerics.mixture import log_mixed, unmixed

_STRAIGHT = 8.0  # V up to which it is the released value in units of the noise; beyond, V lags behind


@dataclass(frozen=True)
class RevealedLoss(PrivacyLoss):
    """A row is in the batch with probability p, k times with probability w_k, and k ≥ 1 is told before anything else.
    Given k, P = (1 − p)·N(0, 1) + p·N(k·a, 1) and Q = N(0, 1), and k has the law w_k/p under both. A profile of the
    step at ε ≥ 0 is that of this pair (docs/theorems.md, T27); for replaced rows its symmetric pair is composed."""

    a: float  # how many standard deviations of the noise one draw of the row moves the sum
    rows: int  # n
    batch_size: int  # m
    replacement: bool  # a row may be drawn several times; otherwise k = 1

    @cached_property
    def _shares(self) -> tuple[float, FloatArray, float]:
        p, shares = log_shares(self.rows, self.batch_size, self.replacement)
        return p, *listed(shares)

    @property
    def p(self) -> float:
        """The probability that the row is in the batch at all."""
        return self._shares[0]

    @cached_property
    def _times(self) -> FloatArray:
        return np.arange(1.0, self._shares[1].size + 1)

    def _bent(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far the value for k = 1 has moved at V = v, and the derivative: large k need the value to go far."""
        over = np.maximum(v - _STRAIGHT, 0.0)
        return v + over * over, 1 + 2 * over

    def _likelihood(self, v: FloatArray) -> FloatArray:
        """k·a·u − (k·a)²/2, the same for every k."""
        return self.a * (self._bent(v)[0] - self.a / 2)

    def loss(self, v: FloatArray) -> FloatArray:
        """ω(v) = log(1 − p + p·e^y)."""
        return log_mixed(self._likelihood(v), self.p)

    def position(self, epsilon: FloatArray) -> FloatArray:
        """v with ω(v) = ε."""
        moved = unmixed(epsilon, self.p) / self.a + self.a / 2
        over = np.maximum(moved - _STRAIGHT, 0.0)
        return np.where(over > 0, _STRAIGHT + 0.5 * (np.sqrt(1 + 4 * over) - 1), moved)

    def kinks(self) -> FloatArray:
        """Where V begins to lag behind."""
        return np.array([_STRAIGHT])

    def lowest(self) -> float:
        """The whole line."""
        return -np.inf

    def _values(self, v: FloatArray) -> FloatArray:
        """u for every k, of shape (k, v): k·a·u − (k·a)²/2 is the likelihood at v."""
        k = self._times[:, None]
        return self._likelihood(v) / (k * self.a) + k * self.a / 2

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """log of the density of V at v under P: e^ω times that under Q."""
        u = self._values(v)
        normal = -0.5 * u * u - LOG_SQRT_2PI - np.log(self._times)[:, None]
        return logsumexp(self._shares[1][:, None] + normal, axis=0) + omega + np.log(self._bent(v)[1])

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        """log P[V < low] and log P[V > high]; a k too large to be listed counts as above."""
        stay, move = np.log1p(-self.p), np.log(self.p)
        moved = self._times * self.a
        below, above = (self._values(np.array([end]))[:, 0] for end in (low, high))
        return (
            float(logsumexp(self._shares[1] + np.logaddexp(stay + log_ndtr(below), move + log_ndtr(below - moved)))),
            float(
                np.logaddexp(
                    logsumexp(self._shares[1] + np.logaddexp(stay + log_ndtr(-above), move + log_ndtr(moved - above))),
                    self._shares[2],
                )
            ),
        )

    def reach(self, nats: float) -> tuple[float, float]:
        """See `PrivacyLoss.reach`."""
        left = nats + self._shares[1]  # for those k that are likely enough
        k, left = self._times[left > 0], left[left > 0]
        width = float(np.sqrt(2 * nats))
        u = np.maximum(k * self.a + np.sqrt(2 * np.maximum(left + np.log(self.p), 1.0)), np.sqrt(2 * left))
        most = float(np.max(k * u - (k * k - 1) * self.a / 2))
        over = max(most - _STRAIGHT, 0.0)
        return -width, _STRAIGHT + 0.5 * (np.sqrt(1 + 4 * over) - 1) if over else most


def replaced(a: float, rows: int, batch_size: int, replacement: bool) -> SymmetricLoss:
    """The loss of one step where a row is replaced: the symmetric pair above `RevealedLoss`."""
    base = RevealedLoss(a, rows, batch_size, replacement)
    p, shares, _ = base._shares
    (start,) = base.position(np.zeros(1))  # of the loss 0: a/2, which V reaches late where it is bent
    return SymmetricLoss(base, float(start), log_at_zero(p, shares, a))
