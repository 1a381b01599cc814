"""The privacy profile of one run at many ε at once, for private selection, which needs it at every Rényi order.

A mechanism with a quick profile is asked directly. One that has to be convolved or integrated is asked once, on a grid:
the hockey-stick divergence is convex in v = e^ε, so that chords over v are bounds. Beyond the grid, and for one that
has only a Rényi curve, that curve is converted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.mechanisms.renyi import ViaRDP
from objpert_core.accounting.numerics.renyi import LOG_ORDERS, epsilon_at, log_delta_at
from objpert_core.accounting.numerics.search import smallest_epsilon

_POINTS = 513
_NEGLIGIBLE = 16.0  # nats of δ·E[K]
_STEEP = 1.0  # ρ(α)/α against ρ(2), which is twice that of a Gaussian mechanism


def _vertex(centre: FloatArray, step: float, three: FloatArray) -> FloatArray:
    """Where the parabolas through values at centre − step, centre and centre + step are least, within that range."""
    left, middle, right = three
    with np.errstate(invalid="ignore", divide="ignore"):
        offset = 0.5 * (left - right) / (left - 2 * middle + right)
    return centre + step * np.where(np.isfinite(offset), np.clip(offset, -1, 1), 0.0)


class OneRun:
    """Profile of `base`; `log_mean` is log E[K], which says from where on a δ matters."""

    def __init__(self, base: Mechanism, log_mean: float) -> None:
        self.base = base
        self.log_mean = log_mean

    @cached_property
    def _renyi(self) -> ViaRDP:
        return self.base if isinstance(self.base, ViaRDP) else ViaRDP(self.base)

    @cached_property
    def _only_renyi(self) -> bool:
        return not self.base.own_profile

    @cached_property
    def _scan(self) -> tuple[FloatArray, FloatArray]:
        return self._renyi.curve_at(LOG_ORDERS)

    def _by_scan(self, epsilon: FloatArray, everywhere: bool = False) -> FloatArray:
        """The best of a scan; and, where δ matters, of the orders around two vertices of parabolas through three."""
        order, curve = self._scan
        variation = min(0.0, self._variation)
        table = log_delta_at(order, curve, epsilon[:, None])
        log_delta = np.minimum(table.min(axis=1), variation)
        matters = np.flatnonzero(everywhere | (log_delta > -self.log_mean - _NEGLIGIBLE))
        at = np.clip(table[matters].argmin(axis=1), 1, order.size - 2)
        centre, step = LOG_ORDERS[at], LOG_ORDERS[1] - LOG_ORDERS[0]
        three = np.stack([table[matters, at + i] for i in (-1, 0, 1)])
        for shrink in (0.15, 0.02):
            centre, step = _vertex(centre, step, three), step * shrink
            points = centre + step * np.array([[-1.0], [0.0], [1.0]])
            near_order, near_curve = self._renyi.curve_at(points.ravel())
            three = log_delta_at(near_order.reshape(points.shape), near_curve.reshape(points.shape), epsilon[matters])
            log_delta[matters] = np.minimum(log_delta[matters], three.min(axis=0))
        return log_delta

    @cached_property
    def _variation(self) -> float:
        return self._renyi.log_total_variation()

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """e^ε − 1 and δ on a grid; empty where the Rényi curve does not say where it would end."""
        order, curve = self._scan
        target = np.array([-self.log_mean - _NEGLIGIBLE])
        ends = epsilon_at(order, curve, target)
        at = int(ends.argmin())
        least = float(ends[at])
        with np.errstate(invalid="ignore"):
            if not curve[at] / (1 + order[at]) < _STEEP * float(self.base._rdp(np.array([2.0]))[0]):
                least = min(least, float(self.base._epsilon(target)[0]))  # far less: the conversion is not close there
        if not 0 < least < 500:
            return np.empty(0), np.empty(0)
        epsilon = np.linspace(0.0, least, _POINTS)
        return np.expm1(epsilon), np.exp(self.base._log_delta(epsilon))

    def log_delta(self, epsilon: FloatArray) -> FloatArray:
        """log of a bound on δ for a 1-d array of ε >= 0."""
        if self._only_renyi:
            return self._by_scan(epsilon)
        if self.base.quick_profile or not self.base.has_rdp:
            return self.base._log_delta(epsilon)
        v, delta = self._table
        log_delta = np.zeros(epsilon.shape)
        near = epsilon <= np.log1p(v[-1]) if v.size else np.zeros(epsilon.shape, dtype=bool)
        if near.any():
            with np.errstate(divide="ignore"):
                log_delta[near] = np.log(np.interp(np.expm1(epsilon[near]), v, delta))
        if not near.all():
            log_delta[~near] = self._by_scan(epsilon[~near])
        return log_delta

    def log_delta_far(self, epsilon: FloatArray) -> FloatArray:
        """`log_delta` for the ε of a final answer, whose δ may be small: not from the grid."""
        return self._by_scan(epsilon, True) if self._only_renyi else self.base._log_delta(epsilon)

    def epsilon_far(self, log_delta: FloatArray) -> FloatArray:
        """Inverse of `log_delta_far`."""
        return smallest_epsilon(self.log_delta_far, log_delta) if self._only_renyi else self.base._epsilon(log_delta)


def drift(log_profile: Callable[[FloatArray], FloatArray], gamma: float) -> float:
    """The least ε₁ with δ(ε₁) <= (e^{ε₁} − 1)·γ/(1 − γ); inf if no ε₁ is enough."""
    if gamma == 1:
        return 0.0
    odds = math.log(gamma) - math.log1p(-gamma)

    def excess(epsilon: FloatArray) -> FloatArray:
        log_delta = log_profile(epsilon)
        with np.errstate(divide="ignore", invalid="ignore"):
            above = log_delta - np.log(np.expm1(np.minimum(epsilon, 700.0)))
        return np.where(log_delta == -np.inf, -np.inf, above)

    return float(smallest_epsilon(excess, np.array([odds]))[0])
