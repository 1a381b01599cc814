"""Figure 3 of Redberg, Zhu and Wang (2023), corrected: a majority vote, its privacy at a gap and at equal error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.optimize import brentq

from objpert_core._validation import choice, positive
from objpert_core.accounting import LaplaceVote, OptimalVote
from objpert_core.experiments.results import Row

DELTA, GAP, SURE = 1e-5, 100, 0.95
"""δ; the gap of panel "b"; how likely a test is to pass whose ε is promised."""
GAPS: Mapping[float, range] = MappingProxyType({10.0: range(21), 0.3: range(0, 101, 2)})
"""The gaps of panel "a", by ε of the noise."""
EPSILONS = (0.05, 0.07, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
"""ε of the noise in panel "b"."""
_PLACES = (np.arange(20_000) + 0.5) / 20_000

LABELS: Mapping[str, Mapping[str, str]] = MappingProxyType(
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
"""The curves of each panel, by their keys."""


@dataclass(frozen=True)
class Cost(Row):
    """One point of a curve: `value` is the method's ε, `epsilon` the Laplace noise's (in panel "b" at equal error)."""

    VALUE = "value"

    panel: str
    epsilon: float
    gap: int
    method: str
    value: float


def printed(epsilon: float, gap: int) -> float:
    """The paper's formula for ε at a gap: |ε·log(1 − ε/(2 + ε(t + 1)))|, which lacks the summand ε."""
    return -epsilon * math.log1p(-epsilon / (2 + epsilon * (gap + 1)))


def classic(error: float, gap: int) -> float:
    """ε of the classic test at which a vote errs with this probability, above 0 and at most ¼."""
    return math.log(1 / (4 * DELTA * error)) / (gap - 1)


def mean_cost(epsilon: float, gap: int) -> float:
    """ε̃ = ε/2 for a noisy lower bound on the gap, plus the mean of what the bound promises."""
    asked = positive("epsilon", epsilon) / 2
    noise = np.where(_PLACES < 0.5, np.log(2 * _PLACES), -np.log(2 * (1 - _PLACES))) / asked
    below = np.maximum(np.ceil(gap - math.log(1 / DELTA) / asked + noise), 0.0)
    gaps, counts = np.unique(below, return_counts=True)
    costs = [LaplaceVote(epsilon).epsilon_at(int(one), DELTA) for one in gaps]
    return asked + float(np.average(costs, weights=counts))


def passing_cost(epsilon: float, gap: int) -> float:
    """The least ε̃ + ε' of a test that passes with probability 0.95 at this gap, over the lower bounds to ask for."""
    vote = LaplaceVote(epsilon)
    room = math.log(1 / DELTA) + math.log(0.5 / (1 - SURE))
    return min(room / (gap - bound) + vote.epsilon_at(bound, DELTA) for bound in range(gap))


def optimal(error: float, gap: int) -> float:
    """The least ε at which the optimal vote errs with probability `error` at most."""
    return float(brentq(lambda one: OptimalVote(one, DELTA).error(gap) - error, 1e-6, 50.0, xtol=1e-12))


_COSTS: Mapping[str, Callable[[float, int], float]] = {
    "noise": lambda epsilon, gap: epsilon,
    "pure": lambda epsilon, gap: LaplaceVote(epsilon).local_epsilon(gap),
    "here": lambda epsilon, gap: LaplaceVote(epsilon).local_epsilon(gap, DELTA),
    "from-here": lambda epsilon, gap: LaplaceVote(epsilon).epsilon_at(gap, DELTA),
    "printed": printed,
    "classic": lambda epsilon, gap: classic(LaplaceVote(epsilon).error(gap), gap),
    "mean": mean_cost,
    "passing": passing_cost,
    "laplace": lambda epsilon, gap: LaplaceVote(epsilon).epsilon_at(0, DELTA),
    "optimal": lambda epsilon, gap: optimal(LaplaceVote(epsilon).error(gap), gap),
}


def costs(panel: str, epsilon: float) -> Iterator[Cost]:
    """Every curve of panel "a" or "b" at one ε, for "a" a key of `GAPS`."""
    labels = LABELS[choice("panel", panel, tuple(LABELS))]
    for gap in GAPS[epsilon] if panel == "a" else (GAP,):
        for method in labels:
            yield Cost(panel, epsilon, gap, method, float(_COSTS[method](epsilon, gap)))


PIECES = (*(("a", epsilon) for epsilon in GAPS), *(("b", epsilon) for epsilon in EPSILONS))
