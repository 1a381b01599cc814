"""The distance to optimality for every σ and λ, in bands: of the published proof and of the tight one.

The maps depend on δ, β and L alone, so that moving σ or λ costs nothing there.
"""

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from ui import figures, page, sentences
from ui.bounds import Setting

BOUNDS = {"glm": "the 2023 theorem", "logistic": "our theorem"}
CELLS = 40  # along either side of a map
SIGMAS, LAMS = np.geomspace(0.1, 1000.0, CELLS + 1), np.geomspace(0.01, 1e4, CELLS + 1)  # edges of the cells
MARGIN = {"l": 8, "r": 28, "t": 8, "b": 8}  # room for the label at the axis' end
# The smallest distance of each band of a map; the first band is 1 exactly, the last one where nothing is proved
BANDS = (1.0, 1.0, 1.01, 1.1, 1.25, 1.5, 2.0, 5.0, math.inf)
# Viridis from its light end to its dark one, told apart by lightness alone; "exact" lets the page through
BAND_COLORS = ("rgba(0,0,0,0)", "#fde725", "#a0da39", "#4ac16d", "#1fa187", "#277f8e", "#365c8d", "#46327e")
_COLORS = (*BAND_COLORS, "rgba(127,127,127,0.3)")
_SCALE = [[(i + end) / len(_COLORS), color] for i, color in enumerate(_COLORS) for end in (0, 1)]  # a flat step a band
_REMEMBERED = 300  # of 13 kB


def middles(edges: FloatArray) -> FloatArray:
    """The middles of cells on a logarithmic axis."""
    return np.sqrt(edges[1:] * edges[:-1])


def distances(bound: str, setting: Setting, delta: float) -> FloatArray:
    """The distance to optimality in the middle of every cell: a row for each λ, a column for each σ."""
    smoothness = setting.smoothness if bound == "glm" else setting.logistic_smoothness
    return _distances(bound, smoothness, setting.lipschitz, delta)


@lru_cache(maxsize=_REMEMBERED)
def _distances(bound: str, smoothness: float, lipschitz: float, delta: float) -> FloatArray:
    cells = acc.distance_map(
        middles(SIGMAS), middles(LAMS), delta, lipschitz=lipschitz, smoothness=smoothness, bound=bound
    ).T.copy()
    cells.setflags(write=False)
    return cells


@lru_cache(maxsize=_REMEMBERED)
def boundary(lipschitz: float, delta: float) -> tuple[FloatArray, FloatArray]:
    """σ, and the λ from which on the tight bound is exact, over the width of the map."""
    sigma = np.geomspace(SIGMAS[0], SIGMAS[-1], 4 * CELLS + 1)
    lam = acc.boundary_lam(sigma, delta, lipschitz=lipschitz)
    for values in (sigma, lam):
        values.setflags(write=False)
    return sigma, lam


def frame(bound: str, setting: Setting, delta: float) -> pd.DataFrame:
    """Every cell of a map: the middle's σ and λ, and the distance there."""
    lam, sigma = np.meshgrid(middles(LAMS), middles(SIGMAS), indexing="ij")
    cells = distances(bound, setting, delta)
    return pd.DataFrame({"sigma": sigma.ravel(), "lam": lam.ravel(), "distance": cells.ravel()})


def show(setting: Setting, delta: float, before: Setting | None) -> None:
    """Draw both maps beside each other."""
    st.header("The distance for every σ and λ", anchor=False)
    for bound, column in zip(BOUNDS, st.columns(len(BOUNDS), gap="medium"), strict=True):
        picture = page.Picture(
            chart(bound, setting, delta, before),
            alt(bound, setting, delta),
            partial(frame, bound, setting, delta),
            title(bound, delta, setting),
        )
        with column:
            st.markdown(f"**{picture.title}**")
            page.show(picture, key=f"distance_map_{bound}")
            page.evidence(picture, name=f"distance-map-{bound}")


def title(bound: str, delta: float, setting: Setting) -> str:
    """What one map shows, as its heading and the title of its file."""
    curvature = f"β = {sentences.number(setting.smoothness)}, " if bound == "glm" else ""
    length = f"L = {sentences.number(setting.lipschitz)}"
    return f"Distance to optimality of {BOUNDS[bound]}: δ = {sentences.delta(delta)}, {curvature}{length}"


