"""Steps and stability: the bound on noisy gradient descent, taken apart, against the number of steps."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import pandas as pd

from objpert_core.experiments.population.methods import Setting
from objpert_core.theory.population_risk import DescentParts, descent_parts
from pages.population.controls import STEPS, T_VALUES
from pages.population.learning import Learning, first_large, proved, risk, times
from ui import figures
from ui.controls import previous
from ui.view import Course

PARTS = {"optimisation": "too few steps", "noise": "the noise of privacy", "stability": "too many passes over the rows"}
_CURVES = {
    "optimisation": ("too few steps", "without"),
    "noise": ("noise of privacy", "noise"),
    "stability": ("too many passes", "risk-phased"),
    "total": ("their sum", "with"),
}


@dataclass(frozen=True)
class Passes(Learning, name="population_passes", title="Steps and stability", snippet="passes"):
    """The bound at T steps of one size; of a setting before, `ghost` is the one whose curves are shown."""

    steps: int = STEPS.default
    ghost: Setting | None = None

    controls = {"steps": STEPS, **Learning.controls}
    named = {**Learning.named, "steps": "T"}

    def before(self) -> Self:
        """The view before; where only T was moved since, the ghost stays."""
        before = previous("population_steps", replace(self, radius=self.ball))
        return replace(before or self, ghost=self.setting_before())

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "steps": self.steps, "smoothness": smoothness(self.setting)}

    @cached_property
    def here(self) -> DescentParts:
        """The parts at this T."""
        return parts(self.setting, self.steps)

    @cached_property
    def best(self) -> tuple[int, float]:
        """The T with the least bound, and that bound."""
        return min(((T, parts(self.setting, T).total) for T in T_VALUES), key=lambda total: total[1])

    def answer(self) -> str:
        best, least = self.best
        ratio = self.here.total / least
        if ratio < 1.1:
            return f"T = {self.steps:,} is nearly the best number of steps."
        why = "few" if self.steps < best else "many"
        over = f"the bound is {times(ratio)} times its minimum"
        return f"At T = {self.steps:,} {over}: too {why} steps. T = {best:,} is best."

    def courses(self) -> list[Course]:
        return [("the bound", self.here.total, proved)]

    def table(self) -> list[dict[str, str]]:
        best, least = self.best
        bounds = {first_large(name): getattr(self.here, key) for key, name in PARTS.items()}
        bounds |= {"Their sum": self.here.total, f"The least sum, at T = {best:,}": least}
        return [{"Part": name, "Bound": proved(value)} for name, value in bounds.items()]

    def numbers(self) -> pd.DataFrame:
        return frame(self.setting)

    def shows(self) -> str:
        values = "; ".join(f"{name} {risk(getattr(self.here, key))}" for key, name in PARTS.items())
        return (
            "The bound on noisy gradient descent against the number of steps, both logarithmic. At T = "
            f"{self.steps:,}: {values}."
        )

    def chart(self, before: Self | None) -> figures.Figure:
        shown = [] if before is None or before.ghost is None else [(before.ghost, True)]
        tables = [(frame(setting), ghost) for setting, ghost in (*shown, (self.setting, False))]
        traces = [
            figures.series(label, table["T"], table[name], look, ghost=ghost, hover="%{y:.3g}")
            for table, ghost in tables
            for name, (label, look) in _CURVES.items()
        ]
        low, high = figures.log_range([value for table, _ in tables for name in _CURVES for value in table[name]])
        traces = [figures.guide((self.steps, self.steps), (low, high), name="T"), *traces]
        xaxis = figures.axis("steps T", (T_VALUES[0] / 1.2, T_VALUES[-1] * 1.2), log=True)
        yaxis = figures.axis("bound on the excess risk", (low, high), log=True)
        return figures.figure(traces, xaxis, yaxis, height=400)


def smoothness(setting: Setting) -> float:
    """β of the loss; 0 for one with a corner."""
    return setting.loss.smoothness if math.isfinite(setting.loss.smoothness) else 0.0


def parts(setting: Setting, steps: int) -> DescentParts:
    """The bound on noisy gradient descent, taken apart at T steps of one size."""
    sizes = setting.n, setting.d, setting.epsilon, setting.delta
    return descent_parts(*sizes, steps, radius=setting.radius, smoothness=smoothness(setting))


def frame(setting: Setting) -> pd.DataFrame:
    """The parts of the bound at every T."""
    found = [(steps, parts(setting, steps)) for steps in T_VALUES]
    return pd.DataFrame([{"T": steps} | {name: getattr(at, name) for name in _CURVES} for steps, at in found])
