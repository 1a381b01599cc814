"""One invented person's score, as the sum of what each column adds."""

from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from pages.columns import controls as c
from pages.columns.curve import LOOKS, NAMES, OfModels, _times
from pages.columns.fitted import LARGE, adult
from ui import draws, figures, sentences
from ui.view import Course, set_by

FIRST = "everybody"  # the row where the sum begins
_HALF = 0.36
_CHANCES = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
_WRITTEN = {"age": "age {}", "hours-per-week": "{} hours", "capital-gain": "gain {:,}", "capital-loss": "loss {:,}"}


class Person(OfModels, name="columns_person", title="Who is this?", snippet="person"):
    """The score of one person without a name, who does not exist."""

    epsilon: float = set_by(c.EPSILON, "ε")
    age: int = set_by(c.AGE, "age")
    education: str = set_by(c.EDUCATION, "education")
    occupation: str = set_by(c.OCCUPATION, "occupation")
    hours: int = set_by(c.HOURS, "hours")
    gain: int = set_by(c.GAIN, "capital gain", aside=True)
    loss: int = set_by(c.LOSS, "capital loss", aside=True)
    married: str = set_by(c.MARRIED, "marital status", aside=True)
    related: str = set_by(c.RELATED, "relationship", aside=True)
    work: str = set_by(c.WORK, "workclass", aside=True)
    sex: str = set_by(c.SEX, "sex", aside=True)
    race: str = set_by(c.RACE, "race", aside=True)
    country: str = set_by(c.COUNTRY, "native country", aside=True)
    delta: float = set_by(c.DELTA, "δ", aside=True)
    seed: int = set_by(c.SEED, "noise seed", aside=True)

    redrawn = None
    snippet_note = "These lines print the private score as a sum."

    @property
    def person(self) -> dict[str, Any]:
        """What the person answers."""
        numbers = (self.age, self.hours, self.gain, self.loss)
        words = (
            self.work,
            self.education,
            self.married,
            self.occupation,
            self.related,
            self.race,
            self.sex,
            self.country,
        )
        return dict(zip(c.COLUMNS, (*numbers, *words), strict=True))

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
        return (
            f"The private model gives this person a {private} chance of a high income; without privacy it is {public}."
        )

    def courses(self) -> list[Course]:
        return [("the chance", self.chance("private"), sentences.percent)]

    def note(self) -> str:
        people = adult()
        return (
            f"The person is invented; the model has learned from {len(people.labels):,} people of {people.label}. "
            "Bars: what each column adds to the private score, from top to bottom. Dotted: the same sum without privacy, by "
            f"the same model at ε = {LARGE:,.0f}."
        )

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "person": self.person}

    def table(self) -> list[dict[str, str]]:
        private, public = self.terms("private"), self.terms("public")
        return [
            {
                "Column": c.called(name),
                "Value": f"{self.person.get(name, '–')}",
                "Adds, log-odds": sentences.fixed(private[name], 2),
                "Odds": _times(float(np.exp(private[name]))),
                "Without privacy": _times(float(np.exp(public[name]))),
            }
            for name in private
        ]

    def numbers(self) -> pd.DataFrame:
        return pd.DataFrame({key: self.terms(key) for key in NAMES}).rename_axis("column").reset_index()

    def shows(self) -> str:
        terms = self.terms("private")
        most = sorted(self.person, key=lambda name: -abs(terms[name]))[:3]
        told = ", ".join(f"{self.written(name)} {_times(float(np.exp(terms[name])))}" for name in most)
        return f"A sum of {len(terms)} terms, as odds. The largest: {told}."

    def written(self, name: str) -> str:
        """An answer of the person, as short as it can be understood."""
        return FIRST if name == FIRST else _WRITTEN.get(name, "{}").format(self.person[name])

    def path(self, key: str) -> np.ndarray:
        """The sum after each term."""
        return np.cumsum(list(self.terms(key).values()))

    def chart(self, before: Self | None) -> Any:
        private, public = self.path("private"), self.path("public")
        rows = np.arange(len(private))
        traces: list[dict[str, Any]] = []
        if before is not None:
            traces.append(figures.series("before", *_staircase(before.path("private")), LOOKS["private"], ghost=True))
        traces.append(figures.series(NAMES["public"], *_staircase(public), LOOKS["public"], hoverinfo="skip"))
        for place in rows[1:]:
            color = figures.VERMILION if private[place] >= private[place - 1] else figures.BLUE
            traces.append(_bar(place, private[place - 1], private[place], color))
        odds = np.exp(np.diff(private, prepend=0.0))
        data = np.column_stack([odds, expit(private)])
        hover = "odds × %{customdata[0]:.3g}, chance so far %{customdata[1]:.1%}"
        traces.append(figures.marks("private", private, rows, LOOKS["private"], 8, hover=hover, customdata=data))
        low, high = (float(end) for end in (min(private.min(), public.min()), max(private.max(), public.max())))
        shown = [chance for chance in _CHANCES if low - 1 <= logit(chance) <= high + 1]
        names = [f"{100 * chance:g} %" for chance in shown]
        title = f"chance of a high income<br>on {adult().label}"
        xaxis = figures.axis(title, (low - 0.5, high + 0.7), **figures.ticks(logit(shown), names))
        labels = [self.written(name) for name in (FIRST, *self.person)]
        yaxis = draws.places("", labels, (len(rows) - 0.4, -0.6))
        ends = [_end("private", private[-1], public[-1]), _end("public", public[-1], private[-1])]
        return figures.figure(traces, xaxis, yaxis, height=430, legend=False, hovermode="closest", annotations=ends)


def _staircase(path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A sum that moves from row to row."""
    rows = np.arange(len(path))
    return np.repeat(path, 2), np.stack([rows - 0.5, rows + 0.5], 1).ravel()


def _bar(place: float, start: float, end: float, color: str) -> dict[str, Any]:
    y = place + _HALF * np.array([-1.0, -1.0, 1.0, 1.0])
    drawn = figures.series(
        "", np.array([start, end, end, start]), y, LOOKS["private"], showlegend=False, hoverinfo="skip"
    )
    return drawn | {
        "fill": "toself",
        "fillcolor": figures.translucent(color, 0.55),
        "line": {"width": 0, "color": color},
    }


def _end(key: str, own: float, other: float) -> dict[str, Any]:
    """The name of a sum beside its end."""
    side = "left" if own >= other else "right"
    shift = {"xanchor": side, "xshift": 8 if side == "left" else -8, "showarrow": False}
    return {"text": NAMES[key], "x": own, "y": len(c.COLUMNS), **shift}
