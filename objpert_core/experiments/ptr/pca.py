"""The first principal direction, asking for its eigengap first, beside noise on AᵀA as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from objpert_core._validation import FloatArray, nonnegative_integer, positive_integer
from objpert_core.experiments.ptr.split_budget import split, whole
from objpert_core.experiments.results import Row
from objpert_core.theory.local_sensitivity import GAP_SENSITIVITY, projector_sensitivity

DELTA, SHARE, DIMENSION, EPSILON = 1e-5, 0.1, 20, 1.0
SPREADS = (1.2, 1.5, 2.0, 3.0)
"""The first coordinate's standard deviation over the others', before rows are scaled to norm 1."""
ROWS = (300, 1000, 3000, 10_000, 30_000)
SEEDS = tuple(range(20))

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "gram": "Noise on AᵀA",
        "ptr": "Ask for the gap first",
        "free": "Gap known, not private",
        "worst": "Worst-case noise on the projector",
    }
)
"""The methods, by their keys."""


@dataclass(frozen=True)
class Lost(Row):
    """One release: sin² of the angle to the data's own direction, and the gap of AᵀA's two largest eigenvalues."""

    VALUE = "error"

    n: int
    spread: float
    method: str
    seed: int
    error: float
    gap: float


def symmetric_noise(dimension: int, generator: np.random.Generator) -> FloatArray:
    """A symmetric matrix with N(0, 1) on the diagonal and N(0, ½) beside it: standard normal in Frobenius' norm."""
    square = generator.standard_normal((positive_integer("dimension", dimension), dimension))
    return (square + square.T) / 2


def direction(matrix: FloatArray) -> FloatArray:
    """The eigenvector of the largest eigenvalue of a symmetric matrix."""
    return np.asarray(np.linalg.eigh(matrix)[1][:, -1])


def released(method: str, gram: FloatArray, epsilon: float, generator: np.random.Generator) -> FloatArray:
    """The direction that a method finds."""
    noise = symmetric_noise(len(gram), generator)
    mu = whole(epsilon, DELTA)
    if method == "gram":
        return direction(gram + noise / mu)
    values, vectors = np.linalg.eigh(gram)
    gap = float(values[-1] - values[-2])
    if method == "ptr":
        asked = split(epsilon, DELTA, SHARE)
        gap, mu = asked.below(gap, GAP_SENSITIVITY, generator), asked.release_mu
    most = math.sqrt(2) if method == "worst" or gap <= 0 else projector_sensitivity(gap)
    return direction(np.outer(vectors[:, -1], vectors[:, -1]) + most / mu * noise)


def losses(
    seed: int, rows: Iterable[int] = ROWS, spreads: Iterable[float] = SPREADS, epsilon: float = EPSILON
) -> Iterator[Lost]:
    """Every method on one draw of data, for every number of rows and spread."""
    for n in rows:
        for spread in spreads:
            generator = np.random.default_rng([nonnegative_integer("seed", seed), n, round(100 * spread)])
            A = generator.standard_normal((n, DIMENSION))
            A[:, 0] *= spread
            A /= np.linalg.norm(A, axis=1, keepdims=True)
            gram = A.T @ A
            values, vectors = np.linalg.eigh(gram)
            for place, method in enumerate(LABELS):
                found = released(method, gram, epsilon, np.random.default_rng([seed, n, round(100 * spread), place]))
                error = 1 - min(abs(float(found @ vectors[:, -1])), 1.0) ** 2
                yield Lost(n, spread, method, seed, error, float(values[-1] - values[-2]))
