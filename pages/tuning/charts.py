"""The charts of the tuning page: what choosing costs against the number of settings, and the law of K."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pages.tuning import numbers as tc
from pages.tuning.words import WAYS, Need
from ui import figures, sentences
from ui.controls import log_values, plain

_DIGITS = (1.0, 2.0, 5.0)
_MOST_TICKS = 12


def price(setting: tc.Setting, settings: int, ghost: tc.Setting | None = None, *, height: int = 470) -> Any:
    """ε against the number of settings under every way; `settings` is marked, `ghost` is a former setting."""
    x = np.array(tc.GRID)
    curves = {way: tc.curve(way, setting) for way in WAYS}
    view = _view(np.concatenate(list(curves.values())))
    here = tc.GRID.index(settings)
    traces = []
    if ghost is not None and ghost != setting:
        traces += [figures.series(f"{WAYS[w]}, before", x, _finite(tc.curve(w, ghost)), w, ghost=True) for w in WAYS]
    traces.append(figures.guide((settings, settings), view))
    for way, values in curves.items():
        drawn = _finite(values)
        traces.append(figures.series(WAYS[way], x, drawn, way, mode="lines+markers", hover="ε ≈ %{y:.3g}"))
        traces[-1]["marker"] |= {"size": np.where(np.arange(x.size) == here, 15, 7), "opacity": 1}
    across = _axis("number of settings tried, s", (0.93, 107.0), [1, 2, 3, 5, 10, 20, 30, 50, 100])
    up = _axis(f"ε at δ = {sentences.delta(setting.delta)}", view, _ticks(*view), hoverformat=".3g")
    return figures.figure(traces, xaxis=across, yaxis=up, height=height)


def number_of_runs(law: tc.Runs, settings: int, ghost: tc.Runs | None = None, *, height: int = 280) -> Any:
    """Probability of every number of runs; those up to `settings` in grey, its mean as a line."""
    top, last = 1.08 * float(law.probability.max()), law.probability.size - 1
    colors = np.where(law.k > settings, figures.GREEN, figures.GREY)
    bars: dict[str, Any] = {"type": "bar", "name": "runs K, more than s in colour", "x": law.k, "y": law.probability}
    bars |= {"marker": {"color": colors.tolist(), "line": {"width": 0}}, "showlegend": False}
    bars |= {"hovertemplate": "Pr[K = %{x}] = %{y:.3g}<extra></extra>", "meta": {"role": "selection", "ghost": False}}
    traces = [bars]
    if ghost is not None and ghost is not law:
        traces.append(figures.series("K, before", ghost.k, ghost.probability, "selection", ghost=True))
    traces.append(_upright(f"s = {settings}; grey: no more runs than settings", settings + 0.5, top, "composed"))
    if law.mean <= last:
        traces.append(_upright(f"mean {sentences.scientific(law.mean, 3)}", law.mean, top, "noise"))
    across = figures.axis("number of runs, K", (-0.6, last + 0.6), hoverformat=".0f")
    look: dict[str, Any] = {"bargap": 0.2 if last <= 60 else 0.0, "hovermode": "closest"}
    return figures.figure(traces, xaxis=across, yaxis=figures.axis("probability", (0.0, top)), height=height, **look)


def left(needs: Mapping[str, Need | None], target: float) -> Any:
    """What of the total ε is left for each run under every way, with the noise multiplier that takes."""
    places, shares = np.arange(len(needs)), [need.epsilon if need else 0.0 for need in needs.values()]
    told = [f"noise {sentences.number(need.noise_multiplier, up=True)}" if need else "none" for need in needs.values()]
    bars: dict[str, Any] = {"type": "bar", "name": "ε left for each run", "x": places, "y": np.array(shares)}
    bars |= {"marker": {"color": [figures.look(way).color for way in needs]}, "showlegend": False}
    bars |= {"hovertemplate": "ε = %{y:.3g}<extra></extra>", "meta": {"role": "selection", "ghost": False}}
    above = figures.series("noise multiplier", places, shares, "guide", mode="text", hoverinfo="skip")
    above |= {"text": told, "textposition": "top center", "showlegend": False}
    ends = (-0.6, len(needs) - 0.4)
    total = figures.series("total ε", ends, (target, target), "free", mode="lines", hoverinfo="skip")
    names = [WAYS[way].replace(" ", "<br>", 1) for way in needs]
    across = figures.axis("", ends, tickvals=places, ticktext=names)
    upright = figures.axis("ε left for each run", (0.0, 1.2 * max(target, *shares)))
    return figures.figure([total, bars, above], xaxis=across, yaxis=upright, height=300, hovermode="closest")


def _upright(name: str, x: float, top: float, role: str) -> dict[str, Any]:
    return figures.series(name, np.array([x, x]), np.array([0.0, top]), role, mode="lines", hoverinfo="skip")


def _finite(values: Any) -> Any:
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)


def _view(values: Any) -> tuple[float, float]:
    """A range that ends a little outside the values, in steps of 1, 2, 5, so that it stays while little moves."""
    shown = values[np.isfinite(values) & (values > 0)]
    if not shown.size:
        return 0.1, 10.0
    low, high = float(shown.min()), float(shown.max())
    return 0.9 * log_values(low / 10, low, steps=_DIGITS)[-1], 1.1 * log_values(high, 10 * high, steps=_DIGITS)[0]


def _ticks(low: float, high: float) -> Sequence[float]:
    inside = log_values(low, high, steps=_DIGITS if math.log10(high / low) < 4 else (1.0,))
    return inside[:: max(1, math.ceil(len(inside) / _MOST_TICKS))]


def _axis(title: str, view: tuple[float, float], ticks: Sequence[float], **extra: Any) -> dict[str, Any]:
    marks = {"tickvals": list(ticks), "ticktext": [plain(tick) for tick in ticks]}
    return figures.axis(title, view, log=True, **marks, **extra)
