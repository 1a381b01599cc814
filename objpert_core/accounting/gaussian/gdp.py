"""The smallest Gaussian mechanism above a privacy profile: from points of a profile to μ (docs/theorems.md, T20).

The attacker's best true positive rate g(x) at a false positive rate x is concave, and that of the Gaussian mechanism is
Φ(Φ⁻¹(x) + μ). Points (ε, δ(ε)) bound g from above by a polygon with vertices (x, y): −x and y are the slope of the
profile's chord, as a function of e^ε, and its value at 0. So μ = max Φ⁻¹(y) − Φ⁻¹(x) over finitely many.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from objpert_core._validation import FloatArray
from objpert_core.accounting.laws.simple import HalfNormalLaw, PositiveGaussianLaw, PrivacyLossLaw
from objpert_core.accounting.numerics.chain import apart
from objpert_core.accounting.objective.law import LogisticLaw

_ERROR = 4e-13  # relative, of a profile
_ROUNDING = 1e-14
_LAST_Z = 60.0
_LEAST_DROP = 2.5e-4  # of log δ between points: what a small μ can tell from rounding
_BLOCK = 2**15
_ROUNDS = 6
_FINER = 17  # points between the deciding ones, those included
_SETTLED = 1e-4


def log_vertices(epsilon: FloatArray, log_delta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """log x, rounded down, and log y, rounded up, of the chords between neighbours of an ascending 1-d array of ε."""
    drop = log_delta[:-1] + np.log(-np.expm1(np.minimum(np.diff(log_delta), -1e-300)))
    width = epsilon[1:] + np.log(-np.expm1(-np.diff(epsilon)))
    log_x = drop - width
    wrong = math.log(2 * _ERROR) + log_delta[:-1] - drop  # of x, relatively
    log_y = np.logaddexp(log_delta[:-1], log_x + epsilon[:-1])
    with np.errstate(divide="ignore"):
        lower = log_x + np.log(np.maximum(-np.expm1(np.minimum(wrong, 0.0)), 0.0))
    upper = np.minimum(log_y + np.log1p(_ERROR) + np.exp(np.minimum(wrong, 0.0)), 0.0)
    return lower, upper


def _mu_at(log_x: FloatArray, log_y: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        mu = ndtri_exp(np.minimum(log_y, 0.0)) - ndtri_exp(log_x)
    return np.where(np.isnan(mu), np.inf, mu)


def mu_of_profile(log_profile: Callable[[FloatArray], FloatArray], epsilon: FloatArray) -> float:
    """The smallest μ above a convex profile δ at `epsilon`, ascending from 0, and around the ε that decide."""
    log_delta = log_profile(epsilon)
    best, low, high = _mu_and_where(epsilon, log_delta)
    for _ in range(_ROUNDS):
        new = np.setdiff1d(np.linspace(low, high, _FINER), epsilon)
        order = np.argsort(np.append(epsilon, new))
        epsilon, log_delta = np.append(epsilon, new)[order], np.append(log_delta, log_profile(new))[order]
        before, (best, low, high) = best, _mu_and_where(epsilon, log_delta)
        if best > before * (1 - _SETTLED):
            break
    return best


def _mu_and_where(epsilon: FloatArray, log_delta: FloatArray) -> tuple[float, float, float]:
    """The μ that the points ask for, and the two ε between which it is decided."""
    kept = apart(log_delta, _LEAST_DROP)
    epsilon, log_delta = epsilon[kept], log_delta[kept]
    log_x, log_y = log_vertices(epsilon, log_delta)
    x, y = np.exp(log_x), np.exp(log_y)
    below = x + y <= 1
    mu = np.where(below, _mu_at(log_x, log_y), 0.0)
    at = int(np.argmax(mu))
    best = float(mu[at])
    beyond = np.flatnonzero(~below)  # x falls as ε grows
    if beyond.size:
        last = int(beyond[-1])
        # along the polygon's edge at ε[last + 1], y = δ + e^ε·x, up to the line: y = (δ + e^ε)/(1 + e^ε)
        edge = last + 1
        log_rest = math.log(-math.expm1(min(float(log_delta[edge]), -1e-300))) - float(np.logaddexp(0, epsilon[edge]))
        crossing = -2 * float(ndtri_exp(log_rest))
        if crossing > best:
            best, at = crossing, last
    return best * (1 + _ROUNDING), float(epsilon[max(at - 1, 0)]), float(epsilon[min(at + 2, epsilon.size - 1)])


def mu_beyond(a: float, shift: float, doubled: bool, start: float) -> float:
    """A μ above the part v ≥ start of a loss shift + a²/2 + a·v, v ~ N(0, 1), or v ~ |N(0, 1)| if `doubled`.
    Its vertices are y = Φ(−v) and x = e^{−shift}·Φ(−v − a), both twice that if doubled. With u(v) = −Φ⁻¹(2Φ(−v)) (u = v
    unless doubled) and Mills' ratio m, u' = m(u)/m(v) ≤ e^{log 2/u²} and −Φ⁻¹(e^{−s}Φ(−u)) ≤ u + s/u."""
    if not doubled and shift == 0:
        return a
    u = -float(ndtri_exp(min(math.log(2) + float(log_ndtr(-start)), -1e-300))) if doubled else start
    if not u > 0:  # what is not a number covers nothing
        return math.inf
    growth = math.exp(min(math.log(2) / (u * u), 700.0)) if doubled else 1.0
    return (a * growth + shift / u) * (1 + _ROUNDING)


def mu_of_mirrored_mixture(log_weights: FloatArray, a: float) -> float:
    """A μ above the pair of Σ w_j·N(j·a, 1) and its mirror image; at most log(1/w₀)/60 + 1e-4 above the smallest."""
    j = a * np.arange(log_weights.size)
    farthest = float(j[-1])
    count = int(min(max(_LAST_Z / (1e-3 * farthest), 2**12), 2**19))
    z = np.linspace(0.0, _LAST_Z, count + 1)
    best = farthest - float(log_weights[0]) / _LAST_Z
    for first in range(0, count, _BLOCK):
        at = z[first : first + _BLOCK + 1]
        u = -ndtri_exp(np.minimum(logsumexp(log_weights + log_ndtr(j - at[:-1, None]), axis=1), 0.0))
        w = -ndtri_exp(logsumexp(log_weights + log_ndtr(-j - at[1:, None]), axis=1))
        best = max(best, float(np.max(w - u)))
    return min(best * (1 + 1e-9), 2 * farthest)


_LOWEST, _FARTHEST = -12.0, 37.0  # of v: what is left out has a probability of 2e-33, and of 6e-300
_FEWEST = 24
_POSITION = 1e-9  # relative: what a position may be off


def mu_of_law(law: PrivacyLossLaw) -> float:
    """μ of a law: what finitely many ε of its profile ask for, or what is left of the tail does."""
    if isinstance(law, LogisticLaw):
        end = law.threshold / law.a - law.a / 2  # from the threshold on it is the Gaussian profile
        epsilon = _losses(law, -law.threshold / law.a - law.a / 2, end, 0.25)  # by quadrature: few points
        doubled, shift = False, 0.0 if end < _FARTHEST else float(np.log1p(law.kappa / 4))  # T ≤ max(0, G) + that
    elif isinstance(law, (PositiveGaussianLaw, HalfNormalLaw)):
        doubled, shift = isinstance(law, HalfNormalLaw), law.shift + law.shift_rest
        epsilon = _losses(law, 0.0 if doubled else -law.a / 2, _FARTHEST, 0.04)
    else:
        return float("inf")
    start = float(law.position(epsilon[-1:])[0])
    beyond = mu_beyond(law.a, shift, doubled, start - _POSITION * (1 + abs(start)))
    return max(mu_of_profile(law.log_profile, epsilon), beyond)


def _losses(law: PrivacyLossLaw, low: float, high: float, step: float) -> FloatArray:
    """0 and the losses at values of v between two ends."""
    low, high = max(low, _LOWEST), min(high, _FARTHEST)
    losses = law.loss(np.linspace(low, high, max(int((high - low) / step), _FEWEST)))
    if isinstance(law, LogisticLaw) and high < _FARTHEST:
        losses[-1] = law.threshold
    return np.unique(np.append(np.maximum(losses, 0.0), 0.0))
