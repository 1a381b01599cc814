"""How both charts of the accuracy page draw means with their intervals, and where their axes end."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from objpert_core._literals import plain
from objpert_core.experiments.summary import Interval
from pages.accuracy.reading import BARS, ROLE
from ui import figures

AIR = 1.25  # beside the first and the last value of a logarithmic axis, as a factor

Trace = dict[str, Any]


def curve(name: str, method: str, x: Sequence[float], means: Sequence[Interval], hover: str) -> Trace:
    """Means joined by a line, with error bars."""
    role, y = ROLE[method], np.array([interval.mean for interval in means])
    at = np.array(x, dtype=float)
    return figures.series(name, at, y, role, mode="lines+markers", hover=hover, error_y=bars(means, role))


def bars(intervals: Sequence[Interval], role: str) -> Trace:
    """Error bars of 95 % intervals, cut at 0 and 1; none where the trials are too few."""
    low, high = np.array([ends(interval) for interval in intervals]).reshape(-1, 2).T
    return figures.bars(low, np.array([interval.mean for interval in intervals]), high, role, thickness=1.5, width=4)


def ends(interval: Interval) -> tuple[float, float]:
    """Where the bar ends."""
    return interval.within() if interval.count >= BARS else (interval.mean, interval.mean)


def edges(traces: Sequence[Trace], shown: Collection[float]) -> list[float]:
    """The heights of everything but ghosts that stands at one of the x in `shown`, ends of bars included."""
    heights: list[float] = []
    for trace in (trace for trace in traces if not trace["meta"]["ghost"]):
        inside, bar = np.isin(trace["x"], list(shown)), trace.get("error_y", {"array": 0.0, "arrayminus": 0.0})
        for end in (trace["y"], trace["y"] + bar["array"], trace["y"] - bar["arrayminus"]):
            heights += end[inside].tolist()
    return heights


def upright(heights: Sequence[float], top: float | None = None) -> tuple[float, float]:
    """The range of the shares on the axis; `top`: only what is at most so much below the highest."""
    if not heights:
        return 0.0, 1.0
    low, high = min(heights), max(heights)
    if top is not None:
        low = max(low, high - top)
    air = max(0.002, 0.05 * (high - low))
    return low - air, high + air


def ticks(values: Sequence[Any]) -> Trace:
    """A tick at each value."""
    return figures.ticks(np.array(values), [plain(v) for v in values])
