"""A posterior draw that follows two released statistics: one run of AdaOPS and of OPS-PTR."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting import AdaptiveSampling
from objpert_core.accounting.posterior.profile import LARGEST_LEVERAGE
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.draw import PosteriorDraw, Ridge, posterior_spacing
from objpert_core.learning.posterior.statistics import Statistics
from objpert_core.learning.posterior.sums import RegressionSums
from objpert_core.learning.quadratic.certificate import row_smoothness

LEAST_LAM = 2.0**-10
"""No λ is smaller: a thousandth of what one row can add to Λ."""
_UP = 1 + 2.0**-45  # more than a few operations in doubles are off, relatively
_LARGEST_LOG = 300.0  # of L̃/‖Y‖: e to this power has a square in doubles

ChooseLam = Callable[[float], float]
"""From λ̃ to λ, both for rows of norm 1."""
Precision = Callable[[float, float], float]
"""From leverage h and slope L̃ to γ, 0.0 where there is none."""


@dataclass(frozen=True, eq=False)
class Run:
    """What one run released; λ is for rows of norm 1, and `theta` lies on the lattice of this `spacing`."""

    theta: FloatArray
    lam: float
    spacing: float


def one_run(
    sums: RegressionSums, statistics: Statistics, choose: ChooseLam, precision: Precision, source: NoiseSource
) -> Run | None:
    """Release λ̃, choose λ, release L̃, choose γ, and draw; None (⊥) where the released statistics leave no γ."""
    released = statistics.least_eigenvalue(sums, source)
    lam = max(choose(released), LEAST_LAM)
    leverage = _UP / (lam + released)
    ridge = Ridge(sums, lam * row_smoothness(sums.constant) * _UP)
    if leverage > LARGEST_LEVERAGE:
        return None
    log_slope = statistics.log_slope(ridge, leverage, source)
    if log_slope > _LARGEST_LOG:
        return None
    with np.errstate(under="ignore"):
        gamma = precision(leverage, sums.target_bound * math.exp(log_slope) * _UP)
    return drawn(ridge, lam, gamma, source) if gamma > 0 else None


def drawn(ridge: Ridge, lam: float, gamma: float, source: NoiseSource) -> Run:
    """Draw from N(θ*, (γΛ)⁻¹), γ rounded down, on a lattice; λ is for rows of norm 1."""
    scale = _UP / math.sqrt(gamma)
    spacing = posterior_spacing(scale / math.sqrt(row_smoothness(ridge.sums.constant)), lam)
    return Run(PosteriorDraw(source, ridge, scale).rounded(spacing), lam, spacing)


def tight_run(sums: RegressionSums, mechanism: AdaptiveSampling, choose: ChooseLam, source: NoiseSource) -> Run | None:
    """One run that `AdaptiveSampling` accounts for; λ is raised where the leverage would be larger than h₀."""
    least, separation = _UP / mechanism.leverage * _UP, mechanism.separation
    statistics = Statistics.failing(mechanism.eigenvalue_mu, mechanism.norm_mu, mechanism.failure)

    def precision(leverage: float, slope: float) -> float:
        return (separation * (1 + leverage) / slope) ** 2 / leverage / _UP

    return one_run(sums, statistics, lambda released: max(choose(released), least - released), precision, source)
