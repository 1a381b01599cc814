"""What a guess about you can become after a release, against what it was."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit

from objpert_core._validation import FloatArray
from pages.lessons.scene import Scene
from ui import figures, sentences
from ui.controls import ROUND_STEPS, SelectSlider, log_values
from ui.view import set_by

EPSILON = SelectSlider("epsilon", "ε", 1.0, (0.0, *log_values(0.1, 8, steps=ROUND_STEPS)))
PRIORS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
PRIOR = SelectSlider("prior", "Chance before the release", 0.5, PRIORS, lambda value: f"{value:g}")
_CHANCES = np.concatenate(
    [[0.0], np.geomspace(1e-4, 0.1, 40), np.linspace(0.12, 0.88, 80), 1 - np.geomspace(0.1, 1e-4, 40), [1.0]]
)


def after(chance: float | FloatArray, epsilon: float) -> FloatArray:
    """The chance whose odds are e^ε times those of `chance`: the most that an ε-private release can make of it."""
    with np.errstate(divide="ignore"):
        return np.asarray(expit(logit(chance) + epsilon))


class Bet(Scene, name="lessons_bet", snippet="bet"):
    """The most and the least that a chance becomes."""

    epsilon: float = set_by(EPSILON)
    prior: float = set_by(PRIOR)

    @property
    def ends(self) -> tuple[float, float]:
        """What the chance becomes at least and at most."""
        return float(after(self.prior, -self.epsilon)), float(after(self.prior, self.epsilon))

    @property
    def texts(self) -> tuple[str, str, str]:
        """The chance before, at least and at most, rounded outwards."""
        least, most = self.ends
        lowest = sentences.percent(math.floor(1000 * least) / 1000)
        return sentences.percent(self.prior), lowest, sentences.percent(most, up=True)

    def answer(self) -> str:
        before, least, most = self.texts
        return (
            f"ε = {sentences.epsilon(self.epsilon)}: a chance of {before} becomes at most {most} and at least {least}."
        )

    def promise(self) -> str:
        factor = sentences.odds(self.epsilon).removesuffix(" : 1")
        known = "whatever else is known; the chances are rounded outwards"
        return f"Up or down, the odds change by a factor of at most e^ε = {factor}, {known}."

    def shows(self) -> str:
        before, least, most = self.texts
        return (
            f"The chance after a release against the chance before: a band about the diagonal. From {before} it "
            f"reaches from {least} to {most}."
        )

    def numbers(self) -> dict[str, Any]:
        low, high = after(_CHANCES, -self.epsilon), after(_CHANCES, self.epsilon)
        return {"before": _CHANCES, "least": low, "most": high}

    def chart(self, before: Self | None) -> figures.Figure:
        _, low, high = self.numbers().values()
        here, (least, most) = (self.prior, self.prior), self.ends
        share: dict[str, Any] = {"tickformat": ".0%"}
        traces = [
            figures.guide((0.0, 1.0), (0.0, 1.0)),
            figures.band(_CHANCES, low, high, "with"),
            figures.series("at most", _CHANCES, high, "with", hover="%{y:.1%}"),
            figures.series("at least", _CHANCES, low, "without", hover="%{y:.1%}"),
            figures.guide(here, (least, most)),
            marks(here, {"with": most, "without": least}),
        ]
        xaxis = figures.axis("chance before the release", (0.0, 1.0), **share)
        yaxis = figures.axis("chance after the release", (-0.02, 1.04), **share)
        return figures.figure(traces, xaxis, yaxis)


def marks(x: tuple[float, float], heights: Mapping[str, float]) -> dict[str, Any]:
    """A mark on each role's curve where the sliders are."""
    looks = [figures.look(role) for role in heights]
    look = {"color": [each.color for each in looks], "symbol": [each.symbol for each in looks], "size": 13}
    trace = figures.series("here", list(x), list(heights.values()), "with", mode="markers", showlegend=False)
    return trace | {"hoverinfo": "skip", "marker": look}
