"""The Rényi divergences of the subsampled Gaussian from their definition, at high precision, in both directions.

Nothing is shared with the package: integrals of powers of the two densities by `mpmath.quad`, with no tangent
subtracted (the digits pay for the cancellation), and for integer orders the binomial sum.
"""

from __future__ import annotations

from collections.abc import Callable

from mpmath import mp, mpf

from tests.accounting.oracles import UNIT_STEPS, around, inside, quad

DIGITS = 60
REACH = 16  # standard deviations around a mode: e^{−128}
LONGEST = 150  # of an interval that is covered evenly


def _modes(alpha: mpf, q: mpf, a: mpf) -> list[mpf]:
    """The lowest and the highest maximum of (1 − q + q·e^x)^α·φ(v): v = α·a·p(v), climbed to from below and above."""

    def fixed_point(v: mpf) -> mpf:
        for _ in range(2000):
            odds = q * mp.exp(a * v - a * a / 2)
            v, before = alpha * a * odds / (1 - q + odds), v
            if abs(v - before) < 1e-3:
                break
        return v

    return [fixed_point(mpf(0)), fixed_point(alpha * a)]


def _points(alpha: mpf, q: mpf, a: mpf) -> list[mpf]:
    """Break points: two apart over all of the range or, where that is too long, around its modes."""
    low, high = mpf(-REACH), max(alpha, mpf(2)) * a + REACH
    # 1 − q + q·e^x has its zeros π/a away from here
    bend = around(a / 2 + mp.log((1 - q) / q) / a, [k / a for k in range(0, 30, 2)]) if a > 5 else []
    if high < LONGEST:
        return inside([*range(int(low) + 1, int(high) + 1, 2), *bend], low, high)
    modes = [mpf(0), 2 * a, *_modes(alpha, q, a)]
    return inside([*(p for m in modes for p in around(m, UNIT_STEPS)), *bend], low, high)


def _expectation(f: Callable[[mpf], mpf], q: mpf, a: mpf, points: list[mpf]) -> mpf:
    """E[f(P/Q)] for v ~ Q = N(0, 1) and P = (1 − q)·N(0, 1) + q·N(a, 1)."""

    def integrand(v: mpf) -> mpf:
        return mp.npdf(v) * f(1 - q + q * mp.exp(a * v - a * a / 2))

    return quad(integrand, points)


def mixture_from_gaussian(alpha: float, q: float, noise_multiplier: float) -> mpf:
    """D_α(P‖Q) at any real α ≥ 1: log E[(P/Q)^α]/(α − 1)."""
    with mp.workdps(DIGITS):
        order, rate, a = mpf(alpha), mpf(q), 1 / mpf(noise_multiplier)
        points = _points(order, rate, a)
        if order == 1:
            return _expectation(lambda r: r * mp.log(r), rate, a, points)
        return mp.log(_expectation(lambda r: r**order, rate, a, points)) / (order - 1)


def gaussian_from_mixture(alpha: float, q: float, noise_multiplier: float) -> mpf:
    """D_α(Q‖P) at any real α ≥ 1: log E[(P/Q)^{1−α}]/(α − 1), whose modes lie between −(α − 1)·a and 0."""
    with mp.workdps(DIGITS):
        order, rate, a = mpf(alpha), mpf(q), 1 / mpf(noise_multiplier)
        low = -(order - 1) * a - REACH
        points = inside(range(int(low) + 1, REACH, 2), low, mpf(REACH))
        if order == 1:
            return _expectation(lambda r: -mp.log(r), rate, a, points)
        return mp.log(_expectation(lambda r: r ** (1 - order), rate, a, points)) / (order - 1)


def binomial(alpha: int, q: float, noise_multiplier: float) -> mpf:
    """D_α(P‖Q) at an integer α ≥ 2: log Σ C(α, k)·(1 − q)^{α−k}·q^k·e^{k(k−1)/(2σ²)}, over α − 1."""
    with mp.workdps(DIGITS):
        rate, half = mpf(q), 1 / (2 * mpf(noise_multiplier) ** 2)
        term, total, growth = (1 - rate) ** alpha, mpf(0), mpf(1)  # growth = e^{k(k−1)·half}
        step, factor = mp.exp(2 * half), mpf(1)
        for k in range(alpha + 1):
            total += term * growth
            growth *= factor
            factor *= step
            term *= mpf(alpha - k) / (k + 1) * rate / (1 - rate)
        return mp.log(total) / (alpha - 1)
