"""One column of an additive model: its curve, private, over the curve without privacy; the other columns, small."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core import datasets
from objpert_core._validation import FloatArray
from pages.columns.controls import COLUMN, COLUMNS, DELTA, DRAWS, EPSILON, NUMBERS, SEED, called
from pages.columns.fitted import ACCOUNTANT, LARGE, OTHERS, Additive, Settings, adult, fitted, reference
from ui import draws, figures, page, sentences, style
from ui.view import Course, View, set_by

MOST = 14  # categories that have room in a picture
RARE = 0.01  # share of the people: rarer pieces are left out of a sentence
NAMES = {"private": "private", "public": "without privacy"}
LOOKS = {"private": "tight", "public": "non-private"}
_ODDS = (1e-4, 1e-3, 0.01, 0.1, 1 / 3, 1, 3, 10, 100, 1e3, 1e4)
_SMALL = 3.6  # log-odds: where small pictures are cut


class Axis(NamedTuple):
    """The axis of a column of numbers; where most people have 0, which stands apart, it is logarithmic from `first`."""

    title: str
    low: float
    high: float
    ticks: Sequence[float]
    first: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """In places."""
        if self.first is None:
            return self.low, self.high
        length = math.log10(self.high / self.first)
        return -0.15 * length, length

    def places(self, values: Any) -> FloatArray:
        """Where values are drawn; those below the axis at its beginning."""
        known = np.asarray(values, dtype=float)
        if self.first is None:
            return np.clip(known, self.low, self.high)
        places = np.log10(np.maximum(known, self.first) / self.first)
        return np.clip(np.where(known <= 0, self.ends[0], places), *self.ends)

    def drawn(self, title: str, **more: Any) -> dict[str, Any]:
        """As plotly takes it."""
        at, names = self.places(self.ticks), [f"{value:,}" for value in self.ticks]
        if self.first is not None:
            at, names = np.append(self.ends[0] / 2, at), ["0", *names]
        return figures.axis(title, self.ends, **figures.ticks(at, names, **more))


AXES: Mapping[str, Axis] = {
    "age": Axis("age, years", 17, 90, (20, 30, 40, 50, 60, 70, 80)),
    "hours-per-week": Axis("hours per week", 1, 99, (20, 40, 60, 80)),
    "capital-gain": Axis("capital gain, dollars", 0, 99_999, (100, 1000, 10_000), 100),
    "capital-loss": Axis("capital loss, dollars", 0, 4356, (500, 1000, 2000, 4000), 500),
}


class OfModels(View):
    """A picture of the model at one setting, beside the one without privacy."""

    epsilon: float
    delta: float
    seed: int
    redrawn = SEED

    @cached_property
    def models(self) -> dict[str, Additive]:
        """The private model and the one without privacy."""
        return {"private": fitted(self.settings)[0], "public": reference(self.delta)}

    @property
    def settings(self) -> Settings:
        """Of the private fit."""
        return Settings(self.epsilon, self.delta, self.seed)

    def promise(self) -> str:
        return sentences.promise(self.epsilon, self.delta, ACCOUNTANT)

    def blanks(self) -> Mapping[str, Any]:
        return {**super().blanks(), "data": datasets.default_name(), "columns": list(COLUMNS)}

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        with left, st.spinner("Fitting …"):
            self.models  # noqa: B018 - made and kept
        super().show(left, ghost=ghost)


class Curve(OfModels, name="columns", title="One column", snippet="curve"):
    """The curve of one column, and how far noise has moved it."""

    epsilon: float = set_by(EPSILON, "ε")
    column: str = set_by(COLUMN, "column")
    draws: bool = set_by(DRAWS)
    delta: float = set_by(DELTA, "δ", aside=True)
    seed: int = set_by(SEED, "noise seed", aside=True)

    snippet_note = "These lines print the private curve."

    @cached_property
    def others(self) -> list[Additive]:
        """Fits that differ by their noise alone."""
        seeds = range(self.seed + 1, self.seed + 1 + OTHERS) if self.draws else ()
        return fitted(*(Settings(self.epsilon, self.delta, seed) for seed in seeds))

    def off(self, model: Additive, column: str = "") -> float:
        """How far a curve is off the one without privacy: the root mean square over the people, as odds."""
        column = column or self.column
        values = adult().frame[column].to_numpy()
        apart = model.terms(column, values) - self.models["public"].terms(column, values)
        return math.exp(float(np.sqrt(np.mean(apart**2))))

    def reach(self, key: str) -> tuple[float, float]:
        """The least and the largest effect that is not rare, as odds."""
        one = self.models[key].shapes[self.column]
        effects = one[one["share"] >= RARE]["effect"]
        return math.exp(effects.min()), math.exp(effects.max())

    def answer(self) -> str:
        name = called(self.column)
        if self.draws:
            offs = [self.off(model) for model in (self.models["private"], *self.others)]
            least, most = _times(min(offs)), _times(max(offs))
            return f"By {name}, six draws of noise are off by {least} to {most}: read what they share."
        low, high = map(_times, self.reach("private"))
        off = _times(self.off(self.models["private"]))
        return f"By {name}, odds of a high income go from {low} to {high}, off by about {off}."

    def courses(self) -> list[Course]:
        return [("the private curve’s distance", self.off(self.models["private"]), _times)]

    def note(self) -> str:
        people = adult()
        shown = {True: "", False: f" In the order without privacy; the {MOST} most frequent."}[self.column in NUMBERS]
        return (
            f"A high income is more than 50,000 dollars a year. {len(people.labels):,} people of {people.label}, noise "
            f"seed {self.seed}. Without privacy is the same model at ε = {LARGE:,.0f}.{shown} "
            "Off: the root mean square over these people of the distance between both curves, as odds."
        )

    def table(self) -> list[dict[str, str]]:
        rows = []
        for key, model in self.models.items():
            low, high = map(_times, self.reach(key))
            own = {"Curve": NAMES[key].capitalize(), "Pieces": f"{len(model.shapes[self.column]) - 1}"}
            rows.append(
                own | {"Odds from": low, "to": high, "Off": _times(self.off(model)) if key == "private" else "–"}
            )
        return rows

    def numbers(self) -> pd.DataFrame:
        seeds = range(self.seed + 1, self.seed + 1 + len(self.others))
        every = {**self.models, **{f"seed {seed}": one for seed, one in zip(seeds, self.others, strict=True)}}
        return pd.concat([one.shapes[self.column].assign(curve=key) for key, one in every.items()], ignore_index=True)

    def shows(self) -> str:
        parts = []
        for key, model in self.models.items():
            low, high = map(_times, self.reach(key))
            parts.append(f"{NAMES[key]} from {low} to {high} in {len(model.shapes[self.column]) - 1} pieces")
        return f"Effect on the odds against {called(self.column)}: {'; '.join(parts)}."

    def chart(self, before: Self | None) -> Any:
        older = [] if before is None or before.column != self.column else [before.models["private"]]
        return (self.steps if self.column in NUMBERS else self.dots)(older)

    def steps(self, older: Sequence[Additive]) -> Any:
        """Step curves over the numbers."""
        axis, found = AXES[self.column], []
        traces = [_steps(one, self.column, "private", ghost=True, name="before") for one in older]
        traces += [_faint(_steps(one, self.column, "private")) for one in self.others]
        for key in ("public", "private"):
            trace = _steps(self.models[key], self.column, key)
            traces.append(trace)
            found.append(trace["y"])
        labels = _above(traces[-2:], axis.ends)
        xaxis = axis.drawn(f"{axis.title}<br>on {adult().label}", showgrid=False)
        return figures.figure(
            traces,
            xaxis,
            _odds(np.concatenate(found)),
            height=430,
            legend=False,
            hovermode="closest",
            annotations=labels,
        )

    def dots(self, older: Sequence[Additive]) -> Any:
        """A line for each category, sorted by its effect without privacy; rare ones are faint."""
        public, private = (self.models[key].shapes[self.column].set_index("piece") for key in ("public", "private"))
        names = public.nlargest(MOST, "share").sort_values("effect").index
        rows, traces = np.arange(len(names)), []
        shares = private["share"][names].to_numpy()
        effects = {"public": public["effect"][names].to_numpy(), "private": private["effect"][names].to_numpy()}
        gap = np.full(len(rows), np.nan)
        x = np.stack([effects["public"], effects["private"], gap], 1).ravel()
        traces.append(figures.guide(x, np.repeat(rows, 3)))
        for one in older:
            was = one.shapes[self.column].set_index("piece")["effect"][names]
            traces.append(figures.series("before", was, rows, LOOKS["private"], ghost=True, mode="markers"))
        for one in self.others:
            other = one.shapes[self.column].set_index("piece")["effect"][names]
            traces.append(_faint(figures.marks("other draw", other, rows, LOOKS["private"], 7, showlegend=False)))
        opacity = np.clip(0.3 + 7 * shares, 0.3, 1.0)
        for key, size in (("public", 9), ("private", 11)):
            hover = "%{y}: odds × %{customdata[0]:.3g}, %{customdata[1]:.1%} of people"
            data = np.column_stack([np.exp(effects[key]), shares])
            traces.append(figures.marks(NAMES[key], effects[key], rows, LOOKS[key], size, hover=hover, customdata=data))
        traces[-1]["marker"] |= {"opacity": opacity}
        labels = _beside(traces[-2:])
        yaxis = draws.places("", list(names), (-0.5, len(names) - 0.1))
        ends = _odds(np.concatenate([*effects.values()]), title=f"odds of a high income<br>on {adult().label}")
        return figures.figure(traces, ends, yaxis, height=430, legend=False, hovermode="closest", annotations=labels)

    def evidence(self, picture: page.Picture) -> None:
        if not style.embedded():
            st.markdown("**The other columns of the same model**")
            alt = f"Small curves of the other {len(COLUMNS) - 1} columns, private over without privacy."
            page.chart(self.small(), key="columns_small", alt=alt)
        super().evidence(picture)

    def small(self) -> Any:
        """The other columns, each in a picture of its own: odds between ÷30 and ×30."""
        across = 2 if style.on_phone() else 4
        names = [name for name in COLUMNS if name != self.column]
        down = math.ceil(len(names) / across)
        traces, labels, axes = [], [], {}
        for place, name in enumerate(names):
            row, column = divmod(place, across)
            left, top = column / across, 1 - row / down
            suffix = str(place + 1) if place else ""
            xaxis = (
                AXES[name].drawn("")
                if name in NUMBERS
                else figures.axis("", (-0.5, len(adult().columns[name].categories) - 0.5))
            )
            both = {"showticklabels": False, "showgrid": False, "ticks": ""}
            axes[f"xaxis{suffix}"] = xaxis | both | {"domain": [left, left + 0.92 / across], "anchor": f"y{suffix}"}
            yaxis = figures.axis("", (-_SMALL, _SMALL), tickvals=[0], ticktext=["1×"]) | {"showticklabels": False}
            axes[f"yaxis{suffix}"] = yaxis | {"domain": [top - 0.78 / down, top - 0.08 / down], "anchor": f"x{suffix}"}
            for key in ("public", "private"):
                made = _steps(self.models[key], name, key) if name in NUMBERS else _ranked(self.models, name, key)
                traces.append(made | {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"})
            place_of_label = {
                "x": left,
                "y": top,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "top",
            }
            labels.append({"text": called(name), "showarrow": False, **place_of_label})
        first = axes.pop("xaxis"), axes.pop("yaxis")
        return figures.figure(
            traces, *first, height=130 * down, legend=False, hovermode=False, annotations=labels, **axes
        )


def _times(odds: float) -> str:
    return sentences.ratio(odds, up=False) if odds >= 0.01 else f"{sentences.number(odds, 2)}×"


def _steps(model: Additive, column: str, key: str, *, name: str = "", **look: Any) -> dict[str, Any]:
    """The curve of a column of numbers as one line of steps."""
    one = model.shapes[column][:-1]  # the last piece is that of missing values
    x = AXES[column].places(one[["low", "high"]].to_numpy().ravel())
    y = np.repeat(one["effect"].to_numpy(), 2)
    more = {"customdata": np.column_stack([np.exp(y), np.repeat(one["share"].to_numpy(), 2)])}
    hover = "odds × %{customdata[0]:.3g}, %{customdata[1]:.1%} of people"
    return figures.series(name or NAMES[key], x, y, LOOKS[key], hover=hover, **more, **look)


def _ranked(models: Mapping[str, Additive], column: str, key: str) -> dict[str, Any]:
    """The categories of a column as marks, in the order of their effects without privacy; unseen ones have none."""
    own = {name: one.shapes[column][:-2] for name, one in models.items()}
    order = np.argsort(own["public"]["effect"].to_numpy())
    y = own[key]["effect"].to_numpy()[order]
    opacity = np.clip(0.25 + 7 * own["private"]["share"].to_numpy()[order], 0.25, 1.0)
    return figures.marks(NAMES[key], np.arange(len(y)), y, LOOKS[key], 5, look={"opacity": opacity})


def _faint(trace: dict[str, Any]) -> dict[str, Any]:
    line = trace["line"] | {"width": 1.2}
    return trace | {"opacity": 0.4, "line": line, "hoverinfo": "skip", "hovertemplate": None}


def _odds(effects: FloatArray, title: str = "odds of a high income") -> dict[str, Any]:
    """An axis of effects, which are log-odds, whose ticks are odds."""
    low, high = float(np.min(effects)), float(np.max(effects))
    air = 0.08 * (high - low) + 0.1
    shown = [tick for tick in _ODDS if low - air <= math.log(tick) <= high + air]
    names = [f"{tick:,.0f}×" if tick >= 1 else f"÷{1 / tick:,.0f}" for tick in shown]
    return figures.axis(title, (low - air, high + air), **figures.ticks(np.log(shown), names))


def _above(traces: Sequence[Mapping[str, Any]], ends: tuple[float, float]) -> list[dict[str, Any]]:
    """The names of two curves, each where it is farthest above the other one."""
    grid = np.linspace(*ends, 101)[15:-15]
    heights = [np.interp(grid, trace["x"], trace["y"]) for trace in traces]
    labels = []
    for trace, own, other in zip(traces, heights, reversed(heights), strict=True):
        at = int(np.argmax(own - other))
        look = {"arrowcolor": trace["line"]["color"], "arrowhead": 0, "arrowwidth": 2, "ax": 0, "ay": -24}
        labels.append({"text": trace["name"], "x": grid[at], "y": own[at], **look})
    return labels


def _beside(traces: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The names of two kinds of marks, on either side of the row that lies in the middle."""
    x = np.array([trace["x"] for trace in traces])
    row = int(np.argmin(np.abs(x.mean(axis=0) - (x.min() + x.max()) / 2)))
    labels = []
    for place, trace in enumerate(traces):
        side = "left" if x[place, row] >= x[1 - place, row] else "right"
        shift = {"xanchor": side, "xshift": 8 if side == "left" else -8, "showarrow": False}
        labels.append({"text": trace["name"], "x": x[place, row], "y": row, **shift})
    return labels
