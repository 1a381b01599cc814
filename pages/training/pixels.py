"""The training page's pictures of many classes: the coefficients of each class as an image, a pixel a column."""

import re
import textwrap
from typing import Any

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from objpert_core.experiments.compare import Comparison, Fit
from objpert_core.experiments.learners import NON_PRIVATE
from objpert_core.experiments.live import DataFacts
from pages.training.tables import provenance
from pages.training.words import LABELS
from ui import draws
from ui.figures import BLUE, VERMILION, axis, figure, ticks, translucent
from ui.page import Picture

_SCALE = [[0.0, BLUE], [0.5, translucent("#7f7f7f", 0.0)], [1.0, VERMILION]]
_ACROSS = 5  # images in a row
_ABOVE = 2  # pixels of room for a class's name
_PIXEL = re.compile(r"pixel\((\d+),(\d+)\)")


def images(comparison: Comparison, *, height: int, stale: bool = False) -> Picture:
    """One image for each class, without privacy and by the first draw of the main private method.

    A pixel that speaks for the class is vermilion, one that speaks against it blue; each method on its own scale.
    """
    data, fits = comparison.data, _shown(comparison)
    across, down = _size(data)
    rows = -(-len(data.classes) // _ACROSS)
    tall, wide = rows * (down + _ABOVE), _ACROSS * (across + 1)
    sheet = np.full((max(len(fits), 1) * tall, wide), np.nan)
    told = np.full(sheet.shape, "", dtype=object)
    for place, fit in enumerate(fits):
        most = np.abs(fit.coef).max() or 1.0
        for number, (name, weights) in enumerate(zip(data.classes, fit.coef, strict=True)):
            top, left = _corner(place * tall, number, (across, down))
            inside = (slice(top, top + down), slice(left, left + across))
            sheet[inside] = weights.reshape(down, across) / most
            words = [
                f"{name}, {column}: {value:+.3g}" for column, value in zip(data.feature_names, weights, strict=True)
            ]
            told[inside] = np.array(words, dtype=object).reshape(down, across)
    heat: dict[str, Any] = {
        "type": "heatmap",
        "name": "coefficients",
        "x": np.arange(wide + 1.0),
        "y": np.arange(len(sheet) + 1.0),
        "z": sheet,
        "text": told,
        "hoverinfo": "text",
        "hoverongaps": False,
        "zmin": -1.0,
        "zmax": 1.0,
        "colorscale": _SCALE,
        "showscale": False,
        "meta": {"role": comparison.settings.main or NON_PRIVATE, "ghost": False},
    }
    labels = _labels(data, len(fits), (across, down), tall)
    middles = ticks(np.array([(place + 0.5) * tall for place in range(len(fits))]), [_named(fit) for fit in fits])
    xaxis = axis(f"on {data.label}", (0.0, float(wide)), showgrid=False, showticklabels=False, ticks="")
    yaxis = axis("", (float(len(sheet)), 0.0), showgrid=False, scaleanchor="x", constrain="domain", **middles)
    chart = figure(draws.faint([heat, labels], stale), xaxis, yaxis, height=height, legend=False, hovermode="closest")
    methods = " and ".join(LABELS[fit.method] for fit in fits)
    alt = f"The coefficients of the {len(data.classes)} classes of {data.label} as images, {methods}"
    return Picture(
        chart, f"{alt}: vermilion pixels speak for a class, blue ones against it.", lambda: _frame(comparison)
    )


def _corner(above: int, number: int, size: tuple[int, int]) -> tuple[int, int]:
    """The first row and column of an image."""
    across, down = size
    return above + number // _ACROSS * (down + _ABOVE) + _ABOVE, number % _ACROSS * (across + 1)


def _shown(comparison: Comparison) -> list[Fit]:
    """The fits that are drawn: without privacy, and the first draw of the main private method."""
    methods = [NON_PRIVATE, comparison.settings.main]
    return [comparison.of(method)[0] for method in methods if method and comparison.of(method)]


def _size(data: DataFacts) -> tuple[int, int]:
    """Columns and rows of an image; one row where the features are no pixels."""
    found = [_PIXEL.fullmatch(name) for name in data.feature_names]
    if not all(found):
        return data.columns, 1
    down = 1 + max(int(match[1]) for match in found if match)
    return data.columns // down, down


def _named(fit: Fit) -> str:
    seed = [] if fit.seed is None else [f"seed {fit.seed}"]
    return "<br>".join([*textwrap.wrap(LABELS[fit.method], 12, break_long_words=False), *seed])


def _labels(data: DataFacts, count: int, size: tuple[int, int], tall: int) -> dict[str, Any]:
    """The class over each image of `count` methods."""
    corners = [_corner(p * tall, n, size) for p in range(count) for n in range(len(data.classes))]
    return {
        "type": "scatter",
        "mode": "text",
        "name": "classes",
        "x": np.array([left + size[0] / 2 for _, left in corners]),
        "y": np.array([top - _ABOVE / 2 for top, _ in corners]),
        "text": list(data.classes) * count,
        "textposition": "middle center",
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"role": "guide", "ghost": False},
    }


def _frame(comparison: Comparison) -> pd.DataFrame:
    """Every coefficient of the drawn models."""
    data, shared = comparison.data, provenance(comparison.data)

    def column(weights: FloatArray, fit: Fit, name: str) -> pd.DataFrame:
        seed = {"noise_seed": fit.seed}
        about = {**shared, "method": fit.method, **seed, "class": name, "feature": list(data.feature_names)}
        return pd.DataFrame(about | {"coefficient": weights})

    parts = [
        column(weights, fit, name)
        for fit in _shown(comparison)
        for name, weights in zip(data.classes, fit.coef, strict=True)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(shared, index=[0])