def alt(bound: str, setting: Setting, delta: float) -> str:
    """How much of a map is exact, how much silent, and the range in between."""
    cells = distances(bound, setting, delta)
    exact, silent = float(np.mean(cells <= 1)), float(np.mean(np.isinf(cells)))
    between = cells[np.isfinite(cells) & (cells > 1)]
    parts = [f"exactly 1 on {sentences.percent(exact, 0)} of it, above the line" if exact else "nowhere exactly 1"]
    if between.size:
        low, high = (sentences.ratio(float(end)) for end in (between.min(), between.max()))
        parts.append(f"from {low} to {high} elsewhere")
    if silent:
        parts.append(f"nothing is proved on {sentences.percent(silent, 0)}, where λ ≤ β")
    return (
        f"Map of the distance to optimality of {BOUNDS[bound]} at δ = {sentences.delta(delta)}, over σ from 0.1 to "
        f"1,000 and λ from 0.01 to 10,000, both logarithmic: {'; '.join(parts)}."
    )


def band_labels() -> dict[float, str]:
    """Place, in bands, and text of each label of the bar of colours: the ends of the bands between its two ends."""
    inner = {band - 0.5: f"{start:g}" for band, start in enumerate(BANDS) if band > 1 and math.isfinite(start)}
    return {0.0: "exact", **inner, len(BANDS) - 1.0: "none"}


def chart(bound: str, setting: Setting, delta: float, before: Setting | None) -> Any:
    """The distance over (σ, λ) in bands, what bounds its regions, and where this setting is and the one before was."""
    cells, texts = _bands(bound, setting.smoothness, setting.lipschitz, delta)
    name, ends = "distance to optimality", (-0.5, len(BANDS) - 0.5)
    bar: dict[str, Any] = {"scale": _SCALE, "ends": ends, "ticks": band_labels(), "y": -0.24, "yanchor": "top"}
    heat = figures.heat(name, SIGMAS, LAMS, cells, texts, **bar)
    marks = [_mark(before, ghost=True)] if before else []
    marks.append(_mark(setting, hover="σ = %{x:.3g}, λ = %{y:.3g}"))
    traces = [heat, _edge(bound, setting, delta), *_regions(bound, setting), *marks]
    xaxis = figures.axis("noise σ", (SIGMAS[0], SIGMAS[-1]), log=True, showgrid=False)
    yaxis = figures.axis("regularisation λ", (LAMS[0], LAMS[-1]), log=True, showgrid=False)
    return figures.figure(traces, xaxis, yaxis, height=470, margin=MARGIN, hovermode="closest")


@lru_cache(maxsize=100)
def _bands(bound: str, smoothness: float, lipschitz: float, delta: float) -> tuple[Any, Any]:
    """The band of every cell, and what a cell says when it is pointed at."""
    ratios = distances(bound, Setting(1.0, 1.0, smoothness, lipschitz), delta)
    cells = np.where(ratios <= 1, 0, 1 + np.searchsorted(BANDS[2:], ratios, side="right")).astype(float)
    texts = np.array(
        [
            [
                f"σ = {sigma:.3g}, λ = {lam:.3g}<br>"
                + (f"distance {sentences.ratio(ratio)}" if math.isfinite(ratio) else "nothing proved")
                for sigma, ratio in zip(middles(SIGMAS), row, strict=True)
            ]
            for lam, row in zip(middles(LAMS), ratios, strict=True)
        ]
    )
    return cells, texts


def _edge(bound: str, setting: Setting, delta: float) -> dict[str, Any]:
    """Where the tight bound becomes exact, or where the published one falls silent."""
    if bound == "logistic":
        sigma, lam = boundary(setting.lipschitz, delta)
        return figures.series("exact from here up: λ = R²/(ε + R²/2σ²)", sigma, lam, "logistic", hoverinfo="skip")
    ends = np.array([SIGMAS[0], SIGMAS[-1]])
    flat = np.full(2, setting.smoothness)
    return figures.series("silent from here down: λ = β", ends, flat, "glm", hoverinfo="skip")


def _regions(bound: str, setting: Setting) -> list[dict[str, Any]]:
    """The name of the plain region, written into it; always exact, or silent, at that point."""
    if bound == "logistic":
        return [_word("exact: no proof can do better", 10.0, 3e3)]
    if setting.smoothness < 4 * LAMS[0]:
        return []
    return [_word("nothing proved", 10.0, math.sqrt(LAMS[0] * min(setting.smoothness, LAMS[-1])))]


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


def _mark(at: Setting, **look: Any) -> dict[str, Any]:
    ring = {"color": "#ffffff", "symbol": "circle", "size": 13, "line": {"color": "#000000", "width": 2.5}}
    return figures.series("this setting", [at.sigma], [at.lam], "guide", mode="markers", marker=ring, **look)
