"""The accuracy page's charts: accuracy against ε for every learner, and against the number of rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from objpert_core._literals import plain
from objpert_core.experiments import paper as printed
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import LEARNERS, NON_PRIVATE, TIGHT, UNPAID
from objpert_core.experiments.methods import EVERY
from objpert_core.experiments.results import Run
from objpert_core.experiments.studies.subsampling import LearningCurve
from objpert_core.experiments.summary import Interval
from pages.accuracy.numbers import BARS
from pages.accuracy.words import LABELS
from ui import figures, sentences

EVERYTHING, SMALL, LARGE, TOP = "everything", "small ε", "large ε", "top"
VIEWS = {EVERYTHING: (0.0, math.inf), SMALL: (0.0, 0.25), LARGE: (1.0, math.inf), TOP: (0.0, math.inf)}
"""The ε that each view shows; "top" leaves out what is more than `_TOP` below the best."""
ROLE = {method: figures.of_learner(method) for method in EVERY}
_TOP = 0.03
_AIR = 1.25  # beside the first and the last ε, as a factor

Trace = dict[str, Any]


def figure_2(
    stored: Stored,
    methods: Sequence[str],
    *,
    epsilon: float,
    view: str = EVERYTHING,
    paper: bool = True,
    ghost: Stored | None = None,
    live: Run | None = None,
) -> Any:
    """Mean accuracy of each method with its interval against ε; the model without privacy as a line.

    The best unpaid DP-SGD where the read-out is has a mark if others of its kind are among the methods, and not it.

    Parameters
    ----------
    stored : Stored
        A file of results.
    methods : sequence of str
        Which methods are shown.
    epsilon : float
        Where the read-out is, marked by a line.
    view : str
        One of `VIEWS`.
    paper : bool
        Mark the paper's numbers, where its tables have this data set.
    ghost : Stored or None
        Another file, whose means are drawn faintly.
    live : Run or None
        A run made just now, drawn as a mark of its own.
    """
    least, most = VIEWS[view]
    shown = [e for e in stored.epsilons if least <= e <= most] or list(stored.epsilons) or [epsilon]
    across = (shown[0] / _AIR, shown[-1] * _AIR)
    traces = [trace for method in methods if ghost for trace in _ghost(ghost, method, across)]
    for method in methods:
        traces += _level(stored, epsilon, across) if method == NON_PRIVATE else _method(stored, method)
    traces += _rival(stored, methods, epsilon) if epsilon in shown else []
    marks = [_hollow(stored.dataset, method, shown) for method in methods if paper]
    marks = [mark for mark in marks if mark["x"].size]
    if live and live.epsilon in shown:
        line = {"color": figures.GREY, "width": 2}
        name = f"made now: {LABELS[live.method]}"
        marks.append(_mark(name, live.method, [live.epsilon], [live.accuracy], size=15, line=line))
    up = _range(_edges([*traces, *marks], {*shown, *across}), top=view == TOP)
    guide = [figures.guide((epsilon, epsilon), up)] if across[0] <= epsilon <= across[1] else []
    at = f", δ = {sentences.delta(stored.delta)}" if stored.delta else ""
    return figures.figure(
        [*guide, *traces, *marks],
        xaxis=figures.axis(f"privacy budget ε{at}", across, log=True, **_ticks(shown)),
        yaxis=figures.axis(f"test accuracy<br>on {stored.label}", up, tickformat=".1%", hoverformat=".2%"),
        height=380 + 12 * (len(methods) + len(marks)),  # the legend, which a telephone stacks
    )


def _means(stored: Stored, method: str) -> dict[float, Interval]:
    """Accuracies by ε."""
    return {e: point.accuracy for e in stored.epsilons if (point := stored.point(method, e))}


def _ghost(stored: Stored, method: str, across: tuple[float, float]) -> list[Trace]:
    found = {e: interval.mean for e, interval in _means(stored, method).items()}
    if method == NON_PRIVATE:
        level = stored.point(method, math.inf)
        found = dict.fromkeys(across, level.accuracy.mean) if level else {}
    x, y = np.array(list(found)), np.array(list(found.values()))
    return [figures.series(f"{LABELS[method]}, {stored.label}", x, y, ROLE[method], ghost=True)] if found else []


def _level(stored: Stored, epsilon: float, across: tuple[float, float]) -> list[Trace]:
    """The accuracy without privacy: a line with its interval as a band."""
    point = stored.point(NON_PRIVATE, epsilon)
    if point is None:
        return []
    x, role = np.array(across), ROLE[NON_PRIVATE]
    low, high = _ends(point.accuracy)
    band = [figures.band(x, np.full(2, low), np.full(2, high), role)] if point.accuracy.count >= BARS else []
    return [*band, figures.series(LABELS[NON_PRIVATE], x, np.full(2, point.accuracy.mean), role, hoverinfo="skip")]


def _method(stored: Stored, method: str) -> list[Trace]:
    """One private method: means joined by a line, with bars, or with single trials where they are few."""
    found = _means(stored, method)
    if not found:
        return []
    hover = "%{y:.2%} %{customdata}"
    curve = _curve(LABELS[method], method, list(found), list(found.values()), hover)
    curve["customdata"] = np.array([_spread(interval) for interval in found.values()], dtype=object)
    few = [run for e, interval in found.items() if interval.count < BARS for run in stored.runs(method, e)]
    x, y = [run.epsilon for run in few], [run.accuracy for run in few]
    style = {"symbol": "circle", "size": 5, "opacity": 0.7}
    dots = _mark(f"{LABELS[method]}, single trials", method, x, y, hover=None, **style)
    return [curve, dots | {"showlegend": False, "hoverinfo": "skip"}] if few else [curve]


def _curve(name: str, method: str, x: Sequence[float], found: Sequence[Interval], hover: str) -> Trace:
    """Means joined by a line, with error bars."""
    role, y = ROLE[method], np.array([interval.mean for interval in found])
    at = np.array(x, dtype=float)
    return figures.series(name, at, y, role, mode="lines+markers", hover=hover, error_y=_bars(found, role))


def _spread(interval: Interval) -> str:
    few = f"({sentences.count(interval.count, 'trial')})"
    return f"± {100 * interval.half_width:.2f}" if interval.count >= BARS else few


def _mark(
    name: str, method: str, x: Sequence[float], y: Sequence[float], hover: str | None = "%{y:.2%}", **style: Any
) -> Trace:
    """Marks without a line in the look of a method, as far as `style` does not say otherwise."""
    look = figures.look(ROLE[method])
    marker = {"color": look.color, "symbol": look.symbol, "size": 13} | style
    return figures.series(name, np.array(x), np.array(y), ROLE[method], mode="markers", hover=hover, marker=marker)


def _rival(stored: Stored, methods: Sequence[str], epsilon: float) -> list[Trace]:
    """The rival's mean where the read-out is, if other DP-SGD of its kind are shown and its curve is not."""
    rival = stored.rival(epsilon)
    if rival is None or rival in methods or set(UNPAID).isdisjoint(methods):
        return []
    interval = _means(stored, rival)[epsilon]
    name = f"rival at ε = {sentences.epsilon(epsilon)}"  # the caption and the table say which it is
    mark = _mark(name, rival, [epsilon], [interval.mean], hover="%{y:.2%} " + _spread(interval))
    return [mark | {"error_y": _bars([interval], ROLE[rival])}]


