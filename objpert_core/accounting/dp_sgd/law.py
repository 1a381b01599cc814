"""One step of subsampled noise for k rows of one person, or for rows that are replaced: a loss between two mixtures."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_ndtr, logsumexp

from objpert_core._validation import FloatArray
from objpert_core.accounting.laws.base import MixedLoss
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI
from objpert_core.accounting.numerics.mixture import log_binomial_weights, log_ratio, log_ratio_slope, log_tilt

_SPAN = 72.0  # standard deviations beyond the outermost means that are tabulated
_PER_UNIT = 64


@dataclass(frozen=True)
class MixtureLoss(MixedLoss):
    """log dP/dQ between P = Σ w_j·N(j·a, 1) with binomial weights w and Q, its mirror image or N(0, 1)."""

    a: float  # 1/noise multiplier
    q: float  # sampling rate
    size: int  # number of rows k that one person has
    replace: bool  # Q is P's mirror image; otherwise N(0, 1)
    direction: str = field(default="remove")  # log dP/dQ under P; "add": log dQ/dP under Q; one loss with `replace`

    @cached_property
    def _log_weights(self) -> FloatArray:
        return log_binomial_weights(self.size, self.q)

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """(u, log dP/dQ at u), ascending."""
        low = -_SPAN - (self.size * self.a if self.replace else 0.0)
        high = _SPAN + self.size * self.a
        u = np.linspace(low, high, int(_PER_UNIT * (high - low)) + 1)
        return u, np.maximum.accumulate(log_ratio(self._log_weights, self.a, u, self.replace))

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicHermiteSpline  # slow to import

        u, known = self._table
        rising = np.concatenate(([True], np.diff(known) > 1e-15 * np.maximum(np.abs(known[1:]), 1e-300)))
        slope = log_ratio_slope(self._log_weights, self.a, u[rising], self.replace)
        return CubicHermiteSpline(known[rising], u[rising], 1 / np.maximum(slope, 1e-300))

    def _inverse(self, ratio: FloatArray) -> FloatArray:
        """u near log dP/dQ = ratio; −inf at and below its least value, that is far below every u that matters."""
        u, known = self._table
        cell = np.clip(np.searchsorted(known, ratio) - 1, 0, u.size - 2)
        guess = np.clip(self._spline(np.clip(ratio, known[0], known[-1])), u[cell], u[cell + 1])
        return np.where(ratio <= known[0], -np.inf, np.where(ratio > known[-1], u[-1], guess))

    def _log_ratio(self, u: FloatArray) -> FloatArray:
        return log_ratio(self._log_weights, self.a, u, self.replace)

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """See `SubsampledLoss.log_density`."""
        normal = -0.5 * v * v - LOG_SQRT_2PI
        if self.direction == "add":
            return normal
        return normal + (log_tilt(self._log_weights, self.a, v) if self.replace else omega)

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        """See `PrivacyLoss.log_tails`."""
        if self.direction == "add":
            return float(log_ndtr(low)), float(log_ndtr(-high))
        means = self.a * np.arange(self.size + 1)
        below = logsumexp(self._log_weights + log_ndtr(low - means))
        above = logsumexp(self._log_weights + log_ndtr(means - high))
        return float(below), float(above)

    def reach(self, nats: float) -> tuple[float, float]:
        """See `PrivacyLoss.reach`."""
        width = float(np.sqrt(2 * nats))
        if self.direction == "add":
            return -width, width
        means = self.a * np.arange(self.size + 1)
        return -width, float(np.max(means + np.sqrt(2 * np.maximum(nats + self._log_weights, 1.0))))


def mixture_loss(a: float, q: float, size: int, replace: bool, direction: str) -> MixtureLoss:
    """The loss of one step; a replacement is symmetric, so that both directions are one loss."""
    return MixtureLoss(a, q, size, replace, "remove" if replace else direction)
