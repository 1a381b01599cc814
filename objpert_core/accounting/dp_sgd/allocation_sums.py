"""A row in one of t noisy steps, drawn at random: the law of its privacy loss, from above and from below.

With a = 1/noise multiplier and Y_i = e^{a·z_i − a²/2}, z_i independent N(0, 1) under Q, the likelihood ratio of the t
values with the row (P) and without it (Q) is S/t, S = Y_1 + … + Y_t (docs/theorems.md, T28). Both divergences,
E_Q[(S/t − e^ε)₊] and E_Q[(1 − e^ε·S/t)₊], are expectations of convex functions of S: they grow if each Y_i is spread
over two neighbouring points of a grid such that its mean stays, and fall if each z_i is put into bins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp

from objpert_core._validation import FloatArray
from objpert_core.accounting.convolution.discretise import Tilted, TooFineError
from objpert_core.accounting.convolution.fft import masses_of_sum
from objpert_core.accounting.laws.discrete import DiscreteLoss

_NATS = 34.0  # log of 1/probability that is left out
_FINENESS = 0.01  # of the standard deviation of Y
_SMALL = 0.002  # of its mean, where few are added up
_FEW = 30
_MOST_CELLS = 2**20
_BROADEST = 60.0  # log of the largest Y
_TIMES = np.geomspace(0.02, 50.0, 40)
_THIN = 4096
_BODY, _TAIL = 0.002, 0.001  # of the spread of S, and of the distance from its mean: how far kept points are apart
_BINS = 0.01  # of Y: the least width of a bin far from 0
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Allocated:
    """The law of the privacy loss, above or below the truth."""

    loss: DiscreteLoss  # an upper bound has all missing mass at +∞; a lower bound lacks it
    error: float  # lower a lower bound on δ by this, for the rounding of the masses


def _normal(z: float) -> float:
    """Φ(z)."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def _between(low: float, high: float) -> float:
    """Φ(high) − Φ(low), accurate in both tails."""
    return _normal(-low) - _normal(-high) if low > 0 else _normal(high) - _normal(low)


def _spread(a: float, step: float, cells: int) -> FloatArray:
    """Q's masses at 0, h, …: those of each cell at its ends, so that its mean stays."""
    left = step * np.arange(cells)
    with np.errstate(divide="ignore"):
        z = np.log(np.append(left, step * cells)) / a + a / 2
    both = []
    for shift in (0.0, a):
        low, high = ndtr(z - shift), ndtr(shift - z)
        both.append(np.where(z[1:] > shift, high[:-1] - high[1:], low[1:] - low[:-1]))
    share = np.clip((both[1] - left * both[0]) / step, 0.0, both[0])
    masses = np.zeros(cells + 1)
    masses[:-1] += both[0] - share
    masses[1:] += share
    return masses


def _binned(a: float, step: float, cells: int) -> FloatArray:
    """Q's masses at 0, h, …: those of bins, one after the other, whose means of Y are grid points."""
    masses = np.zeros(cells + 1)
    start, low = 0.0, -math.inf  # of a bin: Y, and z
    while True:
        index = math.ceil(max(start * (1 + _BINS), start + 0.3 * step) / step)
        if index >= cells:
            return masses
        target = index * step
        rest, weighted = _between(low, math.inf), _between(low - a, math.inf)
        if not weighted > target * rest > 0:  # the tail has no mean as large as that
            return masses
        below, above = math.log(target) / a + a / 2, a / 2 + math.log(cells * step) / a + 40.0 / a
        for _ in range(_HALVINGS):
            middle = 0.5 * (below + above)
            enough = _between(low - a, middle - a) >= target * _between(low, middle)
            below, above = (below, middle) if enough else (middle, above)
        masses[index] += _between(low, below)
        low, start = below, math.exp(a * below - a * a / 2)


