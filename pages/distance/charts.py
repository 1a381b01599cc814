"""The pictures of the page Distance to optimality: curves, maps over (σ, λ), and the distance against λ."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.distance import numbers, words
from ui import figures, sentences
from ui.bounds import Setting, grid

ROLES = {"lower": "lower", "half": "noise", "glm": "glm", "logistic": "logistic"}
_MARGIN = {"l": 8, "r": 28, "t": 8, "b": 8}  # room for the label at the axis' end
# Viridis from its light end to its dark one, told apart by lightness alone; "exact" lets the page through
_BANDS = ("rgba(0,0,0,0)", "#fde725", "#a0da39", "#4ac16d", "#1fa187", "#277f8e", "#365c8d", "#46327e")
_SILENT = "rgba(127,127,127,0.3)"
_COLORS = (*_BANDS, _SILENT)
_SCALE = [[(i + end) / len(_COLORS), color] for i, color in enumerate(_COLORS) for end in (0, 1)]  # a flat step a band


def renyi(setting: Setting, *, alpha_max: float, alpha: float, ghost: Setting | None = None) -> go.Figure:
    """ε(α) of the four mechanisms, both axes logarithmic, as in Figure 4 of Redberg et al. (2023)."""
    view = figures.decades(*(numbers.renyi(name, setting, alpha_max) for name in numbers.NAMES))
    x, guide = numbers.orders(alpha_max), figures.guide((alpha, alpha), view)
    return figures.figure(
        _curves(x, numbers.renyi, alpha_max, setting, ghost, guide, "ε(α) = %{y:.3g}"),
        xaxis=figures.axis("Rényi order α", (1.0, alpha_max), log=True, hoverformat=".3g"),
        yaxis=figures.axis("Rényi divergence ε(α)", view, log=True),
        height=440,
        margin=_MARGIN,
    )


def profiles(setting: Setting, *, eps_max: float, delta: float, ghost: Setting | None = None) -> go.Figure:
    """δ(ε) of the four mechanisms."""
    view, guide = (min(1e-10, delta / 100), 2.0), figures.guide((0, eps_max), (delta, delta))
    return figures.figure(
        _curves(grid(eps_max), numbers.profile, eps_max, setting, ghost, guide, "δ ≈ %{y:.3g}"),
        xaxis=figures.axis("privacy budget ε", (0.0, eps_max), hoverformat=".3g"),
        yaxis=figures.axis("slack δ", view, log=True),
        height=440,
        margin=_MARGIN,
    )


def _curves(x: Any, what: Any, end: float, now: Setting, before: Setting | None, guide: Any, hover: str) -> Any:
    look: dict[str, Any] = {"between": [guide], "role": lambda name, at: ROLES[name], "hover": hover}
    return figures.curves(numbers.NAMES, x, lambda name, at: what(name, at, end), now, before, **look)


def distance_map(bound: str, setting: Setting, *, delta: float, ghost: Setting | None = None) -> go.Figure:
    """The distance over (σ, λ) in bands, what bounds its regions, and where this setting is."""
    cells, texts = _bands(bound, setting.smoothness, setting.lipschitz, delta)
    count = len(words.BANDS)
    view = (numbers.SIGMAS[0], numbers.SIGMAS[-1]), (numbers.LAMS[0], numbers.LAMS[-1])
    heat = {
        "type": "heatmap",
        "name": "distance to optimality",
        "x": numbers.SIGMAS,
        "y": numbers.LAMS,
        "z": cells,
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "zmin": -0.5,
        "zmax": count - 0.5,
        "colorscale": _SCALE,
        "colorbar": {
            "orientation": "h",
            "y": -0.24,
            "yanchor": "top",
            "thickness": 14,
            "len": 1.0,
            "outlinewidth": 1,
            "tickvals": [place for place, _ in words.band_labels()],
            "ticktext": [label for _, label in words.band_labels()],
            "tickangle": 0,
            "ticks": "",
        },
    }
    return figures.figure(
        [heat, _edge(bound, setting, delta), *_regions(bound, setting), *_marks(setting, ghost)],
        xaxis=figures.axis("noise σ", view[0], log=True, showgrid=False),
        yaxis=figures.axis("regularisation λ", view[1], log=True, showgrid=False),
        height=470,
        margin=_MARGIN,
        hovermode="closest",
    )


@lru_cache(maxsize=100)
def _bands(bound: str, smoothness: float, lipschitz: float, delta: float) -> tuple[Any, Any]:
    """The band of every cell, and what a cell says when it is pointed at."""
    found = numbers.distances(bound, Setting(1.0, 1.0, smoothness, lipschitz), delta)
    cells = np.where(found <= 1, 0, 1 + np.searchsorted(words.BANDS[2:], found, side="right")).astype(float)
    texts = np.array(
        [
            [
                f"σ = {sigma:.3g}, λ = {lam:.3g}<br>"
                + (f"distance {sentences.ratio(ratio)}" if math.isfinite(ratio) else "nothing proved")
                for sigma, ratio in zip(numbers.middles(numbers.SIGMAS), row, strict=True)
            ]
            for lam, row in zip(numbers.middles(numbers.LAMS), found, strict=True)
        ]
    )
    return cells, texts


def _edge(bound: str, setting: Setting, delta: float) -> dict[str, Any]:
    """Where the tight bound becomes exact, or where the published one falls silent."""
    if bound == "logistic":
        sigma, lam = numbers.boundary(setting.lipschitz, delta)
        return figures.series("exact from here up: λ = R²/(ε + R²/2σ²)", sigma, lam, "logistic", hoverinfo="skip")
    ends = np.array([numbers.SIGMAS[0], numbers.SIGMAS[-1]])
    flat = np.full(2, setting.smoothness)
    return figures.series("silent from here down: λ = β", ends, flat, "glm", hoverinfo="skip")


def _regions(bound: str, setting: Setting) -> list[dict[str, Any]]:
    """The name of the plain region, written into it; always exact, or silent, at that point."""
    if bound == "logistic":
        return [_word("exact: no proof can do better", 10.0, 3e3)]
    if setting.smoothness < 4 * numbers.LAMS[0]:
        return []
    return [_word("nothing proved", 10.0, math.sqrt(numbers.LAMS[0] * min(setting.smoothness, numbers.LAMS[-1])))]


def _word(text: str, sigma: float, lam: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": "",
        "mode": "text",
        "x": np.array([sigma]),
        "y": np.array([lam]),
        "text": [text],
        "textposition": "middle center",
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _marks(setting: Setting, ghost: Setting | None) -> list[dict[str, Any]]:
    """Where this setting is and, fainter, where the previous one was."""

    ring = {"color": "#ffffff", "symbol": "circle", "size": 13, "line": {"color": "#000000", "width": 2.5}}

    def mark(at: Setting, **look: Any) -> dict[str, Any]:
        name = "this setting"
        return figures.series(name, [at.sigma], [at.lam], "guide", mode="markers", marker=ring, **look)

    faint = [mark(ghost, ghost=True)] if ghost else []
    return [*faint, mark(setting, hover="σ = %{x:.3g}, λ = %{y:.3g}")]


def against_lam(sigma: float, smoothness: float, lipschitz: float, delta: float) -> go.Figure:
    """The distance of both proofs against λ at one σ, with the level that the published one falls to."""
    lams = np.geomspace(1e-1, 1e4, 61)
    settings = [Setting(sigma, float(lam), smoothness, lipschitz) for lam in lams]
    half = numbers.distance_at("half", settings[0], delta)
    names, hover = {name: numbers.NAMES[name] for name in numbers.MAPS}, "%{y:.3g} times"

    def curve(name: str, along: list[Setting]) -> list[float]:
        return [numbers.distance_at(name, at, delta) for at in along]

    level = figures.series(numbers.NAMES["half"], [lams[0], lams[-1]], [half, half], ROLES["half"], hover=hover)
    return figures.figure(
        [level, *figures.curves(names, lams, curve, settings, None, hover=hover)],
        xaxis=figures.axis("regularisation λ", (lams[0], lams[-1]), log=True, hoverformat=".3g"),
        yaxis=figures.axis("distance to optimality", (0.9, 2.5)),
        height=360,
        margin=_MARGIN,
    )
