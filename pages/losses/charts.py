"""The charts of the page Losses and clipping: a loss and its slope, the fits, their errors, ε against the dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from objpert_core.experiments.studies import clipping
from pages.losses import dimension as ld
from pages.losses import numbers as lc
from pages.losses import ordinary as lo
from pages.losses.words import CLIPPED, PLAIN, PRIVATE
from ui import bounds, figures

Trace = dict[str, Any]


def _nice(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 5, 7 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7, 10) if step * power >= value * (1 - 1e-12))


def loss(setting: lc.LossSetting, *, view: float, ghost: lc.LossSetting | None = None) -> go.Figure:
    """f, dashed on top of f_C, with the kinks marked; where there is a margin k, also f at k = 0."""
    drawn = lc.curves(setting, view)
    top = _nice(min(float(drawn["f"].max()), 2.5 * float(drawn["f_C"].max())))
    kinks = np.array([kink for kink in setting.kinks if abs(kink) <= view])
    traces = _before_and_after(setting, view, ghost, "f", [figures.guide((kink, kink), (0.0, top)) for kink in kinks])
    if len(kinks):
        values = setting.clipped.value(kinks, setting.target)
        traces.append(figures.series("kinks", kinks, values, "tight", mode="markers", hover="kink at %{x:.3g}"))
    across = figures.axis(setting.axis, (-view, view), hoverformat=".3g")
    return figures.figure(traces, xaxis=across, yaxis=figures.axis("loss", (0.0, top)), height=380)


def slope(setting: lc.LossSetting, *, view: float, ghost: lc.LossSetting | None = None) -> go.Figure:
    """f′ and f_C′ with the cut-off ±c; where there is a margin k, also f′ at k = 0."""
    steepest, cut = float(np.abs(lc.curves(setting, view)["slope_f"]).max()), setting.slope
    reach = _nice(max(1.15 * min(cut, 1.5 * steepest), 0.5 * cut, 0.1))
    high = 0.1 * reach if setting.plain.monotone else reach
    cuts = (-cut,) if setting.plain.monotone else (-cut, cut)
    guides = [figures.guide((-view, view), (level, level)) for level in cuts]
    traces = _before_and_after(setting, view, ghost, "f′", guides, "slope_")
    across = figures.axis(setting.axis, (-view, view), hoverformat=".3g")
    return figures.figure(traces, xaxis=across, yaxis=figures.axis("slope", (-reach, high)), height=300)


def _before_and_after(
    setting: lc.LossSetting, view: float, ghost: lc.LossSetting | None, f: str, guides: list[Trace], what: str = ""
) -> list[Trace]:
    """The clipped curve of the ghost, then of this setting, with the unclipped one on top; `f` is its name."""
    drawn, traces = lc.curves(setting, view), []
    x = drawn["score"]
    if ghost is not None:
        before = lc.curves(ghost, view)
        faint = before["score"], before[f"{what}f_C"]
        traces.append(figures.series(f"{f} clipped, before", *faint, "tight", ghost=True))
    traces += guides
    if setting.unmoved:
        name = f"{f} at k = 0"
        traces.append(figures.series(name, x, drawn[f"{what}f_k0"], "guide", hover=f"{name}: %{{y:.3g}}"))
    clipped = figures.series(f"{f} clipped at C", x, drawn[f"{what}f_C"], "tight", hover="clipped %{y:.3g}")
    return [*traces, clipped, figures.series(f, x, drawn[f"{what}f"], "published", hover=f"{f} = %{{y:.3g}}")]


def fits(setting: clipping.Setting, *, draws: int, ghost: clipping.Setting | None = None) -> go.Figure:
    """The rows, the fits of f and of f_C without noise, also at a quarter and at four times C, and private fits."""
    traces = _rows(setting)

    def draw(name: str, theta: np.ndarray, role: str, of: clipping.Setting = setting, **look: Any) -> None:
        line = look.pop("line", {})
        trace = figures.series(name, *_line(of, theta), role, **look)
        traces.append(trace | ({"line": line} if line else {}))

    thin = {"color": figures.look("noise").color, "dash": "dashdot", "width": 1.2}
    for k in range(draws):
        theta, first = clipping.private(setting, k), k == 0
        draw("private fits", theta, "noise", opacity=0.6, showlegend=first, hoverinfo="skip", line=thin)
    if ghost is not None:
        draw("clipped, before", clipping.without_privacy(ghost, ghost.clip), "tight", ghost, ghost=True)
    for name, times, dash in (("clipped at C/4", 0.25, "dot"), ("clipped at 4C", 4.0, "longdash")):
        line = {"color": figures.BROWN, "dash": dash, "width": 1.5}
        draw(name, clipping.without_privacy(setting, times * setting.clip), "kifer2012", hoverinfo="skip", line=line)
    draw(PLAIN, clipping.without_privacy(setting, None), "published", hoverinfo="skip")
    draw(CLIPPED, clipping.without_privacy(setting, setting.clip), "tight", hoverinfo="skip")
    x, y = ("feature x", "target y") if setting.regression else ("feature x₁", "feature x₂")
    across = figures.axis(x, (-1.05, 1.05))
    up = figures.axis(y, (-3.8, 1.5) if setting.regression else (-1.05, 1.05))
    return figures.figure(traces, xaxis=across, yaxis=up, height=430, hovermode="closest")


def _rows(setting: clipping.Setting) -> list[Trace]:
    X, y = clipping.data(setting)
    if setting.regression:
        shown = [("rows", X[:, 0], y, "lower", "circle", 0.55)]
    else:
        classes = (("rows of class +1", 1.0, "lower", "circle"), ("rows of class −1", -1.0, "monotone", "x"))
        shown = [(name, *X[y == label].T, role, symbol, 0.6) for name, label, role, symbol in classes]
    traces = []
    for name, across, up, role, symbol, opacity in shown:
        trace = figures.series(name, across, up, role, mode="markers", hoverinfo="skip", opacity=opacity)
        traces.append(trace | {"marker": {"color": figures.look(role).color, "size": 6, "symbol": symbol}})
    return traces


def _line(setting: clipping.Setting, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def errors(setting: clipping.Setting, *, ghost: clipping.Setting | None = None) -> go.Figure:
    """Error against the threshold C: too small a C loses the signal, too large a one lets outliers and noise in."""
    found = clipping.errors(setting)
    top = _nice(1.1 * float(max(found["private_highest"].max(), found["clipped"].max())))
    traces = []
    if ghost is not None:
        before = clipping.errors(ghost)
        traces.append(figures.series("private, before", before["C"], before["private"], "noise", ghost=True))
    x = found["C"]
    look: Trace = {"mode": "lines+markers", "hover": "%{y:.3f}"}
    traces += [
        figures.guide((setting.clip, setting.clip), (0.0, top)),
        figures.band(x, found["private_lowest"], found["private_highest"], "noise"),
        figures.series(CLIPPED, x, found["clipped"], "tight", **look),
        figures.series(PRIVATE, x, found["private"], "noise", **look),
    ]
    what = "distance from the true line" if setting.regression else "wrong labels on fresh rows"
    across = figures.axis("clipping threshold C", (x[0], x[-1]), log=True, hoverformat=".3g")
    return figures.figure(traces, xaxis=across, yaxis=figures.axis(what, (0.0, top)), height=300)


def ordinary(margin: float) -> go.Figure:
    """The exact ε of two ordinary rows against the margin k, below the certificate's."""
    k, top = np.array(lo.MARGINS), 1.1 * lo.certified()
    look: Trace = {"mode": "lines+markers", "hover": "ε ≈ %{y:.3f}"}
    roles = {"agrees": "with", "differs": "without"}
    return figures.figure(
        [
            figures.guide((margin, margin), (0.0, top)),
            figures.series(
                "certified for every row", k, np.full(len(k), lo.certified()), "lower", hover="ε ≈ %{y:.3f}"
            ),
            *(figures.series(lo.NAMES[row], k, lo.curve(row), role, **look) for row, role in roles.items()),
        ],
        xaxis=figures.axis("margin k", (k[0], k[-1]), hoverformat=".3g"),
        yaxis=figures.axis("ε at δ = 10⁻⁵", (0.0, top)),
        height=300,
    )


