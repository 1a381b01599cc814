"""GNMax: the class with the most votes after normal noise, and what known votes say of its privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from objpert_core._validation import FloatArray, above, between, check_fields, positive
from objpert_core.accounting.gaussian.mechanism import GaussianLosses
from objpert_core.accounting.mechanisms.base import REPLACE_ONE

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


@dataclass(frozen=True)
class GNMax(GaussianLosses):
    """The class with the most of C counts after N(0, σ²) noise on each; one voter changes its mind.

    Papernot et al. (2018); Redberg, Zhu and Wang (2023), Section 5.2. Whatever the votes are, the release is a Gaussian
    mechanism of sensitivity √2, post-processed. `rdp_at` is about given votes: less where they agree, but no promise.
    What the methods say of given votes, `counts` for each of C >= 2 classes, is **private** as the votes are.

    `sigma`, from 1e-3 to 1e6, is in votes.

    >>> noisy = GNMax(20.0)
    >>> noisy.rdp(4.0), noisy.rdp_at([360, 20, 20], 4.0) < 1e-30
    (0.01, True)
    """

    sigma: float

    def __post_init__(self) -> None:
        check_fields(self, between(1e-3, 1e6), "sigma")

    @property
    def adjacency(self) -> str:
        """One voter is replaced by another."""
        return REPLACE_ONE

    @property
    def a(self) -> float:
        """√2/σ, the Gaussian mechanism's sensitivity over its noise; rounded up."""
        return math.nextafter(math.sqrt(2), 2.0) / self.sigma * (1 + 2.0**-52)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return alpha / self.sigma**2

    def rdp_at(self, counts: Any, alpha: float) -> float:
        """A bound on the Rényi divergence of one order from these votes to any neighbouring ones, at most T·α/σ².

        **Private**: publishing the bound would say something about the votes. Theorem D.11, which holds in this
        direction only (docs/theorems.md, T42). `counts` are numbers from 0 to 1e15, of shape (C,) or (T, C): votes for
        each class, and for T rows the sum of the bounds over all. α > 1.
        """
        gaps = _gaps(counts)
        order = above("alpha", alpha, 1)
        return float(rdp_within(gaps, 0, order, self.sigma).sum())

    def distance(self, counts: Any, alpha: float, budget: float) -> float:
        """How many voters must change their minds before `rdp_at` can exceed a budget.

        A whole number, 0.0 where the budget is exceeded already; inf where T·α/σ² is within it. A voter who changes
        moves the number by at most 1. **Private**. Arguments as in `rdp_at`, with a budget > 0; of several rows of
        counts a voter has a vote in every row.

        >>> GNMax(20.0).distance([[300, 60, 40], [200, 100, 100]], 20.0, 0.04)
        23.0
        """
        gaps = _gaps(counts)
        order, most = above("alpha", alpha, 1), positive("budget", budget)

        def fits(changes: float) -> bool:
            return float(rdp_within(gaps.copy(), changes, order, self.sigma).sum()) <= most

        low, high = -1.0, math.floor(float(gaps.max())) + 1.0  # nothing is known of any vote from there on
        if fits(high):
            return math.inf
        while high - low > 1:
            middle = math.floor((low + high) / 2)
            low, high = (middle, high) if fits(middle) else (low, middle)
        return float(high)

    def smooth_sensitivity(self, counts: Any, alpha: float, beta: float) -> float:
        """A β-smooth bound on the sensitivity of `rdp_at`, **private**: one voter changes its logarithm by β > 0 at
        most.

        Nissim, Raskhodnikova and Smith (2007); for votes Papernot et al. (2018), Appendix B.
        """
        gaps = _gaps(counts)
        order, rate = above("alpha", alpha, 1), positive("beta", beta)
        voters = math.ceil(float(np.asarray(counts, dtype=np.float64).sum(axis=-1).max()))
        chances = log_q(gaps, self.sigma)
        return smooth_sensitivity(chances, gaps.shape[-1], order, self.sigma, rate, voters)


def _gaps(counts: Any) -> FloatArray:
    """Votes of the winner less those of the others, the smallest first; shape (T, C − 1)."""
    votes = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if votes.ndim != 2 or votes.shape[1] < 2 or not votes.size or not ((votes >= 0) & (votes <= 1e15)).all():
        raise ValueError(f"counts must be numbers from 0 to 1e15 of shape (C,) or (T, C) with C >= 2, got {counts!r}")
    ordered = -np.sort(-votes, axis=1)
    return ordered[:, :1] - ordered[:, 1:]
