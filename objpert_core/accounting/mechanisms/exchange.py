"""To and from Google's dp_accounting, which is imported when asked for and not before."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from objpert_core._validation import FloatArray, check_fields, choice
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES, Mechanism


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
        """The losses of one direction."""
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
