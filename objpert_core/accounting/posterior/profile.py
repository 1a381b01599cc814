"""Hockey-stick divergences of posterior sampling in linear regression, a row added or removed: in one dimension, exact.

With leverage h and shift ρ the pair is P = N(√ρ, h), without the row, and Q = N(√ρ/(1 + h), h/(1 + h)), with it.
log P/Q at u is u²/2 − ρ/(2(1 + h)) − ½·log(1 + h). All functions take 1-d arrays of real ε and return log δ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from objpert_core._validation import FloatArray
from objpert_core.accounting.numerics.gaussian import log_1m_exp

LARGEST_LEVERAGE = (1 + math.sqrt(5)) / 2
"""Up to here δ never falls as h grows, at the same ρ and ε >= 0 (docs/theorems.md, T38)."""
_ROUNDING = 8e-16  # of 1 + |log p|, of each logarithm
SLACK = 1e-11  # of 1 + |log δ|: far above what logarithms of normal probabilities are off by


@np.errstate(all="ignore")  # where a caller has numpy raise, what underflows would tell of the data that were released
def log_delta_added(epsilon: FloatArray, h: float, rho: Any) -> FloatArray:
    """log of P[|U| > c] − e^ε·Q[|U| > c], c² = 2ε + log(1 + h) + ρ/(1 + h): P lacks the row. `rho` may be an array."""
    square = 2 * epsilon + math.log1p(h) + rho / (1 + h)
    found = _excess(
        _log_outside(_without(epsilon, h, rho, square)), _log_outside(_with(epsilon, h, rho, square)), epsilon
    )
    return np.where(square > 0, found, log_1m_exp(np.minimum(epsilon, 0.0)))


_Ends = tuple[FloatArray, FloatArray]


def _without(epsilon: FloatArray, h: float, rho: Any, square: FloatArray) -> _Ends:
    """(m − c)/s and (m + c)/s for the mean m and deviation s of P, without a difference of like numbers."""
    return _ends(np.sqrt(rho), math.sqrt(h), rho * (h / (1 + h)) - 2 * epsilon - math.log1p(h), square)


def _with(epsilon: FloatArray, h: float, rho: Any, square: FloatArray) -> _Ends:
    """(m − c)/s and (m + c)/s for Q, likewise."""
    difference = -rho * (h / (1 + h) ** 2) - 2 * epsilon - math.log1p(h)
    return _ends(np.sqrt(rho) / (1 + h), math.sqrt(h / (1 + h)), difference, square)


def _ends(mean: Any, spread: float, difference: FloatArray, square: FloatArray) -> _Ends:
    """(m − c)/s and (m + c)/s from `difference` = m² − c²."""
    added = mean + np.sqrt(np.maximum(square, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(added > 0, difference / added, 0.0)
    return apart / spread, added / spread


def _log_outside(ends: _Ends) -> FloatArray:
    """log P[|U| > c]."""
    return np.logaddexp(log_ndtr(ends[0]), log_ndtr(-ends[1]))


def _excess(log_p: FloatArray, log_q: FloatArray, epsilon: FloatArray) -> FloatArray:
    """log(p − e^ε·q), and its possible error: the logarithms' rounding counts more where p and e^ε·q are alike."""
    with np.errstate(invalid="ignore", divide="ignore"):
        less = np.maximum(-np.expm1(np.minimum(epsilon + log_q - log_p, 0.0)), 0.0)
        found = log_p + np.log(less + _ROUNDING * (1 - log_p))
    found = np.where(np.isnan(found), -np.inf, found)
    return np.minimum(found + SLACK * (1 - np.maximum(found, -1e300)), 0.0)
