"""Figure 2: test accuracy against ε for every method, over repeated splits.

Redberg, Koskela and Wang (2023), Figure 2 and Tables 1 and 2, with more rivals. One piece of work is one method at one
ε in one trial, so a sweep can stop anywhere and go on later, on any number of machines.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

import objpert_core
from objpert_core._validation import choice, positive, positive_integer
from objpert_core.datasets import Dataset, fetch, load, names
from objpert_core.experiments.learners import NON_PRIVATE
from objpert_core.experiments.methods import EVERY, METHODS, Parameters, fit
from objpert_core.experiments.results import Run
from objpert_core.experiments.runner import Outcome, carry_out, refuse_another_version
from objpert_core.experiments.store import Store

EPSILONS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
TRIALS = 10


def noise_seed(dataset: str, method: str, epsilon: float, trial: int) -> int:
    """The noise seed of one piece of work: as if drawn at random, but the same whenever the piece is done.

    >>> noise_seed("adult", "tight", 1.0, 0), noise_seed("adult", "tight", 1.0, 1)
    (750610425, 3311341290)
    """
    text = f"{dataset}|{method}|{epsilon!r}|{trial}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Piece:
    """One method at one ε in one trial; trial t has the split of seed t.

    A worker refuses a piece whose `version` of the package (the one that started the sweep) is not its own.
    """

    dataset: str
    method: str
    epsilon: float
    trial: int
    parameters: Parameters
    version: str = objpert_core.__version__

    @property
    def kind(self) -> str:
        """The method: the same one takes about the same time at every ε."""
        return self.method

    @property
    def key(self) -> tuple[str, float, int]:
        """Method, ε and trial, as of a `Run`: a file holds each key once."""
        return self.method, self.epsilon, self.trial

    @property
    def seed(self) -> int | None:
        """The noise seed; None without privacy."""
        if self.method == NON_PRIVATE:
            return None
        return noise_seed(self.dataset, self.method, self.epsilon, self.trial)

    def fit(self, data: Dataset, **watched: Callable[..., object]) -> Run:
        """Fit on `data`, the split of this trial; a `callback` is handed to `methods.fit`."""
        return fit(data, self.method, self.epsilon, self.trial, self.seed, self.parameters, **watched)

    def __call__(self) -> Run:
        """Load the split (kept by the process for the next piece) and fit."""
        refuse_another_version(self.version)
        return self.fit(load(self.dataset, split_seed=self.trial))


@dataclass(frozen=True)
class Sweep:
    """What to run; `ValueError` if a parameter is out of range. `dataset` is one of `datasets.names(classes=2)`, and
    `methods` are some of `methods.EVERY`. Each of the `trials` has its own split and noise.
    """

    dataset: str
    methods: tuple[str, ...] = tuple(METHODS)
    epsilons: tuple[float, ...] = EPSILONS
    trials: int = TRIALS
    parameters: Parameters = field(default_factory=Parameters)

    def __post_init__(self) -> None:
        choice("dataset", self.dataset, names(classes=2))
        for method in self.methods:
            choice("methods", method, tuple(EVERY))
        for epsilon in self.epsilons:
            positive("epsilons", epsilon)
        positive_integer("trials", self.trials)

    def pieces(self) -> tuple[Piece, ...]:
        """All the work, trial by trial, so that a sweep that was stopped has whole trials."""
        return tuple(
            Piece(self.dataset, method, epsilon, trial, self.parameters)
            for trial in range(self.trials)
            for method, epsilon in [
                *[(NON_PRIVATE, math.inf) for method in self.methods if method == NON_PRIVATE],
                *[(method, e) for e in self.epsilons for method in self.methods if method != NON_PRIVATE],
            ]
        )


def run(
    sweep: Sweep,
    store: Store[Run],
    *,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    stream: TextIO | None = None,
) -> tuple[Outcome, ...]:
    """Do what is not in the store yet, store each run as it is done, and return the pieces that failed: the same
    command tries them again. `jobs`, `backend`, `scheduler` and `ValueError` are as in `runner.execute`, `stream` is
    where progress is written (standard error if left out). `DataUnavailableError` where raw files are neither here nor
    to be fetched; `ValueError` also where the calibration has changed since the store's rows were made.
    """
    stream = sys.stderr if stream is None else stream
    pieces = sweep.pieces()
    todo = [piece for piece in pieces if piece.key not in store.done]
    print(f"{sweep.dataset}: {len(todo)} of {len(pieces)} fits to do", file=stream, flush=True)
    if todo and backend != "dask":
        fetch(sweep.dataset)
    return carry_out(todo, store.append, _describe, stream, jobs=jobs, backend=backend, scheduler=scheduler)


def _describe(outcome: Outcome) -> str:
    piece: Piece = outcome.work
    target = "" if math.isinf(piece.epsilon) else f" ε = {piece.epsilon:g}"
    if outcome.error is not None:
        return f"trial {piece.trial} {piece.method}{target} FAILED: {outcome.error}"
    done: Run = outcome.result
    return f"trial {piece.trial} {piece.method}{target}: {100 * done.accuracy:.2f} % in {done.seconds:.3g} s"
