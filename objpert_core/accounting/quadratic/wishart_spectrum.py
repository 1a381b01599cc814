"""The eigenvalues of a Wishart matrix, as the published theorem on quadratic objective perturbation uses them.

Lemma D.4 of Cortild and Cartis (2026): with p = (m − d + 1)/2 and a constant C, the smallest eigenvalue of W ~
Wishart_d(m) has P[a ≤ λ_min ≤ b] ≤ C·(P(p, b/2) − P(p, a/2)), P the regularised lower incomplete gamma function.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainc, gammaincinv, gammaln, hyp1f1

from objpert_core._validation import FloatArray

_INVERTED = -600.0  # log of a probability above which scipy's inverse has all its digits
_STEPS = 60


def log_constant(dimension: int, degrees_of_freedom: float) -> float:
    """log C = log(D·Γ(p)), with D = 2^{m−d}·Γ((m + 1)/2)/(Γ(d/2)·Γ(m − d + 1)) of Lemma D.4."""
    d, m = dimension, degrees_of_freedom
    log_d = (m - d) * math.log(2) + gammaln((m + 1) / 2) - gammaln(d / 2) - gammaln(m - d + 1)
    return float(log_d + gammaln((m - d + 1) / 2))


def log_lower(p: float, x: FloatArray) -> FloatArray:
    """log P(p, x), also where P underflows: there P = x^p·e^{−x}·₁F₁(1; p + 1; x)/Γ(p + 1)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = np.log(gammainc(p, x))
        series = p * np.log(x) - x - gammaln(p + 1) + np.log(hyp1f1(1.0, p + 1, np.minimum(x, p + 1)))
    return np.where(direct > _INVERTED, direct, series)


def lower_quantile(p: float, log_share: FloatArray) -> FloatArray:
    """x with log P(p, x) = log_share <= 0, for a 1-d array."""
    x = gammaincinv(p, np.exp(np.maximum(log_share, _INVERTED)))
    small = np.flatnonzero(log_share < _INVERTED)
    if small.size:
        wanted = log_share[small]
        log_x = (wanted + gammaln(p + 1)) / p
        for _ in range(_STEPS):  # Newton in log x, where log P is nearly a straight line of slope p
            value = np.exp(log_x)
            log_p = p * log_x - value - gammaln(p + 1) + np.log(hyp1f1(1.0, p + 1, value))
            slope = np.exp(p * log_x - value - gammaln(p) - log_p)
            step = (wanted - log_p) / slope
            log_x += step
            if np.all(np.abs(step) < 1e-15 * np.maximum(np.abs(log_x), 1.0)):
                break
        x[small] = np.exp(log_x)
    return np.asarray(x)


def smallest_eigenvalue(dimension: int, degrees_of_freedom: float, log_delta: FloatArray) -> FloatArray:
    """α with P[λ_min < α] ≤ δ by Lemma D.4; infinite where the lemma allows any."""
    p = (degrees_of_freedom - dimension + 1) / 2
    share = log_delta - log_constant(dimension, degrees_of_freedom)
    return np.where(share < 0, 2 * lower_quantile(p, np.minimum(share, -1e-300)), np.inf)


def largest_eigenvalue(dimension: int, degrees_of_freedom: float, log_delta: FloatArray) -> FloatArray:
    """β = (√(2·log(2/δ)) + √m + √d)², above which λ_max lies with probability at most δ (Lemma D.1)."""
    return np.square(np.sqrt(2 * (math.log(2) - log_delta)) + math.sqrt(degrees_of_freedom) + math.sqrt(dimension))


def log_below(dimension: int, degrees_of_freedom: float, alpha: FloatArray) -> FloatArray:
    """log of the lemma's bound on P[λ_min ≤ α], at most 0."""
    p = (degrees_of_freedom - dimension + 1) / 2
    return np.minimum(log_constant(dimension, degrees_of_freedom) + log_lower(p, alpha / 2), 0.0)


def log_between(dimension: int, degrees_of_freedom: float, alpha: FloatArray, width: FloatArray) -> FloatArray:
    """log of the lemma's bound on P[α ≤ λ_min ≤ α + width], at most 0."""
    p = (degrees_of_freedom - dimension + 1) / 2
    low, high = log_lower(p, alpha / 2), log_lower(p, (alpha + width) / 2)
    with np.errstate(divide="ignore"):
        between = high + np.log(-np.expm1(np.minimum(low - high, 0.0)))
    return np.minimum(log_constant(dimension, degrees_of_freedom) + between, 0.0)
