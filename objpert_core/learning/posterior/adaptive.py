"""A posterior draw that follows two released statistics: one run of AdaOPS and of OPS-PTR, its λ, and the best run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, in_open_unit, positive, positive_integer
from objpert_core.accounting import AdaptiveSampling
from objpert_core.accounting.posterior.profile import LARGEST_LEVERAGE
from objpert_core.learning.geometric import first_success
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.draw import PosteriorDraw, Ridge, posterior_spacing
from objpert_core.learning.posterior.statistics import Statistics
from objpert_core.learning.posterior.sums import RegressionSums
from objpert_core.learning.quadratic.certificate import row_smoothness
from objpert_core.learning.sampling import best_among, uniform_choices

LEAST_LAM = 2.0**-10
"""No λ is smaller: a thousandth of what one row can add to Λ."""
CANDIDATES: tuple[float, ...] = tuple(float(lam) for lam in np.logspace(1, 10, 30, base=2.5))
"""The thirty λ of Redberg, Zhu and Wang (2023), Figure 1, from which OPS-PTR chooses."""
_FAILURE = 0.05  # of the bound that AdaOPS's rule minimises
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


def best_run(
    run: Callable[[float], Run | None],
    lams: Sequence[float],
    score: Callable[[Run], float],
    mean_runs: float,
    source: NoiseSource,
) -> Run | None:
    """Run K times, each with a λ drawn at random, K geometric; the run with the highest score, None if all refused.

    K and all other runs must stay secret (docs/theorems.md, T11). `score` may look at public rows only.
    """
    picks = uniform_choices(source, len(lams), first_success(source, 1 / mean_runs))
    best = best_among((found for pick in picks if (found := run(lams[pick])) is not None), score)
    return None if best is None else best[1]


def adaptive_lam(dimension: int, epsilon: float, delta: float, least: float) -> Callable[[float], float]:
    """AdaOPS's λ(λ̃) >= 0, λ + λ̃ >= `least`, of least C₁(1 + 1/(t + λ̃))^{2C₂}/(t + λ̃) + t, a bound on the risk."""
    d, log_term = positive_integer("dimension", dimension), math.log(6 / in_open_unit("delta", delta))
    share = positive("epsilon", epsilon) / 4
    ratio = 2 * share / (1 + math.sqrt(1 + 2 * share / log_term))  # e²/(2·log(6/δ)) + e = ε/4
    confidence = math.log(1 / _FAILURE)
    first = (d / 2 + math.sqrt(d * confidence) + confidence) * log_term / ratio**2
    power = 2 * log_term / share

    def rising(u: float) -> bool:
        """Whether the bound rises at t + λ̃ = u; the bound is convex."""
        log_fall = math.log(first) + power * math.log1p(1 / u) - 2 * math.log(u) + math.log1p(power / (u + 1))
        return log_fall <= 0

    def rule(released: float) -> float:
        low = high = max(least, released)
        while not rising(high):
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if rising(middle) else (middle, high)
        return high - released

    return rule
