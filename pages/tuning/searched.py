"""A private search over a small grid: every setting's noisy score and what its model is worth, beside unpaid fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd

from objpert_core.datasets import load
from objpert_core.experiments.studies.searches import Candidate, Search, searched
from pages.tuning.numbers import SEARCH_CONTROLS
from ui import draws, jobs, sentences
from ui.figures import Figure, axis, figure, marks, series
from ui.view import Course, View

PROOF = "composing all fits, with a coin for each person"
NOTE = (
    "→ is what the search releases; everything else in this picture stays secret. Margin: with a margin, rows that are "
    "already right still pull. Scaled: rows are centred and scaled privately first. New rows are the data set’s test "
    "rows. Without a search there is one fit to all rows, with the whole ε and the estimator’s own setting. Each "
    "unpaid fit has the whole ε, too."
)


@lru_cache(maxsize=200)
def found(data: str, epsilon: float, delta: float, seed: int) -> Search:
    """The search, shared by everybody who asks for it."""
    with jobs.moment():
        return searched(load(data), epsilon, delta, seed)


def called(setting: Mapping[str, Any]) -> str:
    """A setting in few words."""
    return f"margin {setting['margin']:g}, {'scaled' if setting['standardize'] else 'raw'}"


@dataclass(frozen=True)
class Searched(View, name="tuning_search", title="A private search", snippet="searched"):
    """Four settings of one estimator, on one data set."""

    data: str
    epsilon: float
    delta: float
    seed: int

    controls = SEARCH_CONTROLS
    aside = (SEARCH_CONTROLS["delta"], SEARCH_CONTROLS["seed"])
    snippet_note = "The first block is the search. The second looks at what only the owner of the rows may see."
    ghosts = False
    named = {"epsilon": "ε", "delta": "δ"}

    @property
    def found(self) -> Search:
        """What the search finds."""
        return found(self.data, self.epsilon, self.delta, self.seed)

    def answer(self) -> str:
        each, unpaid = (sentences.epsilon(value) for value in (self.found.fit_epsilon, self.found.unpaid_epsilon))
        fits = sentences.count(len(self.found.candidates), "fit")
        return f"The search leaves ε = {each} for each of its {fits}; unpaid fits together spend {unpaid}."

    def promise(self) -> str:
        return sentences.promise(self.epsilon, self.delta, PROOF)

    def courses(self) -> Sequence[Course]:
        return (("the ε of each fit", self.found.fit_epsilon, sentences.epsilon),)

    def label(self, one: Candidate) -> str:
        """A setting as the chart calls it, with a mark at the winner."""
        return f"{'→ ' if one is self.found.best else ''}{called(one.setting)}"

    def chart(self, before: Self | None) -> Figure:
        every = self.found.candidates
        places = np.arange(len(every), dtype=float)
        scores = np.array([one.score.value for one in every])
        low, high = (np.array([getattr(one.score, end) for one in every]) for end in ("low", "high"))
        bars = {"symmetric": False, "array": high - scores, "arrayminus": scores - low, "thickness": 2, "width": 6}
        hover = "%{x:.1%}"
        ends = [-0.5, len(every) - 0.5]
        worth, unpaid = [one.worth for one in every], [one.unpaid for one in every]
        edges = [*low, *high, *worth, *unpaid, self.found.fixed]
        air = 0.04 * (max(edges) - min(edges))
        traces = [
            series("no search, new rows", [self.found.fixed] * 2, ends, "non-private", hover=hover),
            marks("noisy score", scores, places - 0.15, "noise", 11, hover=hover, error_x=bars),
            marks("fit of the search, new rows", worth, places + 0.05, "tight", 11, hover=hover),
            marks("unpaid fit, new rows", unpaid, places + 0.2, "composed", 11, hover=hover),
        ]
        xaxis = axis("share of rows that are right", (min(edges) - air, max(edges) + air), tickformat=".0%")
        yaxis = draws.places("", [self.label(one) for one in every], (ends[1], ends[0]))
        return figure(traces, xaxis, yaxis, height=420, hovermode="closest")

    def shows(self) -> str:
        best = self.found.best
        return (
            "Every setting’s noisy score with its 95 % interval, and what the search’s fit and an unpaid fit get "
            f"right on new rows. The winner is {called(best.setting)}: score {sentences.percent(best.score.value)}, "
            f"on new rows {sentences.percent(best.worth)}. Without a search: {sentences.percent(self.found.fixed)}."
        )

    def note(self) -> str:
        return NOTE

    def table(self) -> list[dict[str, str]]:
        rows = [
            {
                "Setting": self.label(one),
                "ε of its fit": sentences.epsilon(self.found.fit_epsilon),
                "Noisy score": sentences.percent(one.score.value),
                "95 % interval": f"{sentences.percent(one.score.low)} to {sentences.percent(one.score.high)}",
                "Fit of the search, new rows": sentences.percent(one.worth),
                "Unpaid fit, new rows": sentences.percent(one.unpaid),
            }
            for one in self.found.candidates
        ]
        fixed = {"Setting": "no search", "ε of its fit": sentences.epsilon(self.epsilon)}
        missing = dict.fromkeys(rows[0], "–")
        return [*rows, missing | fixed | {"Fit of the search, new rows": sentences.percent(self.found.fixed)}]

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame(
            {
                **one.setting,
                "score": one.score.value,
                "low": one.score.low,
                "high": one.score.high,
                "new_rows": one.worth,
                "unpaid_new_rows": one.unpaid,
                "released": one is self.found.best,
            }
            for one in self.found.candidates
        )
