"""The accuracy page's charts: accuracy against ε for every learner, and against the number of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from objpert_core.experiments.learners import LEARNERS, NON_PRIVATE, TIGHT
from objpert_core.experiments.methods import EVERY, METHODS
from objpert_core.experiments.results import Run
from objpert_core.experiments.studies.subsampling import LearningCurve
from objpert_core.experiments.summary import Interval
from pages.accuracy.numbers import BARS, PAPER, Stored
from pages.accuracy.words import LABELS
from ui import figures, sentences
from ui.controls import plain

EVERYTHING, SMALL, LARGE, TOP = "everything", "small ε", "large ε", "top"
VIEWS = {EVERYTHING: (0.0, math.inf), SMALL: (0.0, 0.25), LARGE: (1.0, math.inf), TOP: (0.0, math.inf)}
"""The ε that each view shows; "top" leaves out what is more than `_TOP` below the best."""
ROLE = {method: figures.of_learner(method) for method in EVERY}
_TOP = 0.03
_AIR = 1.25  # beside the first and the last ε, as a factor
_CLEAR = "rgba(0,0,0,0)"


def figure_2(
    stored: Stored,
    methods: Sequence[str],
    *,
    epsilon: float,
    view: str = EVERYTHING,
    paper: bool = True,
    ghost: Stored | None = None,
    live: Run | None = None,
    height: int | None = None,
) -> Any:
    """Mean accuracy of each method with its interval against ε; the model without privacy as a line.

    The best unpaid DP-SGD where the read-out is has a mark also if it is not among the methods.

    Args:
        stored: a file of results.
        methods: which methods are shown.
        epsilon: where the read-out is, marked by a line.
        view: one of `VIEWS`.
        paper: mark the paper's numbers, where its tables have this data set.
        ghost: another file, whose means are drawn faintly.
        live: a run made just now, drawn as a mark of its own.
        height: in pixels; by default with room for the legend, which a telephone stacks.
    """
    least, most = VIEWS[view]
    shown = [e for e in stored.epsilons if least <= e <= most] or list(stored.epsilons) or [epsilon]
    across = (shown[0] / _AIR, shown[-1] * _AIR)
    traces: list[dict[str, Any]] = []
    edges: list[float] = []
    for method in methods:
        if ghost is not None and (old := _means(ghost, method, across)):
            traces.append(figures.series(f"{LABELS[method]}, {ghost.label}", *old, ROLE[method], ghost=True))
    for method in methods:
        if method == NON_PRIVATE:
            traces += _level(stored, epsilon, across, edges)
        elif any(stored.point(method, e) for e in stored.epsilons):
            traces.append(_curve(stored, method, shown, edges))
            traces += _singles(stored, method, shown, edges)
    traces += _rival(stored, methods, epsilon, shown, edges)
    marks = _marks(stored.dataset, shown, edges) if paper else []
    marks += _live(live, shown, edges) if live else []
    up = _range(edges, top=view == TOP)
    guide = [figures.guide((epsilon, epsilon), up)] if across[0] <= epsilon <= across[1] else []
    return figures.figure(
        [*guide, *traces, *marks],
        xaxis=figures.axis(
            f"privacy budget ε, δ = {sentences.delta(stored.delta)}" if stored.delta else "privacy budget ε",
            across,
            log=True,
            **_ticks(shown),
        ),
        yaxis=figures.axis(f"test accuracy<br>on {stored.label}", up, tickformat=".1%", hoverformat=".2%"),
        height=height or 400 + 18 * (len(methods) + len(marks)),
    )


def _means(stored: Stored, method: str, across: tuple[float, float]) -> tuple[np.ndarray, np.ndarray] | None:
    """ε and mean accuracies, for a ghost; None where there is none."""
    if method == NON_PRIVATE:
        level = stored.point(method, math.inf)
        return (np.array(across), np.full(2, level.accuracy.mean)) if level else None
    found = [(e, p.accuracy.mean) for e in stored.epsilons if (p := stored.point(method, e))]
    return (np.array([e for e, _ in found]), np.array([mean for _, mean in found])) if found else None


def _level(stored: Stored, epsilon: float, across: tuple[float, float], edges: list[float]) -> list[dict[str, Any]]:
    """The accuracy without privacy: a line with its interval as a band."""
    point = stored.point(NON_PRIVATE, epsilon)
    if point is None:
        return []
    x, mean = np.array(across), point.accuracy.mean
    traces = []
    edges.append(mean)
    if point.accuracy.count >= BARS:
        low, high = point.accuracy.within()
        edges += [low, high]
        traces.append(figures.band(x, np.full(2, low), np.full(2, high), ROLE[NON_PRIVATE]))
    line = figures.series(LABELS[NON_PRIVATE], x, np.full(2, mean), ROLE[NON_PRIVATE], hoverinfo="skip")
    return [*traces, line]


def _curve(stored: Stored, method: str, shown: Sequence[float], edges: list[float]) -> dict[str, Any]:
    """One private method: means joined by a line, with their intervals as bars."""
    found = {e: p.accuracy for e in stored.epsilons if (p := stored.point(method, e))}
    edges += [edge for e, interval in found.items() if e in shown for edge in _ends(interval)]
    trace = figures.series(
        LABELS[method],
        np.array(list(found)),
        np.array([interval.mean for interval in found.values()]),
        ROLE[method],
        mode="lines+markers",
        hover="%{y:.2%} %{customdata}",
        error_y=_bars(list(found.values()), ROLE[method]),
    )
    return trace | {"customdata": np.array([_spread(interval) for interval in found.values()], dtype=object)}


def _spread(interval: Interval) -> str:
    few = f"({sentences.count(interval.count, 'trial')})"
    return f"± {100 * interval.half_width:.2f}" if interval.count >= BARS else few


def _singles(stored: Stored, method: str, shown: Sequence[float], edges: list[float]) -> list[dict[str, Any]]:
    """The single trials of one method as dots, at each ε where they are too few for an interval."""
    few = [run for e in stored.epsilons for run in stored.runs(method, e) if len(stored.runs(method, e)) < BARS]
    if not few:
        return []
    edges += [run.accuracy for run in few if run.epsilon in shown]
    x, y = np.array([run.epsilon for run in few]), np.array([run.accuracy for run in few])
    marker = {"color": figures.ROLES[ROLE[method]].color, "symbol": "circle", "size": 5, "opacity": 0.7}
    name = f"{LABELS[method]}, single trials"
    dots = figures.series(name, x, y, ROLE[method], mode="markers", marker=marker)
    return [dots | {"showlegend": False, "hoverinfo": "skip"}]


def _rival(
    stored: Stored, methods: Sequence[str], epsilon: float, shown: Sequence[float], edges: list[float]
) -> list[dict[str, Any]]:
    """The rival's mean where the read-out is, if other methods are shown and its curve is not."""
    name = stored.rival(epsilon)
    if name is None or name in methods or not methods or epsilon not in shown:
        return []
    point = stored.point(name, epsilon)
    assert point is not None
    edges += _ends(point.accuracy)
    look = figures.ROLES[ROLE[name]]
    mark = figures.series(
        f"rival at ε = {sentences.epsilon(epsilon)}: {LABELS[name]}",
        np.array([epsilon]),
        np.array([point.accuracy.mean]),
        ROLE[name],
        mode="markers",
        hover="%{y:.2%} " + _spread(point.accuracy),
        error_y=_bars([point.accuracy], ROLE[name]),
        marker={"color": look.color, "symbol": look.symbol, "size": 13},
    )
    return [mark]


