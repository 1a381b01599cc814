"""Pairs of mixtures of unit normals that one step of subsampled noise turns into, and their Rényi divergences.

With binomial weights w over 0 … k, P = Σ w_j·N(j·a, 1), and Q = N(0, 1) (k rows added or removed) or Q = Σ
w_j·N(−j·a, 1) (k rows replaced). log dP/dQ never decreases, as every factor of the ratio is monotone.
docs/theorems.md, T19.

With ω = log dP/dQ, s = α − 1 and ψ(x) = e^x − 1 − x ≥ 0, E_Q[dP/dQ − 1] = 0 gives

    s·D_α(P‖Q) = log1p(s·R),     R = E_P[ψ(−ω) + ψ(s·ω)/s],

where nothing cancels, however small a, q or s is; at s = 0, R is the Kullback–Leibler divergence. R is summed by the
trapezoidal rule. For |Im z| ≤ d ≤ 1/(k·a) a mixture's modulus lies between cos(k·a·d)·e^{d²/2} and e^{d²/2} times its
value at Re z, and log cos(u) ≥ −0.616·u² for u ≤ 1. So with step h the rule's error is at most about
e^{d²/2 + 0.616·s·(k·a·d)² − 2πd/h} of the moment.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from objpert_core._validation import FloatArray
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI

_DIGITS = 38.0  # the rule's error is about e^−38
_TAIL = 9.5  # standard deviations kept beyond the outermost modes; e^{−9.5²/2} = 3e-20
_MOST_POINTS = 16_384  # of the rule, for one order
_BLOCK = 2**20  # points × orders at once
_SMALL = 0.05  # |x| below which ψ(x) is summed as a series
_LARGE = 30.0  # x beyond which ψ(x) is e^x − 1 − x as it stands
_ROUNDING = 1e-12  # of a sum, relative
_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)


def log_mixed(y: FloatArray, q: float) -> FloatArray:
    """log(1 − q + q·e^y), the likelihood ratio of a mixture with share q < 1; accurate near 0 and for large y."""
    far = y > 1.0
    near = np.log1p(q * np.expm1(np.where(far, 0.0, y)))
    return np.where(far, np.logaddexp(np.log1p(-q), np.log(q) + y), near)


def unmixed(ratio: FloatArray, q: float) -> FloatArray:
    """y with log(1 − q + q·e^y) = ratio; −inf at and below log(1 − q)."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        large = ratio > 500
        y = np.where(large, ratio - np.log(q), np.log1p(np.expm1(np.where(large, 0.0, ratio)) / q))
    return np.where(np.isnan(y), -np.inf, y)


def log_binomial_weights(size: int, rate: float) -> FloatArray:
    """log Pr[Bin(size, rate) = j] for j = 0 … size and 0 < rate < 1."""
    j = np.arange(size + 1.0)
    choose = gammaln(size + 1.0) - gammaln(j + 1) - gammaln(size - j + 1)
    return choose + j * np.log(rate) + (size - j) * np.log1p(-rate)


def log_tilt(log_weights: FloatArray, a: float, z: FloatArray) -> FloatArray:
    """log of Σ w_j·N(j·a, 1) over N(0, 1) at a 1-d array of z, accurate near 0."""
    j = np.arange(log_weights.size)
    y = a * j * (z[:, None] - a * j / 2)
    far = y.max(axis=1) > 1
    excess = np.zeros(z.shape)
    excess[~far] = np.expm1(y[~far]) @ np.exp(log_weights)
    far |= excess < -0.5  # little is left of 1, and of its digits
    result = np.empty(z.shape)
    result[~far] = np.log1p(excess[~far])
    exponent = log_weights + y[far]
    top = exponent.max(axis=1, initial=-np.inf, keepdims=True)
    result[far] = top[:, 0] + np.log(np.exp(exponent - top).sum(axis=1))
    return result


def log_ratio(log_weights: FloatArray, a: float, z: FloatArray, two_sided: bool) -> FloatArray:
    """log dP/dQ at a 1-d array of z, accurate near 0."""
    if not two_sided:
        return log_tilt(log_weights, a, z)
    size = np.abs(z)  # odd in z
    j = np.arange(log_weights.size)
    far = a * size * j[-1] > 1
    result = np.empty(z.shape)
    result[far] = log_tilt(log_weights, a, size[far]) - log_tilt(log_weights, a, -size[far])
    weights = np.exp(log_weights - 0.5 * np.square(a * j))
    x = a * size[~far, None] * j
    result[~far] = np.log1p((2 * np.sinh(x)) @ weights / (np.exp(-x) @ weights))
    return np.sign(z) * result


