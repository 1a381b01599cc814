"""Posterior sampling in linear regression: one draw from N(θ*, Λ⁻¹/γ), with the exact privacy of one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, between, check_fields, or_zero
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.posterior import profile as posterior
from objpert_core.accounting.posterior.law import PosteriorLoss


@dataclass(frozen=True)
class PosteriorSampling(Mechanism):
    """One draw from N(θ*, (γΛ)⁻¹), θ* the ridge solution and Λ = XᵀX + λI, for one row (x, y) that is added or removed.

    Redberg, Zhu and Wang (2023), Section 5.1, have a bound on this; here it is exact. The whole release is the
    one-dimensional pair N(√ρ, h) and N(√ρ/(1 + h), h/(1 + h)) along one direction. δ grows with ρ, so a bound on ρ
    may stand for ρ.

    Parameters
    ----------
    leverage : float from 1e-100 to 1e6
        h = xᵀΛ⁻¹x, Λ without the row.
    shift : float from 0 to 1e100
        ρ = γ·(y − xᵀθ*)², θ* without the row.

    Examples
    --------
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
        """The loss of one direction."""
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
