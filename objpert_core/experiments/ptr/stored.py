"""Stored results of the experiments on asking the data first."""

from __future__ import annotations

from objpert_core.experiments.experiment import Experiment, Family
from objpert_core.experiments.ptr import glm, pate, pca, regression, voting

FAMILY = Family.of(
    "ptr",
    "the figures of Redberg, Zhu and Wang (2023, generalised propose-test-release), corrected, and where asking "
    "the data first pays",
    voting=Experiment(
        voting.Cost,
        "the ε of a vote between two, against the gap and at equal error",
        voting.PIECES,
        voting.costs,
        by=("panel", "epsilon"),
        seeds="none: nothing is random",
    ),
    pate=Experiment(
        pate.Price,
        "the ε of labels by a noisy majority of teachers, by analyses of their votes",
        pate.PIECES,
        pate.prices,
        by=("source", "sigma"),
        seeds=f"{pate.SEED} for votes, parts and labels",
    ),
    regression=Experiment(
        regression.Error,
        "the test error of private linear regressions against ε",
        regression.PIECES,
        regression.errors,
        by=("dataset", "seed"),
    ),
    glm=Experiment(
        glm.Accuracy,
        "test accuracy of logistic regression that asks for its curvature first",
        tuple((seed,) for seed in glm.SEEDS),
        glm.accuracies,
        by=("seed",),
    ),
    pca=Experiment(
        pca.Lost,
        "squared sine of the angle to the first principal direction, asking for the eigengap first",
        tuple((seed,) for seed in pca.SEEDS),
        pca.losses,
        by=("seed",),
    ),
)
EXPERIMENTS = FAMILY.experiments
"""The experiments, by their keys."""
load = FAMILY.load
