"""Which tilt, window and grid a composition needs, from a coarse quadrature of its losses.

Nothing here has to be exact: every tilt gives valid bounds. The choice decides how tight and how fast the answer is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from objpert_core._validation import FloatArray
from objpert_core.accounting.convolution.discretise import TooFineError, discretise, quadrature
from objpert_core.accounting.convolution.fft import Tail, log_any, log_g_max, rest_bound, sum_of, tilted_mean
from objpert_core.accounting.laws.base import PrivacyLoss, Steps

_TILTS_A_DECADE = 20
_CONSTANT = 1e-12  # of the sum of the largest losses: with less spread than that they are one value, whose size counts
_HEAVIEST = 6  # −log₁₀ of the least tilt times the spread, for laws with heavy tails
_WINDOW_NATS = 27.0  # log of 1/tilted probability of leaving the window
_TAIL_NATS = 30.0  # log of 1/(share of δ) that goes to +∞ in all steps together
_FEW_POINTS = 2**13  # not worth looking for a cheaper tilt
_SPARE_NATS = 7.0  # of precision that a narrower window may cost
_LOST_NATS = 16.0  # log of 1/(share of δ) that may be lost at either end of the range of V
_RATES = (1.0, 3.0, 5.5, 7.75, 11.0)  # of the Chernoff bounds, in units of 1/standard deviation
_JUMP_RATES = (1.0, 2.5, 6.0, 15.0, 40.0)  # the same for few rare large losses, in units of 1/largest loss
_WIDEST_STEP = 1.0
_MOST_POINTS = 2**20
_NO_BREAKS = np.empty(0)
_TRIALS = 6


Points = tuple[tuple[FloatArray, FloatArray], ...]  # (log weights, losses) of every loss


@dataclass(frozen=True)
class Plan:
    """Coarse points of every loss, and the cumulant K(θ) of the whole sum on a grid of tilts."""

    steps: Steps
    reaches: tuple[tuple[float, float], ...]
    points: Points
    spread: float  # standard deviation of the sum
    thetas: FloatArray
    cumulants: FloatArray
    log_infinite: float  # log of the probability that a loss is infinite, or beyond its range

    def log_delta_chernoff(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(index of the best tilt, log of the Rényi bound on δ there) for a 1-d array of ε."""
        table = self.cumulants - self.thetas * epsilon[:, None] + log_g_max(self.thetas)
        best = table.argmin(axis=1)
        return best, np.logaddexp(table[np.arange(epsilon.size), best], self.log_infinite)

    def epsilon_chernoff(self, log_delta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(index of the best tilt, the Rényi bound on ε there) for a 1-d array of log δ."""
        with np.errstate(divide="ignore"):  # what the infinite losses leave of δ, maybe nothing
            left = log_delta + np.log(-np.expm1(np.minimum(self.log_infinite - log_delta, 0.0)))
        table = (self.cumulants + log_g_max(self.thetas) - left[:, None]) / self.thetas
        best = table.argmin(axis=1)
        return best, table[np.arange(log_delta.size), best]


def _spread(points: Points, steps: Steps) -> float:
    variance = 0.0
    for (log_weight, omega), (_, count) in zip(points, steps, strict=True):
        weight = np.exp(log_weight - logsumexp(log_weight))
        variance += count * float(weight @ np.square(omega - weight @ omega))
    return math.sqrt(variance)


@lru_cache(maxsize=64)
def plan(steps: Steps, nats: float) -> Plan:
    """The plan for δ not much below e^{-nats}."""
    count = sum(k for _, k in steps)
    reaches = tuple(loss.reach(nats + _TAIL_NATS + math.log(count)) for loss, _ in steps)
    points = tuple(quadrature(loss, *reach, _NO_BREAKS) for (loss, _), reach in zip(steps, reaches, strict=True))
    size = sum(k * float(np.abs(omega).max()) for (_, omega), (_, k) in zip(points, steps, strict=True))
    spread = _spread(points, steps)
    spread = max(spread if spread > _CONSTANT * size else size, 1e-150)
    # the best tilt for a δ of z standard deviations is about z/spread
    decades = np.arange(-2 * _TILTS_A_DECADE, 3 * _TILTS_A_DECADE + 1) / _TILTS_A_DECADE
    if any(loss.log_certain() > -np.inf for loss, _ in steps):  # finite losses may then fall off but like e^{−θω}
        decades = np.concatenate(
            (np.arange(-_HEAVIEST * _TILTS_A_DECADE, 2 * -_TILTS_A_DECADE) / _TILTS_A_DECADE, decades)
        )
    thetas = 10.0**decades / spread
    thetas = np.concatenate((thetas, 10.0 ** np.arange(math.log10(thetas[-1]) + 0.25, 5.0, 0.25)))
    cumulants = np.zeros(thetas.size)
    for (log_weight, omega), (_, k) in zip(points, steps, strict=True):
        cumulants += k * logsumexp(log_weight + thetas[:, None] * omega, axis=1)
    beyond = [
        (loss.log_tails(*reach)[1], k)
        for (loss, k), reach in zip(steps, reaches, strict=True)
        if loss.log_certain() > -np.inf
    ]
    return Plan(steps, reaches, points, spread, thetas, cumulants, log_any(beyond))


@dataclass(frozen=True)
class Moments:
    """What the coarse points say about the tilted sum, and the window that holds it."""

    log_scales: list[float]  # log E[e^{θω}] of one step of each loss
    mean: float
    spread: float
    left: float  # the window reaches from mean − left
    right: float  # to mean + right
    rates: FloatArray  # of the Chernoff bounds on what lies outside
    own: list[tuple[int, float]]  # (count, variance of one step) of each loss

    def step_for(self, width: float) -> float:
        """A first guess at the grid's step h for a width in ε."""
        moves = sum(count for count, _ in self.own)
        step = math.sqrt(12 * width / moves)
        roughness = sum(count / max(variance, step**2) for count, variance in self.own)
        return math.sqrt(12 * width / (moves + 6.5 * math.sqrt(roughness)))


def tilted(steps: Steps, points: Points, theta: float, log_delta: float = 0.0) -> Moments:
    """The moments under the tilt e^{θω}, θ >= 0, from points (log weights, losses) of every loss."""
    log_scales, mean, centred, variances = [], 0.0, [], []
    for (log_weight, omega), (_, count) in zip(points, steps, strict=True):
        exponent = log_weight + theta * omega
        scale = float(logsumexp(exponent))
        weight = np.exp(exponent - scale)
        average = float(weight @ omega)
        variances.append((count, float(weight @ np.square(omega - average))))
        log_scales.append(scale)
        centred.append((weight, omega - average))
        mean += count * average
    spread = max(math.sqrt(sum(count * variance for count, variance in variances)), 1e-150)
    jump = max(float(np.abs(deviation).max()) for _, deviation in centred)
    rates = np.concatenate((np.array(_RATES) / spread, np.array(_JUMP_RATES) / max(jump, 1e-150)))
    weight_at_mean = sum(k * scale for (_, k), scale in zip(steps, log_scales, strict=True)) - theta * mean
    left, right = _window(centred, steps, theta, rates, max(weight_at_mean - log_delta + _LOST_NATS, 0.0))
    return Moments(log_scales, mean, spread, left, right, rates, variances)


def _kept_under(made: Plan, theta: float, log_delta: float) -> tuple[list[tuple[float, float]], Moments]:
    """The part of each loss's range that matters under the tilt beside a δ of e^log_delta, and its moments."""
    scales = tilted(made.steps, made.points, theta).log_scales
    log_count = math.log(sum(k for _, k in made.steps))
    reaches = [
        _kept(loss, points, reach, theta, scale, log_delta - log_count, -log_count)
        for (loss, _), points, reach, scale in zip(made.steps, made.points, made.reaches, scales, strict=True)
    ]
    # points of what is kept and no more: tails that are cut off need no window
    points = tuple(quadrature(loss, *reach, _NO_BREAKS) for (loss, _), reach in zip(made.steps, reaches, strict=True))
    return reaches, tilted(made.steps, points, theta, log_delta)


def cheapest_tilt(made: Plan, best: int, epsilon: float, log_delta: float, width: float) -> int:
    """The tilt that needs the fewest grid points among those that see (ε, δ) nearly as well as the best one."""
    loose = made.cumulants - made.thetas * epsilon + log_g_max(made.thetas)
    points = {}
    for tilt in range(best, max(best - _TILTS_A_DECADE, -1), -2):
        if loose[tilt] > loose[best] + _SPARE_NATS:
            break
        here = _kept_under(made, float(made.thetas[tilt]), log_delta)[1]
        points[tilt] = (here.left + here.right) / here.step_for(width)
        if points[tilt] < _FEW_POINTS:
            break
    return min(points, key=lambda tilt: points[tilt])


@lru_cache(maxsize=8)
def tails(steps: Steps, nats: float, tilt: int, width: float, log_delta: float) -> tuple[Tail, Tail]:
    """(upper, lower) tails at one tilt of `plan(steps, nats)`, on a grid that aims at a width of `width` in ε."""
    made = plan(steps, nats)
    theta = float(made.thetas[tilt])
    reaches, here = _kept_under(made, theta, log_delta)
    step = here.step_for(width)
    least = (here.left + here.right) / (_MOST_POINTS - 8)
    if not (math.isfinite(step) and math.isfinite(least)):
        raise TooFineError
    for _ in range(_TRIALS):
        step = max(min(step, _WIDEST_STEP, here.spread / 4, 2 / theta), least)
        pairs = [
            discretise(loss, k, step, theta, scale, reach)
            for (loss, k), scale, reach in zip(made.steps, here.log_scales, reaches, strict=True)
        ]
        upper, lower = ([pair[i] for pair in pairs] for i in (0, 1))
        apart = tilted_mean(upper) - tilted_mean(lower) - rest_bound(lower)
        if apart <= width or step <= least:
            break
        # sums: errors grow as h²; a single loss: as h, the distance of an atom from its grid point
        step *= max(0.85 * (width / apart) ** (1.0 if sum(k for _, k in steps) == 1 else 0.5), 0.1)
    return (
        sum_of(upper, theta, here.log_scales, here.mean, here.left, here.right, here.rates),
        sum_of(lower, theta, here.log_scales, here.mean, here.left, here.right, here.rates),
    )


def _kept(
    loss: PrivacyLoss,
    points: tuple[FloatArray, FloatArray],
    reach: tuple[float, float],
    theta: float,
    scale: float,
    log_most_above: float,
    log_most_below: float,
) -> tuple[float, float]:
    """The part of the range of V that matters under the tilt; above, mass goes to +∞, below to the least loss kept."""
    order = np.argsort(points[1], kind="stable")
    log_weight, omega = points[0][order], points[1][order]
    last_of_ties = np.searchsorted(omega, omega, side="right") - 1
    log_below = np.logaddexp.accumulate(log_weight)[last_of_ties] + theta * omega - scale
    log_above = np.logaddexp.accumulate(log_weight[::-1])[::-1]
    low, high = reach
    below = np.searchsorted(log_below, log_most_below - _LOST_NATS) - 1
    above = np.searchsorted(-log_above, _LOST_NATS - log_most_above)
    if below > 0:
        low = max(low, float(loss.position(omega[below : below + 1])[0]))
    if above < omega.size - 1:
        high = min(high, float(loss.position(omega[above : above + 1])[0]))
    return low, max(high, low + 1.0)


def _window(
    centred: list[tuple[FloatArray, FloatArray]], steps: Steps, theta: float, rates: FloatArray, nats_above: float
) -> tuple[float, float]:
    """(left, right) of the mean, such that what the tilted sum has outside is next to nothing."""
    grown = []
    for sign in (1.0, -1.0):
        total = np.zeros(rates.size)
        for (weight, deviation), (_, count) in zip(centred, steps, strict=True):
            exponent = sign * rates[:, None] * deviation
            top = exponent.max(axis=1)
            # E[deviation] = 0, so the logarithm is of 1 + something positive; log1p keeps it where it is small
            near = np.log1p(np.maximum(np.expm1(np.minimum(exponent, 30.0)) @ weight, 0.0))
            far = top + np.log(np.exp(exponent - top[:, None]) @ weight)
            total += count * np.where(top < 30, near, far)
        grown.append(total)
    left = float(np.min((grown[1] + _WINDOW_NATS) / rates))
    far = float(np.min((grown[0] + _WINDOW_NATS) / rates))
    right = max(float(np.min((grown[0] + nats_above) / (rates + theta))), far - left / 2)
    return left, right
