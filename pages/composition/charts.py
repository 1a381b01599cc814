"""The charts of the Composition page: profiles of k fits, how wide their certified band is, a running total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pages.composition import numbers as cc
from pages.composition.totals import Line
from ui import figures, sentences

# Colour and marker of the curves for the first, second, … number of fits; none differs by colour alone
LOOKS = (
    (figures.BLUE, "square"),
    (figures.VERMILION, "circle"),
    (figures.GREEN, "diamond"),
    (figures.PURPLE, "triangle-up"),
    (figures.ORANGE, "x"),
)


def profiles(
    fit: cc.Fit,
    counts: tuple[int, ...],
    view: cc.View,
    *,
    renyi: bool = True,
    ghost: cc.Fit | None = None,
    read: float | None = None,
    height: int = 500,
) -> Any:
    """δ(ε) of each number of fits: certified band, upper end solid, Rényi dashed; `ghost` is a former fit."""
    x, top = cc.grid(view.eps_max), 2.0
    traces = [] if read is None else [figures.guide((0, view.eps_max), (read, read))]
    for k, look in zip(counts, LOOKS, strict=False):
        if ghost:
            before = cc.profile(ghost, k, view)[1]
            traces.append(figures.series(f"k = {k}, before", x, before, "guide", ghost=True))
            traces[-1]["line"]["color"] = look[0]
    for k, look in zip(counts, LOOKS, strict=False):
        low, high = cc.profile(fit, k, view)
        known = np.isfinite(high)
        traces.append(figures.band(x[known], np.maximum(low, view.floor * 1e-3)[known], high[known], "guide"))
        traces[-1]["fillcolor"] = figures.translucent(look[0], 0.3)
        if renyi:
            by_renyi = cc.renyi_profile(fit, k, view.eps_max)
            traces.append(_curve(f"k = {k}, Rényi", x, by_renyi, look, "dash", legendrank=1001 + k))
        traces.append(_curve(f"k = {k}", x, high, look, "solid", marked=True, legendrank=k))
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.0, view.eps_max), hoverformat=".3g"),
        yaxis=figures.axis("failure probability δ", (view.floor, top), log=True),
        height=height,
    )


def _curve(
    name: str, x: Any, y: Any, look: tuple[str, str], dash: str, *, marked: bool = False, value: str = "δ", **extra: Any
) -> dict[str, Any]:
    """One curve in the look of its number of fits; a few markers tell solid ones apart without colour."""
    color, symbol = look
    extra |= {"line": {"color": color, "dash": dash, "width": 2.5 if marked else 1.8, "simplify": False}}
    if marked:
        extra["marker"] = {"color": color, "symbol": symbol, "size": 9, "maxdisplayed": 12}
    mode = "lines+markers" if marked else "lines"
    return figures.series(name, x, y, "guide", mode=mode, hover=f"{value} = %{{y:.3g}}", **extra)


def widths(fit: cc.Fit, counts: tuple[int, ...], view: cc.View) -> Any:
    """The band's width relative to its upper end, where that is on the other chart."""
    x, traces = cc.grid(view.eps_max), []
    for k, look in zip(counts, LOOKS, strict=False):
        low, high = cc.profile(fit, k, view)
        share = np.where((high >= view.floor) & (high < 1) & (low < high), 1 - low / high, np.nan)
        traces.append(_curve(f"k = {k}", x, share, look, "solid", marked=True, value="width"))
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.0, view.eps_max), hoverformat=".3g"),
        yaxis=figures.axis("(upper − lower) / upper bound on δ", (1e-7, 2.0), log=True),
        height=500,
    )


def totals(lines: Sequence[Line], target: float, ghost: Sequence[Line] | None) -> Any:
    """The running total after each entry, from nothing before the first."""

    def steps(of: Sequence[Line], what: str) -> tuple[Any, Any]:
        values = np.array([0.0, *(getattr(line, what) for line in of)])
        return np.arange(values.size), np.where(np.isfinite(values), values, np.nan)

    end = max(len(lines), 1)
    traces = [
        figures.series(f"Target ε = {sentences.number(target)}", [0, end], [target] * 2, "lower", hoverinfo="skip")
    ]
    traces[-1] |= {"mode": "lines"}
    if ghost:
        before = steps(ghost, "total")
        traces.append(figures.series("Together, before", before[0], before[1], "tight", ghost=True))
    curves = (
        ("added", "ε added up", "published"),
        ("renyi", "Together, by Rényi", "rdp"),
        ("total", "Together", "tight"),
    )
    for what, name, role in curves:
        x, y = steps(lines, what)
        traces.append(figures.series(name, x, y, role, mode="lines+markers", hover="ε = %{y:.3g}"))
    known = [v for line in lines for v in (line.added, line.renyi, line.total) if np.isfinite(v)]
    top = 1.08 * max([target, *known])
    return figures.figure(
        traces,
        xaxis=figures.axis("entries of the list", (-0.1, end + 0.1), dtick=max(1, end // 10), tick0=0),
        yaxis=figures.axis("ε so far", (0.0, top)),
        height=380,
    )
