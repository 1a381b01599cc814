"""Mechanisms that are accounted for only through their Rényi curve (`numerics.renyi`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, IntArray, alpha_array, delta_array, epsilon_array, like_input
from objpert_core.accounting.mechanisms.base import Mechanism, View, a_mechanism, with_rdp
from objpert_core.accounting.mechanisms.event_forms import EventMaker
from objpert_core.accounting.numerics.renyi import LOG_ORDERS, epsilon_at, log_delta_at, log_total_variation
from objpert_core.accounting.numerics.safe_root import nudged_up_each

_SPACING = 0.25
_AROUND = np.arange(-1.0, 1.01, _SPACING)  # of a grid that closes in on the best order
_ROUNDS, _LEAST_ROUNDS = 16, 3
_SETTLED = 1e-15
_EXTENSIONS = 60
_NUDGE = 1e-15  # the first step


def _curve(alphas: Any, rdp: Any) -> tuple[FloatArray, FloatArray]:
    orders = np.atleast_1d(alpha_array(alphas, "alphas"))
    values = np.atleast_1d(np.asarray(rdp, dtype=float))
    if orders.ndim != 1 or not orders.size or orders.shape != values.shape:
        raise ValueError(
            f"rdp must have one value for each of alphas, 1-d and at least one, got {values.shape} for {orders.shape}"
        )
    bad = np.isnan(values) | (values < 0)
    if bad.any():
        raise ValueError(f"rdp must be >= 0 (inf is allowed), got {float(values[bad][0])!r}")
    return orders, values


def rdp_to_delta(alphas: Any, rdp: Any, epsilon: Any) -> Any:
    """Smallest δ, in [0, 1], that the given points of a Rényi curve prove at ε.

    `alphas`, orders >= 1, and `rdp`, >= 0 and possibly inf, are floats or 1-d arrays of one length; ε is a float or an
    array >= 0, whose shape the result has.

    >>> round(rdp_to_delta([2, 8, 32], [0.02, 0.08, 0.32], 0.6), 8)
    1.98e-06
    """
    orders, values = _curve(alphas, rdp)
    eps = epsilon_array(epsilon)
    flat = eps.ravel()
    log_delta = np.full(flat.shape, min(0.0, float(log_total_variation(values).min())))
    proper = orders > 1
    if proper.any():
        table = log_delta_at(orders[proper] - 1, values[proper], flat[:, None])
        log_delta = np.minimum(log_delta, table.min(axis=1))
    return like_input(epsilon, np.exp(log_delta).reshape(eps.shape))


def rdp_to_epsilon(alphas: Any, rdp: Any, delta: Any) -> Any:
    """Smallest ε >= 0 that the given points of a Rényi curve prove at δ; `math.inf` if they prove nothing.

    `alphas` and `rdp` as in `rdp_to_delta`; δ is a float or an array strictly between 0 and 1.

    >>> round(rdp_to_epsilon([2, 8, 32], [0.02, 0.08, 0.32], 1e-5), 6)
    0.547838
    """
    orders, values = _curve(alphas, rdp)
    target = delta_array(delta)
    flat = np.log(target.ravel())
    epsilon = np.full(flat.shape, np.inf)
    proper = orders > 1
    if proper.any():
        epsilon = epsilon_at(orders[proper] - 1, values[proper], flat[:, None]).min(axis=1)
    epsilon = np.where(flat >= log_total_variation(values).min(), 0.0, np.maximum(epsilon, 0.0))
    return like_input(delta, epsilon.reshape(target.shape))


def _vertex(table: FloatArray, at: IntArray) -> FloatArray:
    """In each row, how far the parabola through a least value and its neighbours has its vertex from that value."""
    rows = np.arange(at.size)
    with np.errstate(invalid="ignore", divide="ignore"):
        left, right = (table[rows, at + side] - table[rows, at] for side in (-1, 1))
        moved = _SPACING * 0.5 * (left - right) / (left + right)
    return np.where(np.isfinite(moved), moved, 0.0)


@dataclass(frozen=True)
class ViaRDP(View):
    """The mechanism `base`, with (ε, δ) only through its Rényi curve; see `via_rdp`."""

    base: Mechanism

    @property
    def own_profile(self) -> bool:
        """Never: δ comes from the Rényi curve."""
        return False

    @property
    def lower_bound(self) -> Mechanism | None:
        return self.base.lower_bound

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self.base._rdp(alpha)

    def curve_at(self, log_order: FloatArray) -> tuple[FloatArray, FloatArray]:
        """α − 1 after rounding α to a double, and the Rényi curve at that α."""
        alpha = 1 + np.exp(log_order)
        return alpha - 1, self._rdp(alpha)

    def _minimise(self, objective: Any, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(min over real α > 1 of objective(order, rdp, target), log(α − 1) close to it) for every target, by ever
        finer grids: every value is a valid bound.
        """
        scan = LOG_ORDERS
        order, curve = self.curve_at(scan)
        table = objective(order, curve, targets[:, None])
        best = table.argmin(axis=1)
        for _ in range(_EXTENSIONS):
            at_edge = (best == scan.size - 1) & np.isfinite(table[np.arange(targets.size), best])
            if not at_edge.any() or scan[-1] > 600:
                break
            more = scan[-1] + np.log(10.0) * np.arange(0.125, 8.01, 0.125)
            order, curve = self.curve_at(more)
            scan = np.concatenate((scan, more))
            table = np.concatenate((table, objective(order, curve, targets[:, None])), axis=1)
            best = table.argmin(axis=1)
        rows = np.arange(targets.size)
        value = table[rows, best]
        centre, width = scan[best], np.full(targets.size, scan[1] - scan[0])
        for done in range(_ROUNDS):
            grid = centre[:, None] + width[:, None] * _AROUND
            order, rdp = self.curve_at(grid.ravel())
            fine = objective(order.reshape(grid.shape), rdp.reshape(grid.shape), targets[:, None])
            best = fine.argmin(axis=1)
            before, value = value, np.minimum(value, fine[rows, best])
            with np.errstate(invalid="ignore"):
                settled = ~(before - value > _SETTLED * np.abs(value))
            if done >= _LEAST_ROUNDS and settled.all():
                break
            inner = (best > 0) & (best < _AROUND.size - 1)
            centre = grid[rows, best] + np.where(inner, width * _vertex(fine, np.clip(best, 1, _AROUND.size - 2)), 0.0)
            width = np.where(inner, width * _SPACING, width)
        return value, centre

    def best_order(self, epsilon: float) -> float:
        """The α from which the bound on δ at ε comes."""
        return float(1 + np.exp(self._minimise(log_delta_at, np.array([epsilon]))[1][0]))

    def log_total_variation(self) -> float:
        """log of the bound on δ at ε = 0 by the total variation distance."""
        return float(log_total_variation(self._rdp(np.ones(1)))[0])

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return np.minimum(self._minimise(log_delta_at, epsilon)[0], min(0.0, self.log_total_variation()))

    def _log_tail(self, epsilon: FloatArray) -> FloatArray:
        # Markov: E[e^{(α−1)·loss}] = e^{(α−1)·ρ(α)} for a loss drawn from the first of the two laws
        log_tail = self._minimise(lambda order, rdp, eps: order * (rdp - eps), epsilon)[0]
        return np.minimum(np.where(np.isnan(log_tail), 0.0, log_tail), 0.0)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        epsilon = np.maximum(self._minimise(epsilon_at, log_delta)[0], 0.0)
        epsilon = np.where(log_delta >= self.log_total_variation(), 0.0, np.where(np.isnan(epsilon), np.inf, epsilon))
        # δ at that ε comes from another search, and may be larger by what either rounds
        return nudged_up_each(lambda tried: self._log_delta(tried) > log_delta, epsilon, _NUDGE)


