"""Privacy as an attacker's errors: the trade-off function that a privacy profile implies, and posterior beliefs.

Whoever accuses an absent row with probability at most x (false positive) misses a present one with probability at least
f(x) (false negative). A profile δ(ε) that covers both directions of the adjacency says, for every real ε (Dong, Roth
and Su 2022, Propositions 6 and 12),

    f(x) ≥ 1 − δ(ε) − e^ε·x   and   f(x) ≥ e^{−ε}·(1 − δ(ε) − x),   ε ≥ 0,

and their supremum is all it says. Every ε gives a valid lower bound: the search may end too low, and never too high.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from objpert_core._validation import FloatArray, like_input, privacy_budget_array, unit_array

LogProfile = Callable[[FloatArray], FloatArray]


class HasLogDelta(Protocol):
    """A mechanism, as far as `best_guess` needs one."""

    def log_delta(self, epsilon: Any) -> Any:
        """log δ(ε)."""


_COARSE = np.concatenate(([0.0], np.geomspace(1e-9, 1e7, 97)))
_DENSE = 161
_SPLINE_GRID = np.linspace(0.0, 1.0, 33)
_SPLINE_ROUNDS = 3
_SMOOTH = 3e-9  # what the interpolated profile may be off before a corner or a jump is suspected
_CORNERS = 24
_ZOOM_GRID = np.linspace(0.0, 1.0, 17)
_ZOOM_ROUNDS = 10
_SETTLED = 1e-12
_GUESSES = np.concatenate(([0.0], np.geomspace(1e-4, 700, 20)))
_ROUNDING = 8 * np.finfo(float).eps


def _error_at(x: FloatArray, epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
    """The larger of the two lower bounds on f(x) at ε, rounded down; arrays of shapes that broadcast."""
    delta = np.exp(log_delta)
    with np.errstate(over="ignore", invalid="ignore"):
        paid = delta + np.where(x > 0, np.exp(epsilon) * x, 0.0)
    accuse = np.where(paid > 0, np.nextafter((1 - paid) - _ROUNDING * paid, -np.inf), 1.0)
    left = (1 - x) - delta
    miss = np.exp(-epsilon) * (left - _ROUNDING * (np.abs(left) + delta))
    return np.maximum(accuse, miss)


def _best(x: FloatArray, epsilon: FloatArray, log_delta: FloatArray) -> tuple[FloatArray, ...]:
    """For every x the best value over ascending ε, shape (k,) or (x.size, k), the ε beside the best, and how much lower
    the value is at the lower one.
    """
    table = _error_at(x[:, None], epsilon, log_delta)
    best = table.argmax(axis=1)
    rows = np.arange(x.size)
    before, after = np.maximum(best - 1, 0), np.minimum(best + 1, table.shape[1] - 1)
    grid, value = np.broadcast_to(epsilon, table.shape), table[rows, best]
    drop = value - np.minimum(table[rows, before], table[rows, after])
    return value, grid[rows, before], grid[rows, after], drop


def _between(low: FloatArray, high: FloatArray, share: FloatArray) -> FloatArray:
    return low[:, None] + (high - low)[:, None] * share


def smallest_false_negative_rate(log_profile: LogProfile, x: FloatArray) -> FloatArray:
    """f at a 1-d array of false positive rates, from log δ(ε) as a function of a 1-d array of ε ≥ 0."""
    coarse = log_profile(_COARSE)
    value, low, high, _ = _best(x, _COARSE, coarse)
    inner = np.flatnonzero((x > 0) & (x < 1))  # at 0 and 1 the best ε is as large as can be
    if inner.size:
        value[inner] = np.maximum(value[inner], _refined(log_profile, x[inner], low[inner].min(), high[inner].max()))
    return np.clip(value, 0.0, 1.0)


def _refined(log_profile: LogProfile, x: FloatArray, lowest: float, highest: float) -> FloatArray:
    dense = np.linspace(lowest, highest, _DENSE)
    log_delta = log_profile(dense)
    value, low, high, _ = _best(x, dense, log_delta)
    known = np.isfinite(log_delta)
    if known.sum() < 4:
        return value
    from scipy.interpolate import CubicSpline  # slow to import

    spline = CubicSpline(dense[known], log_delta[known])
    left, right = low, np.minimum(high, dense[known][-1])
    for _ in range(_SPLINE_ROUNDS):
        grid = _between(left, right, _SPLINE_GRID)
        promised, left, right, _ = _best(x, grid, np.minimum(spline(grid), 0.0))
    epsilon = (left + right) / 2
    found = _error_at(x, epsilon, log_profile(epsilon))
    value = np.maximum(value, found)
    odd = np.flatnonzero(np.abs(promised - found) > _SMOOTH)
    if 0 < np.unique(low[odd]).size <= _CORNERS:  # more of them are the grid of a discretised profile
        value[odd] = np.maximum(value[odd], _zoomed(log_profile, x[odd], low[odd], high[odd]))
    return value


def _zoomed(log_profile: LogProfile, x: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """f(x) by ever finer grids between `low` and `high`; neighbouring x share a corner, and so their grids."""
    value = np.full(x.shape, -np.inf)
    for _ in range(_ZOOM_ROUNDS):
        ends, which = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
        grid = _between(ends[:, 0], ends[:, 1], _ZOOM_GRID)
        log_delta = log_profile(grid.ravel()).reshape(grid.shape)
        which = which.reshape(-1)
        found, low, high, drop = _best(x, grid[which], log_delta[which])
        value = np.maximum(value, found)
        if (drop < _SETTLED).all():
            break
    return value


def false_negative_rates(log_profile: LogProfile, false_positive_rate: Any) -> Any:
    """`Mechanism.tradeoff` for the logarithm of a profile."""
    x = unit_array(false_positive_rate, "false_positive_rate")
    return like_input(false_positive_rate, smallest_false_negative_rate(log_profile, x.ravel()).reshape(x.shape))


def best_guess(mechanism: HasLogDelta) -> float:
    """How often at most the best guess whether a row was in the data is right, both being equally likely before.

    (1 + δ(0))/2 for a profile that is a divergence at every ε; the least of 1 − (1 − δ(ε))/(1 + e^ε) where a profile
    only bounds a divergence. From 0.5, where nothing is learned, to 1.0, where the bound proves nothing; rounded up.

    >>> from objpert_core.accounting import Gaussian
    >>> round(best_guess(Gaussian(sigma=1.0)), 6)  # Φ(1/2)
    0.691462
    """
    epsilon, wrong = _GUESSES, 0.0
    for _ in range(_ZOOM_ROUNDS):
        delta = np.exp(mechanism.log_delta(epsilon))
        values = (1 - delta - _ROUNDING * (1 + delta)) / (1 + np.exp(epsilon))
        best = int(values.argmax())
        before, after = max(best - 1, 0), min(best + 1, epsilon.size - 1)
        wrong = max(wrong, float(values[best]))
        if epsilon[best] == 0 or values[best] - min(values[before], values[after]) < _SETTLED:
            break
        epsilon = epsilon[before] + (epsilon[after] - epsilon[before]) * _ZOOM_GRID
    return min(float(np.nextafter(1 - wrong, 2.0)), 1.0)


def odds_of(epsilon: FloatArray) -> FloatArray:
    """e^ε, rounded up."""
    with np.errstate(over="ignore"):
        return np.where(epsilon > 0, np.nextafter(np.exp(epsilon), np.inf), 1.0)


def posterior(prior: Any, epsilon: Any) -> Any:
    """Largest probability that somebody who saw the release may give to a row being in the data.

    By Bayes' rule a privacy loss of at most ε moves the prior odds by a factor of at most e^ε, so the posterior is at
    most e^ε·p/(1 − p + e^ε·p). With δ > 0 a loss larger than ε can occur; `Mechanism.tail` says how often at most.
    `prior` is in [0, 1] and ε >= 0, `math.inf` allowed; floats or arrays, broadcast. Rounded up.

    >>> round(posterior(0.5, 1.0), 6)
    0.731059
    """
    p, eps = np.broadcast_arrays(unit_array(prior, "prior"), privacy_budget_array(epsilon))
    result = np.where(p > 0, p / (p + (1 - p) * np.exp(-eps) + (p == 0)), 0.0)
    moved = (p > 0) & (p < 1) & (eps > 0)
    result = np.where(moved, np.minimum(np.nextafter(result * (1 + _ROUNDING), 1.0), 1.0), p)
    return float(result) if result.ndim == 0 else result
