"""Stored results of asking the data first, and for which settings; each kind has its methods by key in `LABELS`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType

from objpert_core.experiments.family import Family
from objpert_core.experiments.results import Row


@dataclass(frozen=True)
class Cost(Row):
    """A vote between two: a point of a curve, where `value` is the method's ε, `epsilon` the Laplace noise's (in panel
    "b" at equal error). `GAPS` are those of panel "a", by ε, and `GAP` is panel "b"'s. A test whose ε is promised
    passes with the probability `SURE`.
    """

    VALUE = "value"
    DELTA, GAP, SURE = 1e-5, 100, 0.95
    GAPS = MappingProxyType({10.0: range(21), 0.3: range(0, 101, 2)})
    EPSILONS = (0.05, 0.07, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
    LABELS = MappingProxyType(
        {
            "a": {
                "noise": "Laplace noise, any votes",
                "pure": "At this gap, δ = 0",
                "here": "At this gap, δ = 10⁻⁵",
                "from-here": "At this gap or a larger one, δ = 10⁻⁵",
                "printed": "At this gap, as printed",
            },
            "b": {
                "classic": "Propose, test, release: classic",
                "mean": "Generalised, mean cost",
                "passing": "Generalised, promised and passing 19 times in 20",
                "laplace": "Laplace noise alone",
                "optimal": "The optimal vote",
            },
        }
    )

    panel: str
    epsilon: float
    gap: int
    method: str
    value: float


@dataclass(frozen=True)
class Price(Row):
    """What `QUERIES` labels cost by one analysis: ε at δ = 10⁻⁵, with noise of deviation `sigma` on each count."""

    VALUE = "value"
    DELTA, QUERIES = 1e-5, 200
    SIGMAS = (5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, 80.0, 100.0)
    DIGITS_SIGMAS = (2.0, 5.0, 7.0, 10.0, 15.0, 20.0)
    SOURCES = MappingProxyType(
        {
            "high": "400 teachers, four in five agree",
            "mid": "400 teachers, seven in ten agree",
            "low": "400 teachers, one in three agrees",
            "digits": "100 teachers of handwritten digits",
        }
    )
    LABELS = MappingProxyType(
        {
            "independent": "Any votes, Rényi",
            "exact": "Any votes, exact",
            "known": "These votes, not private",
            "smooth": "Smooth sensitivity, corrected",
            "distance": "Distance test",
            "distance-tight": "Distance test, tight conversion",
        }
    )

    source: str
    sigma: float
    method: str
    value: float
    right: float


@dataclass(frozen=True)
class Error(Row):
    """A regression's mean squared error on test rows; ε is `FREE` for the methods in `UNPAID`, which spend nothing."""

    VALUE = "error"
    DELTA, FREE = 1e-6, math.inf
    EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
    TABLES = MappingProxyType(
        {
            "synthetic-r": "Synthetic-R, 10,000 rows",
            "diabetes": "Diabetes, 442 rows",
            "california": "California housing, 20,640 rows",
        }
    )
    LABELS = MappingProxyType(
        {
            "output": "Output perturbation",
            "balanced": "OPS-Balanced, exact γ",
            "ada-split": "AdaOPS, shares of ε",
            "ada-tight": "AdaOPS, accounted as a whole",
            "ptr-split": "OPS-PTR, shares of ε",
            "ptr-tight": "OPS-PTR, accounted as a whole",
            "adassp": "AdaSSP",
            "ridge": "Ridge, not private",
            "judges": "Ridge on the validation rows alone",
            "zero": "θ = 0, learns nothing",
        }
    )
    UNPAID = ("ridge", "judges", "zero")

    dataset: str
    epsilon: float
    method: str
    seed: int
    error: float
    refused: float


@dataclass(frozen=True)
class Accuracy(Row):
    """A logistic regression's share of right test labels. Every λ in `LAMS` is stored of the methods that add noise to
    the minimum, and the best by test accuracy is not paid for; objective perturbation chooses its own, stored as 0.
    """

    VALUE = "accuracy"
    DATASET, DELTA = "synthetic-l", 1e-5
    EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
    LAMS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
    SEEDS = tuple(range(20))
    OBJECTIVE, ALONE = "objective", 0.0
    LABELS = MappingProxyType(
        {
            OBJECTIVE: "Objective perturbation",
            "ptr": "Ask for the curvature first",
            "output": "Output perturbation, worst case",
            "free": "Curvature known, not private",
        }
    )

    epsilon: float
    method: str
    lam: float
    seed: int
    accuracy: float


@dataclass(frozen=True)
class Lost(Row):
    """A first principal direction: sin² of the angle to the data's own, and the gap of AᵀA's two largest eigenvalues.
    A spread is the first coordinate's standard deviation over the others', before rows are scaled to norm 1.
    """

    VALUE = "error"
    DELTA, DIMENSION, EPSILON = 1e-5, 20, 1.0
    SPREADS = (1.2, 1.5, 2.0, 3.0)
    ROWS = (300, 1000, 3000, 10_000, 30_000)
    SEEDS = tuple(range(20))
    LABELS = MappingProxyType(
        {
            "gram": "Noise on AᵀA",
            "ptr": "Ask for the gap first",
            "free": "Gap known, not private",
            "worst": "Worst-case noise on the projector",
        }
    )

    n: int
    spread: float
    method: str
    seed: int
    error: float
    gap: float


FAMILY = Family("ptr", {"voting": Cost, "pate": Price, "regression": Error, "glm": Accuracy, "pca": Lost})
load = FAMILY.load
