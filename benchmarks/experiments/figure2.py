"""Figure 2: test accuracy against ε for every method, over repeated splits.

Redberg, Koskela and Wang (2023), Figure 2 and Tables 1 and 2, with more rivals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.experiments.experiment import Experiment
from objpert_core._validation import choice, positive, positive_integer
from objpert_core.datasets import names
from objpert_core.experiments.figure2 import EPSILONS, Piece
from objpert_core.experiments.learners import NON_PRIVATE
from objpert_core.experiments.methods import EVERY, METHODS, Parameters
from objpert_core.experiments.results import Run

TRIALS = 10


def sweep(
    dataset: str,
    methods: Sequence[str] = tuple(METHODS),
    epsilons: Sequence[float] = EPSILONS,
    trials: int = TRIALS,
    parameters: Parameters | None = None,
) -> Experiment[Run]:
    """Some of `methods.EVERY` on one of `datasets.names(classes=2)`; each trial has its own split and noise. The pieces
    come trial by trial, so that a sweep that was stopped has whole trials. `ValueError` if an argument is out of range.
    """
    choice("dataset", dataset, names(classes=2))
    for method in methods:
        choice("methods", method, tuple(EVERY))
    for epsilon in epsilons:
        positive("epsilons", epsilon)
    told = Parameters() if parameters is None else parameters
    private = [method for method in methods if method != NON_PRIVATE]
    points = [(NON_PRIVATE, math.inf)] if NON_PRIVATE in methods else []
    points += [(method, epsilon) for epsilon in epsilons for method in private]
    return Experiment(
        Run,
        "test accuracy against ε, every method, over repeated splits",
        tuple((*point, trial) for trial in range(positive_integer("trials", trials)) for point in points),
        lambda *key: [Piece(dataset, *key, told)()],
        shared={"dataset": dataset, "configuration": told.as_configuration()},
    )
