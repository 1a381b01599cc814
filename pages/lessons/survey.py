"""What the pictures of a survey with a coin share: its control and its promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pages.lessons.coin import Coin
from pages.lessons.scene import Scene
from ui import sentences
from ui.controls import SelectSlider

TRUTHS = tuple(round(0.05 * step, 2) for step in range(1, 20))
TRUTH = SelectSlider(
    "truth", "Chance of telling the truth", 0.5, TRUTHS, help="The chance that the first coin says: tell the truth."
)
ADJACENCY = "one person’s truth changes"
FINE = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True)
class Survey(Scene):
    """A picture of everybody's answers."""

    truth: float

    @property
    def coin(self) -> Coin:
        """One answer."""
        return Coin(self.truth)

    @property
    def differing(self) -> int:
        """How many people neighbours differ in."""
        return 1

    def promise(self) -> str:
        """Without δ, which is 0: the first steps show it, and what δ is comes in a later one."""
        number = self.differing
        differ = ADJACENCY if number == 1 else f"the truths of {number} people change"
        return (
            f"Worst case over all people and data: ε = {sentences.epsilon(self.coin.loss * number)}, rounded up; "
            f"{differ}; accounted by the ratio of two chances."
        )
