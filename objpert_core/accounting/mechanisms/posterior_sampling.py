"""Posterior sampling in linear regression: one draw from N(θ*, Λ⁻¹/γ), with the exact privacy of one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, nonnegative, within
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.posterior import PosteriorLoss
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.numerics import posterior


@dataclass(frozen=True)
class PosteriorSampling(Mechanism):
    """One draw from N(θ*, (γΛ)⁻¹), θ* the ridge solution and Λ = XᵀX + λI, for one row (x, y) that is added or removed.

    Parameters
    ----------
    leverage : float from 1e-100 to 1e100
        h = xᵀΛ⁻¹x, Λ without the row.
    shift : float from 0 to 1e100
        ρ = γ·(y − xᵀθ*)², θ* without the row.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Redberg, Zhu and Wang (2023), Section 5.1, have a bound on this; here it is exact. The whole release is the
    one-dimensional pair N(√ρ, h) and N(√ρ/(1 + h), h/(1 + h)) along one direction. δ grows with ρ, so that a bound on ρ
    may stand for it.

    Examples
    --------
    >>> one = PosteriorSampling(leverage=0.1, shift=0.5)
    >>> round(one.delta(1.0), 6), one.delta(0.5) > one.delta(1.0)
    (0.000335, True)
    """

    leverage: float
    shift: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "leverage", within("leverage", self.leverage, 1e-100, 1e100))
        shift = nonnegative("shift", self.shift)
        object.__setattr__(self, "shift", within("shift", shift, 1e-100, 1e100) if shift else 0.0)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        h, rho = self.leverage, self.shift
        return np.maximum(posterior.log_delta_added(epsilon, h, rho), posterior.log_delta_removed(epsilon, h, rho))

    def losses(self, direction: str = "remove") -> Steps | None:
        """The loss of one direction."""
        return ((PosteriorLoss(self.leverage, self.shift, direction), 1),)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.maximum(self._renyi(alpha, True), self._renyi(alpha, False)) * (1 + 2.0**-45)

    def _renyi(self, alpha: FloatArray, added: bool) -> FloatArray:
        """Of two normal laws, with variances v and w under P and Q: finite while α·w + (1 − α)·v > 0."""
        h, rho = self.leverage, self.shift
        without, with_row = (np.sqrt(rho), h), (np.sqrt(rho) / (1 + h), h / (1 + h))
        (m, v), (n, w) = (without, with_row) if added else (with_row, without)
        mixed = alpha * w + (1 - alpha) * v
        s = np.where(alpha > 1, alpha - 1, 1.0)
        safe = np.where(mixed > 0, mixed, 1.0)
        # ½·log(w/v) − ½·log(mixed/w)/(α − 1), where mixed/w − 1 = (α − 1)·(1 − v/w)
        change = 1 - v / w
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.where(alpha > 1, np.log1p((alpha - 1) * change) / s, change)
        spread = (np.log(w / v) - rate) / 2
        result = alpha * (m - n) ** 2 / (2 * safe) + spread
        return np.where(mixed > 0, np.maximum(result, 0.0), np.inf)
