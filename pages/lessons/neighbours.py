"""Neighbouring data sets: the law of the number of yes answers in two that differ in some people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.lessons.survey import TRUTH, Survey
from ui import figures, sentences
from ui.controls import SelectSlider

PEOPLE = SelectSlider("people", "People asked", 20, (10, 20, 50, 100), str)
DIFFER = SelectSlider(
    "differ", "People whose truth changes", 1, (1, 2, 3, 4, 5), str, help="Neighbours differ in one person."
)


@dataclass(frozen=True)
class Neighbours(Survey):
    """Two laws, whose ratio is bounded."""

    people: int
    differ: int

    name = "lessons_neighbours"
    controls = {"truth": TRUTH, "people": PEOPLE, "differ": DIFFER}
    snippet = "neighbours"

    @property
    def differing(self) -> int:
        return self.differ

    @property
    def truly(self) -> int:
        """Whose truth is yes in the first data set."""
        return 4 * self.people // 10

    @property
    def texts(self) -> tuple[str, str]:
        """What is changed, and how many times likelier a count becomes at most."""
        others = "one truth" if self.differ == 1 else f"{self.differ} truths"
        return others, sentences.number(self.coin.times**self.differ, up=True)

    def answer(self) -> str:
        epsilon, (others, times) = sentences.number(self.coin.loss * self.differ, 4), self.texts
        return f"ε = {epsilon}: with {others} changed, no count becomes more than {times} times as likely."

    def shows(self) -> str:
        laws = f"Two laws of the number of yes answers of {self.people} people"
        return "{}, for data sets that differ in {}. At every count their ratio is at most {}.".format(
            laws, *self.texts
        )

    def frame(self) -> pd.DataFrame:
        first, second = (self.coin.counts(self.people, truly) for truly in (self.truly, self.truly + self.differ))
        return pd.DataFrame({"count": np.arange(self.people + 1), "first": first, "second": second})

    def chart(self, before: Neighbours | None) -> go.Figure:
        counts, first, second = (column.to_numpy() for _, column in self.frame().items())
        named = {
            "without": (f"{self.truly} of {self.people} are truly yes", first),
            "with": (f"{self.truly + self.differ} are truly yes", second),
        }
        traces = [
            figures.series(name, counts, masses, role, mode="lines+markers", hover="%{y:.3g}")
            for role, (name, masses) in named.items()
        ]
        return figures.figure(
            traces,
            xaxis=figures.axis("how many answer yes", (-0.5, self.people + 0.5)),
            yaxis=figures.axis("probability", (0.0, 1.12 * float(max(first.max(), second.max())))),
        )
