"""The slack: two densities of a noisy number, one step apart; δ is the part of one above e^ε times the other."""

import math
from typing import Any, Self

import numpy as np
from scipy.stats import norm

from objpert_core.accounting import Gaussian
from pages.lessons.bet import EPSILON
from pages.lessons.scene import Scene
from ui import figures, sentences
from ui.controls import SelectSlider
from ui.view import set_by

SIGMA = SelectSlider("sigma", "Noise σ", 1.0, (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0))


class Slack(Scene, name="lessons_slack", snippet="slack"):
    """δ as an area."""

    epsilon: float = set_by(EPSILON)
    sigma: float = set_by(SIGMA)

    @property
    def delta(self) -> str:
        """The area."""
        return sentences.delta(Gaussian(self.sigma).delta(self.epsilon), 3)

    @property
    def edge(self) -> float:
        """From here on the loss is above ε."""
        return self.sigma**2 * self.epsilon + 0.5

    @property
    def ends(self) -> tuple[float, float]:
        """The axis, which stays while ε moves."""
        return -3 * self.sigma, 1 + 4 * self.sigma

    def answer(self) -> str:
        often = sentences.scientific(Gaussian(self.sigma).tail(self.epsilon), 3, up=True)
        start = f"At ε = {sentences.epsilon(self.epsilon)} the slack is δ = {self.delta}"
        return f"{start}; the odds rise by more than e^ε with chance {often}."

    def promise(self) -> str:
        noise = f"Gaussian noise σ = {sentences.number(self.sigma)}"
        return f"You change the number by 1; {noise}; {sentences.ADJACENCY}; computed exactly."

    def shows(self) -> str:
        return (
            "Two bell curves one apart, and the lower one times e^ε. The area of the first above the last is "
            f"δ = {self.delta}."
        )

    def numbers(self) -> dict[str, Any]:
        low, high = self.ends
        grid = np.union1d(np.linspace(low, high, 241), [min(self.edge, high)])
        yours, others = norm.pdf(grid, 1, self.sigma), norm.pdf(grid, 0, self.sigma)
        limit = math.exp(self.epsilon) * others
        return {"released": grid, "with": yours, "without": others, "limit": limit}

    def chart(self, before: Self | None) -> figures.Figure:
        grid, yours, others, limit = self.numbers().values()
        beyond, top = grid >= self.edge, 1.15 * norm.pdf(0, 0, self.sigma)
        area = [figures.band(grid[beyond], limit[beyond], yours[beyond], "tight", name="δ")] if beyond.any() else []
        above = np.where(limit <= 1.2 * top, limit, np.nan)
        traces = [
            *(trace | {"showlegend": True, "name": "the slack δ"} for trace in area),
            figures.series("with you", grid, yours, "with", hover="%{y:.3g}"),
            figures.series("without you", grid, others, "without", hover="%{y:.3g}"),
            figures.series("without you, times e^ε", grid, above, "noise", hover="%{y:.3g}"),
        ]
        xaxis = figures.axis("released number", self.ends)
        yaxis = figures.axis("density", (0.0, top), showticklabels=True)
        return figures.figure(traces, xaxis, yaxis)
