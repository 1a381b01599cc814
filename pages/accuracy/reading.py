"""A stored file, read at one ε: what every question of the accuracy page is about."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import LEARNERS, TIGHT
from objpert_core.experiments.summary import Interval
from objpert_core.experiments.tables import Claim, Point
from ui import sentences
from ui.words import accounted


@dataclass(frozen=True)
class Reading:
    """A file of results, and where it is read."""

    stored: Stored
    epsilon: float

    @property
    def at(self) -> str:
        """The beginning of a sentence."""
        return f"At ε = {sentences.epsilon(self.epsilon)}"

    @property
    def claim(self) -> Claim | None:
        """Tight beside the best DP-SGD whose tuning is not paid for; None where not both have runs."""
        return self.stored.claims.get(self.epsilon)

    def point(self, method: str) -> Point | None:
        """What a method reached here; None where it has no run."""
        return self.stored.point(method, self.epsilon)

    def difference(self, first: str, second: str) -> Interval | None:
        """The first method's accuracy minus the second's, paired."""
        return self.stored.difference(first, second, self.epsilon)

    def same(self, other: Reading) -> bool:
        """Whether another reading is of the same file at the same ε."""
        return other.stored is self.stored and other.epsilon == self.epsilon

    def promise(self) -> str:
        """What one private model by the tight bound promises, in one line."""
        if self.stored.delta is None:
            return ""
        runs = self.stored.runs(TIGHT, self.epsilon)
        noises = (runs[0].center_noise, runs[0].scale_noise) if runs else (None, None)
        return sentences.promise(self.epsilon, self.stored.delta, accounted(LEARNERS[TIGHT].accountant, *noises))

    def stand_in(self) -> str:
        """The warning that goes with a stand-in; empty for others."""
        warning = "these are not the real data. Compare the methods with each other, not with the paper’s numbers."
        return f"{self.stored.label}: {warning}" if self.stored.stand_in else ""
