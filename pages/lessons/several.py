"""Releases add up: ε of several answers to the same question, added up and composed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from objpert_core._validation import FloatArray
from pages.lessons.bet import marks
from pages.lessons.coin import Coin
from pages.lessons.scene import Scene
from pages.lessons.survey import ADJACENCY, TRUTH
from ui import figures, sentences
from ui.controls import SelectSlider, powers_of_ten

NUMBERS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60)
ANSWERS = SelectSlider("answers", "Answers to the same question", 20, NUMBERS, str)
DELTA = SelectSlider("delta", "Slack δ", 1e-5, powers_of_ten(-10, -1))


@lru_cache(maxsize=500)
def composed(truth: float, delta: float) -> FloatArray:
    """ε at δ of each number of answers."""
    return np.array([Coin(truth, number).epsilon(delta) for number in NUMBERS])


@dataclass(frozen=True)
class Several(Scene):
    """A straight line and a curve below it."""

    truth: float
    answers: int
    delta: float

    name = "lessons_several"
    controls = {"truth": TRUTH, "answers": ANSWERS, "delta": DELTA}
    snippet = "several"

    @property
    def together(self) -> tuple[float, float]:
        """ε of all answers, added up and composed."""
        place = NUMBERS.index(self.answers)
        return Coin(self.truth, self.answers).loss, float(composed(self.truth, self.delta)[place])

    @property
    def cost(self) -> str:
        """The beginning of two sentences."""
        return "One answer costs" if self.answers == 1 else f"{self.answers} answers cost"

    def answer(self) -> str:
        added, least = (sentences.number(epsilon, 4) for epsilon in self.together)
        return f"{self.cost} ε = {least} with slack {sentences.delta(self.delta)}; added up, ε = {added}."

    def promise(self) -> str:
        law = "the exact law of the privacy loss, rounded up"
        return sentences.promise(self.together[1], self.delta, law, adjacency=ADJACENCY)

    def shows(self) -> str:
        return (
            "ε of all answers against their number: a straight line where they are added up, a lower curve where they "
            f"are composed. {self.cost} {' or '.join(map(sentences.epsilon, self.together))}."
        )

    def frame(self) -> pd.DataFrame:
        added = [Coin(self.truth, number).loss for number in NUMBERS]
        return pd.DataFrame({"answers": NUMBERS, "added": added, "composed": composed(self.truth, self.delta)})

    def chart(self, before: Several | None) -> go.Figure:
        counts, added, least = (column.to_numpy() for _, column in self.frame().items())
        here, slack = (self.answers, self.answers), sentences.delta(self.delta)
        return figures.figure(
            [
                figures.series("added up, δ = 0", counts, added, "without", hover="ε = %{y:.3g}"),
                figures.series(f"composed, δ = {slack}", counts, least, "with", hover="ε = %{y:.3g}"),
                figures.guide(here, (0.0, self.together[0])),
                marks(here, dict(zip(("without", "with"), self.together, strict=True))),
            ],
            xaxis=figures.axis("answers to the same question", (0.0, NUMBERS[-1] + 1.0)),
            yaxis=figures.axis("ε of all together", (0.0, 1.1 * float(added[-1]))),
        )
