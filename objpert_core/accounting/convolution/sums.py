"""Bounds on δ at ε, and on ε at δ, of a sum of privacy losses in one direction of the adjacency.

Each bound comes from one or more grids (`plan.tails`) of which every one is valid at every ε: this file decides which
tilts and widths to ask for. docs/theorems.md, T21, says what is proved, and what is assumed and checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.convolution.discretise import TooFineError
from objpert_core.accounting.convolution.fft import Tail, log_any
from objpert_core.accounting.convolution.plan import Plan, cheapest_tilt, plan, tails
from objpert_core.accounting.laws.base import GaussianLoss, Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.search import smallest_epsilon

CLOSED_FORM_ERROR = 1e-8  # of 1 + |log δ|; ten times what the tests hold quadratures to
GAUSSIAN_ERROR = 1e-11  # the same for the Gaussian profile, held to 1e-13
_CERTAIN_ERROR = 1e-12  # the same where only infinite losses count

_NATS = (40.0, 200.0, 1000.0)  # log 1/δ that plans are made for
_GAP = 8.0  # nats that the Rényi bound on δ may be too large by, when a grid is planned from it
_LEAST_GAP = 0.002  # between the bounds on log δ: not worth another grid
_MOST_TAILS = 16  # grids for one curve
_NO_USE = math.log(0.01)  # share of an answer that is error which a finer grid will not remove
# of the loss's spread: where ε is smaller, widths are relative to this; for ε at δ and for δ at ε
_LEAST_SHARE = {"epsilon": 0.002, "delta": 0.3}
_REFINEMENTS = 3
_MARGIN = 0.01  # of log δ, far above the error of the coarse quadrature behind a plan
_ROUGH = 64.0  # times the width, to see which direction decides


def merged(steps: Steps) -> Steps:
    """Equal losses counted together, and all Gaussians as one: their squared ratios add up."""
    counts: dict[Any, int] = {}
    ratios = []
    for loss, count in steps:
        if isinstance(loss, GaussianLoss):
            ratios.append(math.sqrt(count) * loss.a)
        else:
            counts[loss] = counts.get(loss, 0) + count
    gaussian = ((GaussianLoss(math.hypot(*ratios)), 1),) if ratios else ()
    return (*counts.items(), *gaussian)


def both_sides(log_delta: FloatArray, error: float) -> tuple[FloatArray, FloatArray]:
    """log of (lower, upper) bounds on a δ that is computed to a relative error of error·(1 + |log δ|)."""
    margin = np.where(log_delta > -np.inf, error * (1 - log_delta), 0.0)
    return log_delta - margin, np.minimum(log_delta + margin, 0.0)


def both_sides_of_target(log_delta: FloatArray, error: float) -> tuple[FloatArray, FloatArray]:
    """The computed log δ at which `both_sides` certainly has its upper, and its lower, bound at the target."""
    margin = error * (1 + 1e-3) * (1 - log_delta)
    return log_delta - margin, np.minimum(log_delta + margin, -5e-324)


def _gaussian_ratio(steps: Steps) -> float | None:
    """sensitivity/σ if the losses are one Gaussian mechanism's, whose bounds have a closed form."""
    if len(steps) == 1 and isinstance(steps[0][0], GaussianLoss):
        return steps[0][0].a
    return None


def _profile(steps: Steps) -> tuple[Callable[[FloatArray], FloatArray], float] | None:
    """(log δ as a function of ε, its error) in closed form: for a Gaussian mechanism, and for losses of one value."""
    if (ratio := _gaussian_ratio(steps)) is not None:
        return (lambda epsilon: gauss.log_profile(epsilon, ratio)), GAUSSIAN_ERROR
    constants = [
        (loss, count)
        for loss, count in steps
        if isinstance(loss, DiscreteLoss) and loss.losses.size == 1 and not loss.unresolved
    ]
    if len(constants) < len(steps):
        return None
    total, log_mass = (
        np.array([sum(count * float(part[0]) for part, count in parts)])
        for parts in zip(*(((loss.losses, n), (loss.log_masses, n)) for loss, n in constants), strict=True)
    )
    log_infinite = log_any([(loss.log_infinite, count) for loss, count in constants])
    return DiscreteLoss(total, log_mass, log_infinite).log_profile, CLOSED_FORM_ERROR


