"""Noisy counts of the classes before a fit, and the weights that are made of them (docs/theorems.md, T48)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from objpert_core._validation import FloatArray, check_fields, square
from objpert_core.accounting.gaussian.calibration import noise_of_share
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, moved_by
from objpert_core.accounting.steps.base import Step, noisy_sums

COUNT_SHARE = 0.02
"""Of the squared sensitivity-to-noise ratio that (ε, δ) allows: what the counts take."""
_LEAST_SIZE = 2.0  # a class counts as no smaller than this many times the noise


@dataclass(frozen=True)
class ClassCounts(Step):
    """The counts of all classes, with `noise` on each."""

    name: ClassVar[str] = "class_counts"

    noise: float

    def __post_init__(self) -> None:
        check_fields(self, square, "noise")

    def mechanisms(self, adjacency: str = ADD_REMOVE, rows_per_person: int = 1) -> tuple[Gaussian, ...]:
        """A row more or less changes one count by 1; one that is replaced changes two, so that they move by √2."""
        return noisy_sums(adjacency, (self.noise, moved_by(adjacency, rows_per_person)))


def recommended_counts(
    epsilon: float, delta: float, *, adjacency: str = ADD_REMOVE, rows_per_person: int = 1
) -> ClassCounts:
    """The noise on the count of each class, by public numbers: the counts take a fiftieth of what (ε, δ) allows."""
    return ClassCounts(noise_of_share(COUNT_SHARE, moved_by(adjacency, rows_per_person), epsilon, delta))


def balanced_weights(counts: FloatArray, noise: float) -> FloatArray:
    """The weights that give all classes the same sum, at most 1; a count below 2·`noise` is taken for 2·`noise`."""
    sizes = np.maximum(counts, max(1.0, _LEAST_SIZE * noise))
    return np.asarray(sizes.min() / sizes)
