"""Stored results of the experiments on intervals."""

from __future__ import annotations

from objpert_core.experiments.experiment import Experiment, Family
from objpert_core.experiments.intervals import coverage, regression

_CELL = ("shape", "n", "d", "epsilon", "seed")
FAMILY = Family.of(
    "intervals",
    "how often intervals for private coefficients cover, and how wide they are",
    coverage=Experiment(
        coverage.Coverage,
        "the share of coefficients that intervals of 95 % cover, by methods and shapes of data",
        coverage.PIECES,
        coverage.coverage,
        by=_CELL,
    ),
    share=Experiment(
        coverage.Coverage,
        "the same by the share of the squared ratio of sensitivity to noise that the curvature takes",
        coverage.SHARE_PIECES,
        coverage.by_share,
        by=_CELL,
    ),
    regression=Experiment(
        regression.Coverage,
        "the share of a linear regression's coefficients that intervals from noisy sums cover",
        regression.PIECES,
        regression.coverage,
        by=_CELL,
    ),
)
EXPERIMENTS = FAMILY.experiments
"""The experiments, by their keys."""
load = FAMILY.load
"""Stored results of the experiments on intervals."""
