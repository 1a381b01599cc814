"""Noisy counts of the classes before a fit, and the weights that are made of them (docs/theorems.md, T48)."""

from __future__ import annotations

import math

import numpy as np

from objpert_core._validation import FloatArray, choice, square
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES

COUNT_SHARE = 0.02
"""Of the squared sensitivity-to-noise ratio that (ε, δ) allows: what the counts take."""
_LEAST_SIZE = 2.0  # a class counts as no smaller than this many times the noise


def class_counts(noise: float, adjacency: str = ADD_REMOVE, rows_per_person: int = 1) -> Gaussian:
    """The release of the counts of all classes, with this noise on each. A row more or less changes one count by 1. A
    row that is replaced changes two, so that they move by √2.
    """
    moved = rows_per_person * (1.0 if choice("adjacency", adjacency, ADJACENCIES) == ADD_REMOVE else math.sqrt(2.0))
    return Gaussian(square("class_count_noise", noise), moved, adjacency=adjacency)


def recommended_count_noise(
    epsilon: float, delta: float, *, adjacency: str = ADD_REMOVE, rows_per_person: int = 1
) -> float:
    """The noise on the count of each class, by public numbers: the counts take a fiftieth of what (ε, δ) allows.

    >>> round(recommended_count_noise(1.0, 1e-5), 1)
    26.4
    """
    sensitivity = class_counts(1.0, adjacency, rows_per_person).sensitivity
    return sensitivity * calibrate_gaussian(epsilon, delta).sigma / math.sqrt(COUNT_SHARE)


def balanced_weights(counts: FloatArray, noise: float) -> FloatArray:
    """The weights that give all classes the same sum: 1 for the smallest class, less for larger ones. A class whose
    count is lost in the noise counts as a class of 2·`noise` rows.

    >>> balanced_weights(np.array([980.0, -3.0]), 10.0).round(4).tolist()
    [0.0204, 1.0]
    """
    sizes = np.maximum(counts, max(1.0, _LEAST_SIZE * noise))
    return np.asarray(sizes.min() / sizes)
