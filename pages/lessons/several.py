"""Releases add up: ε of several answers to the same question, added up and composed."""

from functools import lru_cache
from typing import Any, Self

import numpy as np

from objpert_core._validation import FloatArray
from pages.lessons.bet import marks
from pages.lessons.coin import Coin
from pages.lessons.scene import Scene
from pages.lessons.survey import ADJACENCY, TRUTH
from ui import figures, sentences
from ui.controls import SelectSlider, powers_of_ten
from ui.view import set_by

NUMBERS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60)
ANSWERS = SelectSlider("answers", "Answers to the same question", 20, NUMBERS, str)
DELTA = SelectSlider("delta", "Slack δ", 1e-5, powers_of_ten(-10, -1))


@lru_cache(maxsize=500)
def composed(truth: float, delta: float) -> FloatArray:
    """ε at δ of each number of answers."""
    return np.array([Coin(truth, number).epsilon(delta) for number in NUMBERS])


class Several(Scene, name="lessons_several", snippet="several"):
    """A straight line and a curve below it."""

    truth: float = set_by(TRUTH)
    answers: int = set_by(ANSWERS)
    delta: float = set_by(DELTA)

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

    def numbers(self) -> dict[str, Any]:
        added = [Coin(self.truth, number).loss for number in NUMBERS]
        return {"answers": NUMBERS, "added": added, "composed": composed(self.truth, self.delta)}

    def chart(self, before: Self | None) -> figures.Figure:
        counts, added, least = self.numbers().values()
        here, slack = (self.answers, self.answers), sentences.delta(self.delta)
        traces = [
            figures.series("added up, δ = 0", counts, added, "without", hover="ε = %{y:.3g}"),
            figures.series(f"composed, δ = {slack}", counts, least, "with", hover="ε = %{y:.3g}"),
            figures.guide(here, (0.0, self.together[0])),
            marks(here, dict(zip(("without", "with"), self.together, strict=True))),
        ]
        xaxis = figures.axis("answers to the same question", (0.0, NUMBERS[-1] + 1.0))
        yaxis = figures.axis("ε of all together", (0.0, 1.1 * float(added[-1])))
        return figures.figure(traces, xaxis, yaxis)
