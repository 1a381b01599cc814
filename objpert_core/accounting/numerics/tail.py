"""How often a privacy loss exceeds ε, from a privacy profile or from the Gaussian mechanism (docs/theorems.md, T22)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr

from objpert_core._validation import FloatArray

_EPS = np.finfo(float).eps
_SHARES = np.geomspace(1e-6, 1.0, 121)  # of ε; a step of 12 % costs 2 in 1,000 at most, as the bound is stationary


def log_tail_of_profile(log_profile: Callable[[FloatArray], FloatArray], epsilon: FloatArray) -> FloatArray:
    """log min over ε' < ε of δ(ε')/(1 − e^{ε' − ε}), at most 0, for a 1-d array of ε ≥ 0: every ε' is a valid bound."""
    steps = epsilon[:, None] * _SHARES
    lower = np.maximum(epsilon[:, None] - steps, 0.0)
    log_delta = np.asarray(log_profile(lower.ravel())).reshape(lower.shape)
    with np.errstate(divide="ignore"):
        log_bound = log_delta - np.log(-np.expm1(lower - epsilon[:, None]))  # +inf at ε = 0, where nothing follows
    return _safe(log_bound.min(axis=1) + 8 * _EPS)


def log_tail_of_gaussian(epsilon: FloatArray, a: float) -> FloatArray:
    """log Φ(a/2 − ε/a), a = sensitivity/σ, for an array of ε: exact, then rounded up."""
    reach = epsilon / a
    drop = reach - a / 2
    log_tail = log_ndtr(-drop)
    # what rounding the argument and `log_ndtr` (a few ulp) may have taken off
    return _safe(log_tail + 4 * _EPS * (2 - 2 * log_tail + np.maximum(drop + 1, 1.0) * (reach + a / 2)))


def _safe(log_tail: FloatArray) -> FloatArray:
    return np.minimum(np.where(np.isnan(log_tail), 0.0, log_tail), 0.0)
