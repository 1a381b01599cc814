"""What a calibration of objective perturbation is asked for, and how a candidate is built and judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from objpert_core.accounting.gaussian.calibration import calibrate_gaussian, log_target
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism
from objpert_core.accounting.mechanisms.chain import Chained, Split
from objpert_core.accounting.mechanisms.group import group
from objpert_core.accounting.mechanisms.renyi import via_rdp
from objpert_core.accounting.numerics.renyi import log_delta_at
from objpert_core.accounting.objective.bounds import BOUND_REGISTRY, Bound
from objpert_core.accounting.objective.mechanism import ApproximateMinima, ObjectivePerturbation

# The output noise takes this share of the Gaussian mechanism's a = sensitivity/σ: 0.005 % of its square
OUTPUT_SHARE = 0.01

Calibrated = ObjectivePerturbation | ApproximateMinima


def objective_of(mechanism: Calibrated) -> ObjectivePerturbation:
    """The perturbed objective, whether its minimiser is exact or approximate."""
    return mechanism.objective if isinstance(mechanism, ApproximateMinima) else mechanism


@dataclass(frozen=True, kw_only=True)
class Target:
    """The arguments of `calibrate_objective_perturbation`, checked; see there."""

    epsilon: float
    delta: float
    lipschitz: float
    smoothness: float
    bound: str
    noise_ratio: float | None
    tau: float | None
    sigma_out: float | None
    accountant: str
    dimension: int | None
    adjacency: str = ADD_REMOVE
    rows_per_person: int = 1

    @property
    def entry(self) -> Bound:
        """The theorem."""
        return BOUND_REGISTRY[self.bound]

    @property
    def links(self) -> int:
        """How many rows are added or removed on the way from one data set to its neighbour."""
        return self.rows_per_person * (1 if self.adjacency == ADD_REMOVE else 2)

    @property
    def moves(self) -> float:
        """How far one person's rows can move a sum of gradients."""
        return self.lipschitz * self.links

    @cached_property
    def sigma_gauss(self) -> float:
        """σ of the Gaussian mechanism that meets (ε, δ)."""
        return calibrate_gaussian(self.epsilon, self.delta, self.moves).sigma

    @property
    def output_ratio(self) -> float:
        """Sensitivity over σ_out of the output noise, where σ_out was left open."""
        return OUTPUT_SHARE * self.lipschitz / self.sigma_gauss

    def build(self, sigma: float, lam: float) -> Calibrated:
        """The candidate with this noise and regularisation, with output noise if there is a τ."""
        objective = ObjectivePerturbation(
            sigma, lam, self.lipschitz, self.smoothness, self.bound, self.dimension, adjacency=self.adjacency
        )
        if self.tau is None:
            return objective
        sigma_out = 2 * self.tau / (lam * self.output_ratio) if self.sigma_out is None else self.sigma_out
        return ApproximateMinima(objective, self.tau, sigma_out)

    def best_order(self, mechanism: Mechanism) -> float:
        """The Rényi order from which the bound on a candidate's δ comes."""
        return via_rdp(group(mechanism, self.rows_per_person)).best_order(self.epsilon)

    def gap_at_order(self, mechanism: Mechanism, alpha: float) -> float:
        """`gap` by the Rényi curve at this order alone, which is no smaller."""
        order, curve = np.array([alpha - 1]), np.array([group(mechanism, self.rows_per_person).rdp(alpha)])
        return float(log_delta_at(order, curve, np.array([self.epsilon]))[0]) - log_target(self.delta)

    def chain(self, mechanism: Calibrated) -> Chained | None:
        """The rows that a candidate has to cover, if there are several and they are taken one after the other."""
        whole = group(mechanism, self.rows_per_person)
        return whole if isinstance(whole, Chained) else mechanism.links

    def best_split(self, mechanism: Calibrated) -> Split:
        """How the links of a candidate's chain share ε best."""
        chain = self.chain(mechanism)
        assert chain is not None, mechanism
        return chain.best_split(np.array([self.epsilon]))

    def gap_at_split(self, mechanism: Calibrated, split: Split) -> float:
        """`gap` by this split alone, which is no smaller and costs an ε for every link, not the whole profile."""
        chain = self.chain(mechanism)
        assert chain is not None, mechanism
        with np.errstate(over="ignore", divide="ignore"):
            return float(chain.log_delta_of_split(split)[0]) - log_target(self.delta)

    def gap(self, mechanism: Mechanism, epsilon: float | None = None) -> float:
        """log δ of a candidate at ε (the target's unless given), less that of the target: at most 0 where it is met."""
        for_all_rows = group(mechanism, self.rows_per_person)
        accounted = via_rdp(for_all_rows) if self.accountant == "rdp" else for_all_rows
        at = self.epsilon if epsilon is None else epsilon
        with np.errstate(over="ignore", divide="ignore"):
            return float(accounted._log_delta(np.array([at]))[0]) - log_target(self.delta)
