"""How much one posterior draw may say: the largest γ for a privacy target, exactly and as published."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from objpert_core._validation import FloatArray, in_open_unit, positive, within
from objpert_core.accounting.gaussian.calibration import log_target
from objpert_core.accounting.numerics.safe_root import nudged
from objpert_core.accounting.posterior import profile as posterior

_MARGIN = 1e-11
_FARTHEST = 200.0  # of log ρ, either way
_GRID = np.linspace(-1.0, 1.0, 17)
_CLOSER = (0.1, 1e-3, 1e-6)  # widths of grids: a line is off by about the square of their steps


def posterior_precision(epsilon: float, delta: float, leverage: float, slope: float = 1.0) -> float:
    """The largest γ, rounded down and in units of 1/y², for which one draw from N(θ*, (γΛ)⁻¹) is (ε, δ)-DP for a row
    (x, y) that is added or removed.

    Exact: `PosteriorSampling` at this leverage and ρ = γ·slope² has δ(ε) = δ. γ does for every smaller leverage and
    shift, too (docs/theorems.md, T38). Theorem 5.1 of Redberg, Zhu and Wang (2023) is `published_posterior_precision`.
    0.0 where no γ is private, however small: the leverage alone says too much.

    ε is from 1e-100 to 1e4. `leverage`, from 1e-100 to 1.618, bounds h = xᵀΛ⁻¹x, Λ = XᵀX + λI without the row:
    ‖x‖²/(λ + λ_min(XᵀX)). `slope` > 0 bounds |y − xᵀθ*|, θ* without the row.

    >>> from objpert_core.accounting import PosteriorSampling
    >>> PosteriorSampling(0.01, posterior_precision(1.0, 1e-6, leverage=0.01)).delta(1.0) <= 1e-6
    True
    """
    h, bound = _leverage(leverage), positive("slope", slope)
    shift = _largest_shift(within("epsilon", epsilon, 1e-100, 1e4), in_open_unit("delta", delta), h)
    gamma = shift / bound / bound
    return gamma if 0 < gamma < math.inf else 0.0


def _leverage(leverage: float) -> float:
    return within("leverage", leverage, 1e-100, posterior.LARGEST_LEVERAGE)


@lru_cache(maxsize=4096)
def _largest_shift(epsilon: float, delta: float, h: float) -> float:
    """The largest ρ with δ(ε) <= δ, 0.0 where no ρ is private; grids of log ρ are evaluated at once."""
    target = log_target(delta)
    at = np.full(_GRID.size, epsilon)

    def gaps(log_rho: FloatArray) -> FloatArray:
        return posterior.log_delta_added(at, h, np.exp(log_rho)) - target

    if float(posterior.log_delta_added(at[:1], h, 0.0)[0]) > target:
        return 0.0
    spread = math.sqrt(-2 * math.log(delta))
    centre, width = 2 * math.log(epsilon / (spread + math.sqrt(epsilon))) - math.log(h), 1.5
    while True:
        grid = centre + width * _GRID
        found = gaps(grid)
        if found[0] <= 0 < found[-1]:
            break
        if abs(centre) > _FARTHEST:
            return 0.0 if centre < 0 else math.exp(_FARTHEST)
        centre, width = float(grid[0] if found[0] > 0 else grid[-1]), 2 * width
    log_rho = _crossing(grid, found)
    for width in _CLOSER:
        grid = log_rho + width * _GRID
        log_rho = _crossing(grid, gaps(grid))

    def holds(shift: float) -> bool:
        return math.exp(float(posterior.log_delta_added(at[:1], h, shift)[0])) <= delta

    return nudged(holds, lambda margin: math.exp(log_rho) * max(1 - margin, 0.0), _MARGIN, _MARGIN)


def _crossing(places: FloatArray, gaps: FloatArray) -> float:
    last = int(np.clip(np.searchsorted(gaps > 0, True), 1, gaps.size - 1))
    rise = gaps[last] - gaps[last - 1]
    return float(places[last] - gaps[last] / rise * (places[last] - places[last - 1]) if rise > 0 else places[last - 1])


def published_posterior_epsilon(gamma: float, delta: float, leverage: float, slope: float = 1.0) -> float:
    """ε by Theorem 5.1 of Redberg, Zhu and Wang (2023) as printed, which **does not hold**: a formula to compare with.

    √(γL² log(2/δ)/λ*) + γL²/(2(λ* + 1)) + (1 + log(2/δ))/(2λ*), with L the slope, for rows of norm at most 1 and λ* =
    1/leverage. Its tail √log(2/δ) lacks a factor √2, so that the true δ exceeds the promise.

    γ > 0 is the draw's; the other arguments are those of `posterior_precision`.

    >>> from objpert_core.accounting import PosteriorSampling
    >>> printed = published_posterior_epsilon(10.0, 1e-6, leverage=0.1)
    >>> true = PosteriorSampling(0.1, 10.0)
    >>> round(printed, 3), round(true.epsilon(1e-6), 3), round(true.delta(printed) / 1e-6, 1)
    (5.039, 5.847, 12.9)
    """
    log_term = math.log(2 / in_open_unit("delta", delta))
    star = 1 / _leverage(leverage)
    bound = positive("slope", slope)
    square = positive("gamma", gamma) * bound * bound
    return math.sqrt(square * log_term / star) + square / (2 * (star + 1)) + (1 + log_term) / (2 * star)


def published_posterior_precision(epsilon: float, delta: float, leverage: float, slope: float = 1.0) -> float:
    """The largest γ by Theorem 5.1 as printed, which **does not hold**; 0.0 where the formula allows none.

    See `published_posterior_epsilon`, also for what is refused.

    >>> round(published_posterior_precision(5.039, 1e-6, leverage=0.1), 2)
    10.0
    """
    log_term = math.log(2 / in_open_unit("delta", delta))
    star, bound = 1 / _leverage(leverage), positive("slope", slope)
    left = positive("epsilon", epsilon) - (1 + log_term) / (2 * star)
    if left <= 0:
        return 0.0
    linear, square = math.sqrt(log_term / star), 1 / (2 * (star + 1))
    root = 2 * left / (linear + math.sqrt(linear**2 + 4 * square * left))
    gamma = root / bound * (root / bound)
    return gamma if gamma < math.inf else 0.0
