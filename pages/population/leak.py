"""Is SGD private as published? δ of one step of noisy SGD over its target, against the number of rows."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import pandas as pd

from objpert_core.accounting import SampledWithReplacement
from objpert_core.accounting.population.published import published_sgd_mechanism, published_sgd_schedule
from objpert_core.accounting.population.sizes import Sizes
from pages.population.controls import ROWS
from pages.population.learning import REPLACED, Learning, times
from ui import figures, sentences


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