def _bars(intervals: Sequence[Interval], role: str) -> dict[str, Any]:
    """Error bars of 95 % intervals, cut at 0 and 1; none where the trials are too few."""
    ends = [_ends(interval) for interval in intervals]
    return {
        "symmetric": False,
        "array": np.array([high - i.mean for (_, high), i in zip(ends, intervals, strict=True)]),
        "arrayminus": np.array([i.mean - low for (low, _), i in zip(ends, intervals, strict=True)]),
        "color": figures.ROLES[role].color,
        "thickness": 1.5,
        "width": 4,
    }


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.within() if interval.count >= BARS else (interval.mean, interval.mean)


def _live(run: Run, shown: Sequence[float], edges: list[float]) -> list[dict[str, Any]]:
    """A run made on the page, in the colour of its method; the model without privacy is already a line."""
    if run.epsilon not in shown:
        return []
    edges.append(run.accuracy)
    name, look = f"made now: {LABELS[run.method]}", figures.ROLES[ROLE[run.method]]
    marker = {"color": look.color, "symbol": look.symbol, "size": 15, "line": {"color": figures.GREY, "width": 2}}
    x, y = np.array([run.epsilon]), np.array([run.accuracy])
    return [figures.series(name, x, y, ROLE[run.method], mode="markers", hover="%{y:.2%}", marker=marker)]


