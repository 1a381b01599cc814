"""Moments of the chi distribution for Theorem G.2 of Redberg et al. (2023)."""

from __future__ import annotations

import numpy as np

from objpert_core._validation import FloatArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_LARGEST = 1e150  # of t, whose square is needed
_REACH = 14.0  # the log density of χ_d, tilted or not, has curvature at most −1: e^{−98} is left out


def _log_window(slope: FloatArray, mode: FloatArray, dimension: int) -> FloatArray:
    """log of ∫ (z/m)^{d−1} e^{−(z² − m²)/2 + t·(z − m)} dz around m = `mode`, where slope = t − m."""
    low = np.maximum(-_REACH, -mode)
    half = (_REACH - low) / 2
    offset = low[:, None] + half[:, None] * (1 + _NODES)
    power = (dimension - 1) * np.log1p(offset / mode[:, None]) if dimension > 1 else 0.0
    return np.log(np.exp(power + slope[:, None] * offset - offset * offset / 2) @ _WEIGHTS * half)


def log_chi_moment_rate(t: FloatArray, dimension: int) -> FloatArray:
    """log E[e^{tZ}]/t for Z ~ χ_d and a 1-d array of t >= 0; E[Z] at t = 0, and inf above 1e150."""
    d, vast = dimension, t > _LARGEST
    t = np.where(vast, 1.0, t)
    still = max(np.sqrt(d - 1.0), 1e-3 if d > 1 else 1e-300)
    base = np.full_like(t, still if d > 1 else 1e-300)
    if d == 1:
        base = np.full_like(t, 1.0)  # any reference point: the density is flat to the left of it
    norm = _log_window(-base, base, d)
    small = t < 1.0
    safe = np.where(t > 0, t, 1.0)
    # small t: the same window for both integrals; E[e^{t(Z − m)} − 1] does not cancel
    low = np.maximum(base - _REACH, 0.0)
    half = (base + _REACH - low) / 2
    z = low[:, None] + half[:, None] * (1 + _NODES)
    offset = z - base[:, None]
    power = (d - 1) * np.log(z / base[:, None]) if d > 1 else 0.0
    weight = np.exp(power - offset * (z + base[:, None]) / 2) * _WEIGHTS * half[:, None]
    weight /= weight.sum(axis=1, keepdims=True)
    tilt = np.where(small, t, 0.0)[:, None]
    mean = (weight * offset).sum(axis=1)
    near = base + np.where(t > 0, np.log1p((weight * np.expm1(tilt * offset)).sum(axis=1)) / safe, mean)
    # large t: a window of its own around the tilted mode
    mode = (t + np.sqrt(t * t + 4 * (d - 1))) / 2
    mode = np.where(small, base, mode)
    at_mode = ((d - 1) * np.log(mode / base) if d > 1 else 0.0) - (mode - base) * (mode + base) / 2 + t * mode
    slope = np.where(small, t - mode, -(d - 1) / mode)  # t − m at the mode, where the difference would cancel
    far = (at_mode + _log_window(slope, mode, d) - norm) / safe
    return np.where(vast, np.inf, np.where(small, near, far))