def _width(made: Plan, epsilon: float, relative_width: float, wanted_for: str) -> float:
    """The absolute width to aim at; rounded, so that neighbouring requests share a grid."""
    wanted = relative_width * max(epsilon, _LEAST_SHARE[wanted_for] * made.spread)
    return float(2.0 ** math.floor(math.log2(wanted)))


def log_delta_bounds(steps: Steps, epsilon: FloatArray, relative_width: float) -> tuple[FloatArray, FloatArray]:
    """log of (lower, upper) for one direction; where no grid is fine enough −inf and the Rényi bound, or 0."""
    low, high = _from_grids(steps, epsilon, relative_width)
    certain = log_any([(loss.log_certain(), count) for loss, count in steps])
    low = np.maximum(low, both_sides(np.array([certain]), _CERTAIN_ERROR)[0])
    unknown = np.flatnonzero(high == 0)
    if unknown.size and certain > -np.inf:  # the Rényi curve itself is infinite
        high[unknown] = np.minimum(chernoff_bound(steps, epsilon[unknown], -math.inf), 0.0)
    return low, high


def _from_grids(steps: Steps, epsilon: FloatArray, relative_width: float) -> tuple[FloatArray, FloatArray]:
    low, high = np.full(epsilon.shape, -np.inf), np.zeros(epsilon.shape)
    if _gaussian_ratio(steps) == math.inf:
        return low, high
    if (known := _profile(steps)) is not None:
        return both_sides(known[0](epsilon), known[1])
    todo = np.flatnonzero(epsilon < sum(count * loss.highest() for loss, count in steps))
    beyond = np.setdiff1d(np.arange(epsilon.size), todo)  # only infinite losses are larger
    certain = np.full(beyond.shape, log_any([(loss.log_certain(), count) for loss, count in steps]))
    low[beyond], high[beyond] = both_sides(certain, _CERTAIN_ERROR)
    left = _MOST_TAILS
    for nats in _NATS:
        if not todo.size or (made := _plan_or_none(steps, nats)) is None:
            break  # a plan for far smaller δ costs the most
        best, chernoff = made.log_delta_chernoff(epsilon[todo])
        here = (chernoff > 5 - nats) | (nats == _NATS[-1])
        now, tilts, least = todo[here], best[here], 10 * np.floor(chernoff[here] / 10) - _GAP
        todo = todo[~here]
        while now.size and left:
            middle = np.argsort(epsilon[now])[now.size // 2]
            width = _width(made, float(epsilon[now[middle]]), relative_width, "delta")
            for _ in range(min(_REFINEMENTS, left)):
                left -= 1
                pair = _tails_or_none(steps, nats, int(tilts[middle]), width, float(least[middle]))
                if pair is None:
                    return low, high
                upper, lower = pair
                low[now] = np.fmax(low[now], lower.log_delta(epsilon[now]))
                high[now] = np.fmin(high[now], upper.log_delta(epsilon[now]))
                # a width w in ε is θ·w in log δ, or the grid does not resolve what matters here
                good = high[now] - low[now] <= np.maximum(4 * width * made.thetas[tilts], _LEAST_GAP)
                if good[middle] or upper.log_error_share(epsilon[now[middle : middle + 1]])[0] > _NO_USE:
                    break
                width /= 8
            good |= (tilts == made.thetas.size - 1) & (tilts == tilts[middle])  # no tilt does better
            good[middle] = True
            now, tilts, least = now[~good], tilts[~good], least[~good]
    return low, high


def _nats_for(log_delta: float) -> float:
    return next((nats for nats in _NATS if -log_delta <= nats - 5), _NATS[-1])


def chernoff_bound(steps: Steps, epsilon: FloatArray, log_delta: float) -> FloatArray:
    """log of the Rényi bound on δ for one direction, with room for what coarse points for `log_delta` leave out."""
    for nats in _NATS[_NATS.index(_nats_for(log_delta)) :: -1]:
        if (made := _plan_or_none(steps, nats)) is not None:
            return np.logaddexp(made.log_delta_chernoff(epsilon)[1] + _MARGIN, -nats)
    return np.zeros(epsilon.shape)


def epsilon_by_renyi(steps: Steps, log_delta: float) -> float:
    """ε by one direction's Rényi curve, at a plan's coarse points; 0.0 without a plan, inf with a closed form."""
    if _profile(steps) is not None:
        return math.inf
    made = _plan_or_none(steps, _nats_for(log_delta))
    return 0.0 if made is None else float(made.epsilon_chernoff(np.array([log_delta]))[1][0])


def epsilon_bounds(sides: tuple[Steps, ...], log_delta: float, relative_width: float) -> tuple[float, float]:
    """(lower, upper) bounds on ε, the larger of the directions."""
    low, high = _side_epsilon(sides[0], log_delta, relative_width)
    for side in sides[1:]:  # most often the first direction decides, and the Rényi curve or a coarse grid can tell
        if low > 0 and chernoff_bound(side, np.array([low]), log_delta)[0] <= log_delta:
            continue
        if low > 0 and _side_epsilon(side, log_delta, _ROUGH * relative_width, refinements=1)[1] <= low:
            continue
        lower, upper = _side_epsilon(side, log_delta, relative_width)
        low, high = max(low, lower), max(high, upper)
    return low, high


def _side_epsilon(
    steps: Steps, log_delta: float, relative_width: float, refinements: int = _REFINEMENTS
) -> tuple[float, float]:
    """(lower, upper) bounds on ε for one direction; (0, inf) where no grid is fine enough."""
    target = np.array([log_delta])
    if _gaussian_ratio(steps) == math.inf:
        return 0.0, math.inf
    if (known := _profile(steps)) is not None:
        low, high = (
            float(smallest_epsilon(known[0], wanted)[0]) for wanted in reversed(both_sides_of_target(target, known[1]))
        )
        return low, high
    nats = _nats_for(log_delta)
    made = _plan_or_none(steps, nats)
    low, high = 0.0, math.inf
    if made is None:
        return low, high
    best, chernoff = made.epsilon_chernoff(target)
    if not math.isfinite(chernoff[0]):
        return low, high
    if chernoff[0] < made.spread:  # perhaps δ(0) is below the target already
        at_zero = np.zeros(1)
        tilt, width = int(made.log_delta_chernoff(at_zero)[0][0]), _width(made, 0.0, relative_width, "delta")
        pair = _tails_or_none(steps, nats, tilt, width, log_delta)
        if pair is not None and pair[0].log_delta(at_zero)[0] <= log_delta:
            return 0.0, 0.0
    width, step = _width(made, float(chernoff[0]), relative_width, "epsilon"), math.inf
    tilt = cheapest_tilt(made, int(best[0]), float(chernoff[0]), log_delta, width)
    for _ in range(refinements):
        pair = _tails_or_none(steps, nats, tilt, width, log_delta)
        if pair is None or pair[0].step > 0.9 * step:  # the finest grid there is
            break
        upper, lower = pair
        step = upper.step
        high = min(high, float(smallest_epsilon(upper.log_delta, target)[0]))
        if not math.isfinite(high):
            break
        low = max(low, _largest_below(lower, target, high))
        wanted, reached = _width(made, high, relative_width, "epsilon"), high - low
        hopeless = bool(lower.log_error_share(np.array([high]))[0] > _NO_USE)
        if reached <= 2 * wanted or wanted == 0 or hopeless:
            break
        width = 2.0 ** math.floor(math.log2(width * min(0.5, max(width / reached, 1e-3))))
    return low, high


def _plan_or_none(steps: Steps, nats: float) -> Plan | None:
    try:
        return plan(steps, nats)
    except TooFineError:
        return None


def _tails_or_none(steps: Steps, nats: float, tilt: int, width: float, log_delta: float) -> tuple[Tail, Tail] | None:
    for coarser in (1.0, 8.0, 64.0, 512.0):
        try:
            return tails(steps, nats, tilt, coarser * width, log_delta)
        except TooFineError:
            continue
    return None


def _largest_below(lower: Tail, target: FloatArray, high: float) -> float:
    """The largest ε <= high that the search finds to have a lower bound on δ above the target; 0.0 if it finds none.
    The lower bound is not monotone: far below the tilt's centre the error outweighs what is left of the tail."""
    starts = high * (1 - 2.0 ** -np.arange(20, -1, -0.5))
    above = lower.log_delta(starts) > target
    if not above.any():
        return 0.0
    start = float(starts[above].max())
    return float(smallest_epsilon(lower.log_delta, target, start)[0]) * (1 - 1e-14)
