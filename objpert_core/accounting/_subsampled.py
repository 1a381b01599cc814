"""Rényi curve of the Poisson-subsampled Gaussian mechanism, one step, at integer and fractional orders.

With u = e^{x} − 1, x = a·v − a²/2, a = 1/noise multiplier, v ~ N(0, 1) (so E[u] = 0) and sampling rate q,

    (α − 1)·ε(α) = log E[(1 + q·u)^α] = log1p E[g(q·u)],   g(t) = (1 + t)^α − 1 − α·t ≥ 0.

Subtracting the tangent loses nothing, as E[u] = 0, and leaves a sum, or an integral, of positive terms only: nothing
cancels, however small q is (Mironov, Talwar and Zhang 2019; removal of a row is the smaller of the two directions,
their Theorem 5).
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp

from objpert_core._validation import FloatArray

_SERIES_TERMS = 14
_SERIES_BELOW = 0.1  # of α·|t|
_SIGMAS = 13.0
_LARGEST_SUM = 1024  # integer orders up to here are summed exactly
_MOST_POINTS = 200_000  # of the trapezoidal rule; beyond, an upper bound


def _log_expm1(x: FloatArray) -> FloatArray:
    """log(e^x − 1) for x > 0."""
    return np.where(x > 30, x, np.log(np.expm1(np.minimum(x, 30.0))))


def _integer_orders(alpha: FloatArray, q: float, a: float) -> FloatArray:
    """log E[g] by the binomial sum Σ_{k≥2} C(α, k) (1 − q)^{α−k} q^k (e^{k(k−1)a²/2} − 1)."""
    top = int(alpha.max())
    k = np.arange(2, top + 1, dtype=float)
    moment = _log_expm1(k * (k - 1) * (a * a / 2)) + k * (np.log(q) - np.log1p(-q)) - gammaln(k + 1)
    n = alpha[:, None]
    terms = np.where(k <= n, moment - gammaln(np.maximum(n - k, 0.0) + 1), -np.inf)
    return logsumexp(terms, axis=1) + gammaln(alpha + 1) + alpha * np.log1p(-q)


def _log_g(order: float, t: FloatArray, log1p_t: FloatArray) -> FloatArray:
    """log of ((1 + t)^α − 1 − α·t)/(α − 1) for α = 1 + order ≥ 1; t may be cut off where α·log1p(t) is large."""
    alpha = 1 + order
    small = alpha * np.abs(t) < _SERIES_BELOW
    tiny = np.where(small, t, 0.0)
    series = np.ones_like(t)
    for k in range(_SERIES_TERMS, 1, -1):  # Horner: C(α, k+1)/C(α, k) = (α − k)/(k + 1)
        series = 1.0 + (alpha - k) / (k + 1) * tiny * series
    with np.errstate(divide="ignore"):
        near = np.log(alpha / 2) + 2 * np.log(np.abs(tiny)) + np.log(series)
    length = np.where(small, 1.0, log1p_t)
    size = np.where(small, np.e - 1, t)
    if order == 0:
        with np.errstate(over="ignore"):
            return np.where(small, near, np.log((1 + size) * length - size))
    huge = order * length > 30
    kept = np.where(huge, 0.0, length)
    direct = np.exp(kept) * np.expm1(order * kept) / order - np.where(huge, 0.0, size)
    middle = np.log(np.where(huge, 1.0, direct))
    gone = np.where(huge, length, 1.0)
    rest = alpha * np.exp(-order * gone) - order * np.exp(-alpha * gone)
    far = alpha * gone + np.log1p(-np.where(huge, rest, 0.0)) - np.log(order)
    return np.where(small, near, np.where(huge, far, middle))


def _fractional_order(order: float, q: float, a: float) -> float:
    """log of E[g]/(α − 1) by the trapezoidal rule, which converges exponentially for this analytic integrand."""
    step = min(0.12, 0.25 / a)
    low, high = -_SIGMAS, (1 + order) * a + _SIGMAS
    points = int(np.ceil((high - low) / step)) + 1
    if points > _MOST_POINTS:  # t^α is convex: E[(1 − q + q·e^x)^α] ≤ 1 − q + q·E[e^{αx}]
        return float(np.log(q) + _log_expm1(np.array((1 + order) * order * a * a / 2)) - np.log(order))
    v = np.linspace(low, high, points)
    x = a * v - a * a / 2
    far = x > 600
    t = q * np.expm1(np.where(far, 600.0, x))
    log1p_t = np.where(x > 20, np.logaddexp(np.log1p(-q), np.log(q) + x), np.log1p(np.where(x > 20, 0.0, t)))
    exponent = _log_g(order, t, log1p_t) - 0.5 * v * v
    return float(logsumexp(exponent) + np.log(v[1] - v[0]) - 0.5 * np.log(2 * np.pi))


def step_rdp(alpha: FloatArray, q: float, noise_multiplier: float) -> FloatArray:
    """Rényi curve of one step for a 1-d array of α ≥ 1."""
    a = 1 / noise_multiplier
    if q == 1:
        return alpha * (a * a / 2)
    order = alpha - 1
    whole = (alpha == np.round(alpha)) & (alpha >= 2) & (alpha <= _LARGEST_SUM)
    log_rate = np.empty_like(alpha)
    if whole.any():
        log_rate[whole] = _integer_orders(alpha[whole], q, a) - np.log(order[whole])
    log_rate[~whole] = [_fractional_order(float(s), q, a) for s in order[~whole]]
    # ε = log1p(s·rate)/s
    safe = np.where(order > 0, order, 1.0)
    scaled = np.log(safe) + log_rate
    curve = np.where(scaled > 30, scaled, np.log1p(np.exp(np.minimum(scaled, 30.0)))) / safe
    return np.where(order > 0, curve, np.exp(np.minimum(log_rate, 700.0)))
