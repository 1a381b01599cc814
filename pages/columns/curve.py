"""One column of an additive model: its curve, private, over the curve without privacy; the other columns, small."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
import streamlit as st

from pages.columns import shapes
from pages.columns.controls import COLUMN, COLUMNS, DELTA, DRAWS, EPSILON, NUMBERS, SEED, called
from pages.columns.fitted import LARGE, Additive, OfModels, adult, fitted
from pages.columns.shapes import AXES, NAMES, ODDS, times
from ui import draws, figures, page, style
from ui.view import Course, set_by

MOST = 14  # categories that have room in a picture
OTHERS = 5
_RARE = 0.01  # share of the people: rarer pieces are left out of a sentence
_SMALL = math.log(30)  # where small pictures are cut


class Curve(OfModels, name="columns", title="One column", snippet="curve"):
    """The curve of one column, and how far noise has moved it."""

    epsilon: float = set_by(EPSILON, "ε")
    column: str = set_by(COLUMN, "column")
    draws: bool = set_by(DRAWS)
    delta: float = set_by(DELTA, "δ", aside=True)
    seed: int = set_by(SEED, "noise seed", aside=True)

    redrawn = SEED
    snippet_note = "These lines print the private curve."

    @cached_property
    def others(self) -> dict[int, Additive]:
        """Fits that differ by their noise alone, by their seeds."""
        seeds = range(self.seed + 1, self.seed + 1 + OTHERS) if self.draws else ()
        models = fitted(*((self.epsilon, self.delta, seed, None) for seed in seeds))
        return dict(zip(seeds, models, strict=True))

    def off(self, model: Additive) -> float:
        """How far a curve is off the one without privacy: the root mean square over the people, as odds."""
        one, other = (each.terms(self.column, adult().frame[self.column]) for each in (model, self.models["public"]))
        return math.exp(float(np.sqrt(np.mean((one - other) ** 2))))

    def reach(self, key: str) -> tuple[str, str]:
        """The least and the largest effect that is not rare, as odds."""
        one = self.models[key].shapes[self.column]
        effects = one[one["share"] >= _RARE]["effect"]
        return times(math.exp(effects.min())), times(math.exp(effects.max()))

    def answer(self) -> str:
        name, off = called(self.column), self.off(self.models["private"])
        if self.draws:
            every = [off, *map(self.off, self.others.values())]
            return f"By {name}, six draws are off by {times(min(every))} to {times(max(every))}: read what they share."
        low, high = self.reach("private")
        return f"By {name}, {ODDS} go from {low} to {high}, off by about {times(off)}."

    def courses(self) -> list[Course]:
        return [("how far the private curve is off", self.off(self.models["private"]), times)]

    def note(self) -> str:
        people = adult()
        order = "" if self.column in NUMBERS else f"The {MOST} most frequent, in the order without privacy. "
        more = "Faint: five other draws; a release has one, and six would cost more. " if self.draws else ""
        return (
            f"{order}{more}A high income is above 50,000 dollars a year. {len(people.labels):,} people of "
            f"{people.label}, noise seed {self.seed}. Without privacy is the same model at ε = {LARGE:,.0f}. Off: the "
            "root mean square, over the people, of the distance between the curves. Words leave out pieces with fewer "
            "than 1 % of the people; small pictures end at ÷30 and ×30."
        )

    def table(self) -> list[dict[str, str]]:
        off = {"public": "–", "private": times(self.off(self.models["private"]))}
        rows = {key: (len(one.shapes[self.column]) - 1, *self.reach(key)) for key, one in self.models.items()}
        return [
            {"Curve": NAMES[key], "Pieces": f"{pieces}", "Odds from": low, "to": high, "Off by": off[key]}
            for key, (pieces, low, high) in rows.items()
        ]

    def numbers(self) -> pd.DataFrame:
        every = self.models | {f"seed {seed}": one for seed, one in self.others.items()}
        return pd.concat([one.shapes[self.column].assign(curve=key) for key, one in every.items()], ignore_index=True)

    def shows(self) -> str:
        told = (f"{NAMES[key]} from {' to '.join(self.reach(key))}" for key in self.models)
        return f"Effect of {called(self.column)} on the {ODDS}: {', '.join(told)}."

    def chart(self, before: Self | None) -> Any:
        older = [] if before is None or before.column != self.column else [before.models["private"]]
        return (self.steps if self.column in NUMBERS else self.dots)(older)

    def steps(self, older: Sequence[Additive]) -> Any:
        """Step curves over the numbers."""
        axis = AXES[self.column]
        traces = [shapes.steps(one, self.column, "private", ghost=True) for one in older]
        traces += [shapes.faint(shapes.steps(one, self.column, "private")) for one in self.others.values()]
        traces += (both := [shapes.steps(self.models[key], self.column, key) for key in NAMES])
        low, high = (float(end([end(trace["y"]) for trace in both])) for end in (min, max))
        labels = shapes.labels_above(both, axis.ends, 0.08 * (high - low))
        none = f"<br>{self.models['private'].shapes[self.column]['share'][0]:.0%}"
        xaxis = axis.drawn(f"{axis.title}<br>on {adult().label}", none)
        yaxis = shapes.odds(low - 0.08 * (high - low), high + 0.16 * (high - low), ODDS)
        return figures.figure(traces, xaxis, yaxis, legend=False, annotations=labels)

    def dots(self, older: Sequence[Additive]) -> Any:
        """A row for each category, sorted by its effect without privacy."""
        names = shapes.in_order(self.models["public"], self.column, MOST)
        traces = [shapes.marks(one, self.column, "private", names, 9, ghost=True) for one in older]
        traces += [shapes.faint(shapes.marks(one, self.column, "private", names, 7)) for one in self.others.values()]
        both = [shapes.marks(self.models[key], self.column, key, names, 11) for key in NAMES]
        x = np.array([trace["x"] for trace in both])
        rows, top = np.arange(len(names)), len(names) - 1
        apart = np.column_stack([*x, np.full(len(names), np.nan)]).ravel()
        traces += [figures.guide(apart.tolist(), np.repeat(rows, 3).tolist()), *both]
        air = 0.08 * (x.max() - x.min())
        view = (x.min() - air, x.max() + air)
        labels = shapes.labels_beyond(both, x[:, top].tolist(), top, view, 0.9)
        xaxis = shapes.odds(*view, f"{ODDS}<br>on {adult().label}")
        yaxis = draws.places("", names, (-0.6, top + 2.3))
        return figures.figure(traces, xaxis, yaxis, legend=False, annotations=labels)

    def evidence(self, picture: page.Picture) -> None:
        st.markdown("**The other columns of the same model**")
        page.chart(self.small(), key="columns_small", alt="The other columns, each private over without privacy.")
        super().evidence(picture)

    def small(self) -> Any:
        """The other columns, each in a picture of its own; categories lie by their effects without privacy."""
        traces, labels = [], []
        axes: dict[str, Any] = {}
        names = [name for name in COLUMNS if name != self.column]
        across = 2 if style.on_phone() else 4
        down = math.ceil(len(names) / across)
        bare = {"showticklabels": False, "showgrid": False, "ticks": "", "automargin": False}
        for name, place in zip(names, ("", *range(2, len(names) + 1)), strict=True):
            order = [] if name in NUMBERS else shapes.in_order(self.models["public"], name)
            xaxis = AXES[name].drawn() if name in NUMBERS else figures.axis("", (-0.5, len(order) - 0.5))
            yaxis = figures.axis("", (-_SMALL, _SMALL), **figures.ticks([0.0], [""]))
            axes |= {f"xaxis{place}": xaxis | bare, f"yaxis{place}": yaxis | {"automargin": False}}
            for key in NAMES:
                if name in NUMBERS:
                    trace = shapes.steps(self.models[key], name, key)
                else:
                    trace = shapes.marks(self.models[key], name, key, order, 5)
                    trace |= {"x": trace["y"], "y": trace["x"]}
                traces.append(trace | {"xaxis": f"x{place}", "yaxis": f"y{place}"})
            at = {"x": 0, "y": 1, "xref": f"x{place} domain", "yref": f"y{place} domain", "yanchor": "bottom"}
            labels.append({"text": called(name), "showarrow": False, "xanchor": "left", **at})
        grid = {"rows": down, "columns": across, "pattern": "independent", "xgap": 0.1, "ygap": 0.3}
        first = axes.pop("xaxis"), axes.pop("yaxis")
        margin = {"l": 8, "r": 8, "t": 24, "b": 8}
        more: dict[str, Any] = {"hovermode": False, "annotations": labels, "grid": grid, "margin": margin, **axes}
        return figures.figure(traces, *first, height=120 * down, legend=False, **more)
