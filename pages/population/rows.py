"""Stored excess risk, and the generalisation gap, against the number of rows."""

import math
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from objpert_core.experiments.population.methods import CONTENDERS, LABELS, Setting
from pages.population.controls import BOUNDS, EVERY
from pages.population.learning import LEGEND, TIGHT, StoredLearning, pair, proved, risk, role, times
from pages.population.numbers import bound, stability
from ui import figures, sentences
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
        """Return a row for each method."""
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
