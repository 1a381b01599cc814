"""Charts of trainings that were repeated with several noises: a faint dot a draw, and the mean with its interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from objpert_core.evaluation import Estimate
from objpert_core.experiments.summary import Interval
from ui import words
from ui.figures import GHOST_OPACITY, axis, before, look, marks, series, ticks, translucent


def spread(
    label: str,
    place: float,
    role: str,
    mean: Interval | None,
    values: Sequence[float] = (),
    seeds: Sequence[int | None] = (),
    former: Interval | None = None,
    published: Estimate | None = None,
) -> list[dict[str, Any]]:
    """The traces of one method at its `place` on the axis: the `former` mean, each draw beside its seed, the mean.

    The mean's bar is its interval, or that of the score that may be `published`; it is None before the first draw.
    """
    drawn = look(role)
    traces = [] if former is None else [before(label, place - 0.2, former.mean, role)]
    if mean is None:
        return traces
    if len(values):
        beside = place + 0.12 + 0.16 * np.arange(len(values)) / max(len(values) - 1, 1)
        marker = {"color": translucent(drawn.color, 0.45), "symbol": drawn.symbol, "size": 6}
        hover = "noise seed %{customdata}: %{y:.2%}"
        more: dict[str, Any] = {"marker": marker, "showlegend": False, "customdata": np.array(seeds)}
        traces.append(series("", beside, values, role, mode="markers", hover=hover, **more))
    bars: dict[str, Any] = {}
    if published is not None or mean.count >= words.FEWEST:
        low, high = mean.within() if published is None else (published.low, published.high)
        ends = {"symmetric": False, "array": np.array([high - mean.mean]), "arrayminus": np.array([mean.mean - low])}
        bars = {"error_y": {**ends, "color": drawn.color, "thickness": 2, "width": 8}}
    name = f"{label} {words.accuracy(mean.mean)}"
    return [*traces, marks(name, [place], [mean.mean], role, 12, hover="%{y:.2%}", **bars)]


def view(traces: Sequence[dict[str, Any]], *also: float) -> tuple[float, float]:
    """An axis of shares that holds every point of the traces, their intervals and `also`, with a little air."""
    found = [np.array(also)]
    for trace in traces:
        ends = trace.get("error_y", {})
        found += [trace["y"] - ends.get("arrayminus", 0.0), trace["y"] + ends.get("array", 0.0)]
    every = np.concatenate(found)
    low, high = float(every.min()), float(every.max())
    air = max(0.005, 0.06 * (high - low))
    return low - air, high + air


def places(title: str, labels: Sequence[str], view: tuple[float, float]) -> dict[str, Any]:
    """An axis whose whole numbers carry names."""
    return axis(title, view, **ticks(np.arange(len(labels)), list(labels), showgrid=False))


def faint(traces: list[dict[str, Any]], stale: bool) -> list[dict[str, Any]]:
    """The traces, drawn faintly where they are `stale`: the controls have moved on."""
    if not stale:
        return traces
    return [trace | {"opacity": GHOST_OPACITY * trace.get("opacity", 1.0)} for trace in traces]
