"""Figure 2 and Tables 1 and 2 of Redberg, Koskela and Wang (2023), with more rivals: test accuracy against ε."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from objpert_core.datasets import Dataset, load
from objpert_core.experiments.learners import NON_PRIVATE
from objpert_core.experiments.methods import Parameters, fit
from objpert_core.experiments.results import Run

EPSILONS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def noise_seed(dataset: str, method: str, epsilon: float, trial: int) -> int:
    """The noise seed of one piece of work: as if drawn at random, but the same whenever the piece is done.

    >>> noise_seed("adult", "tight", 1.0, 0), noise_seed("adult", "tight", 1.0, 1)
    (750610425, 3311341290)
    """
    text = f"{dataset}|{method}|{epsilon!r}|{trial}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Piece:
    """One method at one ε in one trial; trial t has the split of seed t."""

    dataset: str
    method: str
    epsilon: float
    trial: int
    parameters: Parameters

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
        return self.fit(load(self.dataset, split_seed=self.trial))
