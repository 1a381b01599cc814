"""What Redberg, Koskela and Wang (2023) print: Tables 1 and 2, and the parameters of Section 5. Typed in here only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from objpert_core.experiments.learners import DISHONEST_RDP, HONEST, PUBLISHED

MEAN_RUNS = 15.4
"""μ with which K ~ Poisson(μ) is above 10 with probability 0.9 (Section 5)."""
INTERCEPT_SCALING = 1.0
"""The paper's constant feature."""
NOISE_RATIO, TAU, SIGMA_OUT = 1.3, 0.01, 0.15
"""σ/σ_Gauss, the gradient's norm and the output noise of the published Algorithm 1 (Section 5)."""

TABLES: Mapping[str, str] = {"synthetic-l": "Table 1", "adult": "Table 2"}
"""The table that the paper has for a data set."""
COLUMNS: Mapping[str, str] = {DISHONEST_RDP: "Dishonest", PUBLISHED: "Alg 1", HONEST: "Honest"}
"""What the tables call a learner."""
ACCURACIES: Mapping[str, Mapping[float, tuple[float, ...]]] = {
    "synthetic-l": {0.1: (0.9385, 0.9005, 0.7734), 1.0: (0.9525, 0.9450, 0.9315), 8.0: (0.9543, 0.9530, 0.9517)},
    "adult": {0.1: (0.8161, 0.8137, 0.7832), 1.0: (0.8354, 0.8318, 0.8240), 8.0: (0.8419, 0.8399, 0.8366)},
}
"""Test accuracies by data set and ε, in the order of `COLUMNS`."""


@dataclass(frozen=True)
class PaperNumber:
    """A test accuracy (a share) that the paper prints in `column`; data set, method and ε have our names."""

    dataset: str
    method: str
    epsilon: float
    column: str
    accuracy: float


PAPER = tuple(
    PaperNumber(dataset, method, epsilon, column, accuracy)
    for dataset, table in ACCURACIES.items()
    for epsilon, accuracies in table.items()
    for (method, column), accuracy in zip(COLUMNS.items(), accuracies, strict=True)
)
"""Every number of both tables."""


def printed(dataset: str, method: str) -> dict[float, float]:
    """The paper's accuracies of a learner on a data set by ε; empty where the paper prints none."""
    return {number.epsilon: number.accuracy for number in PAPER if (number.dataset, number.method) == (dataset, method)}
