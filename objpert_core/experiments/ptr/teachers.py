"""Many teachers who label rows by noisy majority: how far their votes are from too little agreement, tested."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from objpert_core._validation import FloatArray, check_fields, in_open_unit, positive, positive_integer, rate
from objpert_core.accounting import Gaussian, GNMax
from objpert_core.experiments.ptr.ballot import passing
from objpert_core.experiments.ptr.stored import Price
from objpert_core.learning.geometric import tail_point

CLASSES = 10
ORDERS = np.unique(np.concatenate([np.arange(2.0, 41.0), np.round(np.geomspace(40, 1000, 30))]))


def converted(order: float, rdp: float, delta: float = Price.DELTA) -> float:
    """ε by the paper's conversion: rdp + log(1/δ)/(α − 1)."""
    return rdp + math.log(1 / delta) / (order - 1)


def exact(counts: FloatArray, sigma: float) -> float:
    """ε of the same T mechanisms exactly: they are one Gaussian mechanism of sensitivity √(2T)."""
    return Gaussian(sigma, math.sqrt(2 * len(counts))).epsilon(Price.DELTA)


def known(counts: FloatArray, sigma: float) -> float:
    """ε of these votes, a number that itself says something about the votes."""
    return min(converted(order, GNMax(sigma).rdp_at(counts, order)) for order in ORDERS)


@dataclass(frozen=True)
class Teachers:
    """Simulated votes of `number` teachers on `queries` rows, with noise of deviation `sigma` votes on each count."""

    first: float
    second: float
    number: int = 400
    sigma: float = 20.0
    queries: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self, rate, "first", "second")
        check_fields(self, positive_integer, "number", "queries")
        check_fields(self, positive, "sigma")

    @cached_property
    def counts(self) -> FloatArray:
        """Votes, shape (queries, 10)."""
        left = 1 - self.first
        others = left * (1 - self.second) / (CLASSES - 2)
        chances = np.array([self.first, left * self.second, *(CLASSES - 2) * (others,)])
        drawn = np.random.default_rng(self.seed).multinomial(self.number, chances / chances.sum(), self.queries)
        return drawn.astype(np.float64)

    @cached_property
    def any_votes(self) -> float:
        """ε at `Price.DELTA` whatever the votes are, exactly."""
        return exact(self.counts, self.sigma)

    @cached_property
    def these_votes(self) -> float:
        """ε of these votes alone, at most that of any votes. **Not private.**"""
        return min(known(self.counts, self.sigma), self.any_votes)


@dataclass(frozen=True)
class Proposal:
    """What the labels may cost (ε') and what the test may (ε̂); `delta` is that of the whole."""

    teachers: Teachers
    epsilon: float
    test_epsilon: float
    delta: float = Price.DELTA

    def __post_init__(self) -> None:
        check_fields(self, positive, "epsilon", "test_epsilon")
        check_fields(self, in_open_unit, "delta")

    @property
    def total(self) -> float:
        """ε' + ε̂, at δ (docs/theorems.md, T36)."""
        return self.epsilon + self.test_epsilon

    @property
    def order(self) -> float:
        """The α at which the conversion to δ costs ε'/2."""
        return 1 + 2 * math.log(1 / self.delta) / self.epsilon

    @cached_property
    def distance(self) -> float:
        """How many teachers must change their votes until the proposal is wrong; infinite where any votes suit it."""
        return GNMax(self.teachers.sigma).distance(self.teachers.counts, self.order, self.epsilon / 2)

    @property
    def threshold(self) -> int:
        """The least whole number that the test's noise alone reaches with probability δ at most."""
        return tail_point(self.test_epsilon, self.delta)

    @property
    def pass_probability(self) -> float:
        """How often the test lets the labels out."""
        return passing(self.distance, self.threshold, self.test_epsilon)
