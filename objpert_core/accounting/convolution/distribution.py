"""Discretised privacy loss distributions, to look at and to check with: `Mechanism.pld`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, boolean, epsilon_array, like_input, positive
from objpert_core.accounting.convolution.discretise import TooFineError, discretise
from objpert_core.accounting.convolution.fft import (
    MASS_ERROR,
    REST_NATS,
    log_any,
    log_total,
    masses_of_sum,
    rest_bound,
)
from objpert_core.accounting.convolution.plan import plan, tilted
from objpert_core.accounting.laws.base import Steps

_NATS = 40.0
_BEYOND_NATS = 16.0  # more, of mass above the window: it counts in full
_POINTS_PER_SPREAD = 1000
_MOST_POINTS = 2**17  # unless asked for more


@dataclass(frozen=True)
class DiscretePLD:
    """A privacy loss distribution on finitely many losses that bounds a mechanism from one side.

    Attributes
    ----------
    losses : array of shape (n,), increasing, in nats
    masses : array of shape (n,), >= 0
        Each mass is moved to its safe side by more than the round-off of this mass, and of the sum of all, can be. The
        masses need not sum to 1.
    infinite_mass : float
        Probability of an infinite loss; counts in full towards every δ.
    error : float
        Bound on the sum of the absolute errors of the masses: mass that the grid could not hold, and round-off.
    pessimistic : bool
        Whether `delta` is an upper bound (otherwise a lower one) on the profile of the mechanism's bound.
    direction : {"remove", "add"}

    Examples
    --------
    >>> from objpert_core.accounting import DPSGD
    >>> run = DPSGD(noise_multiplier=2.0, sample_rate=0.1, steps=10)
    >>> above, below = run.pld(), run.pld(pessimistic=False)
    >>> below.delta(0.3) <= above.delta(0.3) <= 1.01 * below.delta(0.3)
    True
    """

    losses: FloatArray
    masses: FloatArray
    infinite_mass: float
    error: float
    pessimistic: bool
    direction: str

    @property
    def interval(self) -> float:
        """The distance of neighbouring losses, in nats; the median distance where they are uneven."""
        return float(np.median(np.diff(self.losses))) if self.losses.size > 1 else 1.0

    def on_grid(self, interval: float) -> tuple[int, FloatArray, float]:
        """(first, masses, mass at +∞) of a pessimistic distribution on the losses interval·(first + j).

        Each mass is split between its two neighbours so that mass and e^{−loss}·mass stay what they are, as in
        `discretise`: no δ falls. The error counts as mass at +∞.
        """
        place = self.losses / interval
        near = np.rint(place)
        place = np.where(np.abs(place - near) < 1e-9 * np.maximum(np.abs(near), 1.0), near, place)
        cell = np.floor(place)
        share = np.expm1(interval * (cell - place)) / np.expm1(-interval)
        first = int(cell.min())
        index = (cell - first).astype(np.intp)
        size = int(index.max()) + 2
        masses: FloatArray = np.bincount(index, self.masses * (1 - share), size).astype(np.float64)
        masses += np.bincount(index + 1, self.masses * share, size)
        return first, masses, min(self.infinite_mass + self.error, 1.0)

    def delta(self, epsilon: Any) -> Any:
        """E[1 − e^{ε − loss}]₊ with the error on the safe side, for ε >= 0 (float or array), in [0, 1]."""
        eps = epsilon_array(epsilon)
        flat = np.minimum(eps.ravel()[:, None] - self.losses, 0.0)
        sign = 1.0 if self.pessimistic else -1.0
        value = -np.expm1(flat) @ self.masses + self.infinite_mass + sign * self.error
        return like_input(epsilon, np.clip(value, 0.0, 1.0).reshape(eps.shape))


def distribution(
    steps: Steps, interval: float | None = None, direction: str = "remove", pessimistic: bool = True
) -> DiscretePLD:
    """The discretised distribution of the sum of independent privacy losses; see `Mechanism.pld`."""
    upper = boolean("pessimistic", pessimistic)
    made = plan(steps, _NATS)
    moments = tilted(steps, made.points, 0.0, -_BEYOND_NATS)
    fine = max(made.spread / _POINTS_PER_SPREAD, (moments.left + moments.right) / _MOST_POINTS)
    step = fine if interval is None else positive("interval", interval)
    nats = _NATS + math.log(sum(count for _, count in steps))
    try:
        pairs = [discretise(loss, count, step, 0.0, 0.0, loss.reach(nats)) for loss, count in steps]
    except TooFineError:
        raise ValueError(
            f"interval must be larger: {step!r} needs millions of cells for losses that spread over {made.spread:.3g}"
        ) from None
    parts = [pair[0] if upper else pair[1] for pair in pairs]
    infinite_mass = math.exp(log_any([(part.log_infinite, part.count) for part in parts]))
    if len(parts) == 1 and parts[0].count == 1:
        (part,) = parts
        losses = part.points if part.rests is None else part.points + part.rests
        return DiscretePLD(losses, _to_safe_side(part.masses, 1, upper), infinite_mass, 0.0, upper, direction)
    window = masses_of_sum(parts, moments.mean, moments.left, moments.right, moments.rates)
    errors, first = [window.log_error, window.log_below, window.log_above], window.first
    if not upper:
        first += rest_bound(parts)
        errors.append(-REST_NATS)
    losses = first + step * np.arange(window.masses.size, dtype=np.float64)
    total = math.exp(sum(log_total(part) for part in parts))
    error = total * math.exp(float(np.logaddexp.reduce(errors)))
    masses = _to_safe_side(total * window.masses, sum(part.count for part in parts), upper)
    return DiscretePLD(losses, masses, infinite_mass, error, upper, direction)


def _to_safe_side(masses: FloatArray, count: int, upper: bool) -> FloatArray:
    """Masses of `count` steps, moved by the largest relative error that each of them, and the sum of all, may have."""
    off = MASS_ERROR * (1 + count) + masses.size * 2.0**-52
    return masses * (1 + off if upper else max(1 - off, 0.0))
