"""The charts of the first picture: the points and both noises, three ε, and the test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from objpert_core.experiments.ptr.points import MIDDLE
from pages.ptr.line import Shown, small
from ui import figures

Trace = dict[str, Any]
_TOP = 1.25
_GRID = 241


def points(now: Shown, before: Shown | None = None) -> Any:
    """The values as dots, their median, the two noises around it, and what this run publishes."""
    data = now.points
    met: Counter[float] = Counter()
    heights = []
    for value in data.values:
        met[value] += 1
        heights.append(0.06 + 0.09 * (met[value] - 1))
    traces: list[Trace] = []
    for ghost, one in ((True, before), (False, now)):
        if one is None:
            continue
        for name, scale, role in _noises(one):
            x = np.union1d(np.linspace(0, 1, _GRID), [one.points.median])
            y = np.exp(-np.abs(x - one.points.median) / scale) * min(1.0, one.points.scale / scale)
            traces.append(
                figures.series(f"{name}, before" if ghost else name, x, y, role, ghost=ghost, hoverinfo="skip")
            )
    if data.published == "side":
        traces.append(figures.guide((MIDDLE, MIDDLE), (0, _TOP)))
    secret = (data.median, data.median), (0, 1.08)
    traces.append(figures.series("median (secret)", *secret, "secret", hoverinfo="skip"))
    dots = figures.series("points (secret)", data.values, heights, "without", mode="markers", hover="%{x}")
    dots["marker"] |= {"size": 12, "symbol": "circle", "line": {"width": 1, "color": "#ffffff"}}
    traces.append(dots)
    traces += _released(now)
    return figures.figure(
        traces,
        xaxis=figures.axis("value", (-0.02, 1.02)),
        yaxis=figures.axis("noise", (0.0, _TOP), showticklabels=False, showgrid=False),
        height=380,
        hovermode="closest",
    )


def _noises(shown: Shown) -> list[tuple[str, float, str]]:
    data = shown.points
    passing = ("noise, passed", data.scale, "asked")
    return [passing, ("noise, failed", 1 / data.epsilon, "worst")] if shown.fallback else [passing]


def _released(shown: Shown) -> list[Trace]:
    """A star for a number; for a side all of the half that is told."""
    outcome = shown.outcome
    if outcome.value is None:
        return []
    if shown.points.published == "number":
        star = figures.series("published", [outcome.value], [1.16], "asked", mode="markers", hover="%{x:.3f}")
        star["marker"] |= {"size": 14, "symbol": "star"}
        return [star]
    side, told = ((MIDDLE, 1.0), "above ½") if outcome.value else ((0.0, MIDDLE), "not above ½")
    half = figures.series(f"published: {told}", side, (1.16, 1.16), "asked", hoverinfo="skip")
    half["line"] |= {"width": 10}
    return [half]


def epsilons(now: Shown) -> Any:
    """ε of the noise that the proposal asks for: for all data, for these, and for what is published of them."""
    data = now.points
    found = (
        ("worst data", data.global_epsilon, "worst"),
        ("local sensitivity<br>(secret)", data.local_epsilon, "secret"),
        ("data-dependent<br>(secret)", data.own_epsilon, "asked"),
    )
    return bars(found, "ε of the proposed noise (thin line: allowed)", data.epsilon)


def bars(found: Sequence[tuple[str, float, str]], title: str, allowed: float | None = None) -> Any:
    """Named values as horizontal bars, in the colour of their roles; a thin line at what is allowed."""
    values = np.array([value for _, value, _ in found])
    colors = [figures.look(role).color for _, _, role in found]
    drawn: Trace = {"type": "bar", "orientation": "h", "width": 0.5, "x": values, "y": np.arange(len(found))}
    drawn |= {"marker": {"color": colors}, "hovertemplate": "ε = %{x:.3g}<extra></extra>"}
    drawn |= {"text": [small(value) for value in values.tolist()], "textposition": "outside"}
    traces: list[Trace] = [drawn]
    last = len(found) - 0.4
    far = 1.15 * max(float(values.max()), allowed or 0.0)
    if allowed is not None:
        traces.append(figures.guide((allowed, allowed), (-0.6, last)))
    names = [name for name, _, _ in found]
    ticks: dict[str, Any] = {"tickmode": "array", "tickvals": np.arange(len(found)), "ticktext": names}
    return figures.figure(
        traces,
        xaxis=figures.axis(title, (0.0, far)),
        yaxis=figures.axis("", (last, -0.6), showgrid=False, **ticks),
        height=70 + 40 * len(found),
        legend=False,
    )


def noisy_distance(now: Shown) -> Any:
    """The law of the noisy distance, and the threshold; None where nothing contradicts the proposal."""
    data, outcome = now.points, now.outcome
    if math.isinf(data.distance):
        return None
    places, chances = data.test_law()
    top = 1.15 * float(chances.max())
    passing = places >= data.threshold
    colors = [figures.look("asked" if one else "guide").color for one in passing.tolist()]
    bars: Trace = {"type": "bar", "name": "noisy D, passing in colour", "x": places, "y": chances}
    bars |= {"marker": {"color": colors}, "hovertemplate": "noisy D = %{x}: %{y:.3g}<extra></extra>"}
    traces: list[Trace] = [bars]
    edge = data.threshold - 0.5
    traces.append(
        figures.series(f"from {data.threshold} on it passes", (edge, edge), (0, top), "tight", hoverinfo="skip")
    )
    own = figures.series("D (secret)", [data.distance], [0.97 * top], "secret", mode="markers", hover="D = %{x}")
    noisy = [outcome.noisy_distance], [0.85 * top]
    run = figures.series("this run (secret)", *noisy, "without", mode="markers", hover="noisy D = %{x}")
    own["marker"] |= {"size": 12}
    run["marker"] |= {"size": 14, "symbol": "star", "line": {"width": 1, "color": "#ffffff"}}
    traces += [own, run]
    seen = [*places, data.threshold, outcome.noisy_distance]
    return figures.figure(
        traces,
        xaxis=figures.axis("noisy distance D, in people", (min(seen) - 1, max(seen) + 1)),
        yaxis=figures.axis("probability", (0.0, top)),
        height=280,
        hovermode="closest",
    )
