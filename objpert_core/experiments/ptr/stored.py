"""Stored results of the experiments on asking the data first."""

from __future__ import annotations

from types import MappingProxyType

from objpert_core.experiments.ptr import glm, pate, pca, regression, voting
from objpert_core.experiments.stored import Experiment, Family, Stored

__all__ = ["EXPERIMENTS", "FAMILY", "Stored", "load", "make", "names", "path_of", "report"]

FAMILY = Family(
    "ptr",
    "the figures of Redberg, Zhu and Wang (2023, generalised propose-test-release), corrected, and where it pays",
    MappingProxyType(
        {
            "voting": Experiment(
                "the ε of a vote between two, against the gap and at equal error",
                ("panel", "epsilon"),
                voting.PIECES,
                voting.costs,
                "value",
                seeds="none: nothing is random",
            ),
            "pate": Experiment(
                "the ε of labels by a noisy majority of teachers, by analyses of their votes",
                ("source", "sigma"),
                pate.PIECES,
                pate.prices,
                "value",
                beside=("right",),
                seeds=f"{pate.SEED} for votes, parts and labels",
            ),
            "regression": Experiment(
                "the test error of private linear regressions against ε",
                ("dataset", "seed"),
                regression.PIECES,
                regression.errors,
                "error",
                beside=("refused",),
            ),
            "glm": Experiment(
                "test accuracy of logistic regression that asks for its curvature first",
                ("seed",),
                tuple((seed,) for seed in glm.SEEDS),
                glm.accuracies,
                "accuracy",
            ),
            "pca": Experiment(
                "squared sine of the angle to the first principal direction, asking for the eigengap first",
                ("seed",),
                tuple((seed,) for seed in pca.SEEDS),
                pca.losses,
                "error",
                beside=("gap",),
            ),
        }
    ),
)
EXPERIMENTS = FAMILY.experiments
"""The experiments, by their keys."""
path_of, names, make, load, report = FAMILY.path_of, FAMILY.names, FAMILY.make, FAMILY.load, FAMILY.report
