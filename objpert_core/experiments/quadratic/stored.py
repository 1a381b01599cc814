"""Stored results of the experiments on bends."""

from __future__ import annotations

from objpert_core.experiments.experiment import Experiment, Family
from objpert_core.experiments.quadratic import figure1, figure2, matter, regression

_CELLS = tuple(
    (panel, proof, epsilon, delta)
    for panel, proofs in figure1.PANELS.items()
    for proof in proofs
    for epsilon in figure1.EPSILONS
    for delta in figure1.DELTAS
)
FAMILY = Family.of(
    "quadratic",
    "the figures of Cortild and Cartis (2026), and where data matter",
    figure1=Experiment(
        figure1.Cell,
        "the least bound on the excess risk over (ε, δ), by three proofs",
        _CELLS,
        lambda *named: [figure1.cell(*named)],
        seeds="none: nothing is random",
    ),
    figure2=Experiment(
        figure2.Risk,
        "the risk of a private lasso against its box, tilted and bent",
        tuple((seed,) for seed in figure2.SEEDS),
        figure2.risks,
        by=("seed",),
    ),
    matter=Experiment(
        matter.Excess,
        "the excess risk of a bent lasso against the number of rows",
        tuple((seed,) for seed in matter.SEEDS),
        matter.losses,
        by=("seed",),
    ),
    regression=Experiment(
        regression.Excess,
        "the excess test error of bend and tilt beside other private regressions",
        tuple((seed,) for seed in regression.SEEDS),
        regression.losses,
        by=("seed",),
    ),
)
EXPERIMENTS = FAMILY.experiments
"""The experiments, by their keys."""
load = FAMILY.load