@dataclass(frozen=True)
class Concentrated(ViaRDP):
    """A mechanism of which zero-concentrated privacy is all that is known: the Rényi curve ρ·α.

    `base` is Gaussian noise with that curve. Nothing else that is proved of that noise holds: an ε-DP mechanism has
    ρ = ε²/2, and at ε = 0 a larger δ than the noise.

    >>> from objpert_core.accounting import Gaussian
    >>> one = Concentrated(Gaussian(2.0))
    >>> one.rho(), one.mu()
    (0.125, inf)
    """

    @property
    def lower_bound(self) -> Mechanism | None:
        """None: how private it is at best is not known."""
        return None

    def _mu(self) -> float:
        return math.inf

    def _dp_event(self, make: EventMaker) -> Any:
        return make.events.ZCDpEvent(self.rho(), 0.0)


def via_rdp(mechanism: Mechanism) -> ViaRDP:
    """The same mechanism, with (ε, δ) only through its Rényi curve, minimised over every real order.

    `NotImplementedError` if it has no Rényi curve ("kifer2012").

    >>> from objpert_core.accounting import Gaussian
    >>> exact = Gaussian(5.0)
    >>> exact.epsilon(1e-5) < via_rdp(exact).epsilon(1e-5) < 1.1 * exact.epsilon(1e-5)
    True
    """
    base = with_rdp(a_mechanism("mechanism", mechanism))
    return base if isinstance(base, ViaRDP) else ViaRDP(base)
