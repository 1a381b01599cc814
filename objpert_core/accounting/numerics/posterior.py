"""Hockey-stick divergences of posterior sampling in linear regression, a row added or removed: in one dimension, exact.

With leverage h and shift ρ the pair is P = N(√ρ, h), without the row, and Q = N(√ρ/(1 + h), h/(1 + h)), with it.
log P/Q at u is u²/2 − ρ/(2(1 + h)) − ½·log(1 + h). All functions take 1-d arrays of real ε and return log δ.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from objpert_core._validation import FloatArray
from objpert_core.accounting.numerics.logarithms import log_1m_exp

SLACK = 1e-11  # of 1 + |log δ|: far above what logarithms of normal probabilities are off by


def log_delta_added(epsilon: FloatArray, h: float, rho: float) -> FloatArray:
    """log of P[|U| > c] − e^ε·Q[|U| > c], c² = 2ε + log(1 + h) + ρ/(1 + h): P lacks the row."""
    square = 2 * epsilon + math.log1p(h) + rho / (1 + h)
    c = np.sqrt(np.maximum(square, 0.0))
    found = _excess(_log_outside(c, *_without(h, rho)), _log_outside(c, *_with(h, rho)), epsilon)
    return np.where(square > 0, found, log_1m_exp(np.minimum(epsilon, 0.0)))


def log_delta_removed(epsilon: FloatArray, h: float, rho: float) -> FloatArray:
    """log of Q[|U| < c] − e^ε·P[|U| < c], c² = −2ε + log(1 + h) + ρ/(1 + h); 0 from where that is negative on."""
    square = -2 * epsilon + math.log1p(h) + rho / (1 + h)
    c = np.sqrt(np.maximum(square, 0.0))
    found = _excess(_log_inside(c, *_with(h, rho)), _log_inside(c, *_without(h, rho)), epsilon)
    return np.where(square > 0, found, -np.inf)


def _without(h: float, rho: float) -> tuple[float, float]:
    return math.sqrt(rho), math.sqrt(h)


def _with(h: float, rho: float) -> tuple[float, float]:
    return math.sqrt(rho) / (1 + h), math.sqrt(h / (1 + h))


def _log_outside(c: FloatArray, mean: float, spread: float) -> FloatArray:
    """log P[|U| > c] for U ~ N(mean, spread²)."""
    return np.logaddexp(log_ndtr((mean - c) / spread), log_ndtr((-mean - c) / spread))


def _log_inside(c: FloatArray, mean: float, spread: float) -> FloatArray:
    """log P[|U| < c]."""
    upper, lower = log_ndtr((c - mean) / spread), log_ndtr((-c - mean) / spread)
    return upper + log_1m_exp(np.minimum(lower - upper, 0.0))


def _excess(log_p: FloatArray, log_q: FloatArray, epsilon: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        found = log_p + log_1m_exp(np.minimum(epsilon + log_q - log_p, 0.0))
    found = np.where(np.isnan(found), -np.inf, found)
    return np.minimum(found + SLACK * (1 - np.maximum(found, -1e300)), 0.0)