@dataclass(frozen=True, eq=False)
class _Sum:
    """`steps` independent variables, of which one may have another law: Chernoff bounds on how far their sum strays."""

    away: FloatArray  # distances from the mean, ascending
    weights: FloatArray  # their probabilities
    other: FloatArray  # those of the variable with another law
    steps: int

    def _thinned(self) -> _Sum:
        """A coarser law, enough to choose a rate with."""
        start = np.arange(0, self.away.size, -(-self.away.size // _THIN))
        weights, other = (np.add.reduceat(v, start) for v in (self.weights, self.other))
        return _Sum(self.away[start], weights, other, self.steps)

    def _at(self, rate: float, sign: float) -> float:
        exponent = sign * rate * self.away
        top = float(exponent.max())
        with np.errstate(under="ignore"):
            grown = np.exp(exponent - top)
            plain, biased = float(self.weights @ grown), float(self.other @ grown)
        if not (plain > 0 and biased > 0):
            return math.inf
        return (_NATS + self.steps * (top + math.log(plain)) + max(math.log(biased / plain), 0.0)) / rate

    @property
    def spread(self) -> float:
        return math.sqrt(self.steps * float(self.weights @ np.square(self.away)))

    def beyond(self, sign: float) -> float:
        """What the sum exceeds (sign 1), or falls short by (−1), with a probability of e^{−nats} at most."""
        rough = self._thinned()
        farthest = float(np.abs(self.away[[0, -1]]).max())
        rates = np.concatenate((_TIMES * math.sqrt(2 * _NATS) / self.spread, _TIMES * _NATS / farthest))
        best = min(rates, key=lambda rate: rough._at(float(rate), sign))
        return self._at(float(best), sign)


def _kept(points: FloatArray, centre: float, spread: float) -> FloatArray:
    """Some of the points, the first and the last among them: dense around the centre, and sparser away from it."""
    away = np.abs(points - centre) / spread
    # the integral of 1/distance between kept points; they are where it passes whole numbers
    place = np.sign(points - centre) * np.where(
        away < _BODY / _TAIL, away / _BODY, (1 + np.log(np.maximum(away * _TAIL / _BODY, 1.0))) / _TAIL
    )
    number = np.floor(place)
    chosen = np.concatenate(([True], np.diff(number) > 0))
    chosen[-1] = True
    return points[chosen]


def _compressed(points: FloatArray, masses: FloatArray, kept: FloatArray, upper: bool) -> tuple[FloatArray, FloatArray]:
    """(points, Q's masses): spread over the kept points with their means, or merged to the means between them."""
    cell = np.clip(np.searchsorted(kept, points, side="right") - 1, 0, kept.size - 2)
    if not upper:
        weight = np.bincount(cell, masses, kept.size - 1).astype(np.float64)
        first = np.bincount(cell, masses * points, kept.size - 1).astype(np.float64)
        there = weight > 0
        return first[there] / weight[there], weight[there]
    share = (points - kept[cell]) / (kept[cell + 1] - kept[cell])
    result = np.bincount(cell, masses * (1 - share), kept.size).astype(np.float64)
    result += np.bincount(cell + 1, masses * share, kept.size)
    return kept, result


@lru_cache(maxsize=64)
def allocated(a: float, steps: int, direction: str, upper: bool) -> Allocated:
    """The law of the loss for t = `steps` values, one of them moved by a; `TooFineError` where no grid holds it."""
    log_last = a * (a / 2 - float(ndtri_exp(-_NATS)))
    if log_last > _BROADEST:
        raise TooFineError
    deviation = math.sqrt(math.expm1(a * a))
    fine = _FINENESS * deviation if steps > _FEW else min(_FINENESS * deviation, _SMALL)
    last = min(math.exp(log_last), fine * _MOST_CELLS)  # what is beyond is missing, with its probability
    cells = max(math.ceil(last / fine), 2)
    step = last / cells
    masses = (_spread if upper else _binned)(a, step, cells)
    grid = step * np.arange(cells + 1, dtype=np.float64)
    total, mean = float(masses.sum()), float(masses @ grid)
    weights = masses / total
    average = mean / total
    sum_ = _Sum(grid - average, weights, weights * grid / average, steps)
    centre, left, right = steps * average, sum_.beyond(-1.0), sum_.beyond(1.0)
    left = min(left, centre)
    if (left + right) / step > 8 * _MOST_CELLS:
        raise TooFineError
    parts = [Tilted(0.0, step, 0, masses, steps)]
    log_kept = steps * math.log(total)
    if direction == "remove":
        parts = [Tilted(0.0, step, 0, masses * grid, 1)]
        log_kept = math.log(mean) + (steps - 1) * math.log(total)
        if steps > 1:
            parts.append(Tilted(0.0, step, 0, masses, steps - 1))
    rate = math.sqrt(2 * _NATS) / max(left, right)
    window = masses_of_sum(parts, centre, left, right, np.array([rate]))
    points = window.first + step * np.arange(window.masses.size, dtype=np.float64)
    inside = points > step / 2  # at 0 and below there is rounding, and for the addition of a row an infinite loss
    error = math.exp(log_kept + window.log_error) + 2 * math.exp(-_NATS)
    found = math.exp(log_kept) * window.masses[inside]
    points = points[inside]
    at_zero = math.exp(log_kept) * float(window.masses[~inside].sum()) if direction == "add" else 0.0
    if direction == "remove":
        found = found * steps / points  # Q's
    kept = _kept(points, centre, sum_.spread)
    points, found = _compressed(points, found, kept, upper)
    log_ratio = np.log(points / steps)
    known = found > 0
    log_found = np.log(found[known])
    beyond = math.log(last) / a
    own, other = (math.exp(float(log_ndtr(shift * a / 2 - beyond))) for shift in (1, -1))
    missing = error + steps * other + (own if direction == "remove" else at_zero)
    log_missing = math.log(missing) if upper else -math.inf
    if direction == "remove":
        return Allocated(DiscreteLoss(log_ratio[known], log_found + log_ratio[known], log_missing, True), error)
    return Allocated(DiscreteLoss(-log_ratio[known], log_found, log_missing, True), error)
