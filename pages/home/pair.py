"""The page's pair of data sets, without and with a person, at one noise σ and one λ; ε is read at δ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic
from pages.home.controls import DELTA, FEATURES, LABELS, PEOPLE, PERSON, RADIUS
from ui import bounds as proofs

POINTS = 161


@dataclass(frozen=True)
class Pair:
    """What is proved for everybody, and what holds for these two."""

    sigma: float
    lam: float
    person: str = PERSON.default
    delta: float = DELTA.default

    @cached_property
    def laws(self) -> dict[str, OneDimensionalLogistic]:
        """The laws of the released minimiser without the person and with the person."""
        without = OneDimensionalLogistic(FEATURES, LABELS, sigma=self.sigma, lam=self.lam)
        return {"without": without, "with": without.add(*PEOPLE[self.person])}

    @property
    def mechanism(self) -> acc.ObjectivePerturbation:
        """What accounts for it: the tight bound at the largest |x| that anybody may have."""
        return acc.ObjectivePerturbation(self.sigma, self.lam, lipschitz=RADIUS)

    @property
    def setting(self) -> proofs.Setting:
        """The mechanism, as `why` compares it."""
        return proofs.Setting(self.sigma, self.lam, self.mechanism.smoothness, self.mechanism.lipschitz)

    @cached_property
    def epsilon(self) -> float:
        """What is proved at δ."""
        return self.mechanism.epsilon(self.delta)

    @cached_property
    def guess(self) -> float:
        """How often the best guess between the two data sets is right, starting from even odds.

        That is (1 + total variation)/2, and the total variation is the hockey-stick divergence at ε = 0.
        """
        return 0.5 + 0.5 * self.laws["without"].hockey_stick(self.laws["with"], 0.0)

    @cached_property
    def exact_delta(self) -> float:
        """What this pair needs at the proved ε, in the worse direction."""
        without, joined = self.laws.values()
        return max(without.hockey_stick(joined, self.epsilon), joined.hockey_stick(without, self.epsilon))

    @cached_property
    def grid(self) -> NDArray[np.float64]:
        """The θ at which curves are drawn: where all but 2 in 1,000 releases fall."""
        low, high = np.array([law.interval(2e-3) for law in self.laws.values()]).T
        return np.linspace(low.min(), high.max(), POINTS)

    @cached_property
    def loss(self) -> NDArray[np.float64]:
        """The logarithm of how many times likelier each released θ is with the person than without."""
        return self.laws["with"].log_density(self.grid) - self.laws["without"].log_density(self.grid)
