"""Excess population risk against n, every method, over repeated draws, and what two published algorithms promise.

δ = 1/n², one row is replaced. Promises are the accountant's ε beside the target, with gradients of norm at most 1;
noise and steps are those that Bassily et al. (2019) print.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.experiments.experiment import Experiment, Makers
from objpert_core.accounting import REPLACE_ONE, ObjectivePerturbation
from objpert_core.accounting.population.published import (
    published_objective_lam,
    published_objective_noise,
    published_sgd_mechanism,
)
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.experiments.population.methods import POPULATIONS, RADII, Setting
from objpert_core.experiments.population.stored import FAMILY, Promise
from objpert_core.experiments.population.sweep import Piece, RiskRun

ROWS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
DIMENSIONS: Mapping[str, tuple[int, ...]] = {"logistic": (3, 10, 30, 100), "absolute": (10,), "hard": (10, 100, 500)}
EPSILONS = (0.5, 2.0)
TRIALS: Mapping[str, int] = {"logistic": 20, "absolute": 12, "hard": 12}


def sweep(population: str) -> Experiment[RiskRun]:
    """The pieces come trial by trial, small settings first."""

    def run(n: int, d: int, epsilon: float, method: str, trial: int) -> list[RiskRun]:
        return Piece(Setting(population, n, d, epsilon), (method,), trial)()

    return Experiment(
        RiskRun,
        f"excess risk against n: {POPULATIONS[population]}",
        tuple(
            (n, d, epsilon, method, trial)
            for trial in range(TRIALS[population])
            for n in ROWS
            for d in DIMENSIONS[population]
            for epsilon in EPSILONS
            for method in Setting(population, n, d, epsilon).methods
        ),
        run,
        seeds="by setting and trial",
        shared={"dataset": population, "configuration": {"delta": "1/n²"}},
    )


def accounted(method: str, n: int, d: int, target: float) -> list[Promise]:
    """Account for "sgd" or "objective", the latter with the logistic loss in the standard ball."""
    radius, delta = RADII["logistic"], 1 / n**2
    if method == "sgd":
        epsilon = published_sgd_mechanism(n, d, target, delta, radius=radius, strict=False).epsilon(delta)
    else:
        lam = published_objective_lam(Sizes(n, d, target, delta, radius), strict=False)
        made = ObjectivePerturbation(published_objective_noise(target, delta), lam, 1.0, 0.25, adjacency=REPLACE_ONE)
        epsilon = made.epsilon(delta)
    return [Promise(method, n, d, target, float(epsilon))]


MAKERS = Makers(
    FAMILY,
    "excess population risk against n, every method, over repeated draws",
    {name: sweep(name) for name in POPULATIONS}
    | {
        "promises": Experiment(
            Promise,
            "the accountant's ε of what Bassily et al. (2019) publish",
            tuple(
                (method, n, d, epsilon)
                for epsilon in EPSILONS
                for d in DIMENSIONS["logistic"]
                for n in ROWS
                for method in ("sgd", "objective")
            ),
            accounted,
            by=("method", "n", "d", "target"),
            seeds="none: nothing is random",
        )
    },
)
