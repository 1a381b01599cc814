"""What DP-SGD costs, with and without its tuning: from (ε, δ) to the noise on gradients and on scores.

Honest tuning with a private score (docs/theorems.md, T12): coins split the rows, K ~ Poisson(μ) runs train on one part
and count right answers on the other plus N(0, s²), and the best count wins. A row is in one part only: so the procedure
meets (ε, δ) if `PrivateSelection` of DP-SGD, and of a Gaussian mechanism of noise s, each do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

from scipy.optimize import brentq

from objpert_core._validation import choice, in_open_unit, positive
from objpert_core.accounting import (
    DPSGD,
    Gaussian,
    Mechanism,
    PrivateSelection,
    RandomAllocation,
    calibrate_allocation,
    calibrate_dpsgd,
    calibrate_gaussian,
    via_rdp,
)
from objpert_core.accounting.dp_sgd.calibration import ACCOUNTANTS
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.learning.dp_sgd.training import Schedule

Run = DPSGD | RandomAllocation
"""One run, by how its batches are drawn."""


def accounted(mechanism: Run | PrivateSelection, accountant: str) -> Mechanism:
    """Choose where (ε, δ) come from: "pld" leaves `mechanism` as it is, "rdp" takes a run's Rényi curve alone."""
    if choice("accountant", accountant, ACCOUNTANTS) == "pld":
        return mechanism
    if isinstance(mechanism, PrivateSelection):
        return PrivateSelection(via_rdp(mechanism.base), mechanism.mean_runs, mechanism.eta)
    return via_rdp(mechanism)


def run_of(mechanism: Run | PrivateSelection) -> tuple[Run, float | None]:
    """Find one run of DP-SGD in what a fit costs, and the mean number of runs where the choice is paid for."""
    if isinstance(mechanism, RandomAllocation):
        return mechanism, None
    run, mean_runs = (
        (mechanism.base, mechanism.mean_runs) if isinstance(mechanism, PrivateSelection) else (mechanism, None)
    )
    if not isinstance(run, DPSGD):
        raise ValueError(
            f"mechanism must be a DPSGD, a PrivateSelection of one, or a RandomAllocation, got {mechanism!r}"
        )
    return run, mean_runs


@dataclass(frozen=True)
class Budget:
    """The noise that meets a privacy target: `mechanism` includes the choice where the choice is paid for."""

    mechanism: Run | PrivateSelection
    score_noise: float | None = None

    @property
    def noise_multiplier(self) -> float:
        """Standard deviation of the gradients' noise divided by the clipping norm."""
        return run_of(self.mechanism)[0].noise_multiplier


def check_allocated(*, accountant: str, mean_runs: float | None, adjacency: str, rows_per_person: int) -> None:
    """`ValueError` that names the first argument for which random allocation is not accounted for."""
    for name, value, needed, why in (
        ("accountant", accountant, "pld", "its Rényi curve has no amplification"),
        ("mean_runs", mean_runs, None, "a choice among runs is paid for by their Rényi curve, which has none"),
        ("adjacency", adjacency, ADD_REMOVE, "it is not accounted for with replaced rows"),
        ("rows_per_person", rows_per_person, 1, "it is accounted for with one row of a person only"),
    ):
        if value != needed:
            raise ValueError(f"{name} must be {needed!r} for sampling='allocation', got {value!r}: {why}")


def dpsgd_budget(
    epsilon: float,
    delta: float,
    schedule: Schedule,
    *,
    accountant: str = "pld",
    mean_runs: float | None = None,
    private_score: bool = False,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> Budget:
    """Find the least noise with which DP-SGD, or its honest tuning over K ~ Poisson(`mean_runs`), is (ε, δ)-DP.

    `private_score` says that private held-out rows choose: refused where a person may have several rows, on either
    side, which T12 does not cover.
    """
    if private_score and mean_runs is not None and rows_per_person != 1:
        raise ValueError(
            "rows_per_person must be 1 where held-out rows choose, since one person's rows may be trained on and held "
            f"out at once; got {rows_per_person!r}: let rows that are declared public choose (X_val, y_val)"
        )
    if schedule.per_epoch is not None:
        check_allocated(
            accountant=accountant, mean_runs=mean_runs, adjacency=adjacency, rows_per_person=rows_per_person
        )
        epochs = schedule.steps // schedule.per_epoch
        return Budget(calibrate_allocation(epsilon, delta, schedule.per_epoch, epochs=epochs))
    mechanism = calibrate_dpsgd(
        epsilon,
        delta,
        schedule.sample_rate,
        schedule.steps,
        accountant,
        mean_runs,
        adjacency=adjacency,
        rows_per_person=rows_per_person,
    )
    if mean_runs is None or not private_score:
        return Budget(mechanism)
    return Budget(mechanism, calibrate_score(epsilon, delta, mean_runs, accountant))


def calibrate_score(epsilon: float, delta: float, mean_runs: float, accountant: str = "pld") -> float:
    """Find the least noise on a count of right answers with which the best of K ~ Poisson runs is (ε, δ)-DP."""
    choice("accountant", accountant, ACCOUNTANTS)
    return _calibrate_score(
        positive("epsilon", epsilon), in_open_unit("delta", delta), positive("mean_runs", mean_runs), accountant
    )


def score_mechanism(score_noise: float, mean_runs: float, adjacency: str = ADD_REMOVE) -> PrivateSelection:
    """The selection as a held-out row sees it: the best of K noisy counts, each moved by 1 at most."""
    return PrivateSelection(Gaussian(score_noise, adjacency=adjacency), mean_runs)


@lru_cache(maxsize=1024)
def _calibrate_score(epsilon: float, delta: float, mean_runs: float, accountant: str) -> float:
    def mechanism(log_sigma: float) -> Mechanism:
        return accounted(score_mechanism(exp(log_sigma), mean_runs), accountant)

    def excess(log_sigma: float) -> float:
        return log(max(mechanism(log_sigma).epsilon(delta), 1e-300) / epsilon)

    low = high = log(calibrate_gaussian(epsilon, delta).sigma)
    while excess(high) > 0:
        high += 1.0
    while excess(low) <= 0:
        low -= 1.0
    found, margin = brentq(excess, low, high, xtol=1e-9), 1e-9
    while mechanism(found).epsilon(delta) > epsilon or mechanism(found).delta(epsilon) > delta:
        found, margin = found + margin, 2 * margin
    return exp(found)
