"""What the two published algorithms really promise: the accountant's ε beside the target, over n and d.

Both are accounted for where a row is replaced, at the target's δ = 1/n², with gradients of norm at most 1. Noise and
steps are those that the paper prints.
"""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core.accounting.population.published import published_objective_mechanism, published_sgd_mechanism
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.experiments.experiment import Experiment
from objpert_core.experiments.population.methods import RADII
from objpert_core.experiments.results import Row


@dataclass(frozen=True)
class Promise(Row):
    """A published algorithm's promise: its noise is published for the ε `target`, the accountant finds `epsilon`."""

    VALUE = "epsilon"

    method: str
    n: int
    d: int
    target: float
    epsilon: float


def accounted(method: str, n: int, d: int, target: float) -> Promise:
    """Account for "sgd" or "objective", the latter with the logistic loss in the standard ball."""
    radius, delta = RADII["logistic"], 1 / n**2
    if method == "sgd":
        epsilon = published_sgd_mechanism(n, d, target, delta, radius=radius, strict=False).epsilon(delta)
    else:
        made = published_objective_mechanism(Sizes(n, d, target, delta, radius), strict=False, bound="logistic")
        epsilon = made.epsilon(delta)
    return Promise(method, n, d, target, float(epsilon))


EXPERIMENT: Experiment[Promise] = Experiment(
    Promise,
    "the accountant's ε of what Bassily et al. (2019) publish",
    seeds="none: nothing is random",
    file="population_promises",
    command="promises",
    what="promises",
)
load = EXPERIMENT.results
