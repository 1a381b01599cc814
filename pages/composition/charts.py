"""The charts of the Composition page: profiles of k fits, how wide their validated band is, a running total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pages.composition import numbers
from pages.composition.totals import Line
from ui import figures, sentences

# Colour and marker of the curves for the first, second, … number of fits; none differs by colour alone
LOOKS = (
    (figures.BLUE, "square"),
    (figures.TEAL, "circle"),
    (figures.GREEN, "diamond"),
    (figures.OLIVE, "triangle-up"),
    (figures.BROWN, "x"),
)
DASHED = "dashed: by Rényi"  # one entry of the legend for all of them


def profiles(
    fit: numbers.Fit,
    counts: tuple[int, ...],
    view: numbers.View,
    *,
    renyi: bool = True,
    ghost: numbers.Fit | None = None,
    read: float | None = None,
    height: int = 500,
) -> Any:
    """δ(ε) of each number of fits: validated band, upper end solid, Rényi dashed; `ghost` is a former fit."""
    x, looks = numbers.grid(view.eps_max), list(zip(counts, LOOKS, strict=False))
    traces = [] if read is None else [figures.guide((0, view.eps_max), (read, read))]
    for k, (color, _) in looks if ghost else ():
        before = numbers.profile(ghost, k, view)[1]
        traces.append(figures.series(f"k = {k}, before", x, before, "guide", ghost=True))
        traces[-1]["line"]["color"] = color
    for k, look in looks:
        low, high = numbers.profile(fit, k, view)
        known = np.isfinite(high)
        traces.append(figures.band(x[known], np.maximum(low, view.floor * 1e-3)[known], high[known], "guide"))
        traces[-1]["fillcolor"] = figures.translucent(look[0], 0.3)
        if renyi:
            by_renyi = numbers.renyi_profile(fit, k, view.eps_max)
            traces.append(_curve(f"k = {k}, Rényi", x, by_renyi, look, "dash", showlegend=False))
        traces.append(_curve(f"k = {k}", x, high, look))
    if renyi:
        traces.append(figures.series(DASHED, [0.0], [np.nan], "guide", line={"color": figures.GREY, "dash": "dash"}))
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.0, view.eps_max), hoverformat=".3g"),
        yaxis=figures.axis("slack δ", (view.floor, 2.0), log=True),
        height=height,
    )


def _curve(
    name: str, x: Any, y: Any, look: tuple[str, str], dash: str = "solid", *, value: str = "δ", **extra: Any
) -> dict[str, Any]:
    """One curve in the look of its number of fits; a few markers tell solid ones apart without colour."""
    (color, symbol), solid = look, dash == "solid"
    extra |= {"line": {"color": color, "dash": dash, "width": 2.5 if solid else 1.8, "simplify": False}}
    if solid:
        extra["marker"] = {"color": color, "symbol": symbol, "size": 9, "maxdisplayed": 12}
    mode = "lines+markers" if solid else "lines"
    return figures.series(name, x, y, "guide", mode=mode, hover=f"{value} = %{{y:.3g}}", **extra)


def widths(fit: numbers.Fit, counts: tuple[int, ...], view: numbers.View) -> Any:
    """The band's width relative to its upper end, where that is on the other chart."""
    x, traces = numbers.grid(view.eps_max), []
    for k, look in zip(counts, LOOKS, strict=False):
        low, high = numbers.profile(fit, k, view)
        share = np.where((high >= view.floor) & (high < 1) & (low < high), 1 - low / high, np.nan)
        traces.append(_curve(f"k = {k}", x, share, look, value="width"))
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

    end, name = max(len(lines), 1), f"Target ε = {sentences.number(target)}"
    traces = [figures.series(name, [0, end], [target] * 2, "lower", hoverinfo="skip") | {"mode": "lines"}]
    if ghost:
        traces.append(figures.series("Together, before", *steps(ghost, "total"), "tight", ghost=True))
    for what, name, role in (
        ("added", "ε added up", "published"),
        ("renyi", "Together, by Rényi", "rdp"),
        ("total", "Together", "tight"),
    ):
        traces.append(figures.series(name, *steps(lines, what), role, mode="lines+markers", hover="ε ≈ %{y:.3g}"))
    known = [v for line in lines for v in (line.added, line.renyi, line.total) if np.isfinite(v)]
    return figures.figure(
        traces,
        xaxis=figures.axis("entries of the list", (-0.1, end + 0.1), dtick=max(1, end // 10), tick0=0),
        yaxis=figures.axis("ε so far", (0.0, 1.08 * max([target, *known]))),
        height=380,
    )