def dimension(setting: bounds.Setting, *, delta: float, at: int, ghost: bounds.Setting | None = None) -> go.Figure:
    """ε against the number of parameters."""
    d = np.array(ld.DIMENSIONS, dtype=float)
    found, rising = ld.readings(setting, delta, at), ld.curve(setting, delta)
    shown = [value for value in (*rising, *found.values()) if 0 < value < math.inf]
    low = 10.0 ** math.floor(math.log10(min(shown))) if shown else 0.1
    high = max(10.0 ** math.ceil(math.log10(max(shown))), 10 * low) if shown else 10.0
    traces = []
    if ghost is not None:
        traces.append(figures.series("Theorem G.2, before", d, _gaps(ld.curve(ghost, delta)), "kifer2012", ghost=True))
    traces.append(figures.guide((at, at), (low, high)))
    hover = "ε ≈ %{y:.3g}"
    for bound in ("lower", "glm", "rdp"):
        traces.append(figures.series(ld.NAMES[bound], d, _gaps(np.full(len(d), found[bound])), bound, hover=hover))
    name = ld.NAMES["non-glm"]
    traces.append(figures.series(name, d, _gaps(rising), "kifer2012", mode="lines+markers", hover=hover))
    across = figures.axis("number of parameters d", (ld.DIMENSIONS[0], ld.DIMENSIONS[-1]), log=True)
    return figures.figure(
        traces, xaxis=across, yaxis=figures.axis("privacy budget ε", (low, high), log=True), height=440
    )


def _gaps(values: np.ndarray) -> np.ndarray:
    """Infinities as gaps of the line."""
    return np.where(np.isfinite(values), values, np.nan)
