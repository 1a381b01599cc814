"""Randomised response, the oldest private survey, as a mechanism of the core: it composes as the others do."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from objpert_core._validation import FloatArray
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.base import REPLACE_ONE, Mechanism

_UP = 1 + 2.0**-48  # what a logarithm and a quotient in doubles may be off by


@dataclass(frozen=True)
class Coin(Mechanism):
    """Yes-or-no answers: each is the truth with chance `truth`, else a fair coin's. Neighbours differ in the truth.

    The same person answers `answers` times, with fresh tosses.

    >>> round(Coin(0.5).loss, 4)  # log 3
    1.0986
    """

    truth: float
    answers: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.truth < 1:
            raise ValueError(f"truth must be a number strictly between 0 and 1, got {self.truth}")
        if not self.answers >= 1:
            raise ValueError(f"answers must be a whole number >= 1, got {self.answers}")

    @property
    def adjacency(self) -> str:
        """One person's truth changes."""
        return REPLACE_ONE

    @property
    def yes(self) -> tuple[float, float]:
        """How likely one answer is yes where the truth is no, and where it is yes."""
        return (1 - self.truth) / 2, (1 + self.truth) / 2

    @property
    def times(self) -> float:
        """How many times likelier one truth than the other can make all answers together."""
        rarer, likelier = self.yes
        return (likelier / rarer) ** self.answers

    @property
    def loss(self) -> float:
        """ε at δ = 0: the logarithm of `times`; rounded up."""
        rarer, likelier = self.yes
        return self.answers * math.log(likelier / rarer) * _UP

    @property
    def _loss(self) -> DiscreteLoss:
        """With j of k answers true the loss is (2j − k)·ε; the pair is its own mirror image."""
        true = np.arange(self.answers + 1)
        losses = (2 * true / self.answers - 1) * self.loss
        return DiscreteLoss(losses, binom.logpmf(true, self.answers, self.yes[1]), -np.inf)

    def losses(self, direction: str = "remove") -> Steps:
        """The loss of all answers, the same in both directions."""
        return ((self._loss, 1),)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return np.where(epsilon >= self.loss, -np.inf, self._loss.log_profile(epsilon))

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        rarer, likelier = np.log(self.yes)
        moment = np.logaddexp(alpha * likelier + (1 - alpha) * rarer, alpha * rarer + (1 - alpha) * likelier)
        with np.errstate(invalid="ignore"):
            divergence = np.where(alpha > 1, self.answers * moment / (alpha - 1), self.truth * self.loss)
        return np.minimum(divergence * _UP, self.loss)

    def counts(self, people: int, truly: int) -> FloatArray:
        """The law of how many of `people` answer yes, 0 to all, where the truth of `truly` of them is yes."""
        rarer, likelier = self.yes
        some = binom.pmf(np.arange(truly + 1), truly, likelier)
        others = binom.pmf(np.arange(people - truly + 1), people - truly, rarer)
        return np.convolve(some, others)

    def share_error(self, people: int) -> float:
        """The standard deviation of the estimated share of those whose truth is yes, whatever the share is.

        The estimate is (share of yes answers − (1 − truth)/2)/truth; one answer varies as much whichever its truth.
        """
        rarer, likelier = self.yes
        return math.sqrt(rarer * likelier / people) / self.truth