def log_ratio_slope(log_weights: FloatArray, a: float, z: FloatArray, two_sided: bool) -> FloatArray:
    """The derivative of `log_ratio` in z, which is not negative."""

    def mean(at: FloatArray) -> FloatArray:
        j = np.arange(log_weights.size)
        exponent = log_weights + a * j * (at[:, None] - a * j / 2)
        weight = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        return (weight @ j) / weight.sum(axis=1)

    return a * (mean(z) + (mean(-z) if two_sided else 0.0))


def _psi(x: FloatArray) -> FloatArray:
    small = np.abs(x) < _SMALL
    near = np.where(small, x, 0.0)
    series = np.zeros_like(x)
    for k in range(9, 1, -1):  # x²/2·(1 + x/3·(1 + x/4·(…)))
        series = near / k * (1 + series) if k > 2 else near * near / 2 * (1 + series)
    return np.where(small, series, np.expm1(np.where(small, 0.0, x)) - x)


def _moment_rates(
    order: FloatArray, z: FloatArray, h: float, log_first: FloatArray, omega: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """R·e^−m and m ≥ 0 for a few orders at once."""
    log_weight = log_first - 0.5 * z * z - LOG_SQRT_2PI + np.log(h)
    y = order[:, None] * omega
    exponent = y + log_weight
    top = np.maximum(exponent.max(axis=1, keepdims=True), 0.0)
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        weight = np.exp(log_weight) * np.exp(-top)
        growth = np.where(
            np.abs(y) < _SMALL, _psi(np.clip(y, -_SMALL, _SMALL)) * weight, np.exp(exponent - top) - (1 + y) * weight
        )
        far = -omega > _LARGE
        there = np.exp((log_weight - omega)[far] - top) - (1 - omega[far]) * weight[:, far]  # no ψ overflows
        rest = weight[:, ~far] @ _psi(-omega[~far]) + there.sum(axis=1)
        return rest + growth.sum(axis=1) / np.where(order > 0, order, 1.0), top[:, 0]


def mixture_rdp(alpha: FloatArray, log_weights: FloatArray, a: float, two_sided: bool) -> FloatArray:
    """Rényi divergence of the pair, the larger of its two orders, for a 1-d array of α ≥ 1; rounded up."""
    order = alpha - 1.0
    size = log_weights.size - 1
    reach = size * a
    with np.errstate(over="ignore"):
        curve = alpha * (0.5 * np.square((2 if two_sided else 1) * reach))
    found = np.zeros_like(curve)
    for swapped in (False,) if two_sided else (False, True):
        found = np.maximum(found, _one_order(order, log_weights, a, two_sided, swapped))
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = found * (1 + _ROUNDING + _EPS * np.square(alpha * reach))
    return np.maximum(np.fmin(curve, rounded), _TINY)


def _one_order(order: FloatArray, log_weights: FloatArray, a: float, two_sided: bool, swapped: bool) -> FloatArray:
    reach = (log_weights.size - 1) * a
    bend = 0.616 * np.square(reach) * order if two_sided or swapped else 0.0 * order
    d = np.minimum(np.sqrt(_DIGITS / (0.5 + bend)), 1 / reach)
    h = 2 * np.pi * d / (_DIGITS + (0.5 + bend) * d * d)
    # ψ(−ω) dP holds the whole mass of Q, so the rule has to reach Q's modes as well
    below = order * reach if swapped else np.full_like(order, reach if two_sided else 0.0)
    above = np.full_like(order, reach) if swapped else (1 + order + (order if two_sided else 0.0)) * reach
    points = np.ceil((below + above + 2 * _TAIL) / h) + 1
    result = np.full_like(order, np.inf)
    todo = np.flatnonzero(points <= _MOST_POINTS)
    todo = todo[np.argsort(points[todo], kind="stable")]
    start = 0
    while start < todo.size:
        most = max(1, _BLOCK // (int(points[todo[start]]) * 2))
        similar = int(np.searchsorted(points[todo], 1.5 * points[todo[start]] + 8, side="right"))
        block = todo[start : min(similar, start + most)]
        start += block.size
        step, low, high = float(h[block].min()), float(below[block].max()) + _TAIL, float(above[block].max()) + _TAIL
        z = step * np.arange(-np.ceil(low / step), np.ceil(high / step) + 1)
        tilt = log_tilt(log_weights, a, z)
        if swapped:
            first, omega = np.zeros_like(tilt), -tilt
        else:
            first, omega = tilt, log_ratio(log_weights, a, z, two_sided)
        rate, top = _moment_rates(order[block], z, step, first, omega)
        s = order[block]
        safe = np.where(s > 0, s, 1.0)
        with np.errstate(under="ignore", divide="ignore"):
            moderate = np.log1p(s * rate * np.exp(np.minimum(top, 30.0)))
            large = np.log(safe * rate) + top
        result[block] = np.where(s > 0, np.where(top < 30, moderate, large) / safe, rate)
    return result
