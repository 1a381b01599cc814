"""Does it pay to ask first: for the curvature of logistic regression, for the gap of a first principal direction?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from objpert_core.experiments.ptr.stored import Accuracy, Lost
from pages.ptr.controls import ROWS, SPREAD, STORED
from pages.ptr.stored_view import PtrResults, promise
from ui import sentences


@dataclass(frozen=True)
class Curvature(PtrResults):
    """Logistic regression: who is right how often, and whether asking first is seen to pay."""

    wanted: float

    name = "ptr_glm"
    title = "Does asking first pay?"
    controls = {"wanted": STORED}
    experiment, column, over = "glm", "epsilon", "lam"
    labels = Accuracy.LABELS
    axes = ("privacy budget ε", "test accuracy")
    log_y, percent, hover, ticks = False, True, "%{y:.1%}", {"tickformat": ".0%"}
    snippet = "means_over"

    def answer(self) -> str:
        asked, plain = self.intervals["ptr"], self.intervals["objective"]
        verdict = "asking first pays" if asked.low > plain.high else "asking first does not pay"
        return (
            f"At ε = {self.at:g} asking first gets {100 * asked.mean:.1f} % right, objective perturbation "
            f"{100 * plain.mean:.1f} %: {verdict}."
        )

    def promise(self) -> str:
        return promise(self.at, Accuracy.DELTA)

    def note(self) -> str:
        return (
            f"{Accuracy.DATASET}, {len(Accuracy.SEEDS)} splits, 95 % intervals. All methods but objective perturbation "
            f"get their best λ for free."
        )


@dataclass(frozen=True)
class Directions(PtrResults):
    """First direction: whose error is smaller, where intervals are apart."""

    wanted: int
    spread: float

    name = "ptr_pca"
    title = Curvature.title
    controls = {"wanted": ROWS, "spread": SPREAD}
    experiment, column = "pca", "n"
    labels = Lost.LABELS
    axes = ("rows n", "sin² of the angle to the data’s own direction")

    @property
    def cells(self) -> Mapping[str, object]:
        return {"spread": self.spread}

    def answer(self) -> str:
        first, plain = self.intervals["ptr"], self.intervals["gram"]
        if first.low <= plain.high and plain.low <= first.high:
            return f"At n = {self.at:,g} asking for the gap first and noise on AᵀA err alike, within their intervals."
        ratio = max(first.mean, plain.mean) / max(min(first.mean, plain.mean), 1e-300)
        side = "less" if first.mean < plain.mean else "more"
        times = f"{sentences.number(ratio, 2)} times {side} error"
        return f"At n = {self.at:,g} asking for the gap first has {times} than noise on AᵀA."

    def promise(self) -> str:
        return promise(Lost.EPSILON, Lost.DELTA)

    def note(self) -> str:
        return (
            f"A: unit rows in {Lost.DIMENSION} dimensions, one coordinate spread {self.spread:g} times as wide; "
            f"{len(Lost.SEEDS)} draws, 95 % intervals."
        )
