"""Theorem 3.1 of Cortild and Cartis (2026) on quadratic objective perturbation, as printed and sharpened.

The theorem splits ε = ε₁ + ε₂ and δ = δ₁ + δ₂ + δ₃ + δ₄ and asks for a σ². Here σ² is given, and the best split is
looked for: whichever is found is valid. With k = (m − d − 1)/2:

* printed: ε₁·σ² >= 2L·(2k/α + 1 + (4ρ + 4)/α), α₁ >= 2L/σ²;
* sharpened: ε₁·σ² >= L·(max(k/α, ½) + (ρ + 1)/α), α₁ >= L/σ² (docs/theorems.md, T33).

δ₃ is spent on λ_min(W) < α and δ₁ on α <= λ_min < α + α₁, which the row may push below. Where the solver or the anchor
is not exact, θ is off by at most √(2τ/(ασ²)) + βη/α, which normal noise hides at (ε₂, δ₂), and δ₄ is spent on
λ_max(W) > β. The printed theorem takes the classical formula for that noise, the sharpened one the exact profile, with
β + 2L/σ² in place of β: a row can move the largest eigenvalue, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_ndtr

from objpert_core._validation import FloatArray
from objpert_core.accounting.quadratic import wishart_spectrum as spectrum
from objpert_core.accounting.quadratic.wishart import SLACK

_SHARES, _LEVELS = 48, 40  # of ε₁ and of log δ₄ that are tried, three times over; of ε₁ at first more
_ROUNDS = 3
_LEAST = 1e-12
_SPACING, _NEARLY = 0.1, 25.0  # of log ε₁; the largest logit of ε₁/ε


@dataclass(frozen=True)
class Published:
    """The theorem's δ at every ε, for one σ² and one m; parameters as in `QuadraticPerturbation`."""

    scale: float
    degrees_of_freedom: int
    dimension: int
    smoothness: float
    rank: int
    sharpened: bool
    tolerance: float = 0.0
    anchor_error: float = 0.0
    sigma_out: float = 0.0

    @property
    def _k(self) -> float:
        return (self.degrees_of_freedom - self.dimension - 1) / 2

    @property
    def width(self) -> float:
        """α₁, the least that σ² allows."""
        return (1 if self.sharpened else 2) * self.smoothness / self.scale

    def least_alpha(self, epsilon: FloatArray) -> FloatArray:
        """The least α that σ² allows at ε₁; infinite where it allows none."""
        k, rho = self._k, self.rank
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.sharpened:
                y = epsilon * self.scale / self.smoothness
                curved = (k + rho + 1) / y
                return np.where(curved <= 2 * k, curved, np.where(y > 0.5, (rho + 1) / (y - 0.5), np.inf))
            y = epsilon * self.scale / (2 * self.smoothness)
            return np.where(y > 1, (2 * k + 4 * rho + 4) / (y - 1), np.inf)

    def _log_exact(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """α, log(1 − δ₃) and log(δ₁ + δ₃) for the release of the exact minimiser at ε₁."""
        d, m = self.dimension, self.degrees_of_freedom
        alpha = self.least_alpha(epsilon)
        known = np.isfinite(alpha)
        tried = np.where(known, alpha, 1.0)
        log_third = spectrum.log_below(d, m, tried)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_rest = np.log(-np.expm1(log_third))
            log_first = spectrum.log_between(d, m, tried, np.full(tried.shape, self.width)) - log_rest
        log_first = np.where(np.isnan(log_first), 0.0, log_first)
        total = np.minimum(np.logaddexp(log_first, log_third), 0.0)
        return alpha, log_rest, np.where(known & np.isfinite(log_rest), total, 0.0)

    def log_delta(self, epsilon: FloatArray) -> FloatArray:
        """log δ for a 1-d array of ε >= 0; 0.0 where the theorem proves nothing."""
        if not (self.tolerance or self.anchor_error):
            return self._up(self._log_exact(epsilon)[2])
        return np.array([self._best_split(float(at)) for at in epsilon])

    def _best_split(self, epsilon: float) -> float:
        """log δ at the best ε₁ and δ₄ on a grid that is refined around its best point."""
        least = (0.5 if self.sharpened else 2.0) * self.smoothness / self.scale  # of ε₁, below which nothing is proved
        if not epsilon > least:
            return 0.0
        # the same ε₁ at every ε, so that what one ε finds a larger one finds, too; and ε₁ that are nearly all of ε
        firsts = least * np.exp(_SPACING * np.arange(1, math.ceil(math.log(epsilon / least) / _SPACING)))
        firsts = np.union1d(firsts, epsilon * expit(np.linspace(0.0, _NEARLY, _SHARES)))
        level, best = (-80.0, 0.0), 0.0
        for _ in range(_ROUNDS):
            levels = np.linspace(*level, _LEVELS) if self.anchor_error else np.array([-np.inf])
            value = self._of_split(epsilon, firsts, levels)
            row, column = divmod(int(value.argmin()), levels.size)
            best = min(best, float(value[row, column]))
            firsts = np.linspace(firsts[max(row - 1, 0)], firsts[min(row + 1, firsts.size - 1)], _SHARES)
            if self.anchor_error:
                at, step = float(levels[column]), (level[1] - level[0]) / _LEVELS
                level = at - 2 * step, min(at + 2 * step, 0.0)
        return float(self._up(np.array([best]))[0])

    def _of_split(self, epsilon: float, firsts: FloatArray, levels: FloatArray) -> FloatArray:
        alpha, log_rest, log_exact = self._log_exact(firsts)
        with np.errstate(all="ignore"):
            moved = self.moved(alpha[:, None], log_rest[:, None], levels)
            left = (epsilon - firsts)[:, None]
            if self.sharpened:
                ratio = moved / self.sigma_out
                log_p = log_ndtr(ratio / 2 - left / ratio)
                log_q = left + log_ndtr(-ratio / 2 - left / ratio)
                log_second = log_p + np.log(-np.expm1(np.minimum(log_q - log_p, -1e-12)))  # the Gaussian profile
            else:
                log_second = math.log(1.25) - np.square(self.sigma_out * left / moved) / 2
            total = np.logaddexp(np.logaddexp(log_exact[:, None], log_second), levels)
        return np.where(np.isnan(total), 0.0, np.minimum(total, 0.0))

    def moved(self, alpha: FloatArray, log_rest: FloatArray, log_fourth: FloatArray) -> FloatArray:
        """How far two solutions can be apart beyond their exact minima: 2·(√(2τ/(ασ²)) + βη/α)."""
        off = np.sqrt(2 * self.tolerance / (alpha * self.scale))
        if self.anchor_error:
            beta = spectrum.largest_eigenvalue(self.dimension, self.degrees_of_freedom, log_fourth + log_rest)
            beta = beta + (2 * self.smoothness / self.scale if self.sharpened else 0.0)
            off = off + beta * self.anchor_error / alpha
        return 2 * off

    def explain(self) -> str | None:
        """Why the theorem proves nothing at any ε, as one sentence; None where it does."""
        d, m = self.dimension, self.degrees_of_freedom
        if spectrum.log_between(d, m, np.array([_LEAST]), np.array([self.width]))[0] < 0:
            return None
        return (
            f"the theorem proves nothing at σ² = {self.scale:g}: one row can push the smallest eigenvalue of W below "
            "any α; it needs a larger σ², or more degrees of freedom"
        )

    @staticmethod
    def _up(log_delta: FloatArray) -> FloatArray:
        return np.minimum(log_delta + SLACK * (1 - np.maximum(log_delta, -1e300)), 0.0)
