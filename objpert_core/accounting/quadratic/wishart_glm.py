"""Bounds on δ for a random quadratic form added to a sum of smooth convex losses of xᵀθ, a row added or removed.

With Y ~ χ²_{2k+2} and s as in `wishart`, the privacy loss is at most T(Y): where the row is removed
max(log(1 + s/Y), s/2 − k·log(1 + s/Y)), where it is added max(0, −(k + 1)·log(1 − s/Y) − s/2), infinite for Y <= s
(docs/theorems.md, T32). So δ(ε) <= E[1 − e^{ε − T}]₊.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln

from objpert_core._validation import FloatArray
from objpert_core.accounting.quadratic.wishart import SLACK, log_apart, log_upper

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_HALVINGS = 60
_SPREADS = np.concatenate((np.arange(-9.0, 12.0), np.geomspace(12.0, 80.0, 16)))
_VAST = 1e300


def log_delta_removed(epsilon: FloatArray, s: float, k: float) -> FloatArray:
    """log of the bound at a 1-d array of real ε where P has the row."""
    with np.errstate(over="ignore", divide="ignore"):
        crossing = s / np.expm1(s / (2 * (k + 1)))  # below it the first of the two is larger
        reached = np.where(epsilon > 0, s / np.expm1(np.maximum(epsilon, 1e-300)), np.inf)
        room = s / 2 - epsilon
        rate = np.where(room > 0, room, 1.0) / k if k > 0 else np.full(epsilon.shape, np.inf)
        start = np.where(room > 0, np.maximum(s / np.expm1(rate), crossing), np.inf)

    def gain(y: FloatArray) -> FloatArray:
        return -np.expm1(np.minimum(epsilon[:, None] - np.log1p(s / y), 0.0))

    near = _integral(gain, np.minimum(reached, crossing), 0.0, s, k)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        log_far = log_apart(epsilon, log_upper(k + 1, start / 2), log_upper(k + 1, (start + s) / 2))
        return _log_up(near + np.where(np.isfinite(start), np.exp(log_far), 0.0))


def log_delta_added(epsilon: FloatArray, s: float, k: float) -> FloatArray:
    """log of the bound at a 1-d array of real ε where P lacks the row."""
    level = np.maximum(epsilon, 0.0) + s / 2  # T is never below 0
    with np.errstate(over="ignore"):
        over = s / np.expm1(level / (k + 1))  # Y − s up to where T is as large

    def gain(z: FloatArray) -> FloatArray:
        return -np.expm1(np.minimum(epsilon[:, None] + s / 2 - (k + 1) * np.log1p(s / z), 0.0))

    certain = gammainc(k + 1, s / 2)
    total = certain + _integral(gain, over, s, s, k)
    never = -np.expm1(np.minimum(epsilon, 0.0)) * gammaincc(k + 1, (over + s) / 2)  # T = 0 > ε
    return _log_up(total + never)


def _integral(
    gain: Callable[[FloatArray], FloatArray], end: FloatArray, moved: float, s: float, k: float
) -> FloatArray:
    """∫ from 0 to `end` of gain(z)·f(z + moved) dz with the density f of χ²_{2k+2}, for every entry of `end`."""
    if not end.size:
        return np.empty(0)
    shape = k + 1
    mean, spread = 2 * shape, 2 * np.sqrt(shape)
    most = np.minimum(end, mean + _SPREADS[-1] * spread + 1e4)[:, None]
    halves = 0.5 ** np.arange(_HALVINGS + max(0.0, -np.log2(s)))  # down to far below s, and up to a density that rises
    grid = np.concatenate(
        (
            most * halves,
            most - most * halves[1:_HALVINGS],
            np.broadcast_to(mean - moved + spread * _SPREADS, (end.size, _SPREADS.size)),
        ),
        1,
    )
    grid = np.sort(np.concatenate((np.zeros((end.size, 1)), np.clip(grid, 0.0, most)), axis=1), axis=1)
    half = 0.5 * np.diff(grid, axis=1)
    z = (grid[:, :-1] + half)[:, :, None] + half[:, :, None] * _NODES
    z = np.maximum(z.reshape(end.size, -1), 1 / _VAST)
    weight = (half[:, :, None] * _WEIGHTS).reshape(end.size, -1)
    y = z + moved
    log_f = k * np.log(y) - y / 2 - shape * np.log(2) - gammaln(shape)
    return np.asarray((gain(z) * np.exp(log_f) * weight).sum(axis=1))


def _log_up(delta: FloatArray) -> FloatArray:
    log_delta = np.log(np.maximum(delta, 1e-300))
    return np.minimum(log_delta + SLACK * (1 - log_delta), 0.0)
