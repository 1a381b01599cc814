"""Discretised privacy losses, tilted: from a loss ω(V) to masses on a grid, for an upper and for a lower bound.

On the grid x_i = anchor + h·i masses are those of the tilted law e^{θω − scale}·dP: for a δ far below 1e-16, too, they
are of the order of 1. Upper: the mass at ω in [x_i, x_{i+1}] is split between the two ends so that the sums of mass and
of e^{−ω}·mass stay what they are, and by convexity no δ can fall (Doroshenko et al. 2022, "connect the dots"). Lower:
the masses of [x_i − h/2, x_i + h/2] are merged to one atom at its likelihood ratio, and no δ can rise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.laws.base import PrivacyLoss

# (width·(1 + |v|) of a panel up to which the rule leaves a relative error below 1e-13, the rule)
_RULES = [(limit, *np.polynomial.legendre.leggauss(nodes)) for limit, nodes in ((0.003, 2), (0.04, 3), (np.inf, 6))]
_NEGLIGIBLE = 1e-26
_MASS_ERROR = 1e-12  # of the whole mass, far above what quadratures round
MOST_CELLS = 2**20
_LARGEST_V = 64.0  # beyond, a mixture (noise multiplier below 0.02) would need too many panels
_STEEPEST = 30.0  # e^{θh} between neighbouring grid points: the tilt would outrun the grid


class TooFineError(Exception):
    """The grid would need more points than memory and patience allow; callers fall back to the Rényi curve."""


@dataclass(frozen=True)
class Tilted:
    """Tilted masses on the grid points anchor + h·(first + j), j = 0, 1, …, and how many steps have this law."""

    anchor: float
    step: float
    first: int
    masses: FloatArray
    count: int
    rests: FloatArray | None = None  # lower bound: distance of each atom from its grid point
    log_infinite: float = -np.inf  # log of the untilted mass at +∞
    log_certain: float = -np.inf  # log of the part of it that the law itself has there

    @property
    def points(self) -> FloatArray:
        """The losses."""
        return self.anchor + self.step * (self.first + np.arange(self.masses.size, dtype=np.float64))


def _panel_ends(low: float, high: float) -> FloatArray:
    """Points of [low, high] no further apart than 0.25 and 0.25/|v|, in between which φ is tame."""
    if max(-low, high) > _LARGEST_V:
        raise TooFineError
    wings = []
    for end in (-low, high):
        outer = np.sqrt(np.arange(1.0, max(end, 1.0) ** 2, 0.5)) if end > 0 else np.empty(0)
        wings.append(np.concatenate((np.arange(0.0, 1.0, 0.25), outer)))
    ends = np.concatenate((-wings[0][::-1], wings[1][1:]))
    return np.concatenate((np.array([low]), ends[(ends > low) & (ends < high)], np.array([high])))


def quadrature(loss: PrivacyLoss, low: float, high: float, breaks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(log weights, losses) of a Gauss–Legendre rule over V in [low, high], with panels that end at `breaks`."""
    inside = [part[(part > low) & (part < high)] for part in (breaks, loss.kinks())]
    ends = np.unique(np.concatenate((_panel_ends(low, high), *inside)))
    left, width = ends[:-1], np.diff(ends)
    size = width * (1 + np.maximum(np.abs(left), np.abs(ends[1:])))
    points, log_weights, least = [], [], -1.0
    for limit, nodes, weights in _RULES:
        chosen = (size > least) & (size <= limit)
        half = 0.5 * width[chosen, None]
        points.append((left[chosen, None] + half * (1 + nodes)).ravel())
        log_weights.append((np.log(half) + np.log(weights)).ravel())
        least = limit
    v = np.concatenate(points)
    omega = loss.loss(v)
    return loss.expand(np.concatenate(log_weights) + loss.log_density(v, omega), omega)


def _cells(low: float, high: float, anchor: float, step: float) -> FloatArray:
    """Multiples of step/2, counted from the anchor, that lie in (low, high)."""
    first, last = np.ceil((low - anchor) / step * 2), np.floor((high - anchor) / step * 2)
    if not last - first < 2 * MOST_CELLS:
        raise TooFineError
    return anchor + 0.5 * step * np.arange(first, last + 1)


def discretise(
    loss: PrivacyLoss, count: int, step: float, theta: float, log_scale: float, reach: tuple[float, float]
) -> tuple[Tilted, Tilted]:
    """(upper, lower): `count` steps on a grid of width `step`, tilted by e^{θω − log_scale}; mass outside of `reach`,
    the range of V that is kept, goes to +∞ or the least loss in the upper one and is left out of the lower.
    """
    if theta * step > _STEEPEST:
        raise TooFineError
    low, high = reach
    ends = loss.loss(np.array([low, high]))
    anchor = loss.anchor()
    log_weight, omega = quadrature(loss, low, high, loss.position(_cells(float(ends[0]), float(ends[1]), anchor, step)))
    log_below, log_above = loss.log_tails(low, high)
    place = (omega - anchor) / step
    centre = 0.5 if loss.begins() else 0.0
    certain = loss.log_certain()
    lower = _merged(place - centre, log_weight, anchor + centre * step, step, theta, log_scale, count)
    lower = replace(lower, log_infinite=certain, log_certain=certain)
    missing = 1.0 - float(np.exp(log_weight).sum() + np.exp(log_below) + np.exp(log_above))
    if missing > _MASS_ERROR:  # a law whose parts do not fit together: loose, not unsafe
        log_above = float(np.logaddexp(log_above, np.log(missing)))
    if log_below > -np.inf:
        place = np.append(place, (ends[0] - anchor) / step)
        log_weight = np.append(log_weight, log_below)
    cell = np.floor(place)
    first = int(cell.min())
    mass = np.exp(log_weight + theta * (anchor + step * cell) - log_scale)
    share = np.expm1(step * (cell - place)) / np.expm1(-step)  # of the upper end of the cell
    index = (cell - first).astype(np.intp)
    size = int(index.max()) + 2
    masses: FloatArray = np.bincount(index, mass * (1 - share), size).astype(np.float64)
    masses += np.bincount(index + 1, mass * share * np.exp(theta * step), size)
    return Tilted(anchor, step, first, masses, count, log_infinite=log_above, log_certain=certain), lower


def _merged(
    place: FloatArray, log_weight: FloatArray, anchor: float, step: float, theta: float, log_scale: float, count: int
) -> Tilted:
    cell = np.rint(place)
    first = int(cell.min())
    mass = np.exp(log_weight + theta * (anchor + step * cell) - log_scale)
    index = (cell - first).astype(np.intp)
    masses: FloatArray = np.bincount(index, mass).astype(np.float64)
    masses[masses < _NEGLIGIBLE * masses.sum()] = 0.0  # a lower bound may leave mass out
    drop = np.bincount(index, mass * np.expm1(step * (cell - place)))
    with np.errstate(invalid="ignore", divide="ignore"):
        rests = np.where(masses > 0, -np.log1p(drop / masses), 0.0)
    return Tilted(anchor, step, first, masses, count, rests=rests)
