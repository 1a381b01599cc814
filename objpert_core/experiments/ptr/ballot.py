"""Yes or no by majority at one (ε, δ): how often four private votes err, by how far the winner is ahead."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import dlaplace

from objpert_core._validation import FloatArray, IntArray, check_fields, in_open_unit, positive
from objpert_core.accounting import LaplaceVote, OptimalVote
from objpert_core.learning.geometric import tail_point

VOTES = ("laplace", "classic", "asked", "floor")


def passing(distance: float, threshold: int, epsilon: float) -> float:
    """How often a distance plus two-sided geometric noise, which is ε-DP, is `threshold` or more."""
    return float(dlaplace.sf(threshold - distance - 1, epsilon))


@dataclass(frozen=True)
class Ballot:
    """Four votes of the same (ε, δ); generalised propose-test-release proposes Laplace noise of scale 1/`noise`."""

    epsilon: float
    delta: float
    noise: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, positive, "epsilon", "noise")
        check_fields(self, in_open_unit, "delta")

    @cached_property
    def least_gap(self) -> int:
        """From which gap on the proposed noise is (ε/2, δ)-private at the data."""
        vote = LaplaceVote(self.noise)

        def private(gap: int) -> bool:
            return bool(vote.epsilon_at(gap, self.delta) <= self.epsilon / 2)

        most = 1
        while not private(most):
            most *= 2
        return bisect_left(range(most), True, key=private)

    @cached_property
    def passing_gap(self) -> int:
        """From which gap on the test of the proposed noise passes in more than half of its runs."""
        threshold = tail_point(self.epsilon / 2, self.delta)
        return self.least_gap + threshold - 1 if self.least_gap > 0 else 0

    def _fails(self, gap: IntArray, first: int, epsilon: float) -> FloatArray:
        """How often a test of this ε stops a gap that must be `first` or more."""
        distance = np.maximum(gap - first + 1, 0)
        return np.asarray(dlaplace.cdf(tail_point(epsilon, self.delta) - distance - 1, epsilon))

    def errors(self, gap: IntArray) -> dict[str, FloatArray]:
        """How likely each vote names the loser, by how many votes the winner is ahead: "laplace", noise of scale 1/ε;
        "classic", a test of ε, else a coin; "asked", the proposed noise behind a test of ε/2, else noise of scale 2/ε;
        "floor", the least that (ε, δ) allows.
        """
        half = self.epsilon / 2
        fails = self._fails(gap, self.least_gap, half) if self.least_gap > 0 else np.zeros(gap.shape)
        return {
            "laplace": LaplaceVote(self.epsilon).error(gap),
            "classic": np.where(gap > 0, self._fails(gap, 2, self.epsilon), 1.0) / 2,
            "asked": (1 - fails) * LaplaceVote(self.noise).error(gap) + fails * LaplaceVote(half).error(gap),
            "floor": OptimalVote(self.epsilon, self.delta).error(gap),
        }

    def epsilons(self, gap: IntArray) -> dict[str, FloatArray]:
        """ε of the proposed noise at these data: "pure" for δ = 0, "own" at δ; shape (n,) each."""
        vote = LaplaceVote(self.noise)
        pure = np.array([vote.local_epsilon(one) for one in gap.tolist()])
        return {"pure": pure, "own": np.array([vote.local_epsilon(one, self.delta) for one in gap.tolist()])}
