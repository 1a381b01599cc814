"""The tight privacy loss of objective perturbation for the logistic loss, T (docs/theorems.md, T1).

With a = R/σ, κ = R²/λ, G = a²/2 + a·v and w(p) = p(1 − p),

    T(v) = max over p in [0, 1] of  p·G + log(1 + κ·w(p)) − a²·w(p)/2.

* κ ≤ a²/2 (λ ≥ 2σ²): log(1 + κw) ≤ κw ≤ a²w/2, so T = max(0, G), attained at p = 0 or 1.
* κ > a²/2: write p = 1/2 + q. Everything but q·G is even in q, so T(−G) = T(G) − G, and for G ≥ 0 the maximum is at the
  largest root in [0, 1/2] of  G + a²q = 2κq/(K − κq²), K = 1 + κ/4,  or at q = 1/2 once G ≥ ε* = κ − a²/2.
  With Q = √(K/κ) and q = Q·tanh(r) the equation reads  sinh(2r)/Q − a²Q·tanh(r) = G, convex in r.

dT/dG = p, so T is convex and never decreases; T = G for G ≥ ε* and T = 0 for G ≤ −ε*.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import log_ndtr

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.laws.simple import PositiveGaussianLaw, PrivacyLossLaw
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.quadrature import (
    GRADED,
    LOG_BEYOND,
    UNIFORM,
    V_HIGH,
    V_LOW,
    log_expectation,
    reach,
    sorted_breaks,
)
from objpert_core.accounting.numerics.tail import log_tail_of_gaussian

_MAX_NEWTON = 100
_BISECTIONS = 48
_STEP = 1e-9  # relative: the next step of Newton's method would be of the size of the rounding errors
_FLAT = 1e-300
_LARGEST = 1e150  # of (α − 1)·a, whose square is needed
_POSITION = 1e-9  # relative: what Newton's method may leave off
_ROUNDING = 1e-14
_SMALL = 1e-3  # below this a, ε − T is of the size of the rounding errors of T in double precision


@dataclass(frozen=True)
class LogisticLaw(PrivacyLossLaw):
    """ω = T(v) for κ > a²/2; use `logistic_law`, which also knows the other case."""

    a: float
    kappa: float
    kappa_rest: float = 0.0  # what rounding κ to a double left off
    threshold: float = field(init=False)  # ε* = κ − a²/2: from here on T = G
    _scale: float = field(init=False)  # Q

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", self.kappa - self.a**2 / 2)
        object.__setattr__(self, "_scale", float(np.sqrt(0.25 + 1 / self.kappa)))

    # --- the maximiser ---------------------------------------------------------------------------------------

    def _gap(self, r: FloatArray) -> FloatArray:
        """The G ≥ 0 at which q = Q·tanh(r) is the maximiser."""
        return np.sinh(2 * r) / self._scale - self.a**2 * self._scale * np.tanh(r)

    def _gap_slope(self, r: FloatArray) -> FloatArray:
        return 2 * np.cosh(2 * r) / self._scale - self.a**2 * self._scale / np.cosh(r) ** 2

    def _q_of(self, size: FloatArray) -> FloatArray:
        """q at |G| = size in [0, ε*]: the largest root of the cubic (G + a²q)·(K/κ − q²) − 2q, concave for q ≥ 0.
        Newton's method from above converges monotonically; it starts where G + a²/2 stands for G + a²q."""
        square, drive = self.a**2, size + self.a**2 / 2
        q = np.minimum(drive * self._scale**2 / (1 + np.hypot(1.0, drive * self._scale)), 0.5)
        for _ in range(_MAX_NEWTON):
            drive, room = size + square * q, 1 / self.kappa + (0.5 - q) * (0.5 + q)
            slope = np.minimum(square * room - 2 * q * drive - 2, -_FLAT)
            step = (drive * room - 2 * q) / slope
            q = np.maximum(q - step, 0.0)
            if not (step > _STEP * q).any():  # T is stationary in q: its error is of second order
                break
        return q

    def _value(self, gaussian: FloatArray, q: FloatArray) -> FloatArray:
        """p·G + log(1 + κw) − a²w/2 at p = 1/2 + sign(G)·q."""
        p = np.where(gaussian >= 0, 0.5 + q, 0.5 - q)
        w = (0.5 - q) * (0.5 + q)
        return p * gaussian + np.log1p(self.kappa * w) - 0.5 * self.a**2 * w

    def loss(self, v: FloatArray) -> FloatArray:
        gaussian = self.a * (self.a / 2 + v)
        inside = np.abs(gaussian) < self.threshold
        result = np.maximum(gaussian, 0.0)
        if inside.any():
            between = gaussian[inside]
            result[inside] = np.maximum(self._value(between, self._q_of(np.abs(between))), result[inside])
        return result

    def _shortfall(self, epsilon: FloatArray, v: FloatArray) -> FloatArray:
        """ε − T(v); small a need more digits, so extended precision where the machine has it."""
        if self.a > _SMALL:
            return epsilon - self.loss(v)
        gaussian = self.a * (self.a / 2 + v)
        result = epsilon - np.maximum(gaussian, 0.0)
        inside = np.abs(gaussian) < self.threshold
        if inside.any():
            between = gaussian[inside]
            q = self._q_of(np.abs(between)).astype(np.longdouble)  # T is stationary in q: a double is good enough
            p, w = np.where(between >= 0, 0.5 + q, 0.5 - q), (0.5 - q) * (0.5 + q)
            kappa = np.longdouble(self.kappa) + self.kappa_rest
            loss = p * between + np.log1p(kappa * w) - 0.5 * np.longdouble(self.a) ** 2 * w
            result[inside] = np.minimum((epsilon[inside] - loss).astype(float), result[inside])
        return result

    def position(self, epsilon: FloatArray) -> FloatArray:
        """v with T(v) = ε, to rounding for T at G ≥ 0 and to 2^-48 of the range of r below; exact for ε ≥ ε*."""
        middle = float(self.loss(np.array([-self.a / 2]))[0])
        gaussian = epsilon.copy()
        upper = (epsilon >= middle) & (epsilon < self.threshold)
        if upper.any():
            gaussian[upper] = self._gap(self._r_above(epsilon[upper]))
        lower = epsilon < middle
        if lower.any():
            gaussian[lower] = -self._gap(self._r_below(epsilon[lower]))
        return gaussian / self.a - self.a / 2

    def _r_above(self, epsilon: FloatArray) -> FloatArray:
        """r with T = ε at G = gap(r) ≥ 0: T is convex and increasing in r, so Newton's method from above works."""
        r = 0.5 * np.arcsinh(self._scale * (epsilon + self.a**2 / 2))  # T ≥ G
        for _ in range(_MAX_NEWTON):
            q = np.minimum(self._scale * np.tanh(r), 0.5)
            slope = (0.5 + q) * self._gap_slope(r)
            value = self._value(self._gap(r), q)
            step = np.where(slope > 0, (value - epsilon) / np.where(slope > 0, slope, 1.0), 0.0)
            r = np.maximum(r - step, 0.0)
            if not (np.abs(step) > 1e-9 * r).any():
                break
        return r

    def _r_below(self, epsilon: FloatArray) -> FloatArray:
        """r with T = ε at G = −gap(r) < 0, where T decreases in r, by bisection."""
        low = np.full(epsilon.shape, np.arctanh(self._q_of(np.zeros(1))[0] / self._scale))
        high = np.full(epsilon.shape, 0.5 * np.arcsinh(self.kappa * self._scale))
        for _ in range(_BISECTIONS):
            r = 0.5 * (low + high)
            above = self._value(-self._gap(r), np.minimum(self._scale * np.tanh(r), 0.5)) > epsilon
            low, high = np.where(above, r, low), np.where(above, high, r)
        return high

    @property
    def _start(self) -> float:
        """v*: from here on T = G."""
        return self.threshold / self.a - self.a / 2

    def gaussian_part(self) -> tuple[float, float]:
        """T = G from v* on."""
        return self._start, 0.0

    def kinks(self) -> FloatArray:
        """Where T leaves 0 and becomes G, and, with ever finer panels, G = 0, where the maximiser may jump."""
        distance = self.threshold / self.a
        return np.concatenate((np.array([-distance, distance]), GRADED)) - self.a / 2

    # --- functionals -----------------------------------------------------------------------------------------

    def log_tail(self, epsilon: FloatArray) -> FloatArray:
        """log P[T > ε] for ε ≥ 0: the Gaussian mechanism's from ε* on, Φ(−v) at T(v) = ε below; rounded up."""
        result = log_tail_of_gaussian(epsilon, self.a)
        low = epsilon < self.threshold
        if low.any():
            eps = epsilon[low]
            v = self.position(eps)
            v -= _POSITION * (1 + np.abs(v)) + _ROUNDING * (1 + eps + self.kappa) / self.a  # T(v) ≤ ε for sure
            # T ≤ max(0, G) + log(1 + κ/4) where the search for v should have failed
            coarse = PositiveGaussianLaw(self.a, float(np.log1p(self.kappa / 4)) * (1 + _ROUNDING)).log_tail(eps)
            found = self.loss(v) <= eps * (1 + _ROUNDING) + _ROUNDING
            result[low] = np.minimum(np.where(found, log_ndtr(-v) * (1 - _ROUNDING), 0.0), coarse)
        return result

    def _log_tail(self, epsilon: FloatArray, start: float) -> FloatArray:
        """log of ∫ over v ≥ start of (1 − e^{ε−G})φ(v) dv for ε ≤ G(start), start ≥ −a/2, from Mills' ratios."""
        if start > V_HIGH:  # below the smallest double, and the two ratios would become equal
            return np.full_like(epsilon, -np.inf)
        drop = np.array([start])
        wide = np.array([self.a])
        log_density = -0.5 * start * start - gauss.LOG_SQRT_2PI
        if start < -0.5:
            log_gap = np.log(np.exp(log_ndtr(-drop)) - np.exp(log_density) * gauss.mills(drop + wide))
        else:
            log_gap = log_density + gauss.log_mills_drop(drop, wide)
        with np.errstate(divide="ignore"):
            shortfall = np.log(-np.expm1(epsilon - self.threshold))
        # log φ(start)·m(start + a), and e^{−G}φ integrates to it
        return np.logaddexp(log_gap, shortfall + log_density + np.log(gauss.mills(drop + wide)))

    def log_profile(self, epsilon: FloatArray) -> FloatArray:
        """The Gaussian profile from ε* on; below it the integral over v < v* by quadrature, the rest in closed form."""
        below = epsilon < 0
        if below.any():  # T >= 0: E[1 − e^{ε − T}] = 1 − e^ε·(1 − δ(0))
            at_zero = np.exp(self.log_profile(np.zeros(1)))
            inside = np.log(-np.expm1(np.minimum(epsilon, 0.0)) + np.exp(np.minimum(epsilon, 0.0)) * at_zero)
            result = np.where(below, np.minimum(inside, 0.0), 0.0)
            result[~below] = self.log_profile(epsilon[~below]) if (~below).any() else 0.0
            return result
        result = gauss.log_profile(epsilon, self.a)
        low = epsilon < self.threshold
        if low.any():
            eps = epsilon[low]
            start = self._start
            first = np.maximum(self.position(eps), V_LOW)
            last = np.minimum(start, V_HIGH)
            breaks = sorted_breaks(
                UNIFORM,
                first[:, None] + reach(1 / (64 * max(self.a, 1.0))),
                self.kinks(),
                low=np.minimum(first, last),
                high=last,
            )

            def log_f(v: FloatArray, row: IntArray) -> FloatArray:
                with np.errstate(divide="ignore"):
                    return np.log(-np.expm1(np.minimum(self._shortfall(eps[row], v), 0.0)))

            middle = log_expectation(log_f, breaks)
            if start > V_HIGH:
                middle = np.logaddexp(middle, LOG_BEYOND)
            result[low] = np.minimum(np.logaddexp(middle, self._log_tail(eps, start)), 0.0)
        return result

    def rdp(self, order: FloatArray) -> FloatArray:
        """log E[e^{sT}]/s; the part with T = G in closed form, the rest around the mode of s·T(v) − v²/2."""
        result = np.full_like(order, np.inf)
        vast = order * self.a > _LARGEST  # no order that is of use
        # T <= max(0, G) + log(1 + κ/4), so that e^{sT} is small over the whole range of v
        gentle = order * (self.a * (1 + self.a) + np.log1p(self.kappa / 4)) < 0.25
        if gentle.any():
            result[gentle] = self._rdp_near_one(order[gentle])
        far = ~(gentle | vast)
        if far.any():
            result[far] = self._rdp_away(order[far])
        return np.maximum(result, gauss.rdp(1 + order, self.a))  # T >= G, whatever is rounded

    def _rdp_near_one(self, order: FloatArray) -> FloatArray:
        """log1p(E[e^{sT} − 1])/s for small s, and E[T] at s = 0."""
        breaks = sorted_breaks(UNIFORM, self.kinks(), np.empty((order.size, 0)), low=V_LOW, high=V_HIGH)

        def log_f(v: FloatArray, row: IntArray) -> FloatArray:
            s, loss = order[row], self.loss(v)
            with np.errstate(divide="ignore", over="ignore"):
                return np.log(np.where(s > 0, np.expm1(s * loss) / np.where(s > 0, s, 1.0), loss))

        rate = np.exp(log_expectation(log_f, breaks))
        safe = np.where(order > 0, order, 1.0)
        return np.where(order > 0, np.log1p(safe * rate) / safe, rate)

    def _rdp_away(self, order: FloatArray) -> FloatArray:
        start = self._start
        tail = order * self.a * ((1 + order) * self.a) / 2 + log_ndtr(order * self.a - start)
        mode = np.minimum(self._mode(order), start)
        growth = 0.5 * 1.25 ** np.arange(140)
        reach = np.concatenate((-growth[::-1], [-0.25, 0.0, 0.25], growth))
        breaks = sorted_breaks(
            mode[:, None] + reach,
            self.kinks(),
            low=max(-self.threshold / self.a - self.a / 2, -_LARGEST),  # beyond, e^{−v²/2} is 0
            high=min(start, _LARGEST),
        )
        middle = log_expectation(lambda v, row: order[row] * self.loss(v), breaks, unimodal=True)
        zero = np.full_like(order, log_ndtr(-self.threshold / self.a - self.a / 2))
        return np.logaddexp(np.logaddexp(middle, tail), zero) / order

    def _mode(self, order: FloatArray) -> FloatArray:
        """The mode of s·T(v) − v²/2: s·T' − v is concave and positive on the left, so it has one root."""
        low = np.full_like(order, -self.a / 2)
        high = order * self.a
        for _ in range(_BISECTIONS):
            v = 0.5 * (low + high)
            gaussian = self.a * (self.a / 2 + v)
            q = np.where(gaussian < self.threshold, self._q_of(np.clip(gaussian, 0.0, self.threshold)), 0.5)
            rising = order * self.a * (0.5 + q) > v
            low, high = np.where(rising, v, low), np.where(rising, high, v)
        return high


def logistic_law(a: float, kappa: float, kappa_rest: float = 0.0) -> PrivacyLossLaw:
    """The law of T for a = R/σ and κ = R²/λ, the latter as the sum of two doubles."""
    if kappa <= a**2 / 2:
        return PositiveGaussianLaw(a, 0.0)
    return LogisticLaw(a, kappa, kappa_rest)
