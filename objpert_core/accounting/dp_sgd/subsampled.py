"""Rényi curve of the Poisson-subsampled Gaussian mechanism, one step, at every real order α ≥ 1.

One row more or less turns N(0, σ²) into the mixture (1 − q)·N(0, σ²) + q·N(1, σ²), σ the noise multiplier and q the
sampling rate, or the other way round. The divergence of the mixture from the Gaussian is the larger of the two
directions for every α ≥ 1 (Mironov, Talwar and Zhang 2019, Theorem 5), so it is the one computed. With a = 1/σ,
v ~ N(0, 1), x = a·v − a²/2, t = q·(e^x − 1), L = log(1 + t), s = α − 1, and E[t] = 0,

    s·ε(α) = log E[(1 + t)^α] = log1p(s·R),    R = E[(1 + t)^α − 1 − α·t]/s = E[k(t) + (1 + t)·(e^{sL} − 1 − sL)/s],

k(t) = (1 + t)·L − t. Both terms are ≥ 0, so nothing cancels however small q or s is; at s = 0, R is the KL divergence.

R is summed by the trapezoidal rule, whose step depends on neither α nor q: with step h the error is at most about
e^{d²/2 − 2πd/h} of R for d ≤ π/a. Where that takes too many points the curve is the triangle inequality

    s·ε(α) ≤ α·log(1 − q + q·e^{s·a²/2}),

which is below the Gaussian curve and tends to the truth for large s·a²: E[(1 + t)^α] ≥ q^α·e^{α·s·a²/2}.
"""

from __future__ import annotations

import math

import numpy as np

from objpert_core._validation import FloatArray, IntArray

_DIGITS = 38.0  # the rule's error is about e^−38
_TAIL = 9.5  # standard deviations kept beyond the outermost modes; e^{−9.5²/2} = 3e-20
_MOST_POINTS = 16_384  # of the rule, for one order
_BLOCK = 32_768  # points × orders evaluated at once: the arrays stay in the processor's cache
_TIGHT = 25.0  # from here on the triangle inequality is within e^−25/25 of the curve
_SMALL = 0.05  # |t| or |s·L| below which series are used
_SMALLEST = 1e-140  # of a and q·a: squares of smaller numbers would underflow
_ROUNDING = 1e-12  # of a sum, relative, and what the triangle inequality may lose above _TIGHT
_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
_SERIES = np.polynomial.Polynomial([0, 0, *(1 / math.factorial(k) for k in range(2, 9))])  # of e^y − 1 − y


