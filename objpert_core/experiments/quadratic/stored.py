"""Stored results of the experiments on bends."""

from __future__ import annotations

from types import MappingProxyType

from objpert_core.experiments.quadratic import figure1, figure2, matter, regression
from objpert_core.experiments.stored import Experiment, Family, Stored

__all__ = ["EXPERIMENTS", "FAMILY", "Stored", "load", "make", "names", "path_of", "report"]

_CELLS = tuple(
    (panel, proof, epsilon, delta)
    for panel, proofs in figure1.PANELS.items()
    for proof in proofs
    for epsilon in figure1.EPSILONS
    for delta in figure1.DELTAS
)
FAMILY = Family(
    "quadratic",
    "the figures of Cortild and Cartis (2026), and where data matter",
    MappingProxyType(
        {
            "figure1": Experiment(
                "the least bound on the excess risk over (ε, δ), by three proofs",
                ("panel", "proof", "epsilon", "delta"),
                _CELLS,
                lambda *named: [figure1.cell(*named)],
                "value",
                beside=("degrees_of_freedom",),
                seeds="none: nothing is random",
            ),
            "figure2": Experiment(
                "the risk of a private lasso against its box, tilted and bent",
                ("seed",),
                tuple((seed,) for seed in figure2.SEEDS),
                figure2.risks,
                "risk",
            ),
            "matter": Experiment(
                "the excess risk of a bent lasso against the number of rows",
                ("seed",),
                tuple((seed,) for seed in matter.SEEDS),
                matter.losses,
                "excess",
            ),
            "regression": Experiment(
                "the excess test error of bend and tilt beside other private regressions",
                ("seed",),
                tuple((seed,) for seed in regression.SEEDS),
                regression.losses,
                "excess",
            ),
        }
    ),
)
EXPERIMENTS = FAMILY.experiments
"""The experiments, by their keys."""
path_of, names, make, load, report = FAMILY.path_of, FAMILY.names, FAMILY.make, FAMILY.load, FAMILY.report
