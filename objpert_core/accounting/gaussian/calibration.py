"""The Gaussian mechanism with the least noise for a privacy target."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from objpert_core._validation import in_open_unit, nonnegative, positive
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.safe_root import nudged

SIGMA_MARGIN = 2e-12  # above the profile's own rounding error
_LOG_MARGIN = 1e-13  # of 1 + log(1/δ): above the rounding of every profile, so that `epsilon(δ) <= ε` as well


def calibrate_gaussian(
    epsilon: float, delta: float, sensitivity: float = 1.0, *, adjacency: str = ADD_REMOVE
) -> Gaussian:
    """The Gaussian mechanism with the least noise that is (ε, δ)-DP: the analytic one of Balle and Wang (2018).

    `.delta(epsilon) <= delta` holds, and σ is within a few 1e-12 (relative) of the smallest possible.

    Parameters
    ----------
    epsilon : float >= 0
    delta : float strictly between 0 and 1
    sensitivity : float > 0
        L2 sensitivity under `adjacency`.
    adjacency : {"add/remove one row", "replace one row"}

    Examples
    --------
    >>> round(calibrate_gaussian(1.0, 1e-5, sensitivity=2**0.5).sigma, 3)
    5.276
    """
    eps, target = nonnegative("epsilon", epsilon), in_open_unit("delta", delta)
    size = positive("sensitivity", sensitivity)
    with np.errstate(over="ignore", divide="ignore"):  # where nothing is proved, or nothing lost
        ratio = _largest_ratio(eps, target) if eps <= 1e300 else math.nan
    sigma = size / ratio
    if not (1e-300 <= ratio <= 1e300 and math.isfinite(sigma)):
        raise ValueError(
            f"epsilon, delta and sensitivity must ask for noise that is a double, got {eps!r}, {target!r} and {size!r}"
        )

    def moved(margin: float) -> Gaussian:
        return Gaussian(sigma * (1 + margin), size, adjacency=adjacency)

    return nudged(lambda mechanism: mechanism.log_delta(eps) <= log_target(target), moved, SIGMA_MARGIN)


def noise_of_share(share: float, moved: float, epsilon: float, delta: float) -> float:
    """The noise on a sum that one person moves by `moved`, if it takes this share of the μ² that (ε, δ) allows."""
    return moved * calibrate_gaussian(epsilon, delta).sigma / math.sqrt(share)


def log_target(delta: float) -> float:
    """log δ, less what may be rounded: a profile at or below it meets δ, and its inverse meets ε as well."""
    return math.log(delta) - _LOG_MARGIN * (1 - math.log(delta))


@lru_cache(maxsize=4096)
def _largest_ratio(epsilon: float, delta: float) -> float:
    """The largest a = sensitivity/σ that is (ε, δ)-DP, less a margin."""
    log_delta = log_target(delta)

    def gap(log_a: float) -> float:
        return float(gauss.log_profile(epsilon, math.exp(log_a))) - log_delta

    low, high = math.log(max(epsilon, 1e-3)), math.log(max(math.sqrt(2 * epsilon), 1e-3))
    while gap(low) > 0:
        low -= 2.0
    while gap(high) <= 0:
        high += 2.0
    from scipy.optimize import brentq  # a third of the import time of this package: only who searches waits for it

    root = float(brentq(gap, low, high, xtol=1e-15, rtol=1e-15))
    return math.exp(root) * (1 - SIGMA_MARGIN)
