"""The charts of the page Losses and clipping: a loss and its slope, the fits, their errors, ε against the dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.losses import dimension as ld
from pages.losses import fits as lf
from pages.losses import numbers as lc
from pages.losses.words import CLIPPED, PLAIN, PRIVATE
from ui import figures

_POINTS = {"color": figures.ROLES["lower"].color, "size": 6}


def _nice(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 5, 7 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7, 10) if step * power >= value * (1 - 1e-12))


def loss(setting: lc.LossSetting, *, view: float, ghost: lc.LossSetting | None = None) -> go.Figure:
    """f, dashed on top of f_C, with the kinks marked; where there is a margin k, also f at k = 0."""
    drawn = lc.curves(setting, view)
    top = _nice(min(float(drawn["f"].max()), 2.5 * float(drawn["f_C"].max())))
    kinks = np.array([kink for kink in setting.kinks if abs(kink) <= view])
    traces = []
    if ghost is not None:
        before = lc.curves(ghost, view)
        traces.append(figures.series("f clipped, before", before["score"], before["f_C"], "tight", ghost=True))
    traces += [figures.guide((kink, kink), (0.0, top)) for kink in kinks]
    if setting.unmoved:
        hover = "f at k = 0: %{y:.3g}"
        traces.append(figures.series("f at k = 0", drawn["score"], drawn["f_k0"], "guide", hover=hover))
    traces += [
        figures.series("f clipped at C", drawn["score"], drawn["f_C"], "tight", hover="clipped %{y:.3g}"),
        figures.series("f", drawn["score"], drawn["f"], "published", hover="f = %{y:.3g}"),
    ]
    if len(kinks):
        values = setting.clipped.value(kinks, setting.target)
        traces.append(figures.series("kinks", kinks, values, "tight", mode="markers", hover="kink at %{x:.3g}"))
    return figures.figure(
        traces,
        xaxis=figures.axis(setting.axis, (-view, view), hoverformat=".3g"),
        yaxis=figures.axis("loss", (0.0, top)),
        height=380,
    )


def slope(setting: lc.LossSetting, *, view: float, ghost: lc.LossSetting | None = None) -> go.Figure:
    """f′ and f_C′ with the cut-off ±c; where there is a margin k, also f′ at k = 0."""
    drawn, cut = lc.curves(setting, view), setting.slope
    reach = _nice(max(1.15 * min(cut, 1.5 * float(np.abs(drawn["slope_f"]).max())), 0.5 * cut, 0.1))
    high = 0.1 * reach if setting.plain.monotone else reach
    traces = []
    if ghost is not None:
        before = lc.curves(ghost, view)
        traces.append(figures.series("f′ clipped, before", before["score"], before["slope_f_C"], "tight", ghost=True))
    cuts = (-cut,) if setting.plain.monotone else (-cut, cut)
    traces += [figures.guide((-view, view), (level, level)) for level in cuts]
    if setting.unmoved:
        hover = "f′ at k = 0: %{y:.3g}"
        traces.append(figures.series("f′ at k = 0", drawn["score"], drawn["slope_f_k0"], "guide", hover=hover))
    traces += [
        figures.series("f′ clipped at C", drawn["score"], drawn["slope_f_C"], "tight", hover="clipped %{y:.3g}"),
        figures.series("f′", drawn["score"], drawn["slope_f"], "published", hover="f′ = %{y:.3g}"),
    ]
    return figures.figure(
        traces,
        xaxis=figures.axis(setting.axis, (-view, view), hoverformat=".3g"),
        yaxis=figures.axis("slope", (-reach, high)),
        height=300,
    )


def fits(setting: lf.FitSetting, *, draws: int, ghost: lf.FitSetting | None = None) -> go.Figure:
    """The rows, the fits of f and of f_C without noise, also at a quarter and at four times C, and private fits."""
    view = (-1.05, 1.05)
    y_view = (-3.8, 1.5) if setting.regression else view
    traces = _rows(setting)
    name = "private fits"
    for draw in range(draws):
        line = _line(setting, lf.private(setting, draw))
        traces.append(
            figures.series(name, *line, "noise", opacity=0.6, showlegend=draw == 0, hoverinfo="skip")
            | {"line": {"color": figures.ROLES["noise"].color, "dash": "dashdot", "width": 1.2}}
        )
    if ghost is not None:
        line = _line(ghost, lf.without_privacy(ghost, ghost.clip))
        traces.append(figures.series("clipped, before", *line, "tight", ghost=True))
    for times, dash in ((0.25, "dot"), (4.0, "longdash")):
        line = _line(setting, lf.without_privacy(setting, times * setting.clip))
        look = {"color": figures.PURPLE, "dash": dash, "width": 1.5}
        name = "clipped at C/4" if times < 1 else "clipped at 4C"
        traces.append(figures.series(name, *line, "kifer2012", hoverinfo="skip") | {"line": look})
    for label, role, clip in ((PLAIN, "published", None), (CLIPPED, "tight", setting.clip)):
        traces.append(figures.series(label, *_line(setting, lf.without_privacy(setting, clip)), role, hoverinfo="skip"))
    names = ("feature x", "target y") if setting.regression else ("feature x₁", "feature x₂")
    return figures.figure(
        traces,
        xaxis=figures.axis(names[0], view),
        yaxis=figures.axis(names[1], y_view),
        height=430,
        hovermode="closest",
    )


def _rows(setting: lf.FitSetting) -> list[dict[str, Any]]:
    X, y = lf.data(setting)
    if setting.regression:
        trace = figures.series("rows", X[:, 0], y, "lower", mode="markers", hoverinfo="skip")
        return [trace | {"marker": _POINTS | {"symbol": "circle"}, "opacity": 0.55}]
    traces = []
    for label, role, symbol in ((1.0, "lower", "circle"), (-1.0, "monotone", "x")):
        name = "rows of class +1" if label > 0 else "rows of class −1"
        trace = figures.series(name, X[y == label, 0], X[y == label, 1], role, mode="markers", hoverinfo="skip")
        look = {"color": figures.ROLES[role].color, "size": 6, "symbol": symbol}
        traces.append(trace | {"marker": look, "opacity": 0.6})
    return traces


def _line(setting: lf.FitSetting, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two ends of the fitted line; in the plane, of the line on which the score is 0, within the unit square."""
    if setting.regression:
        x = np.array([-1.05, 1.05])
        return x, theta[0] * x + theta[1]
    weights, size = theta[:2], float(np.linalg.norm(theta[:2]))
    if size == 0:
        return np.array([np.nan, np.nan]), np.array([np.nan, np.nan])
    foot, along = -theta[2] * weights / size**2, np.array([-weights[1], weights[0]]) / size
    ends = foot[:, None] + along[:, None] * np.array([-3.0, 3.0])
    return ends[0], ends[1]


