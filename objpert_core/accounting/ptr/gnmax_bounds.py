"""The winner of noisy votes: its Rényi divergence where the votes are known, and over all votes that are near.

Votes n_1 … n_C get noise N(0, σ²) each, and the class with the most is released. One voter changes its mind: two counts
change by 1.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from objpert_core._validation import FloatArray

_CELLS = 16  # of the smooth sensitivity's grid, for every vote
_FARTHEST = 38.0  # of a gap in units of 2σ: q is 1e-628 there


def log_q(gaps: FloatArray, sigma: float) -> FloatArray:
    """log of ½·Σ erfc(gap/(2σ)), summed over the last axis, at most 0."""
    each = log_ndtr(gaps / (-math.sqrt(2) * sigma))
    top = each.max(axis=-1)
    return np.minimum(top + np.log(np.exp(each - top[..., None]).sum(axis=-1)), 0.0)


def rdp_of_q(log_chance: FloatArray, alpha: float, sigma: float) -> FloatArray:
    """A bound on the Rényi divergence of order α > 1 **from** votes with this q to any neighbour's; never falling in q.
    Papernot et al. (2018), Theorem 6 with the parameters that they use, written in m = σ√log(1/q) alone
    (docs/theorems.md, T42); α/σ², which holds for any votes, where its conditions fail or it says less."""
    worst = alpha / sigma**2
    with np.errstate(all="ignore"):
        m = sigma * np.sqrt(-log_chance)
        chance, lifted = np.exp(log_chance), np.exp(-((m - 1) ** 2) / sigma**2)
        known = (
            (m + 1 >= alpha) & (m > 1) & ((2 * m - 1) / sigma**2 >= np.log((m + 1) / (m - 1))) & (chance + lifted <= 1)
        )
        # logarithms of A = (1 − q)/(1 − r) and B, and (1 − q)·(A^{α−1} − 1) + q·(B^{α−1} − 1): no term is negative
        log_a = np.log1p(_gain(log_chance, (2 * m - 1) / sigma**2) / (1 - lifted))
        fits = (1 - chance) * np.expm1((alpha - 1) * log_a)
        errs = _gain(log_chance, (alpha - 1) * (2 * m + 1) / sigma**2)
        found = np.log1p(fits + errs) / (alpha - 1) * (1 + 1e-12)
    return np.where(known, np.clip(found, 0.0, worst), worst)


def _gain(log_chance: FloatArray, exponent: FloatArray) -> FloatArray:
    """q·(e^x − 1), where q may be too small and e^x too large for doubles."""
    chance = np.exp(log_chance)
    return np.where(exponent < 1, chance * np.expm1(np.minimum(exponent, 1.0)), np.exp(log_chance + exponent) - chance)


def rdp_within(gaps: FloatArray, changes: float, alpha: float, sigma: float) -> FloatArray:
    """The largest bound for any votes that differ from these (smallest gap first) by at most so many changed minds."""
    left = gaps - changes
    left[..., 0] -= changes
    return np.where(left[..., 0] > 0, rdp_of_q(log_q(left, sigma), alpha, sigma), alpha / sigma**2)


def smooth_sensitivity(
    log_chances: FloatArray, others: int, alpha: float, sigma: float, beta: float, most: int
) -> float:
    """A β-smooth bound on how far one changed mind moves the sum of `rdp_of_q` over several votes; C = `others` + 1."""
    step = 1 / (_CELLS * sigma)
    start = -ndtri_exp(np.minimum(log_chances - math.log(others), math.log(0.5))) / math.sqrt(2)
    places = np.arange(-_CELLS, math.ceil(min(float(start.max()) + (most + 2) / sigma, _FARTHEST) / step) + 2)
    curve = rdp_of_q(np.minimum(math.log(others) + log_ndtr(-math.sqrt(2) * places * step), 0.0), alpha, sigma)
    before = np.concatenate([np.full(_CELLS + 1, curve[0]), curve[: -_CELLS - 1]])  # one change, and one cell more
    jumps = before - np.append(curve[1:], 0.0)
    at = np.minimum(np.floor(start / step).astype(int) + _CELLS, places.size - 1)
    total = np.zeros(most + 1)
    reach = np.arange(most + 1) * _CELLS
    for place in at:
        right = np.maximum.accumulate(jumps[place:])
        left = np.maximum.accumulate(jumps[: place + 1][::-1])
        total += np.maximum(
            right[np.minimum(reach + _CELLS + 1, right.size - 1)], left[np.minimum(reach + 1, left.size - 1)]
        )
    return float((np.exp(-beta * np.arange(most + 1)) * total).max())