def _bars(intervals: Sequence[Interval], role: str) -> Trace:
    """Error bars of 95 % intervals, cut at 0 and 1; none where the trials are too few."""
    ends = [_ends(interval) for interval in intervals]
    return {
        "symmetric": False,
        "array": np.array([high - i.mean for (_, high), i in zip(ends, intervals, strict=True)]),
        "arrayminus": np.array([i.mean - low for (low, _), i in zip(ends, intervals, strict=True)]),
        "color": figures.look(role).color,
        "thickness": 1.5,
        "width": 4,
    }


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.within() if interval.count >= BARS else (interval.mean, interval.mean)


def _hollow(dataset: str, method: str, shown: Collection[float]) -> Trace:
    """The paper's numbers as hollow marks in the colour of what they are here."""
    numbers = {e: share for e, share in printed.printed(dataset, method).items() if e in shown}
    line = {"color": figures.look(ROLE[method]).color, "width": 2}
    name = f"paper: {LEARNERS[method].label}"
    return _mark(name, method, list(numbers), list(numbers.values()), color="rgba(0,0,0,0)", line=line)


def _edges(traces: Sequence[Trace], shown: Collection[float]) -> list[float]:
    """The heights of everything but ghosts that stands at one of the x in `shown`, ends of bars included."""
    found: list[float] = []
    for trace in (trace for trace in traces if not trace["meta"]["ghost"]):
        inside, bars = np.isin(trace["x"], list(shown)), trace.get("error_y", {"array": 0.0, "arrayminus": 0.0})
        for end in (trace["y"], trace["y"] + bars["array"], trace["y"] - bars["arrayminus"]):
            found += end[inside].tolist()
    return found


def _range(edges: Sequence[float], *, top: bool = False) -> tuple[float, float]:
    if not edges:
        return 0.0, 1.0
    low, high = min(edges), max(edges)
    if top:
        low = max(low, high - _TOP)
    air = max(0.002, 0.05 * (high - low))
    return low - air, high + air


def _ticks(values: Sequence[Any]) -> Trace:
    return {"tickmode": "array", "tickvals": np.array(values), "ticktext": [plain(v) for v in values]}


def rows(curve: LearningCurve) -> Any:
    """Accuracy with and without privacy against the number of training rows, and the majority class as a line."""
    sizes = [size for size in curve.sizes if curve.of(size)]
    across = (min(curve.plan.sizes) / _AIR, max(curve.sizes, default=max(curve.plan.sizes)) * _AIR)
    traces: list[Trace] = []
    if curve.baseline is not None:
        line = figures.guide(across, (curve.baseline, curve.baseline), name="always the more frequent class")
        traces.append(line | {"showlegend": True})
    private = f"Algorithm 1 tight, ε = {sentences.epsilon(curve.plan.epsilon)}"
    for method, name, mean in ((NON_PRIVATE, "no privacy", curve.reference), (TIGHT, private, curve.private)):
        found = [interval for size in sizes if (interval := mean(size))]
        traces.append(_curve(name, method, sizes, found, "%{y:.2%}"))
    ticks = _ticks(curve.sizes) | {"ticktext": [f"{size:,}" for size in curve.sizes]}
    up = _range(_edges(traces, [*sizes, *across]))
    return figures.figure(
        traces,
        xaxis=figures.axis("training rows", across, log=True, **ticks),
        yaxis=figures.axis(f"test accuracy<br>on {curve.label}", up, tickformat=".0%"),
        height=400,
    )
