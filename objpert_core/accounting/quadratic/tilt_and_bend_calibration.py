"""From (ε, δ) to a noisy Gram matrix and a noisy gradient at the anchor."""

from __future__ import annotations

import math
from dataclasses import astuple, replace
from functools import lru_cache

from objpert_core._validation import rate, within
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian, log_target
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, REPLACE_ONE
from objpert_core.accounting.numerics.safe_root import nudged, smallest_above
from objpert_core.accounting.quadratic.calibration import EPSILONS, WantedBend, calibrate_quadratic_perturbation
from objpert_core.accounting.quadratic.mechanism import QuadraticPerturbation
from objpert_core.accounting.quadratic.tilt_and_bend import TiltAndBend

_MARGIN = 1e-7  # relative, of σ²
_TABLE_MARGIN = 6e-5  # the same where the profile is a table of chords, which are above the quadrature
_ROUNDING = 2.0**-50
_LEAST_EPSILON = 1e-3  # times ε: what is left for a bend when m is chosen


def calibrate_tilt_and_bend(
    epsilon: float,
    delta: float,
    dimension: int,
    residual_bound: float,
    smoothness: float = 1.0,
    degrees_of_freedom: int | None = None,
    adjacency: str = REPLACE_ONE,
    tilt_share: float = 0.5,
) -> TiltAndBend:
    """The noise of a bend and of a tilt that are (ε, δ)-DP together, for the squared loss (docs/theorems.md, T34).

    The result's δ at ε does not exceed `delta`, and its σ² is within 1e-3 (relative) of the least one that does for
    this m. Errors are those of `calibrate_quadratic_perturbation`.

    Parameters
    ----------
    epsilon, delta, dimension, smoothness, adjacency
        As in `calibrate_quadratic_perturbation`; L is the largest ‖x‖².
    residual_bound : float from 1e-100 to 1e100
        R: residuals at the anchor are clipped to [−R, R].
    degrees_of_freedom : int >= dimension + 1, optional
        m; by default the best one for the bend's share of the budget.
    tilt_share : float strictly between 0 and 1
        The tilt's part of the squared sensitivity-to-noise ratio that the Gaussian mechanism may have at (ε, δ). The
        bend gets all that is left.

    Examples
    --------
    >>> both = calibrate_tilt_and_bend(1.0, 1e-5, 5, residual_bound=2.0, adjacency="add/remove one row")
    >>> both.sensitivity, both.delta(1.0) <= 1e-5
    (2.0, True)
    """
    wanted = WantedBend(epsilon, delta, dimension, smoothness, degrees_of_freedom, adjacency)
    within("residual_bound", residual_bound, 1e-100, 1e100)
    if not rate("tilt_share", tilt_share) < 1:
        raise ValueError(f"tilt_share must be a number strictly between 0 and 1, got {tilt_share!r}")
    if degrees_of_freedom is not None:  # says what m may be
        QuadraticPerturbation(1.0, degrees_of_freedom, dimension)
    sensitivity = residual_bound * math.sqrt(smoothness) * (1 if adjacency == ADD_REMOVE else 2)
    found = _calibrated(wanted, float(tilt_share))
    scaled = TiltAndBend(found.bend, found.sigma * sensitivity * (1 + _ROUNDING), sensitivity)
    assert scaled.log_delta(epsilon) <= log_target(delta), scaled
    return scaled


@lru_cache(maxsize=256)
def _calibrated(wanted: WantedBend, tilt_share: float) -> TiltAndBend:
    """The result for a tilt of sensitivity 1: its noise goes with the sensitivity, and the bend is the same."""
    epsilon, delta, adjacency = wanted.epsilon, wanted.delta, wanted.adjacency
    whole = calibrate_gaussian(epsilon, delta).sigma
    sigma = whole / math.sqrt(tilt_share)
    alone = Gaussian(whole / math.sqrt(1 - tilt_share))
    near = max(float(alone.epsilon(delta)), _LEAST_EPSILON * epsilon, EPSILONS[0])
    guess = calibrate_quadratic_perturbation(*astuple(replace(wanted, epsilon=near)))
    m, target = guess.degrees_of_freedom, log_target(delta)

    def both(scale: float) -> TiltAndBend:
        return TiltAndBend(wanted.bend(scale, m), sigma, 1.0)

    scale = smallest_above(lambda tried: both(tried).rough_log_delta(epsilon, -target) - target, guess.scale, 0.0)
    margin = _MARGIN if adjacency == ADD_REMOVE else _TABLE_MARGIN
    return nudged(
        lambda found: found.log_delta(epsilon) <= target, lambda margin: both(scale * (1 + margin)), margin, margin
    )
