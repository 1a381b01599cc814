"""From a privacy target (ε, δ) to a posterior draw behind two statistics that meets it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from objpert_core._validation import at_least, choice, in_open_unit, positive, positive_integer
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian, log_target
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES
from objpert_core.accounting.mechanisms.group import calibrate_group
from objpert_core.accounting.numerics.safe_root import nudged
from objpert_core.accounting.posterior import profile as posterior
from objpert_core.accounting.posterior.adaptive_sampling import AdaptiveSampling
from objpert_core.accounting.selection.one_run import OneRun, drift

RELEASE_SHARE = 0.25
"""Of μ that each of the two statistics gets."""
FAILURE_SHARE = 0.1
"""Of δ that pays for statistics on the unsafe side."""
_MARGIN = 1e-7
_TOLERANCE = 1e-6  # of d, relatively


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
    return calibrate_group(lambda left: _calibrated(min(left, epsilon), share, runs), epsilon, delta, links)


@lru_cache(maxsize=1024)
def _calibrated(epsilon: float, delta: float, runs: float) -> AdaptiveSampling:
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
    while high - low > _TOLERANCE * high:  # a secant, kept off the ends, and the middle in turn
        chord = low - at_low * (high - low) / (at_high - at_low)
        margin = 0.02 * (high - low)
        for place in (chord - margin, chord + margin, (low + high) / 2):
            if low < place < high:
                value = gap(place)
                low, at_low, high, at_high = (
                    (place, value, high, at_high) if value <= 0 else (low, at_low, place, value)
                )
    return nudged(lambda one: gap(one.separation) <= 0, lambda margin: built(low * (1 - margin)), _MARGIN)


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
