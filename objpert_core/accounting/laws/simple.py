"""Laws of privacy losses: each bound is the law of one random variable ω(v), v standard normal, written once.

Three functionals answer every question (Redberg, Koskela and Wang 2023, Remark 3.3): the profile E[1 − e^{ε − ω}]₊, the
Rényi curve log E[e^{(α−1)ω}]/(α−1), and, for a release that also adds a Gaussian of its own (Algorithm 1), the profile
of ω + G. Throughout, a = (bound on the gradient norm)/σ.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import erf, erfcx, log_ndtr, ndtr

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.laws.base import PrivacyLoss
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.gaussian import SQRT_HALF, UNIT_NODES, UNIT_WEIGHTS
from objpert_core.accounting.numerics.quadrature import (
    LOG_BEYOND,
    UNIFORM,
    V_HIGH,
    log_expectation,
    reach,
    sorted_breaks,
)
from objpert_core.accounting.numerics.tail import log_tail_of_gaussian, log_tail_of_profile


class PrivacyLossLaw(PrivacyLoss):
    """The law of a privacy loss variable ω = ω(v), v ~ N(0, 1), that dominates a mechanism in both directions."""

    a: float

    @abstractmethod
    def log_profile(self, epsilon: FloatArray) -> FloatArray:
        """log E[1 − e^{ε − ω}]₊ for every real ε of a 1-d array."""

    @abstractmethod
    def rdp(self, order: FloatArray) -> FloatArray:
        """log E[e^{s·ω}]/s at s = α − 1 ≥ 0, and E[ω] at s = 0, for a 1-d array of s."""

    def log_tail(self, epsilon: FloatArray) -> FloatArray:
        """log P[ω > ε] for a 1-d array of ε ≥ 0, rounded up; what the profile implies unless a law knows better."""
        return log_tail_of_profile(self.log_profile, epsilon)

    def gaussian_part(self) -> tuple[float, float] | None:
        """(v*, shift) if ω(v) = shift + G(v) for all v ≥ v*, and ω ≥ shift + G everywhere; else None."""
        return None

    def log_profile_with_gaussian(self, epsilon: FloatArray, a_out: float) -> FloatArray:
        """log profile at ε (1-d) of ω + G_out for an independent Gaussian mechanism with ratio `a_out`."""
        low, high = self.lowest(), V_HIGH
        gaussian = self.gaussian_part()
        known = np.full(epsilon.shape, -np.inf)
        shift = 0.0
        if gaussian is not None:
            high, shift = min(max(gaussian[0], low), V_HIGH), gaussian[1]
            known = gauss.log_profile(epsilon - shift, float(np.hypot(self.a, a_out)))
        distances = reach(min(a_out, 1.0) / self.a)
        around = np.concatenate((-distances, distances))
        crossings = [np.clip(self.position(epsilon), low, high)[:, None] + around]
        if gaussian is not None:  # the subtracted Gaussian turns where it crosses ε itself
            crossings.append(np.clip((epsilon - shift) / self.a - self.a / 2, low, high)[:, None] + around)
        breaks = sorted_breaks(
            UNIFORM,
            *crossings,
            self.kinks(),
            low=low,
            high=high,
        )

        def log_f(v: FloatArray, row: IntArray) -> FloatArray:
            return gauss.log_profile(epsilon[row] - self.loss(v), a_out)

        def log_excess(v: FloatArray, row: IntArray) -> FloatArray:
            upper = log_f(v, row)
            lower = gauss.log_profile(epsilon[row] - shift - self.a * (self.a / 2 + v), a_out)
            with np.errstate(divide="ignore"):
                return upper + np.log(-np.expm1(np.minimum(lower - upper, 0.0)))

        integrand = log_f if gaussian is None else log_excess
        rest = log_expectation(integrand, breaks, bound=log_f, known=known)
        if high == V_HIGH:
            rest = np.logaddexp(rest, LOG_BEYOND)
        rest -= log_ndtr(-low)
        return np.minimum(np.logaddexp(known, rest), 0.0)


@dataclass(frozen=True)
class _ShiftedLaw(PrivacyLossLaw):
    """A law of Gaussian shape, moved up by what the determinant costs at most."""

    a: float
    shift: float
    shift_rest: float = 0.0  # what rounding the shift to a double left off; ε − shift is compared with a

    def _above_shift(self, epsilon: FloatArray) -> FloatArray:
        return epsilon - self.shift - self.shift_rest

    def _gaussian_tail(self, epsilon: FloatArray) -> FloatArray:
        """log P[shift + G > ε] where ε ≥ shift, 0 elsewhere; rounded up."""
        moved = self._above_shift(epsilon) - 2.0**-50 * (self.shift + np.where(self.shift > 0, epsilon, 0.0))
        return np.where(moved < 0, 0.0, log_tail_of_gaussian(moved, self.a))


@dataclass(frozen=True)
class HalfNormalLaw(_ShiftedLaw):
    """ω = shift + a²/2 + |N(0, a²)|: any GLM loss (Redberg et al. 2023, Lemmas D.3 and D.6)."""

    def log_profile(self, epsilon: FloatArray) -> FloatArray:
        """Theorem 3.1 with the correction of its second branch: e^{L²/(2σ²)} where e^{L²/σ²} is printed."""
        moved = self._above_shift(epsilon)
        above = moved - self.a**2 / 2
        upper = gauss.log_profile(moved, self.a) + np.log(2)
        x = self.a * SQRT_HALF
        # 1 − E[e^{−a|v|}] = 1 − erfcx(x), which cancels for small x
        lift = erf(x) * np.exp(x * x) - np.expm1(x * x) if x < 0.5 else 1 - erfcx(x)
        below = np.minimum(above, 0.0)
        lower = np.log(-np.expm1(below) + np.exp(below) * lift)
        return np.minimum(np.where(above >= 0, upper, lower), 0.0)

    def rdp(self, order: FloatArray) -> FloatArray:
        """Theorem 3.2; at α = 1 the limit E|X| = a·√(2/π), which is smaller than the printed value."""
        t = order * self.a
        small = t < 1
        safe = np.where(t > 0, t, 1.0)
        near = np.where(t > 0, np.log1p(erf(np.where(small, safe, 1.0) * SQRT_HALF)) / safe, np.sqrt(2 / np.pi))
        far = (np.log(2) + log_ndtr(t)) / safe
        return self.shift + self.a**2 / 2 + self.a * (t / 2 + np.where(small, near, far))

    def log_tail(self, epsilon: FloatArray) -> FloatArray:
        """Both tails of the normal: 2·Φ(−v) at ω(v) = ε."""
        return np.minimum(np.log(2) + self._gaussian_tail(epsilon), 0.0)

    def loss(self, v: FloatArray) -> FloatArray:
        return self.shift + self.a**2 / 2 + self.a * v

    def position(self, epsilon: FloatArray) -> FloatArray:
        return (epsilon - self.shift) / self.a - self.a / 2

    def lowest(self) -> float:
        """The law is that of |v|."""
        return 0.0

    def anchor(self) -> float:
        """ω(0), where the law begins."""
        return self.shift + self.a**2 / 2

    def begins(self) -> bool:
        """|v| begins at 0, with a density."""
        return True


@dataclass(frozen=True)
class PositiveGaussianLaw(_ShiftedLaw):
    """ω = shift + max(0, G) with G = a²/2 + a·v: GLM losses whose slope keeps its sign (docs/theorems.md, T3)."""

    def log_profile(self, epsilon: FloatArray) -> FloatArray:
        """The Gaussian profile, moved by the shift; below the shift the atom at ω = shift counts as well."""
        moved = self._above_shift(epsilon)
        upper = gauss.log_profile(np.maximum(moved, 0.0), self.a)
        below = np.minimum(moved, 0.0)
        lower = np.log(-np.expm1(below) + np.exp(below) * erf(self.a * SQRT_HALF / 2))
        return np.minimum(np.where(below < 0, lower, upper), 0.0)

    def rdp(self, order: FloatArray) -> FloatArray:
        """E[e^{s·max(0, G)}] = Φ(−a/2) + e^{αsa²/2}·Φ(a/2 + sa), α = 1 + s."""
        a = self.a
        half_density = np.exp(-(a**2) / 8) / np.sqrt(2 * np.pi)
        mean = 0.5 * a**2 * ndtr(a / 2) + a * half_density
        safe = np.where(order > 0, order, 1.0)
        exponent = safe * (1 + safe) * a**2 / 2
        small = safe * a * (1 + a) < 0.5
        step = np.where(small, safe * a, 0.0)
        # Φ(a/2 + x) − Φ(a/2) = φ(a/2)·∫₀ˣ e^{−au/2 − u²/2} du, without cancellation
        u = step[:, None] * UNIT_NODES
        rise = half_density * step * (np.exp(-u * (a + u) / 2) @ UNIT_WEIGHTS)
        excess = np.expm1(np.where(small, exponent, 0.0)) * ndtr(a / 2 + step) + rise
        near = np.log1p(excess) / safe
        far = np.logaddexp(exponent + log_ndtr(a / 2 + safe * a), log_ndtr(-a / 2)) / safe
        return self.shift + np.where(order > 0, np.where(small, near, far), mean)

    def log_tail(self, epsilon: FloatArray) -> FloatArray:
        """The Gaussian mechanism's, moved by the shift."""
        return self._gaussian_tail(epsilon)

    def loss(self, v: FloatArray) -> FloatArray:
        return self.shift + np.maximum(0.0, self.a * (self.a / 2 + v))

    def position(self, epsilon: FloatArray) -> FloatArray:
        return (epsilon - self.shift) / self.a - self.a / 2

    def kinks(self) -> FloatArray:
        """Where ω leaves the atom."""
        return np.array([-self.a / 2])

    def anchor(self) -> float:
        """The atom."""
        return self.shift

    def gaussian_part(self) -> tuple[float, float] | None:
        """ω = shift + G from G = 0 on."""
        return -self.a / 2, self.shift
