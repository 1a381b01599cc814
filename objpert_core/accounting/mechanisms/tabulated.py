"""A mechanism looked up in two tables of chords, for what asks for its curves thousands of times.

Chords lie above what is convex: the moments' logarithm s·ρ(1 + s) in s = α − 1, the hockey-stick divergence in v = e^ε.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from objpert_core._validation import FloatArray, check_fields, choice
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES, Mechanism, View, a_mechanism, with_rdp
from objpert_core.accounting.mechanisms.renyi import ViaRDP
from objpert_core.accounting.numerics.search import smallest_epsilon
from objpert_core.accounting.selection.one_run import OneRun


@dataclass(frozen=True)
class TabulatedLosses(Mechanism):
    """A mechanism known by its privacy loss distributions alone; made by `Tabulated.from_dp_accounting`."""

    remove: DiscreteLoss  # the losses in one direction of the adjacency
    add: DiscreteLoss  # and in the other
    adjacency: str = ADD_REMOVE

    def __post_init__(self) -> None:
        check_fields(self, lambda name, value: choice(name, value, ADJACENCIES), "adjacency")

    @property
    def _sides(self) -> tuple[DiscreteLoss, ...]:
        return (self.remove,) if self.remove == self.add else (self.remove, self.add)

    def losses(self, direction: str = "remove") -> Steps:
        return ((self.remove if direction == "remove" else self.add, 1),)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return np.max([side.log_profile(epsilon) for side in self._sides], axis=0)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.max([_rdp_of(side, alpha - 1) for side in self._sides], axis=0)


def _rdp_of(loss: DiscreteLoss, order: FloatArray) -> FloatArray:
    if loss.log_infinite > -np.inf:
        return np.full_like(order, np.inf)
    moments = logsumexp(loss.log_masses + order[:, None] * loss.losses, axis=1)
    mean = float(np.exp(loss.log_masses) @ loss.losses)
    return np.where(order > 0, moments / np.where(order > 0, order, 1.0), mean)


def losses_of_dp_accounting(pld: Any, adjacency: str) -> TabulatedLosses:
    """See `Tabulated.from_dp_accounting`."""
    wanted = importlib.import_module("dp_accounting.pld.privacy_loss_distribution").PrivacyLossDistribution
    if not isinstance(pld, wanted):
        raise ValueError(f"pld must be a PrivacyLossDistribution of dp_accounting, got {pld!r}")
    return TabulatedLosses(_side(pld._pmf_remove), _side(pld._pmf_add), adjacency)


def _side(pmf: Any) -> DiscreteLoss:
    if not pmf._pessimistic_estimate:
        raise ValueError("pld must be a pessimistic estimate, got an optimistic estimate, which promises nothing")
    dense = pmf.to_dense_pmf()
    masses = np.asarray(dense._probs, dtype=float)
    losses = (np.arange(masses.size) + dense._lower_loss) * float(dense._discretization)
    keep = masses > 0
    infinite = float(dense._infinity_mass)
    with np.errstate(divide="ignore"):
        return DiscreteLoss(losses[keep], np.log(masses[keep]), float(np.log(max(infinite, 0.0))))


_ORDERS = np.exp(np.arange(np.log(1e-3), np.log(1e6), 0.04))  # α − 1, to begin with
_GAP = 1e-4  # a chord whose middle is farther above the curve, relatively, is halved
_HALVINGS = 10
_VAST = 1e4  # logarithms of moments beyond this do not matter to any δ that a double holds
_POINTS = 513  # of the profile, evenly in ε and as many evenly in log δ
_ROUNDING = 1e-14  # of an interpolation
_LEAST_LOG_DELTA = np.log(1e-13)  # the profile's table ends about here


@dataclass(frozen=True)
class Tabulated(View):
    """A mechanism through tables of its curves, each filled when it is first needed; made by `tabulated`."""

    base: Mechanism

    @staticmethod
    def from_dp_accounting(pld: Any, adjacency: str = ADD_REMOVE) -> TabulatedLosses:
        """A privacy loss distribution of Google's dp_accounting as a mechanism, which composes with the others.

        δ and ε are those of `pld`, a pessimistic `PrivacyLossDistribution`, ε on the safe side to the last digit.
        `adjacency` is the neighbouring relation that it was made for, which it does not know. `ValueError` for anything
        else, an optimistic estimate included.
        """
        return losses_of_dp_accounting(pld, adjacency)

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """α − 1 and (α − 1)·ρ(α), closer together where the curve bends."""
        order, moment = _ORDERS, _ORDERS * self.base._rdp(1 + _ORDERS)
        bends = np.ones(order.size - 1, dtype=bool)
        for _ in range(_HALVINGS):
            left = np.flatnonzero(bends & (moment[:-1] < _VAST))
            middle = np.sqrt(order[left] * order[left + 1])
            found = middle * self.base._rdp(1 + middle)
            with np.errstate(invalid="ignore"):
                keep = np.interp(middle, order, moment) > found * (1 + _GAP)
            places = left[keep] + 1
            order, moment = np.insert(order, places, middle[keep]), np.insert(moment, places, found[keep])
            fresh = places + np.arange(places.size)
            bends = np.zeros(order.size - 1, dtype=bool)
            bends[fresh - 1] = bends[fresh] = True
        return order, moment

    @cached_property
    def _profile(self) -> tuple[FloatArray, FloatArray]:
        """e^ε − 1 and δ; only ε = 0 where the Rényi curve does not say where the table would end."""
        ends = np.linspace(0.0, _LEAST_LOG_DELTA, _POINTS)
        steep = self._far._epsilon(ends)  # close where δ falls fast
        finite = math.isfinite(steep[-1]) and steep[-1] < 500
        epsilon = np.union1d(np.linspace(0.0, steep[-1], _POINTS), steep) if finite else np.zeros(1)
        return np.expm1(epsilon), np.exp(self._base_log_delta(epsilon))

    def _base_log_delta(self, epsilon: FloatArray) -> FloatArray:
        if self.base.own_profile or self.base.by_convolution:
            return self.base._log_delta(epsilon)
        return OneRun(self._far, -_LEAST_LOG_DELTA).log_delta(epsilon)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        orders, moments = self._moments
        order = np.maximum(alpha - 1, orders[0])  # the curve of a larger order bounds that of a smaller one
        with np.errstate(invalid="ignore"):
            chord = np.interp(order, orders, moments) / order * (1 + _ROUNDING)
        return np.where((order <= orders[-1]) & ~np.isnan(chord), chord, np.inf)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        v, delta = self._profile
        near = epsilon <= np.log1p(v[-1])
        with np.errstate(divide="ignore"):
            log_delta = np.log(np.interp(np.expm1(np.where(near, epsilon, 0.0)), v, delta)) + _ROUNDING
        log_delta = np.minimum(log_delta, 0.0)
        if not near.all():
            log_delta[~near] = self._far._log_delta(epsilon[~near])
        return log_delta

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        near = log_delta >= np.log(self._profile[1][-1]) + _ROUNDING
        epsilon = np.zeros(log_delta.shape)
        if near.any():
            epsilon[near] = smallest_epsilon(self._log_delta, log_delta[near])
        if not near.all():
            epsilon[~near] = self._far._epsilon(log_delta[~near])
        return epsilon

    @property
    def _far(self) -> ViaRDP:
        """What answers where the profile's table has ended."""
        return ViaRDP(self)


def tabulated(mechanism: Mechanism) -> Tabulated:
    """The same mechanism with its Rényi curve and its privacy profile looked up between tabulated points.

    The first question fills the tables, and every further question costs microseconds. The tables are made for
    `PrivateSelection` with many laws of K on one base. Every value is a valid bound; ε is within 0.1 % of the
    mechanism's own, mostly within 0.01 %. Orders α above 10⁶ are not used. What `via_rdp` refuses is refused here, too.

    >>> from objpert_core.accounting import Gaussian
    >>> exact, quick = Gaussian(5.0), tabulated(Gaussian(5.0))
    >>> exact.epsilon(1e-5) <= quick.epsilon(1e-5) < 1.0001 * exact.epsilon(1e-5)
    True
    """
    base = with_rdp(a_mechanism("mechanism", mechanism))
    return base if isinstance(base, Tabulated) else Tabulated(base)
