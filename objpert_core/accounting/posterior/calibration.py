"""How much one posterior draw may say: the largest γ for a privacy target, exactly and as published."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from objpert_core._validation import FloatArray, at_least, choice, in_open_unit, positive, positive_integer, within
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian, log_target
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES
from objpert_core.accounting.mechanisms.group import calibrate_group
from objpert_core.accounting.numerics.safe_root import nudged
from objpert_core.accounting.posterior import profile as posterior
from objpert_core.accounting.posterior.adaptive_sampling import AdaptiveSampling
from objpert_core.accounting.selection.one_run import OneRun, drift

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


RELEASE_SHARE = 0.25
"""Of μ that each of the two statistics gets."""
FAILURE_SHARE = 0.1
"""Of δ that pays for statistics on the unsafe side."""
_SEPARATION_MARGIN = 1e-7
_SEPARATION_TOLERANCE = 1e-6  # of d, relatively


def calibrate_adaptive_sampling(
    epsilon: float, delta: float, *, mean_runs: float = 1.0, adjacency: str = ADD_REMOVE, rows_per_person: int = 1
) -> AdaptiveSampling:
    """A posterior draw behind two statistics that is (ε, δ)-DP as a whole, with d as large as that allows.

    Of the Gaussian mechanism's μ at the target each statistic has a quarter; unsafe statistics have a tenth of δ; h₀ =
    ε/(2 + 2·log(2/δ)), with the ε and δ of a single run. `ValueError` if no draw is left at all.

    ε is from 1e-3 to 100, `mean_runs` >= 1 the mean of the geometric number of runs of which the best is released.
    ``group(result, rows_per_person)`` meets the target; the result itself is about one row.

    >>> one = calibrate_adaptive_sampling(1.0, 1e-6)
    >>> one.delta(1.0) <= 1e-6, round(one.separation, 2)
    (True, 0.15)
    """
    if not 1e-3 <= positive("epsilon", epsilon) <= 100.0:
        raise ValueError(f"epsilon must be a float from 0.001 to 100, got {epsilon!r}")
    in_open_unit("delta", delta), at_least("mean_runs", mean_runs, 1)
    rows = positive_integer("rows_per_person", rows_per_person)
    links = rows if choice("adjacency", adjacency, ADJACENCIES) == ADD_REMOVE else 2 * rows
    return replace(_for_links(float(epsilon), float(delta), float(mean_runs), links), adjacency=adjacency)


@lru_cache(maxsize=1024)
def _for_links(epsilon: float, delta: float, runs: float, links: int) -> AdaptiveSampling:
    """For a chain of so many links (T18), which have a share of δ each, by which failures add up to less than δ."""
    share = delta / sum(math.exp(i * epsilon / links) for i in range(links))
    return calibrate_group(lambda left: _separated(min(left, epsilon), share, runs), epsilon, delta, links)


@lru_cache(maxsize=1024)
def _separated(epsilon: float, delta: float, runs: float) -> AdaptiveSampling:
    mu, left = _of_one_run(epsilon, (1 - FAILURE_SHARE) * delta, runs)
    leverage = min(left / (2 + 2 * math.log(2 * runs / delta)), posterior.LARGEST_LEVERAGE)
    statistic = RELEASE_SHARE * mu

    def built(separation: float) -> AdaptiveSampling:
        return AdaptiveSampling(statistic, statistic, leverage, separation, FAILURE_SHARE * delta / runs, runs)

    def gap(separation: float) -> float:
        return float(built(separation)._log_delta(np.array([epsilon]))[0]) - log_target(delta)

    if gap(0.0) > 0:
        raise ValueError(f"epsilon and delta must leave room for a draw, got {epsilon!r} and {delta!r}")
    low, high = 0.0, mu
    while gap(high) <= 0:
        low, high = high, 1.5 * high
    at_low, at_high = gap(low), gap(high)
    while high - low > _SEPARATION_TOLERANCE * high:  # a secant, kept off the ends, and the middle in turn
        chord = low - at_low * (high - low) / (at_high - at_low)
        margin = 0.02 * (high - low)
        for place in (chord - margin, chord + margin, (low + high) / 2):
            if low < place < high:
                value = gap(place)
                low, at_low, high, at_high = (
                    (place, value, high, at_high) if value <= 0 else (low, at_low, place, value)
                )
    return nudged(lambda one: gap(one.separation) <= 0, lambda margin: built(low * (1 - margin)), _SEPARATION_MARGIN)


def _of_one_run(epsilon: float, delta: float, runs: float) -> tuple[float, float]:
    """μ of the Gaussian mechanism whose best of K runs is (ε, δ)-DP, and the ε that is left for a single one."""
    if runs == 1:
        return 1 / calibrate_gaussian(epsilon, delta).sigma, epsilon
    low, high = 1e-6, 1 / calibrate_gaussian(epsilon, delta / runs).sigma
    for _ in range(30):
        middle = (low + high) / 2
        one = Gaussian(1 / middle)
        left = epsilon - 2 * drift(OneRun(one, math.log(runs)).log_delta, 1 / runs)
        low, high = (middle, high) if left > 0 and one.delta(left) <= delta / runs else (low, middle)
    return low, epsilon - 2 * drift(OneRun(Gaussian(1 / low), math.log(runs)).log_delta, 1 / runs)
