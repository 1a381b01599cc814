"""One invented person's score, as the sum of what each column adds."""

import math
from dataclasses import astuple
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from objpert_core._validation import FloatArray
from pages.columns import controls, shapes
from pages.columns.fitted import LARGE, OfModels, adult
from pages.columns.shapes import LOOKS, NAMES, times
from ui import draws, figures, sentences
from ui.view import Course, set_by

FIRST = "start"  # the row where the sum begins
_MANY = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
_FEW = (0.0001, 0.001, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 0.999, 0.9999)
_WRITTEN = {"age": "age {}", "hours-per-week": "{} hours", "capital-gain": "gain {:,}", "capital-loss": "loss {:,}"}


class Person(OfModels, name="columns_person", title="Who is this?", snippet="person"):
    """The score of one person without a name, who does not exist."""

    epsilon: float = set_by(controls.EPSILON, "ε")
    age: int = set_by(controls.AGE, "age")  # from here on in the order of the columns
    hours: int = set_by(controls.HOURS, "hours")
    gain: int = set_by(controls.GAIN, "capital gain", aside=True)
    loss: int = set_by(controls.LOSS, "capital loss", aside=True)
    work: str = set_by(controls.WORK, "workclass", aside=True)
    education: str = set_by(controls.EDUCATION, "education")
    married: str = set_by(controls.MARRIED, "marital status", aside=True)
    occupation: str = set_by(controls.OCCUPATION, "occupation")
    related: str = set_by(controls.RELATED, "relationship", aside=True)
    race: str = set_by(controls.RACE, "race", aside=True)
    sex: str = set_by(controls.SEX, "sex", aside=True)
    country: str = set_by(controls.COUNTRY, "native country", aside=True)
    delta: float = set_by(controls.DELTA, "δ", aside=True)
    seed: int = set_by(controls.SEED, "noise seed", aside=True)

    snippet_note = "These lines print the private score as a sum."

    @property
    def person(self) -> dict[str, Any]:
        """What the person answers."""
        return dict(zip(controls.COLUMNS, astuple(self)[1:-2], strict=True))

    def terms(self, key: str) -> dict[str, float]:
        """The score where all effects are 0, and what each column adds."""
        model = self.models[key]
        own = {name: float(model.terms(name, [value])[0]) for name, value in self.person.items()}
        return {FIRST: model.intercept, **own}

    def chance(self, key: str) -> float:
        """The chance of a high income that a model states."""
        return float(expit(sum(self.terms(key).values())))

    def answer(self) -> str:
        private, public = (sentences.percent(self.chance(key)) for key in ("private", "public"))
        return f"Private, this person’s chance of a high income is {private}; without privacy it is {public}."

    def courses(self) -> list[Course]:
        return [("the chance", self.chance("private"), sentences.percent)]

    def note(self) -> str:
        people = adult()
        return (
            f"The person is invented; the model has learned from {len(people.labels):,} people of {people.label}. "
            "Bars: what each column adds to the private score, from top to bottom. The dotted line is the same sum "
            f"without privacy, by the same model at ε = {LARGE:,.0f}."
        )

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "person": self.person}

    def table(self) -> list[dict[str, str]]:
        private, public = self.terms("private"), self.terms("public")
        return [
            {
                "Column": controls.called(name),
                "Value": f"{self.person.get(name, '–')}",
                "Adds, log-odds": sentences.fixed(private[name], 2),
                "Odds": times(math.exp(private[name])),
                "Without privacy": times(math.exp(public[name])),
            }
            for name in private
        ]

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({key: self.terms(key) for key in NAMES}).rename_axis("column").reset_index()

    def shows(self) -> str:
        terms = self.terms("private")
        most = sorted(self.person, key=lambda name: -abs(terms[name]))[:3]
        told = ", ".join(f"{self.written(name)} {times(math.exp(terms[name]))}" for name in most)
        return f"A sum of {len(terms)} terms, as odds. The largest: {told}."

    def written(self, name: str) -> str:
        """An answer of the person, as short as it can be understood."""
        return FIRST if name == FIRST else _WRITTEN.get(name, "{}").format(self.person[name])

    def chart(self, before: Self | None) -> Any:
        paths = {key: np.cumsum(list(self.terms(key).values())) for key in NAMES}
        private, last = paths["private"], len(controls.COLUMNS)
        traces = [] if before is None else [_stairs(np.cumsum([*before.terms("private").values()]), ghost=True)]
        traces += (both := [_stairs(path, key) for key, path in paths.items()])
        colors = [figures.VERMILION if term > 0 else figures.BLUE for term in np.diff(private)]
        told = [
            f"{times(math.exp(term))}, chance so far {expit(path):.1%}"
            for term, path in zip(np.diff(private), private[1:], strict=True)
        ]
        bars = {
            "base": private[:-1],
            "x": np.diff(private),
            "y": np.arange(last) + 1,
            "marker": {"color": colors, "opacity": 0.6},
        }
        traces.append({"type": "bar", "orientation": "h", "name": "", "hovertext": told, "hoverinfo": "text", **bars})
        low, high = float(np.min([*paths.values()])), float(np.max([*paths.values()]))
        view = (low - 0.08 * (high - low), high + 0.08 * (high - low))
        shown = [chance for chance in (_MANY if high - low < 2.5 else _FEW) if view[0] <= logit(chance) <= view[1]]
        ticks = figures.ticks(logit(shown), [f"{100 * chance:g} %" for chance in shown])
        xaxis = figures.axis(f"chance of a high income<br>on {adult().label}", view, **ticks)
        yaxis = draws.places("", [self.written(name) for name in (FIRST, *self.person)], (last + 2.4, -0.6))
        labels = shapes.labels_beyond(both, [path[-1] for path in paths.values()], last + 0.5, view, 0.8)
        return figures.figure(traces, xaxis, yaxis, legend=False, annotations=labels)


def _stairs(path: FloatArray, key: str = "private", **look: Any) -> dict[str, Any]:
    """A sum that moves from row to row."""
    ends = np.arange(len(path))[:, None] + np.array([-0.5, 0.5])
    return figures.series(NAMES[key], np.repeat(path, 2), ends.ravel(), LOOKS[key], hoverinfo="skip", **look)
