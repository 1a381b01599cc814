"""Figure 2: the empirical risk of tilt, bend and anchor against the size of the box."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core.experiments.quadratic.stored import Risk
from pages.quadratic.controls import EVERY, KAPPA
from pages.quadratic.numbers import REPLACED, times
from pages.quadratic.stored_view import EACH, Against
from ui import sentences
from ui.stored_view import Curve


@dataclass(frozen=True)
class Kappa(Against):
    """Every method at one box; `every`: also the tilt at 2ζ."""

    kappa: float
    every: bool = False

    name = "quadratic_kappa"
    title = "Risk against the box (Figure 2)"
    controls = {"kappa": KAPPA}
    switches = {"every": EVERY}
    experiment, column = "figure2", "kappa"
    labels = Risk.LABELS
    axes = ("half side of the box κ", "empirical risk J")
    what = ("Empirical risk", "half the side of the box")

    @property
    def at(self) -> float:
        return self.kappa

    def shown(self) -> list[Curve]:
        return [curve for curve in self.curves if self.every or curve.method != "lop-replace"]

    def answer(self) -> str:
        tilt, bend, anchor = (self.mean(method, kappa=self.kappa) for method in ("lop", "qop", "anchor"))
        at, tilted = f"At κ = {self.kappa:g} the anchor", times(tilt / bend)
        if anchor <= bend * 1.0005:
            return f"{at} does no worse than the bend; the tilt’s risk is {tilted} times the bend’s."
        return f"{at}’s risk is {times(anchor / bend)} times the bend’s, the tilt’s {tilted} times."

    def promise(self) -> str:
        accountant = f"{EACH}, except for the bends as they were run"
        return sentences.promise(Risk.EPSILON, Risk.DELTA, accountant, adjacency=REPLACED)

    def note(self) -> str:
        return (
            "n = 300, d = 100, weight of the regulariser ω = 1, ten draws, 95 % intervals. The paper’s bends are not "
            "private as they were run: their anchor is off."
        )
