"""What is proved, without data: is SGD private as published, and how many steps are best."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

import pandas as pd

from objpert_core.accounting import SampledWithReplacement
from objpert_core.accounting.population.published import published_sgd_mechanism, published_sgd_schedule
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.experiments.population.methods import Setting
from objpert_core.theory.population_risk import DescentParts, descent_parts
from pages.population.controls import ROWS, STEPS, T_VALUES
from pages.population.learning import REPLACED, Learning, proved, risk
from ui import figures, sentences
from ui.controls import previous
from ui.sentences import times
from ui.view import Course


@dataclass(frozen=True)
class Promise:
    """δ of one step of Algorithm 1 as published: `target` is claimed, `attained` on some data, `proved` for all;
    `steps` is T of Theorem 3.2.
    """

    target: float
    attained: float
    proved: float
    steps: int


@lru_cache(maxsize=256)
def single_step(n: int, d: int, epsilon: float) -> Promise:
    """Algorithm 1 with T = 1, for which Theorem 3.1 claims privacy as for any T."""
    delta = 1 / n**2
    step = published_sgd_mechanism(n, d, epsilon, delta, strict=False, steps=1)
    assert isinstance(step, SampledWithReplacement)
    steps = published_sgd_schedule(Sizes(n, d, epsilon, delta), strict=False).steps
    return Promise(delta, step.attained_delta(epsilon), float(step.delta(epsilon)), steps)


class Leak(Learning, name="population_leak", title="Is SGD private as published?", snippet="leak"):
    """One step at one setting."""

    ghosts = False

    @property
    def step(self) -> Promise:
        """What the step costs."""
        return single_step(self.n, self.d, self.epsilon)

    def answer(self) -> str:
        step = self.step
        over = step.attained / step.target
        claimed = f"One published step claims δ = {sentences.delta(step.target)}"
        if over <= 1:
            return f"{claimed}, and nothing shows a larger δ here."
        return f"{claimed} and has {sentences.scientific(step.attained)}, {times(over)} times as much."

    def promise(self) -> str:
        """What one step keeps for sure."""
        return sentences.promise(self.epsilon, self.step.proved, "sampling with replacement", adjacency=REPLACED)

    def note(self) -> str:
        return (
            f"Algorithm 1 with T = 1, n = {self.n:,}; Theorem 3.1 claims δ = {sentences.delta(self.step.target)}. "
            f"Theorem 3.2 has T = {self.step.steps:,} at this d."
        )

    def table(self) -> list[dict[str, str]]:
        return [
            {"n": f"{n:,}", "Exactly, on constructed data": times(attained), "Proved for all data": times(proved)}
            for n, attained, proved in self.over()
        ]

    def over(self) -> list[tuple[int, float, float]]:
        """δ over its target, from below and from above, for every n."""
        steps = {n: single_step(n, self.d, self.epsilon) for n in ROWS.options}
        return [(n, step.attained / step.target, step.proved / step.target) for n, step in steps.items()]

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(self.over(), columns=["n", "attained", "proved"])

    def shows(self) -> str:
        attained, proved = (times(delta / self.step.target) for delta in (self.step.attained, self.step.proved))
        return (
            "δ of one published step over its target, against the number of rows, both logarithmic: from below and "
            f"from above. At this n: {attained} and {proved}."
        )

    def chart(self, before: Self | None) -> figures.Figure:
        table = self.numbers()
        low, high = figures.log_range([1.0, *table["attained"], *table["proved"]])
        ends = (table["n"].min() / 1.3, table["n"].max() * 1.3)
        traces = [
            figures.guide((self.n, self.n), (low, high)),
            figures.series("claimed", ends, (1.0, 1.0), "guide", hoverinfo="skip"),
        ]
        for label, column, look in (
            ("exactly, on constructed data", "attained", "with"),
            ("proved for all data", "proved", "without"),
        ):
            hover = "%{y:.3g} times its target at n = %{x:,}"
            traces.append(figures.series(label, table["n"], table[column], look, mode="lines+markers", hover=hover))
        xaxis = figures.axis("rows n", ends, log=True)
        yaxis = figures.axis("δ over what is claimed", (low, high), log=True)
        return figures.figure(traces, xaxis, yaxis, height=430, hovermode="closest")


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
        bounds = {sentences.capital(name): getattr(self.here, key) for key, name in PARTS.items()}
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
