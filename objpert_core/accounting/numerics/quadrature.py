"""Expectations over v ~ N(0, 1) of functions that never decrease in v, by panels that are chosen per row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_KEEP = 60.0  # panels whose upper bound is e^{-60} of the largest are left out

Integrand = Callable[[FloatArray, IntArray], FloatArray]

V_LOW, V_HIGH = -12.0, 40.0  # Φ(−12) ≈ 2e-33; beyond 40 the density underflows
LOG_BEYOND = float(log_ndtr(-V_HIGH))  # log of what is beyond: -804.6
# panels of width 1 in the bulk, and of a factor e^{-10} in φ in the tail
UNIFORM = np.concatenate((np.arange(V_LOW, 9.0), np.sqrt(np.arange(84.0, V_HIGH**2, 20.0))))
_OFFSETS = 0.5 * 0.3 ** np.arange(11)
GRADED = np.concatenate((-_OFFSETS, [0.0], _OFFSETS[::-1]))
_GROWTH = 1.5


def reach(finest: float) -> FloatArray:
    """Distances 0, finest, 1.5·finest, … up to 1/2: break points around a place where the integrand turns."""
    count = max(1, int(np.ceil(np.log(0.5 / finest) / np.log(_GROWTH)))) if finest < 0.5 else 1
    return np.concatenate(([0.0], np.minimum(finest * _GROWTH ** np.arange(min(count, 60)), 0.5)))


def sorted_breaks(*groups: FloatArray, low: FloatArray | float, high: FloatArray | float) -> FloatArray:
    """Break points of every row, clipped to [low, high] and sorted; groups have shape (rows, k) or (k,)."""
    rows = max((group.shape[0] for group in groups if group.ndim == 2), default=1)
    stacked = [np.broadcast_to(group, (rows, group.shape[-1])) for group in groups]
    low_column = np.broadcast_to(np.asarray(low, dtype=float).reshape(-1, 1), (rows, 1))
    high_column = np.broadcast_to(np.asarray(high, dtype=float).reshape(-1, 1), (rows, 1))
    joined = np.concatenate([low_column, *stacked, high_column], axis=1)
    return np.sort(np.clip(joined, low_column, high_column), axis=1)


def log_expectation(
    log_f: Integrand,
    breaks: FloatArray,
    *,
    bound: Integrand | None = None,
    known: FloatArray | None = None,
    unimodal: bool = False,
) -> FloatArray:
    """log of ∫ f(v) φ(v) dv over the panels of each row, shape (rows,); −inf where nothing is worth adding.
    `log_f` gets flat arrays of points and of row indices. f, or `bound` ≥ f (given by its log), must not decrease in v;
    or with `unimodal` f·φ has one mode in each row, which is one of the `breaks`, sorted along rows of shape
    (rows, panels + 1). Panels that cannot matter beside `known`, the log of a term to be added later, are left out."""
    rows, count = breaks.shape
    first = np.concatenate((np.ones((rows, 1), dtype=bool), breaks[:, 1:] != breaks[:, :-1]), axis=1)
    asked = (bound or log_f)(breaks[first], np.nonzero(first)[0])  # of equal breaks, most of them at the ends, once
    at_break = asked[np.cumsum(first.ravel()) - 1].reshape(rows, count)
    left, right = breaks[:, :-1], breaks[:, 1:]
    if unimodal:
        exponent_at = at_break - 0.5 * np.square(breaks)
        limit = np.maximum(exponent_at[:, :-1], exponent_at[:, 1:])
    else:
        limit = at_break[:, 1:] - 0.5 * np.square(np.clip(0.0, left, right))
    with np.errstate(divide="ignore"):
        limit = limit + np.log(right - left)
    best = limit.max(axis=1)
    if known is not None:
        best = np.maximum(best, known + LOG_SQRT_2PI)
    # >=: beyond 1e18 neighbouring doubles are further apart than _KEEP, and the largest panel must stay
    panel_row, panel = np.nonzero((limit >= best[:, None] - _KEEP) & np.isfinite(limit))
    if not panel_row.size:
        return np.full(rows, -np.inf)
    half = 0.5 * (right - left)[panel_row, panel]
    middle = 0.5 * (right + left)[panel_row, panel]
    v = middle[:, None] + half[:, None] * _NODES
    row = np.broadcast_to(panel_row[:, None], v.shape)
    exponent = log_f(v.ravel(), row.ravel()).reshape(v.shape) - 0.5 * v * v
    scale = np.full(rows, -np.inf)
    np.maximum.at(scale, panel_row, exponent.max(axis=1))
    scale = np.where(np.isfinite(scale), scale, 0.0)
    values = np.exp(exponent - scale[panel_row][:, None]) @ _WEIGHTS * half
    total = np.bincount(panel_row, weights=values, minlength=rows)
    with np.errstate(divide="ignore"):
        return scale + np.log(total) - LOG_SQRT_2PI


_CHI_NODES, _CHI_WEIGHTS = np.polynomial.legendre.leggauss(200)
_LARGEST_T = 1e150  # of t, whose square is needed
_CHI_REACH = 14.0  # the log density of χ_d, tilted or not, has curvature at most −1: e^{−98} is left out


def _log_window(slope: FloatArray, mode: FloatArray, dimension: int) -> FloatArray:
    """log of ∫ (z/m)^{d−1} e^{−(z² − m²)/2 + t·(z − m)} dz around m = `mode`, where slope = t − m."""
    low = np.maximum(-_CHI_REACH, -mode)
    half = (_CHI_REACH - low) / 2
    offset = low[:, None] + half[:, None] * (1 + _CHI_NODES)
    power = (dimension - 1) * np.log1p(offset / mode[:, None]) if dimension > 1 else 0.0
    return np.log(np.exp(power + slope[:, None] * offset - offset * offset / 2) @ _CHI_WEIGHTS * half)


def log_chi_moment_rate(t: FloatArray, dimension: int) -> FloatArray:
    """log E[e^{tZ}]/t for Z ~ χ_d and a 1-d array of t >= 0; E[Z] at t = 0, and inf above 1e150: for Theorem G.2
    of Redberg et al. (2023)."""
    d, vast = dimension, t > _LARGEST_T
    t = np.where(vast, 1.0, t)
    still = max(np.sqrt(d - 1.0), 1e-3 if d > 1 else 1e-300)
    base = np.full_like(t, still if d > 1 else 1e-300)
    if d == 1:
        base = np.full_like(t, 1.0)  # any reference point: the density is flat to the left of it
    norm = _log_window(-base, base, d)
    small = t < 1.0
    safe = np.where(t > 0, t, 1.0)
    # small t: the same window for both integrals; E[e^{t(Z − m)} − 1] does not cancel
    low = np.maximum(base - _CHI_REACH, 0.0)
    half = (base + _CHI_REACH - low) / 2
    z = low[:, None] + half[:, None] * (1 + _CHI_NODES)
    offset = z - base[:, None]
    power = (d - 1) * np.log(z / base[:, None]) if d > 1 else 0.0
    weight = np.exp(power - offset * (z + base[:, None]) / 2) * _CHI_WEIGHTS * half[:, None]
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