def errors(setting: lf.FitSetting, *, ghost: lf.FitSetting | None = None) -> go.Figure:
    """Error against the threshold C: too small a C loses the signal, too large a one lets outliers and noise in."""
    found = lf.errors(setting)
    top = _nice(1.1 * float(max(found["private_highest"].max(), found["clipped"].max())))
    traces = []
    if ghost is not None:
        before = lf.errors(ghost)
        traces.append(figures.series("private, before", before["C"], before["private"], "noise", ghost=True))
    hover = "%{y:.3f}"
    traces += [
        figures.guide((setting.clip, setting.clip), (0.0, top)),
        figures.band(found["C"], found["private_lowest"], found["private_highest"], "noise"),
        figures.series(CLIPPED, found["C"], found["clipped"], "tight", mode="lines+markers", hover=hover),
        figures.series(PRIVATE, found["C"], found["private"], "noise", mode="lines+markers", hover=hover),
    ]
    what = "distance from the true line" if setting.regression else "wrong labels on fresh rows"
    return figures.figure(
        traces,
        xaxis=figures.axis("clipping threshold C", (lf.THRESHOLDS[0], lf.THRESHOLDS[-1]), log=True, hoverformat=".3g"),
        yaxis=figures.axis(what, (0.0, top)),
        height=300,
    )


def dimension(
    setting: ld.DimensionSetting, *, delta: float, at: int, ghost: ld.DimensionSetting | None = None
) -> go.Figure:
    """ε against the number of parameters."""
    d = np.array(ld.DIMENSIONS, dtype=float)
    found = ld.readings(setting, delta, at)
    shown = [value for value in (*ld.curve(setting, delta), *found.values()) if 0 < value < math.inf]
    low = 10.0 ** math.floor(math.log10(min(shown))) if shown else 0.1
    high = 10.0 ** math.ceil(math.log10(max(shown))) if shown else 10.0
    high = max(high, 10 * low)
    traces = []
    if ghost is not None:
        traces.append(figures.series("Theorem G.2, before", d, _gaps(ld.curve(ghost, delta)), "kifer2012", ghost=True))
    traces.append(figures.guide((at, at), (low, high)))
    for bound, role in (("lower", "lower"), ("glm", "glm"), ("rdp", "rdp")):
        flat = _gaps(np.full(len(d), found[bound]))
        traces.append(figures.series(ld.NAMES[bound], d, flat, role, hover="ε = %{y:.3g}"))
    rising = _gaps(ld.curve(setting, delta))
    traces.append(
        figures.series(ld.NAMES["non-glm"], d, rising, "kifer2012", mode="lines+markers", hover="ε = %{y:.3g}")
    )
    return figures.figure(
        traces,
        xaxis=figures.axis("number of parameters d", (ld.DIMENSIONS[0], ld.DIMENSIONS[-1]), log=True),
        yaxis=figures.axis("privacy budget ε", (low, high), log=True),
        height=620,
    )


def _gaps(values: np.ndarray) -> np.ndarray:
    """Infinities as gaps of the line."""
    return np.where(np.isfinite(values), values, np.nan)
