"""How an additive model's columns are drawn: steps over numbers, marks for categories, effects as odds."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from pages.columns.fitted import Additive
from ui import figures, sentences

NAMES = {"public": "without privacy", "private": "private"}
LOOKS = {"public": "non-private", "private": "tight"}
ODDS = "odds of a high income"
_TICKS = (1e-4, 1e-3, 0.01, 0.1, 1 / 3, 1, 3, 10, 100, 1e3, 1e4)
_FAINTEST, _BY_SHARE = 0.45, 5.0  # how opaque a mark is: of a piece without people, and for each of them


class Axis(NamedTuple):
    """The axis of a column of whole numbers; from `first` on it is logarithmic, and 0, which most have, lies beside."""

    title: str
    low: float
    high: float
    ticks: Sequence[float]
    first: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """In places."""
        if self.first is None:
            return self.low - 0.5, self.high + 0.5
        length = math.log10(self.high / self.first)
        return -0.15 * length, length

    def places(self, ends: Any) -> FloatArray:
        """Where ends of pieces are drawn: between two whole numbers, and cut to the axis."""
        known = np.asarray(ends, dtype=float)
        if self.first is None:
            return np.clip(np.ceil(known) - 0.5, *self.ends)
        places = np.log10(np.maximum(known, self.first) / self.first)
        return np.clip(np.where(known <= 0, self.ends[0], places), *self.ends)

    def drawn(self, title: str = "", none: str = "") -> dict[str, Any]:
        """As plotly takes it; `none` is said of those who have 0."""
        at, names = np.array(self.ticks, dtype=float), [f"{value:,}" for value in self.ticks]
        if self.first is not None:
            at, names = np.append(self.ends[0] / 2, self.places(at)), [f"0{none}", *names]
        return figures.axis(title, self.ends, **figures.ticks(at, names, showgrid=False))


AXES: Mapping[str, Axis] = {
    "age": Axis("age, years", 17, 90, (20, 30, 40, 50, 60, 70, 80)),
    "hours-per-week": Axis("hours per week", 1, 99, (20, 40, 60, 80)),
    "capital-gain": Axis("capital gain, dollars", 0, 99_999, (1000, 10_000), 200),
    "capital-loss": Axis("capital loss, dollars", 0, 4356, (1000, 2000, 4000), 400),
}


def times(odds: float) -> str:
    """By what odds are multiplied or divided: '×3.2', '÷12'."""
    return f"×{sentences.number(odds, 2)}" if odds >= 1 else f"÷{sentences.number(1 / odds, 2)}"


def steps(model: Additive, column: str, key: str, **look: Any) -> dict[str, Any]:
    """The curve of a column of numbers as one line of steps."""
    one = model.shapes[column][:-1]  # the last piece is that of missing values
    ends = AXES[column].places(one[["from", "to"]])
    seen = ends[:, 0] < ends[:, 1]  # a piece between two whole numbers has nobody
    one = one[seen].loc[one[seen].index.repeat(2)]
    return figures.series(NAMES[key], ends[seen].ravel(), one["effect"], LOOKS[key], **_told(one), **look)


def marks(model: Additive, column: str, key: str, names: Sequence[str], size: float, **look: Any) -> dict[str, Any]:
    """The effects of categories as a row of marks; those of few people are faint."""
    one = model.shapes[column].set_index("piece").loc[list(names)]
    by_share = {"opacity": np.clip(_FAINTEST + _BY_SHARE * one["share"].to_numpy(), 0, 1)}
    x, rows = one["effect"].to_numpy(), np.arange(len(one))
    return figures.marks(NAMES[key], x, rows, LOOKS[key], size, look=by_share, **_told(one), **look)


def _told(pieces: pd.DataFrame) -> dict[str, Any]:
    """What a trace says of its pieces when they are pointed at."""
    effects = [times(math.exp(effect)) for effect in pieces["effect"]]
    told = np.array([effects, pieces["share"]], dtype=object).T
    return {"hover": "%{customdata[0]}, %{customdata[1]:.1%} of people", "customdata": told}


def in_order(model: Additive, column: str, most: int = 99) -> list[str]:
    """The most frequent categories of a column, by their effects."""
    one: Any = model.shapes[column][:-2]  # without other and missing ones
    return list(one.nlargest(most, "share").sort_values("effect")["piece"])


def faint(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace in the background."""
    own = {"line": trace["line"] | {"width": 1.2}, "marker": trace.get("marker", {}) | {"opacity": 1.0}}
    return trace | own | {"opacity": 0.4, "hoverinfo": "skip", "hovertemplate": None}


def odds(low: float, high: float, title: str) -> dict[str, Any]:
    """An axis of effects, which are log-odds, whose ticks are odds."""
    shown = [tick for tick in _TICKS if low <= math.log(tick) <= high]
    return figures.axis(title, (low, high), **figures.ticks(np.log(shown), [times(tick) for tick in shown]))


def _label(trace: Mapping[str, Any], x: float, y: float, end: float, side: str = "center") -> dict[str, Any]:
    """A curve's name at the end of a line that points at one of its points from another height."""
    at = {"x": x, "y": y, "ax": x, "ay": end, "axref": "x", "ayref": "y", "xanchor": side, "yanchor": "middle"}
    return {"text": trace["name"], **at, "arrowcolor": trace["line"]["color"], "arrowhead": 0, "arrowwidth": 1.5}


def labels_beyond(
    traces: Sequence[Mapping[str, Any]], x: Sequence[float], y: float, view: tuple[float, float], step: float
) -> list[dict[str, Any]]:
    """The names of two curves beyond the row `y` in which they are at `x`: no line crosses the other one's name."""
    left, right = (0, 1) if x[0] < x[1] else (1, 0)
    inwards = x[right] > view[0] + 0.6 * (view[1] - view[0])
    return [
        _label(traces[left], x[left], y, y + step, "right"),
        _label(traces[right], x[right], y, y + 2 * step, "right" if inwards else "left"),
    ]


def labels_above(traces: Sequence[Mapping[str, Any]], ends: tuple[float, float], line: float) -> list[dict[str, Any]]:
    """The names of two step curves over both, each where its curve is the upper one, `line` apart from them."""
    grid = np.linspace(*ends, 121)
    own = np.array([np.interp(grid, trace["x"], trace["y"]) for trace in traces])
    room = np.array([own[:, max(at - 18, 0) : at + 19].max() for at in range(len(grid))])  # over a name's width
    found, free = [], (grid > grid[18]) & (grid < grid[-19])
    for trace, heights, other in zip(traces, own, own[::-1], strict=True):
        lead = np.where(free, heights - room - 0.5 * np.maximum(other - heights, 0), -np.inf)
        at = int(np.argmax(lead))
        free &= np.abs(np.arange(len(grid)) - at) > 36
        found.append(_label(trace, grid[at], heights[at], room[at] + line))
    return found
