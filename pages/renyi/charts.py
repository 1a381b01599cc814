"""The pictures of the Rényi page: the curves over α, and ε over δ."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from objpert_core._validation import FloatArray
from pages.renyi import numbers, words
from ui import figures

HOVER = "%{y:.3g}"
SHORT = {"objective": "One fit", "gaussian": "Gaussian", "dpsgd": "DP-SGD"}
"""What the legends call the mechanisms: two stand in a row on a telephone."""


def role(which: str, setting: numbers.Setting) -> str:
    """The role in `figures.ROLES` of a mechanism's curves."""
    return {"objective": setting.bound, "gaussian": "lower", "dpsgd": "dpsgd", "allocation": "allocation"}[which]


def curves(
    setting: numbers.Setting,
    *,
    alpha_max: float,
    relative: bool = False,
    ghost: numbers.Setting | None = None,
    height: int = 400,
) -> go.Figure:
    """The Rényi curves up to `alpha_max`, where they cross, and where DP-SGD's leaps."""
    drawn = alpha_max >= numbers.ORDERS
    x = numbers.ORDERS[drawn]

    def curve(which: str, at: numbers.Setting) -> FloatArray:
        return numbers.drawn(at, relative)[which][drawn]

    shown = [figures.finite(curve(which, setting)) for which in numbers.NAMES]
    bottom, top = figures.decades(*shown)
    if relative:
        bottom, top = min(0.5, bottom) if np.nanmin(shown) < 0.5 else 0.5, 20.0
    traces = []
    for name, line, dash in (
        (numbers.AMPLIFIED, numbers.amplified(setting), "dot"),
        (numbers.UNAMPLIFIED, numbers.unamplified(setting), "dash"),
    ):
        look = {"color": figures.ROLES["guide"].color, "width": 1.5, "dash": dash}
        values = numbers.shown(line, setting, relative)[drawn]
        traces.append(figures.series(name, x, values, "guide", line=look, hoverinfo="skip"))
    leap = numbers.transition(setting)
    marks = [("crossing", crossing.alpha, crossing.height, "x") for crossing in numbers.crossings(setting)]
    if leap and leap.start <= alpha_max:
        traces.append(figures.guide((leap.start, leap.start), (bottom, top)))
        marks.append(("leap", leap.start, leap.height, "diamond"))
    traces = figures.curves(SHORT, x, curve, setting, ghost, between=traces, role=role, hover=HOVER)
    for name, alpha, epsilon, symbol in marks:
        if alpha <= alpha_max:
            y = numbers.shown(np.array([epsilon]), setting, relative, np.array([alpha]))
            traces.append(_mark(f"{name}, α = {words.order(alpha)}", alpha, float(y[0]), symbol))
    return figures.figure(
        traces,
        xaxis=figures.axis("Rényi order α", (1.0, alpha_max), log=True, hoverformat=".4g"),
        yaxis=figures.axis("ε(α) / Gaussian’s" if relative else "Rényi divergence ε(α)", (bottom, top), log=True),
        height=height,
    )


def _mark(name: str, x: float, y: float, symbol: str) -> dict[str, Any]:
    """A mark that says by itself what it is."""
    look = {"symbol": symbol, "size": 13, "color": figures.ROLES["guide"].color}
    mark = figures.series(name, [x], [y], "guide", mode="markers+text", marker=look, hoverinfo="skip", showlegend=False)
    return mark | {"text": [name], "textposition": "bottom right" if symbol == "x" else "top left"}


def promises(setting: numbers.Setting, *, read: float, allocated: bool = False) -> go.Figure:
    """ε over δ of the fit and of DP-SGD, by their Rényi curves and by their privacy loss distributions.

    Random allocation is there by its distribution only: its Rényi curve has no amplification.
    """
    deltas = np.array(numbers.DELTAS)
    found = {which: numbers.promise(which, setting) for which in ("objective", "dpsgd")}
    known = [curve[np.isfinite(curve)] for told in found.values() for curve in (told.renyi, told.exact)]
    top = 1.05 * max((float(curve.max()) for curve in known if curve.size), default=1.0)
    traces, exact = [figures.guide((read, read), (0, top))], []
    for which, told in found.items():
        name, look = SHORT[which], role(which, setting)
        thin = {"color": figures.look(look).color, "dash": "dot", "width": 1.5}
        renyi = figures.finite(told.renyi)
        traces.append(
            figures.series(f"{name}, Rényi", deltas, renyi, look, mode="lines+markers", hover=HOVER, line=thin)
        )
        values = figures.finite(told.exact)
        exact.append(figures.series(name, deltas, values, look, hover=HOVER))
    if allocated and setting.allocates:
        values = numbers.promise("allocation", setting).resolved
        top = max(top, 1.05 * float(np.nanmax(values, initial=0.0)))
        exact.append(figures.series(numbers.ALLOCATION, deltas, values, role("allocation", setting), hover=HOVER))
        traces[0] = figures.guide((read, read), (0, top))
    return figures.figure(
        [*traces, *exact],
        xaxis=figures.axis("slack δ: rarer events to the right", (1.4e-2, 7e-13), log=True),
        yaxis=figures.axis("privacy budget ε", (0.0, top)),
        height=360,
    )