def _marks(dataset: str, shown: Sequence[float], edges: list[float]) -> list[dict[str, Any]]:
    """The paper's numbers as hollow marks in the colours of what they are here."""
    traces = []
    for method in EVERY:
        numbers = {e: share for e, share in PAPER.get((dataset, method), {}).items() if e in shown}
        if not numbers:
            continue
        edges += numbers.values()
        look = figures.ROLES[ROLE[method]]
        marker = {"color": _CLEAR, "symbol": look.symbol, "size": 13, "line": {"color": look.color, "width": 2}}
        x, y = np.array(list(numbers)), np.array(list(numbers.values()))
        name = f"paper: {LEARNERS[method].label}"
        traces.append(figures.series(name, x, y, ROLE[method], mode="markers", hover="%{y:.2%}", marker=marker))
    return traces


def papers(dataset: str, *, height: int = 340) -> Any:
    """The numbers of the paper's table for a data set alone, joined by lines."""
    found = {method: PAPER[dataset, method] for method in METHODS if (dataset, method) in PAPER}
    shown = sorted({epsilon for numbers in found.values() for epsilon in numbers})
    traces = [
        figures.series(
            f"paper: {LEARNERS[method].label}",
            np.array(list(numbers)),
            np.array(list(numbers.values())),
            ROLE[method],
            mode="lines+markers",
            hover="%{y:.2%}",
        )
        for method, numbers in found.items()
    ]
    edges = [share for numbers in found.values() for share in numbers.values()]
    across = (shown[0] / _AIR, shown[-1] * _AIR)
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε, δ = 10⁻⁵", across, log=True, **_ticks(shown)),
        yaxis=figures.axis(f"test accuracy on {dataset}", _range(edges, top=False), tickformat=".0%"),
        height=height,
    )


def _range(edges: Sequence[float], *, top: bool) -> tuple[float, float]:
    if not edges:
        return 0.0, 1.0
    low, high = min(edges), max(edges)
    if top:
        low = max(low, high - _TOP)
    air = max(0.002, 0.05 * (high - low))
    return low - air, high + air


def _ticks(values: Sequence[Any]) -> dict[str, Any]:
    return {"tickmode": "array", "tickvals": np.array(values), "ticktext": [plain(v) for v in values]}


def rows(curve: LearningCurve, *, height: int = 400) -> Any:
    """Accuracy with and without privacy against the number of training rows, and the majority class as a line."""
    sizes = [size for size in curve.sizes if curve.of(size)]
    across = (min(curve.plan.sizes) / _AIR, max(curve.sizes, default=max(curve.plan.sizes)) * _AIR)
    traces: list[dict[str, Any]] = []
    edges: list[float] = []
    if curve.baseline is not None:
        edges.append(curve.baseline)
        line = figures.guide(across, (curve.baseline, curve.baseline), name="always the more frequent class")
        traces.append(line | {"showlegend": True})
    private = f"Algorithm 1 tight, ε = {sentences.epsilon(curve.plan.epsilon)}"
    for method, name, mean in ((NON_PRIVATE, "no privacy", curve.reference), (TIGHT, private, curve.private)):
        found = [interval for size in sizes if (interval := mean(size))]
        edges += [edge for interval in found for edge in _ends(interval)]
        traces.append(
            figures.series(
                name,
                np.array(sizes, dtype=float),
                np.array([interval.mean for interval in found]),
                ROLE[method],
                mode="lines+markers",
                hover="%{y:.2%}",
                error_y=_bars(found, ROLE[method]),
            )
        )
    ticks = _ticks(curve.sizes) | {"ticktext": [f"{size:,}" for size in curve.sizes]}
    return figures.figure(
        traces,
        xaxis=figures.axis("training rows", across, log=True, **ticks),
        yaxis=figures.axis(f"test accuracy<br>on {curve.label}", _range(edges, top=False), tickformat=".0%"),
        height=height,
    )
