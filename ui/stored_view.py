"""Pictures of stored results: what made the file, what is said without it, means with intervals against a column.

A page says once how its results are loaded (``load = staticmethod(stored.load)``); a view says which file it shows.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core._validation import FloatArray
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.summary import Interval, mean_interval
from ui import figures, style
from ui.view import View

Results = TypeVar("Results")


def results_or_none(load: Callable[[str], Results], name: str) -> Results | None:
    """Stored results; None where there are none."""
    try:
        return load(name)
    except (DataUnavailableError, ValueError):
        return None


def nearest(values: Sequence[float], wanted: float) -> float:
    """The stored value next to the one asked for, by ratio."""
    return min(values, key=lambda value: abs(math.log(max(value, 1e-9) / max(wanted, 1e-9))))


@dataclass(frozen=True)
class Curve:
    """One method along a column: places with what was measured there; `free` is a method that is the same everywhere
    because it spends nothing.
    """

    method: str
    label: str
    points: tuple[tuple[float, Interval], ...]
    free: bool = False

    @property
    def places(self) -> list[float]:
        """Where the method has results, rising."""
        return [place for place, _ in self.points]

    @property
    def means(self) -> FloatArray:
        """The means; NaN where one is infinite."""
        return figures.finite([interval.mean for _, interval in self.points])

    def at(self, place: float) -> Interval | None:
        """What was measured at one place; None where the method has no results."""
        return dict(self.points).get(place)

    def mean(self, place: float) -> float:
        """The mean at one place; NaN where the method has no results."""
        interval = self.at(place)
        return math.nan if interval is None else interval.mean

    def reach(self, *, log: bool = True) -> tuple[FloatArray, FloatArray]:
        """How far the intervals reach above and below the means; on a logarithmic axis not down to 0."""
        half = np.array([interval.half_width if interval.known else 0.0 for _, interval in self.points])
        return half, np.minimum(half, 0.9 * np.maximum(self.means, 0.0)) if log else half

    def trace(self, role: str, name: str = "", *, log: bool = True, mode: str = "lines+markers", hover: str) -> Any:
        """The means as a line, with error bars where there are some."""
        above, below = self.reach(log=log)
        bars = {"symmetric": False, "array": above, "arrayminus": below, "color": figures.look(role).color}
        extra: dict[str, Any] = {"error_y": bars} if (above > 0).any() else {}
        place = np.array(self.places)
        return figures.series(name or self.label, place, self.means, role, mode=mode, hover=hover, **extra)


def curves(
    results: Any, column: str, labels: Mapping[str, str], cells: Mapping[str, object], over: str = ""
) -> tuple[Curve, ...]:
    """The curve of every method that has results in the rows with these cells.

    What stands at an infinite place only is the same at every place. Of a column `over` the value with the highest
    mean counts, place by place.
    """
    texts = {name: str(value) for name, value in cells.items()}
    groups: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row, value in zip(results.rows, results.values(), strict=True):
        if texts.items() <= row.items():
            tried = groups.setdefault((row["method"], row[column]), {})
            tried.setdefault(row[over] if over else "", []).append(value)
    points: dict[str, list[tuple[float, Interval]]] = {}
    for (method, cell), tried in groups.items():
        interval = mean_interval(max(tried.values(), key=lambda values: sum(values) / len(values)))
        points.setdefault(method, []).append((float(cell), interval))
    usual = sorted({place for known in points.values() for place, _ in known if math.isfinite(place)})
    free = {method for method, known in points.items() if not any(math.isfinite(place) for place, _ in known)}
    points |= {method: [(place, points[method][0][1]) for place in usual] for method in free}
    return tuple(
        Curve(method, label, tuple(sorted(points[method], key=lambda point: point[0])), method in free)
        for method, label in labels.items()
        if method in points
    )


class StoredView(View):
    """A picture of stored results."""

    experiment: ClassVar[str]
    ghosts = False
    snippet_note = (
        "In the project’s folder these lines print the stored means. The stored file names command, seeds and commit."
    )

    @staticmethod
    @abstractmethod
    def load(name: str, /) -> Any:
        """The stored results of an experiment."""

    @property
    def results(self) -> Any:
        """The stored results."""
        return self.load(self.experiment)

    def stored(self) -> bool:
        """Whether there are results for this picture."""
        return results_or_none(self.load, self.experiment) is not None

    def missing(self) -> str:
        """What the picture says where there are no results."""
        page = self.name.partition("_")[0]
        return f"This picture needs stored results: python -m benchmarks.experiments {page} {self.experiment}"

    def made(self) -> str:
        """How the results were made."""
        notes = self.results.notes
        made = f"Stored results of `{notes['command']}`, commit {notes['commit']}, {notes['versions']}"
        return f"{made}; seeds: {notes['seeds']}."

    def mean(self, method: str, **cells: object) -> float:
        """A stored mean."""
        interval = self.results.interval(method=method, **cells)
        return math.nan if interval is None else interval.mean

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        """Draw the picture and the command that made its results; say so where there are none."""
        if not self.stored():
            st.info(self.missing(), icon=":material/info:")
            return
        super().show(left, ghost=ghost)
        if not style.embedded():
            st.caption(self.made())


class Against(StoredView):
    """Stored means of several methods against a column, with intervals; a guide where the control is."""

    column: ClassVar[str]
    labels: ClassVar[Mapping[str, str]]
    roles: ClassVar[Mapping[str, str]]
    axes: ClassVar[tuple[str, str]]
    log_x: ClassVar[bool] = True
    log_y: ClassVar[bool] = True
    over: ClassVar[str] = ""  # a column whose value with the highest mean counts
    hover: ClassVar[str] = "%{y:.3g}"
    ticks: ClassVar[Mapping[str, str]] = {}  # further attributes of the vertical axis
    margin: ClassVar[float] = 1.1  # by which factor a logarithmic axis goes on beyond the places
    height: ClassVar[int] = 420

    @property
    @abstractmethod
    def at(self) -> float:
        """The place that is read off."""

    @property
    def cells(self) -> Mapping[str, object]:
        """The cells that the rows have."""
        return {}

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """Every method that has results."""
        return curves(self.results, self.column, self.labels, self.cells, self.over)

    @property
    def places(self) -> list[float]:
        """Every place that a curve has."""
        return sorted({place for curve in self.curves for place in curve.places})

    def shown(self) -> Sequence[Curve]:
        """The curves in the chart."""
        return self.curves

    def legend(self, curve: Curve) -> str:
        """What the legend calls a method."""
        return curve.label

    def heights(self) -> list[float]:
        """What the vertical axis has to hold."""
        return [float(mean) for curve in self.shown() for mean in curve.means]

    def _view(self) -> tuple[float, float]:
        heights = [height for height in self.heights() if np.isfinite(height)]
        if self.log_y:
            return figures.log_range(heights)
        air = 0.06 * (max(heights) - min(heights)) or 0.1
        return min(heights) - air, max(heights) + air

    def role(self, curve: Curve) -> str:
        """The look of a method; one that has none of its own gets a spare look."""
        return self.roles.get(curve.method, curve.method)

    def chart(self, before: Self | None) -> figures.Figure:
        """Draw the means as lines, and a guide where the control is."""
        view, margin, (x, y) = self._view(), self.margin if self.log_x else 1.0, self.axes
        traces = [
            curve.trace(
                self.roles.get(curve.method, curve.method), self.legend(curve), log=self.log_y, hover=self.hover
            )
            for curve in self.shown()
        ]
        xaxis = figures.axis(x, (self.places[0] / margin, self.places[-1] * margin), log=self.log_x)
        yaxis = figures.axis(y, view, log=self.log_y, **self.ticks)
        return figures.figure(
            [figures.guide((self.at, self.at), view), *traces], xaxis, yaxis, height=self.height, hovermode="closest"
        )
