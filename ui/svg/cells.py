"""Heat maps in an SVG chart: the cells, and the bar of colours that says what they mean.

The x and y of a heat map are the edges of its cells, one more than there are cells, as plotly takes them too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from ui.svg.axes import Scale, decode
from ui.svg.paint import on_scale
from ui.svg.text import LINE, plain, write

BAR = 14.0  # height of the colour bar


def cells(trace: dict[str, Any], x: Scale, y: Scale) -> list[str]:
    """The cells of a heat map, neighbours of one colour in a row as one rectangle; NaN is left empty."""
    z = _values(trace)
    across, down = np.round(x(trace["x"])), np.round(y(trace["y"]))  # whole pixels, or seams show between cells
    if (across.size, down.size) != (z.shape[1] + 1, z.shape[0] + 1):
        raise ValueError(f"x and y must be the edges of {z.shape} cells, got {across.size} and {down.size} of them")
    name = escape(plain(trace.get("name") or ""))
    parts = [f'<g class="cells" shape-rendering="crispEdges"><title>{name}</title>']
    for row, start, end, (fill, alpha) in runs(trace):
        top, bottom = sorted((down[row], down[row + 1]))
        left, right = sorted((across[start], across[end]))
        parts.append(
            f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" '
            f'fill="{fill}"{_opacity(alpha)}/>'
        )
    return [*parts, "</g>"]


def runs(trace: dict[str, Any]) -> Iterator[tuple[int, int, int, tuple[str, float]]]:
    """Row, first and last edge, colour and opacity of every run of cells of one colour that are to be seen."""
    for row, values in enumerate(_values(trace).tolist()):
        start = 0
        for look, run in groupby(_color(trace, value) for value in values):
            end = start + len(list(run))
            if look is not None and look[1] > 0:
                yield row, start, end, look
            start = end


def bar_height(trace: dict[str, Any]) -> float:
    """The room a heat map's colour bar needs, its labels and title included."""
    title = (trace.get("colorbar") or {}).get("title") or {}
    return BAR + LINE * (2 if title.get("text") else 1) + 8.0


def bar(trace: dict[str, Any], left: float, right: float, top: float) -> list[str]:
    """The colour bar: title, a strip of the scale, and the labels of its ticks under it."""
    spec = trace.get("colorbar") or {}
    title = (spec.get("title") or {}).get("text") or ""
    low, high = float(trace["zmin"]), float(trace["zmax"])
    parts = []
    if title:
        parts.append(write(plain(title), (left + right) / 2, top + LINE * 0.75, "middle"))
        top += LINE + 2.0
    places = sorted({float(place) for place, _ in trace["colorscale"]})
    for start, end in pairwise(places):
        fill, alpha = on_scale(trace["colorscale"], (start + end) / 2)
        x, width = left + start * (right - left), (end - start) * (right - left)
        parts.append(
            f'<rect class="scale" x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BAR:g}" '
            f'fill="{fill}"{_opacity(alpha)}/>'
        )
    parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{BAR:g}" {_FRAME}/>')
    for value, label in zip(spec.get("tickvals") or [], spec.get("ticktext") or [], strict=True):
        at = left + (value - low) / (high - low) * (right - left)
        parts.append(write(plain(label), at, top + BAR + LINE * 0.9, "middle"))
    return parts


_FRAME = 'fill="none" stroke="#444"'


def _values(trace: dict[str, Any]) -> np.ndarray:
    spec = trace["z"]
    z = decode(spec).astype(float)
    if isinstance(spec, dict) and "shape" in spec:
        z = z.reshape([int(n) for n in str(spec["shape"]).split(",")])
    return z


def _color(trace: dict[str, Any], value: float) -> tuple[str, float] | None:
    if not math.isfinite(value):
        return None
    low, high = float(trace["zmin"]), float(trace["zmax"])
    return on_scale(trace["colorscale"], min(max((value - low) / (high - low), 0.0), 1.0))


def _opacity(alpha: float) -> str:
    return f' fill-opacity="{alpha:g}"' if alpha < 1 else ""
