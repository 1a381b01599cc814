"""Bend and tilt: a noisy Gram matrix beside a noisy gradient at the anchor, for records that disagree."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import log_ndtr, logsumexp

from objpert_core._validation import FloatArray, check_fields, in_open_unit, positive, within
from objpert_core.accounting.convolution.discretise import TooFineError, quadrature
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian, log_target
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.laws.base import GaussianLoss, PrivacyLoss, Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, REPLACE_ONE, Mechanism
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI
from objpert_core.accounting.numerics.safe_root import nudged, smallest_above
from objpert_core.accounting.numerics.search import smallest_epsilon
from objpert_core.accounting.quadratic.calibration import EPSILONS, WantedBend, calibrate_quadratic_perturbation
from objpert_core.accounting.quadratic.mechanism import QuadraticPerturbation

_NATS = (40.0, 200.0, 800.0)  # −log δ that points are made for
_SPARE = 25.0  # more, of what they leave out
_NO_BREAKS = np.empty(0)
_CELLS = 4000  # of a law
_SLACK = 1e-10  # of 1 + |log δ|
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_LOWEST = -9.0  # of z
_ROWS = 64  # of ε at a time


@dataclass(frozen=True)
class TiltAndBend(Mechanism):
    """A random quadratic form and a random linear term on one objective: valid for all data, interpolation or not.

    From each loss its linear part at the anchor is taken away: what is left is least there, so `bend` covers the rest.
    The sum of the linear parts is released with noise N(0, σ²·I), a Gaussian mechanism on the same rows. For the
    squared loss the two are the noisy sums XᵀX and Xᵀ(Xθ̃ − y), from which every solver may work.

    docs/theorems.md, T34: δ(ε) = E_z δ_bend(ε − a²/2 − a·z) with a = sensitivity/σ_t, the larger of the directions of
    the adjacency. Sheffet (2017) has the noisy Gram matrix, Wang (2018) the same with Gaussian noise.

    Parameters
    ----------
    bend : QuadraticPerturbation
        By the bound "exact" or "glm".
    sigma : float > 0
        σ_t, the standard deviation of the noise on every entry of the sum of gradients.
    sensitivity : float > 0
        How far one record moves that sum, under the adjacency of `bend`: √L·R where ‖x‖² <= L and residuals at the
        anchor are clipped to R, twice that where a record is replaced.

    Examples
    --------
    >>> bend = QuadraticPerturbation(scale=1.0, degrees_of_freedom=40, dimension=10)
    >>> both = TiltAndBend(bend, sigma=8.0, sensitivity=2.0)
    >>> bend.delta(1.0) < both.delta(1.0) < bend.delta(0.5) + 0.01
    True
    """

    bend: QuadraticPerturbation
    sigma: float
    sensitivity: float

    def __post_init__(self) -> None:
        if not isinstance(self.bend, QuadraticPerturbation) or self.bend.bound not in ("exact", "glm"):
            raise ValueError(f"bend must be a QuadraticPerturbation by bound 'exact' or 'glm', got {self.bend!r}")
        check_fields(self, positive, "sigma", "sensitivity")

    @property
    def adjacency(self) -> str:
        return self.bend.adjacency

    @property
    def a(self) -> float:
        """Sensitivity over σ_t."""
        return self.sensitivity / self.sigma

    @property
    def has_rdp(self) -> bool:
        return False

    def no_rdp(self) -> str:
        return self.bend.no_rdp()

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.full(alpha.shape, np.inf)

    def losses(self, direction: str = "remove") -> Steps | None:
        """The losses of `bend`, and the Gaussian mechanism's."""
        own = self.bend.losses(direction)
        return None if own is None else (*own, (GaussianLoss(self.a), 1))

    @cached_property
    def _sides(self) -> tuple[PrivacyLoss, ...]:
        """The bend's loss in each direction of the adjacency, once where both are the same."""
        found = []
        for direction in ("remove", "add"):
            steps = self.bend.losses(direction)
            assert steps is not None, self.bend  # both bounds have losses
            found += [loss for loss, _ in steps if loss not in found]
        return tuple(found)

    @cached_property
    def _points(self) -> dict[tuple[PrivacyLoss, float], tuple[FloatArray, FloatArray, float]]:
        return {}

    def _points_of(self, loss: PrivacyLoss, nats: float) -> tuple[FloatArray, FloatArray, float]:
        """(log weights, losses, log of the mass that counts as infinite), for δ not much below e^{-nats}."""
        if (loss, nats) not in self._points:
            low, high = loss.reach(nats + _SPARE)
            log_weight, omega = _spread_out(loss, low, high)
            below, above = loss.log_tails(low, high)
            at_low = loss.loss(np.array([low]))  # what lies below counts as the least loss that is kept
            self._points[loss, nats] = np.append(log_weight, below), np.append(omega, at_low), above
        return self._points[loss, nats]

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        result = np.max([self._of_side(loss, epsilon) for loss in self._sides], axis=0)
        return np.minimum(result + _SLACK * (1 - np.maximum(result, -1e300)), 0.0)

    def _of_side(self, loss: PrivacyLoss, epsilon: FloatArray) -> FloatArray:
        """log δ of one direction, from as many points of the bend's law as its size needs."""
        result = np.zeros(epsilon.shape)
        if math.isinf(self.a):
            return result
        todo = np.arange(epsilon.size)
        for nats in _NATS:
            try:
                log_weight, omega, log_infinite = self._points_of(loss, nats)
            except TooFineError:
                break  # what is known is right, if not tight
            for block in np.array_split(todo, max(1, -(-todo.size // _ROWS))):
                left = epsilon[block, None] - omega
                log_f = gauss.log_profile(left.ravel(), self.a).reshape(left.shape) + log_weight
                result[block] = np.logaddexp(logsumexp(log_f, axis=1), log_infinite)
            todo = todo[result[todo] < -nats]
            if not todo.size:
                break
        return result

    def rough_log_delta(self, epsilon: float, nats: float) -> float:
        """log δ at one ε by a quadrature over z, for searches: as good as `log_delta` where δ is above e^{-nats} or
        so."""
        highest = math.ceil(math.sqrt(2 * nats)) + 5.0
        ends = np.arange(_LOWEST, highest)
        z = (ends[:, None] + 0.5 + 0.5 * _NODES).ravel()
        log_weight = (np.log(0.5 * _WEIGHTS) + np.zeros((ends.size, 1))).ravel() - 0.5 * z * z - LOG_SQRT_2PI
        at = epsilon - self.a * self.a / 2 - self.a * z
        sides = [profile(at) for profile in self.bend.signed_profiles]
        best = sides if self.adjacency == ADD_REMOVE else [np.max(sides, axis=0)]
        return max(float(logsumexp(np.append(log_weight + side, log_ndtr(-highest)))) for side in best)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        result = np.full(log_delta.shape, np.inf)
        within_reach = np.exp(log_delta) > self.bend.floor
        if within_reach.any():
            result[within_reach] = smallest_epsilon(self._log_delta, log_delta[within_reach])
        return result


def _spread_out(loss: PrivacyLoss, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """(log weights, losses): a law that no profile, nor one with normal noise beside it, has a smaller δ for."""
    if isinstance(loss, DiscreteLoss):  # a pair of chords, or one value
        return quadrature(loss, low, high, _NO_BREAKS)
    kinks = loss.kinks()
    edges = np.union1d(np.linspace(low, high, _CELLS + 1), kinks[(kinks > low) & (kinks < high)])
    half = 0.5 * np.diff(edges)[:, None]
    v = edges[:-1, None] + half + half * _NODES
    ends, omega = loss.loss(edges), loss.loss(v.ravel()).reshape(v.shape)
    mass = np.exp(loss.log_density(v.ravel(), omega.ravel()).reshape(v.shape)) * half * _WEIGHTS
    first, last = ends[:-1, None], ends[1:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.expm1(first - omega) / np.expm1(first - last)
    share = np.where(last > first, np.clip(share, 0.0, 1.0), 1.0)
    total = np.zeros(edges.size)
    total[1:] = (mass * share).sum(axis=1)
    total[:-1] += (mass * (1 - share)).sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.log(total), ends


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
    share = in_open_unit("tilt_share", tilt_share)
    if degrees_of_freedom is not None:  # says what m may be
        QuadraticPerturbation(1.0, degrees_of_freedom, dimension)
    sensitivity = residual_bound * math.sqrt(smoothness) * (1 if adjacency == ADD_REMOVE else 2)
    found = _calibrated(wanted, share)
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
