"""Pictures of stored risks: against the number of rows, and who wins where."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from objpert_core.experiments.population.methods import CONTENDERS, LABELS, Setting
from pages.population.controls import BOUNDS, EVERY
from pages.population.learning import LEGEND, TIGHT, StoredLearning, pair, proved, risk, role
from pages.population.numbers import bound, stability
from ui import figures, sentences
from ui.sentences import times
from ui.stored_view import Curve
from ui.view import set_by


class Rows(StoredLearning, name="population_rows", title="Against the number of rows", snippet="excess"):
    """Excess risk of every method at one number of parameters and ε."""

    bounds: bool = set_by(BOUNDS, switch=True)
    every: bool = set_by(EVERY, switch=True)

    snippet_note = "In the project’s folder these lines print our method's stored means."
    what: ClassVar[str] = "excess"  # of a stored point
    quantity: ClassVar[str] = "Excess population risk"
    height: ClassVar[str] = "excess population risk"
    mode: ClassVar[str] = "lines+markers"

    def point(self, method: str) -> Any:
        """What is stored of a method at this setting; None where nothing is."""
        return self.results.point(self.shown.n, self.shown.d, self.shown.epsilon, method)

    def curve(self, method: str) -> Curve:
        """The stored means of a method; no points where there are none."""
        n, points = self.results.curve(self.shown.d, self.shown.epsilon, method)
        return Curve(
            method, LEGEND[method], tuple((n, getattr(at, self.what)) for n, at in zip(n, points, strict=True))
        )

    def slope(self, method: str) -> float:
        """The fitted power of n, from n = 1,000 on; NaN where little is stored."""
        return self.results.slope(self.shown.d, self.shown.epsilon, method)

    def answer(self) -> str:
        """How fast excess risk falls; with bounds, what published SGD is proved to lose, and what it loses."""
        shown, point, most = self.shown, self.point("sgd"), bound("sgd", self.shown)
        if self.bounds and point is not None and most is not None:
            lost = risk(point.excess.mean)
            return f"At n = {shown.n:,} published SGD loses {lost}; its theorem proves at most {proved(most)}."
        tight, published = self.slope(TIGHT), self.slope("sgd")
        if math.isnan(tight) or math.isnan(published):
            return f"Not enough is stored for d = {shown.d:,} and ε = {shown.epsilon:g}."
        return (
            f"Ten times the rows divide our objective perturbation’s excess risk by {times(10**-tight)}, published "
            f"SGD’s by {times(10**-published)}."
        )

    def note(self) -> str:
        return f"{super().note()} "

    def table(self) -> list[dict[str, str]]:
        rows = []
        for name in self.results.methods:
            curve = self.curve(name)
            means = {n: sentences.minus(risk(curve.mean(n))) if curve.at(n) else "–" for n in self.results.rows}
            rows.append({"Method": LABELS[name]} | {f"n = {n:,}": mean for n, mean in means.items()})
        return rows

    def numbers(self) -> Any:
        rows = []
        for name in self.results.methods:
            for n, point in zip(*self.results.curve(self.shown.d, self.shown.epsilon, name), strict=True):
                rows.append(
                    {
                        "method": name,
                        "n": n,
                        "excess": point.excess.mean,
                        "low": point.excess.low,
                        "high": point.excess.high,
                        "gap": point.gap.mean,
                        "gap_low": point.gap.low,
                        "gap_high": point.gap.high,
                    }
                )
        rows += [{"method": "zero", "n": n, "excess": self.zero(n)} for n in self.results.rows]
        return rows

    def zero(self, n: int) -> float:
        """The excess risk of θ = 0."""
        return self.results.zero(n, self.shown.d, self.shown.epsilon)

    def shows(self) -> str:
        slopes = {name: self.slope(name) for name in self.results.methods}
        powers = "; ".join(f"{LABELS[name]} n^{slope:.2f}" for name, slope in slopes.items() if not math.isnan(slope))
        return f"{self._axes()} This quantity falls as follows: {powers}."

    def _axes(self) -> str:
        setting = f"d = {self.shown.d}, ε = {self.shown.epsilon:g}"
        return f"{self.quantity} against the number of rows, both logarithmic, {setting}."

    def theory(self, method: str, setting: Setting) -> float | None:
        """What is proved to be the most."""
        return bound(method, setting)

    def visible(self, curve: Curve) -> Any:
        """Where an axis of logarithms can show the mean, which has no 0."""
        return curve.means > 0

    def chart(self, before: Self | None) -> figures.Figure:
        """Draw means with intervals, on request with what is proved, and a guide at n where it is stored."""
        traces: list[dict[str, Any]] = []
        values: list[float] = []
        for name in self.results.methods:
            if not (self.every or name in CONTENDERS or name == "no-privacy"):
                continue
            curve = self.curve(name)
            if not curve.points:
                continue
            means = np.where(self.visible(curve), curve.means, np.nan)
            hover = "%{y:.3g} at n = %{x:,}"
            traces.append(curve.trace(role(name), mode=self.mode, hover=hover) | {"y": means})
            values += [value for value in means if np.isfinite(value)]
            if self.bounds:
                most = [self.theory(name, replace(self.shown, n=int(n))) for n in curve.places]
                if all(value is not None for value in most):
                    label, heights = f"{LEGEND[name]}, bound", np.array(most, dtype=float)
                    traces.append(figures.series(label, curve.places, heights, role(name), ghost=True))
                    values += heights.tolist()
        levels = self.levels()
        values += [value for trace in levels for value in trace["y"]]
        ends, n = self.results.rows, self.shown.n
        view = figures.log_range(values)
        guide = [figures.guide((n, n), view)] if n in ends else []
        xaxis = figures.axis("rows n", (ends[0] / 1.3, ends[-1] * 1.3), log=True)
        yaxis = figures.axis(self.height, view, log=True)
        return figures.figure([*guide, *traces, *levels], xaxis, yaxis, height=420, hovermode="closest")

    def levels(self) -> list[dict[str, Any]]:
        """The excess risk of θ = 0."""
        n = self.results.rows
        return [figures.series(LEGEND["zero"], n, [self.zero(rows) for rows in n], role("zero"), hover="%{y:.3g}")]


class Gap(Rows, title="Generalisation gap", snippet="gap"):
    """How much better a model looks on its own rows than on rows it has not seen."""

    what = "gap"
    quantity = "Generalisation gap"
    height = "risk less training loss"
    mode = "markers"

    def answer(self) -> str:
        shown, point = self.shown, self.point(TIGHT)
        if point is None:
            return f"No gap is stored for n = {shown.n:,}, d = {shown.d:,}."
        if point.gap.low <= 0 <= point.gap.high:
            return f"At n = {shown.n:,} the gap of our objective perturbation is smaller than its error bar."
        better = "better" if point.gap.mean > 0 else "worse"
        gap = pair(abs(point.gap.mean), point.gap.half_width)
        return f"Our objective perturbation looks {gap} {better} on its own rows than on fresh rows."

    def note(self) -> str:
        return f"{super().note()}A mean that is smaller than its error bar is left out."

    def shows(self) -> str:
        return self._axes()

    def theory(self, method: str, setting: Setting) -> float | None:
        return stability(method, setting)

    def visible(self, curve: Curve) -> Any:
        """Where the mean can be told from 0: one that may be 0 would only look like a curve."""
        ends = [interval.low if interval.known else interval.mean for _, interval in curve.points]
        return np.array(ends) > 0

    def levels(self) -> list[dict[str, Any]]:
        return []


MARKS = {
    "sgd": ("S", "SGD"),
    "objective": ("P", "published"),
    "gd": ("G", "descent"),
    "phased": ("E", "phased"),
    TIGHT: ("T", "tight"),
    "zero": ("0", "θ = 0"),
}
"""What stands for a method in a square, and in the table."""


@dataclass(frozen=True)
class Cell:
    """Who wins at one n and d: a method or "zero", `clear` by more than two standard errors of the next; `ratio` is its
    excess risk over that of θ = 0.
    """

    n: int
    d: int
    winner: str
    clear: bool
    ratio: float

    @property
    def doubt(self) -> str:
        """A question mark where the next is within the error bars."""
        return "" if self.clear else "?"


class Winners(StoredLearning, name="population_map", title="Who wins where", snippet="winners"):
    """The map at one ε, with a ring around the setting."""

    snippet_note = "In the project’s folder these lines print who wins where."

    @cached_property
    def cells(self) -> list[Cell]:
        results, epsilon = self.results, self.shown.epsilon
        cells = []
        for n in results.rows:
            for d in results.dimensions:
                won = results.winner(n, d, epsilon)
                if won is not None:
                    winner, clear = won
                    point, zero = results.point(n, d, epsilon, winner), results.zero(n, d, epsilon)
                    cells.append(Cell(n, d, winner, clear, 1.0 if point is None else point.excess.mean / zero))
        return cells

    def answer(self) -> str:
        own = sum(cell.winner == TIGHT and cell.clear for cell in self.cells)
        zero = sum(cell.winner == "zero" for cell in self.cells)
        return (
            f"Our objective perturbation clearly wins {own} of {sentences.count(len(self.cells), 'setting')}; in "
            f"{zero} nothing beats θ = 0."
        )

    def note(self) -> str:
        return f"{super().note()} A question mark: the next method is within the error bars."

    def table(self) -> list[dict[str, str]]:
        short = {(cell.n, cell.d): MARKS[cell.winner][1] + cell.doubt for cell in self.cells}
        return [
            {"d": f"{d:,}"} | {f"n = {n:,}": short.get((n, d), "–") for n in self.results.rows}
            for d in self.results.dimensions
        ]

    def numbers(self) -> Any:
        return [vars(cell) for cell in self.cells]

    def shows(self) -> str:
        wins = Counter(cell.winner for cell in self.cells)
        listed = "; ".join(f"{LABELS[name]} {count}" for name, count in wins.most_common())
        return f"The best private method at each number of rows and parameters. Settings won: {listed}."

    def chart(self, before: Self | None) -> figures.Figure:
        """Draw a square with a letter for each setting, paler with a question mark where the lead is not clear."""
        n, d = self.results.rows, self.results.dimensions
        traces = [self._squares(name) for name in dict.fromkeys(cell.winner for cell in self.cells)]
        if self.shown.n in n and self.shown.d in d:
            place = [self.shown.n], [self.shown.d]
            square = {"symbol": "square-open", "size": 46, "color": figures.GREY, "line": {"width": 3}}
            look: dict[str, Any] = {"mode": "markers", "hoverinfo": "skip", "marker": square, "showlegend": False}
            traces.append(figures.series("this setting", *place, "guide", **look))
        xaxis = figures.axis("rows n", (n[0] / 1.8, n[-1] * 1.8), log=True, **_at(n))
        yaxis = figures.axis("parameters d", (d[0] / 1.8, d[-1] * 1.8), log=True, **_at(d))
        return figures.figure(traces, xaxis, yaxis, height=420, hovermode="closest")

    def _squares(self, name: str) -> dict[str, Any]:
        own = [cell for cell in self.cells if cell.winner == name]
        letter, color = MARKS[name][0], figures.look(role(name)).color
        hover = [
            f"n = {cell.n:,}, d = {cell.d}: {LABELS[name]}, {cell.ratio:.3g} of the excess risk of θ = 0"
            + ("" if cell.clear else "; not clearly ahead")
            for cell in own
        ]
        squares = figures.series(
            f"{letter}: {LEGEND[name]}",
            [cell.n for cell in own],
            [cell.d for cell in own],
            role(name),
            mode="markers+text",
            text=[letter + cell.doubt for cell in own],
            textposition="middle center",
            hovertext=hover,
        )
        shades = [figures.translucent(color, 0.55 if cell.clear else 0.2) for cell in own]
        squares["marker"] = {"color": shades, "symbol": "square", "size": 38}
        return squares | {"hovertemplate": "%{hovertext}<extra></extra>"}


def _at(values: Sequence[int]) -> dict[str, Any]:
    """Ticks at these values; 10,000 is "10k" where there is little room."""
    texts = [f"{value // 1000}k" if value >= 10_000 else f"{value}" for value in values]
    return figures.ticks(list(values), texts)
