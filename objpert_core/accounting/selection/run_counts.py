"""The law of the number of runs K in private selection: Poisson, or truncated negative binomial with (η, γ).

For the latter Pr[K = k] is proportional to (1 − γ)^k·Γ(k + η)/k!, k >= 1 (η = 1 geometric, η = 0 logarithmic), and

    E[K] = exprel(u)/exprel(−ηu),   u = log(1/γ),   exprel(x) = (e^x − 1)/x.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import exprel, gammaln

from objpert_core._validation import FloatArray

_LEAST_LOG_GAMMA = -690.0  # γ stays a normal double


def _log_exprel(x: float) -> float:
    return max(x, 0.0) + float(np.log(exprel(-abs(x))))


def log_mean(eta: float, gamma: float) -> float:
    """log E[K]: 0 at γ = 1, growing as γ falls."""
    return _log_mean(eta, math.log(gamma))


def _log_mean(eta: float, log_gamma: float) -> float:
    return _log_exprel(-log_gamma) - _log_exprel(eta * log_gamma)


def largest_log_mean(eta: float) -> float:
    """log E[K] at the smallest γ that is used."""
    return _log_mean(eta, _LEAST_LOG_GAMMA)


def gamma_for(eta: float, log_target: float) -> float:
    """The γ with log E[K] = log_target, rounded down; log_target lies in [0, largest_log_mean(eta)]."""
    if log_target == 0:
        return 1.0
    from scipy.optimize import brentq  # slow to import

    root = float(brentq(lambda x: _log_mean(eta, x) - log_target, _LEAST_LOG_GAMMA, 0.0, xtol=1e-300, rtol=1e-15))
    gamma, margin = math.exp(root), 1e-16
    while log_mean(eta, gamma) < log_target:
        gamma, margin = math.exp(root) * (1 - margin), 2 * margin
    return gamma


def poisson_pmf(runs: FloatArray, mean: float) -> FloatArray:
    """Pr[K = k]."""
    return np.exp(runs * math.log(mean) - mean - gammaln(runs + 1))


def negative_binomial_pmf(runs: FloatArray, eta: float, gamma: float) -> FloatArray:
    """Pr[K = k]; 0 at k = 0."""
    if gamma == 1:
        return np.where(runs == 1, 1.0, 0.0)
    log_gamma, log_miss = math.log(gamma), math.log1p(-gamma)
    log_once = log_miss - math.log(-log_gamma) - _log_exprel(-eta * log_gamma)
    k = np.maximum(runs, 1.0)
    log_pmf = log_once + (k - 1) * log_miss + gammaln(k + eta) - gammaln(1 + eta) - gammaln(k + 1)
    return np.where(runs >= 1, np.exp(log_pmf), 0.0)
