"""GNMax: the class with the most votes after normal noise, and what known votes say of its privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, above, between, check_fields, positive
from objpert_core.accounting.gaussian.mechanism import GaussianLosses
from objpert_core.accounting.mechanisms.base import REPLACE_ONE
from objpert_core.accounting.ptr import gnmax_bounds as gnmax


@dataclass(frozen=True)
class GNMax(GaussianLosses):
    """The class with the most of C counts after N(0, σ²) noise on each; one voter changes its mind.

    Papernot et al. (2018); Redberg, Zhu and Wang (2023), Section 5.2. Whatever the votes are, the release is a Gaussian
    mechanism of sensitivity √2, post-processed. `rdp_at` is about given votes: less where they agree, but no promise.
    What the methods say of given votes, `counts` for each of C >= 2 classes, is **private** as the votes are.

    Parameters
    ----------
    sigma : float from 1e-3 to 1e6
        σ, in votes.

    Examples
    --------
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
        return float(gnmax.rdp_within(gaps, 0, order, self.sigma).sum())

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
            return float(gnmax.rdp_within(gaps.copy(), changes, order, self.sigma).sum()) <= most

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

        Nissim, Raskhodnikova and Smith (2007); for votes Papernot et al. (2018), Appendix B. `counts` and `alpha` are
        those of `rdp_at`. `distance` needs no such bound.
        """
        gaps = _gaps(counts)
        order, rate = above("alpha", alpha, 1), positive("beta", beta)
        voters = math.ceil(float(np.asarray(counts, dtype=np.float64).sum(axis=-1).max()))
        chances = gnmax.log_q(gaps, self.sigma)
        return gnmax.smooth_sensitivity(chances, gaps.shape[-1], order, self.sigma, rate, voters)


def _gaps(counts: Any) -> FloatArray:
    """Votes of the winner less those of the others, the smallest first; shape (T, C − 1)."""
    votes = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if votes.ndim != 2 or votes.shape[1] < 2 or not votes.size or not ((votes >= 0) & (votes <= 1e15)).all():
        raise ValueError(f"counts must be numbers from 0 to 1e15 of shape (C,) or (T, C) with C >= 2, got {counts!r}")
    ordered = -np.sort(-votes, axis=1)
    return ordered[:, :1] - ordered[:, 1:]