def _triangle(order: FloatArray, q: float, a: float) -> FloatArray:
    """The upper bound α/s·log(1 − q + q·e^z), z = s·a²/2 for s = α − 1 > 0, and its limit q·a²/2 at s = 0."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        z = order * (a * (a / 2))
        growth = np.expm1(np.minimum(z, 700.0))
        log_norm = np.where(z < 700, np.log1p(q * growth), np.logaddexp(np.log1p(-q), z + np.log(q)))
        bound = (1 + order) * (log_norm / order)
        # where products underflow, by logarithms: log(1 + q·(e^z − 1)) ≤ q·z·(e^z − 1)/z
        slope = np.log1p(order) + 2 * np.log(a) + np.log(q) - np.log(2) + np.log(np.where(z > 0, growth / z, 1.0))
        bound = np.where(q * growth < 1e-290, np.exp(slope), bound)
    return np.where(np.isnan(bound), np.inf, bound)


def _step(a: float) -> float:
    """The widest step with d²/2 − 2πd/h ≤ −_DIGITS at the best d = min(2π/h, π/a)."""
    wide = max(a, np.pi / np.sqrt(2 * _DIGITS))
    return float(2 * np.pi**2 / (_DIGITS * wide + np.pi**2 / (2 * wide)))


def _grid(points: int, q: float, a: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """L, k(t)/(1 + t) and log((1 + t)·φ(v)·h) at the points v of the rule."""
    h = _step(a)
    v = h * np.arange(points) - _TAIL
    x = a * v - a * a / 2
    t = q * np.expm1(np.minimum(x, 700.0))
    log1p_t = np.where(x > 1, np.logaddexp(np.log1p(-q), np.log(q) + x), np.log1p(t))
    small = np.where(np.abs(t) < _SMALL, t, 0.0)
    series = np.zeros_like(t)
    for k in range(11, 1, -1):  # k(t) = t²·(1/2 − t/6 + t²/12 − …)
        series = 1 / (k * (k - 1)) - small * series
    excess = np.where(np.abs(t) < _SMALL, small * small * series / (1 + t), log1p_t - t / (1 + t))
    return log1p_t, excess, log1p_t - v * v / 2 + np.log(h / np.sqrt(2 * np.pi))


def _moment_rates(order: FloatArray, points: int, q: float, a: float) -> tuple[FloatArray, FloatArray]:
    """R·e^−m and m ≥ 0 for a few orders at once."""
    length, excess, log_weight = _grid(points, q, a)
    y = order[:, None] * length
    exponent = y + log_weight
    top = np.maximum(exponent.max(axis=1, keepdims=True), 0.0)
    with np.errstate(under="ignore"):
        weight = np.exp(log_weight) * np.exp(-top)
        growth = np.exp(exponent - top) - (1 + y) * weight  # (e^y − 1 − y)·weight, which cancels for small y
        small = np.abs(y) < _SMALL
        growth[small] = _SERIES(y[small]) * weight[small]
        return weight @ excess + growth.sum(axis=1) / np.where(order > 0, order, 1.0), top[:, 0]


def _by_rule(order: FloatArray, points: IntArray, q: float, a: float) -> FloatArray:
    """The curve by the trapezoidal rule, in blocks of orders that need about as many points."""
    rate, top = np.empty_like(order), np.empty_like(order)
    by_points = np.argsort(points, kind="stable")
    ordered = points[by_points]
    start = 0
    while start < order.size:
        similar = int(np.searchsorted(ordered, 1.25 * ordered[start] + 8, side="right"))
        end = min(similar, start + max(1, _BLOCK // int(ordered[start])))
        block = by_points[start:end]
        rate[block], top[block] = _moment_rates(order[block], int(ordered[end - 1]), q, a)
        start = end
    safe = np.where(order > 0, order, 1.0)
    with np.errstate(under="ignore"):
        moderate = np.log1p(order * rate * np.exp(np.minimum(top, 30.0)))
        large = np.log(safe * rate) + top
        return np.where(order > 0, np.where(top < 30, moderate, large) / safe, rate)


def step_rdp(alpha: FloatArray, q: float, noise_multiplier: float) -> FloatArray:
    """Rényi curve of one step for a 1-d array of α ≥ 1: the value, rounded up, or an upper bound; never NaN."""
    a = 1 / noise_multiplier
    order = alpha - 1.0
    if q == 1:
        with np.errstate(over="ignore"):
            return np.maximum(alpha * a * (a / 2), _TINY)
    curve = _triangle(order, q, a)
    with np.errstate(over="ignore", invalid="ignore"):  # a may be inf
        points = np.ceil((np.maximum(alpha, 2.0) * a + 2 * _TAIL) / _step(a)) + 1
        summed = (points <= _MOST_POINTS) & (order * (a * a / 2) + np.log(q) < _TIGHT) & (q * a > _SMALLEST)
    if summed.any():
        # α·L and v²/2 are near (α·a)² at the upper mode, and their rounding is an error of the exponent
        rounding = _EPS * (alpha[summed] * a) ** 2
        value = _by_rule(order[summed], points[summed].astype(int), q, a) * (1 + rounding)
        curve[summed] = np.minimum(curve[summed], value)
    with np.errstate(over="ignore"):
        return np.maximum(curve * (1 + _ROUNDING), _TINY)
