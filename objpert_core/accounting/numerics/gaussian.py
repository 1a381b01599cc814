"""The Gaussian mechanism's privacy profile and Rényi curve, accurate in every corner.

Conventions. `a` is sensitivity / sigma, so the privacy loss is G(v) = a²/2 + a·v with v ~ N(0, 1), and

    δ(ε) = E[1 − e^{ε − G}]₊ = Φ(a/2 − ε/a) − e^ε Φ(−a/2 − ε/a)          (Balle and Wang 2018, Theorem 8).

The printed difference cancels catastrophically for small a and for small δ. With s = ε/a − a/2 and Mills' ratio
m(t) = Φ(−t)/φ(t), and because e^ε φ(s + a) = φ(s), it equals φ(s)·(m(s) − m(s + a)) = φ(s)·∫ₛ^{s+a} (1 − t·m(t)) dt,
which is a product of positive factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, ndtri_exp

from objpert_core._validation import FloatArray

SQRT_HALF = np.sqrt(0.5)
SQRT_HALF_PI = np.sqrt(np.pi / 2)
LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


def unit_legendre(count: int) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


UNIT_NODES, UNIT_WEIGHTS = unit_legendre(16)
_FEW_NODES, _FEW_WEIGHTS = unit_legendre(5)  # enough for intervals shorter than 0.05
_SHORT = 0.05
_BLOCK = 4096
_TINY = float(np.finfo(float).tiny)

# 1 − t·m(t) = Σ_k (−1)^{k+1} (2k−1)!! / t^{2k}; from t = 25 on eight terms leave a relative error below 1e-16
_ASYMPTOTIC = [1.0, -3.0, 15.0, -105.0, 945.0, -10395.0, 135135.0, -2027025.0]
_ASYMPTOTIC_FROM = 25.0


def mills(t: FloatArray) -> FloatArray:
    """Mills' ratio Φ(−t)/φ(t), for t that is not far below zero (it overflows to inf at t ≈ −37)."""
    return SQRT_HALF_PI * erfcx(t * SQRT_HALF)


def _one_minus_t_mills(t: FloatArray) -> FloatArray:
    """1 − t·Φ(−t)/φ(t) = −m'(t) > 0 without cancellation for large t."""
    large = t > _ASYMPTOTIC_FROM
    if not large.any():
        return 1 - t * mills(t)
    inverse_square = 1 / np.square(t if large.all() else t[large])
    series = np.zeros_like(inverse_square)
    for coefficient in reversed(_ASYMPTOTIC):
        series += coefficient
        series *= inverse_square
    if large.all():
        return series
    moderate = t[~large]
    drops = np.empty_like(t)
    drops[large], drops[~large] = series, 1 - moderate * mills(moderate)
    return drops


def log_mills_drop(s: FloatArray, a: FloatArray) -> FloatArray:
    """log(m(s) − m(s + a)) for s ≥ −1/2 and a > 0 (arrays of one shape)."""
    wide = a > 1
    step = np.where(wide, 1.0, a)
    nodes, weights = (_FEW_NODES, _FEW_WEIGHTS) if np.max(a, initial=0.0) < _SHORT else (UNIT_NODES, UNIT_WEIGHTS)
    integral = np.empty(s.shape)
    flat, starts, steps = integral.reshape(-1), s.reshape(-1), step.reshape(-1)
    for at in range(0, flat.size, _BLOCK):  # which stays in the cache, with all its nodes
        block = slice(at, at + _BLOCK)
        drops = _one_minus_t_mills(starts[block, None] + steps[block, None] * nodes)
        # by BLAS the last digit would depend on how many are asked for
        flat[block] = steps[block] * np.sum(drops * weights, axis=-1)
    if not wide.any():
        return np.log(integral)
    start = np.where(wide, s, 0.0)
    difference = mills(start) - mills(start + np.where(wide, a, 1.0))
    return np.log(np.where(wide, difference, integral))


def log_profile(epsilon: ArrayLike, a: ArrayLike) -> FloatArray:
    """log δ(ε) of the Gaussian mechanism for any real ε, broadcast against a = sensitivity / sigma > 0."""
    eps, ratio = np.broadcast_arrays(np.asarray(epsilon, dtype=float), np.asarray(a, dtype=float))
    size = np.abs(eps)
    s = size / ratio - ratio / 2
    with np.errstate(over="ignore"):
        log_density = -0.5 * s * s - LOG_SQRT_2PI
    low = s < -0.5  # there a > 1, so both terms of the printed formula are of different size
    result = log_density + log_mills_drop(np.where(low, 0.0, s), ratio)
    if low.any():
        s_low = np.where(low, s, -1.0)
        tail = np.exp(-0.5 * s_low * s_low - LOG_SQRT_2PI) * mills(np.where(low, s + ratio, 1.0))
        result = np.where(low, np.log(ndtr(-s_low) - tail), result)
    negative = eps < 0
    if negative.any():  # δ(ε) = 1 − e^ε + e^ε·δ(−ε): the two directions of the Gaussian mechanism are the same
        below = np.where(negative, eps, 0.0)
        with np.errstate(divide="ignore"):
            mirrored = np.log(-np.expm1(below) + np.exp(below + result))
        result = np.where(negative, mirrored, result)
    return np.minimum(result, 0.0)


def epsilon_at_tail(log_delta: FloatArray, a: float) -> FloatArray:
    """The ε which the loss a²/2 + a·v exceeds with probability δ: at least that of the profile, and near it."""
    return a * (a / 2 - ndtri_exp(np.minimum(log_delta, 0.0)))


def rdp(alpha: ArrayLike, a: float) -> FloatArray:
    """Rényi curve α·a²/2 of the Gaussian mechanism (Redberg et al. 2023, Theorem B.1); never 0, whatever underflows."""
    return np.maximum(np.asarray(alpha, dtype=float) * a * (a / 2), _TINY)


def log_1m_exp(x: Any) -> Any:
    """log(1 − e^x) for x <= 0, −∞ at 0."""
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(x))
