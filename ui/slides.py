"""Figures as a lecture hall needs them: larger letters, thicker lines."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from ui.chart import Chart

FONT = 20  # pixels, as the text around the chart
THICKER = 1.6


def larger(figure: go.Figure) -> go.Figure:
    """The same figure for a slide; the one given is left as it is."""
    picture: dict[str, Any] = figure.to_plotly_json()
    layout = picture["layout"]
    layout.pop("height", None)  # the window decides
    layout["font"] = layout.get("font", {}) | {"size": FONT}
    layout["legend"] = layout.get("legend", {}) | {"font": {"size": FONT - 2}}
    for axis in (value for name, value in layout.items() if name.startswith(("xaxis", "yaxis"))):
        axis["tickfont"] = axis.get("tickfont", {}) | {"size": FONT - 2}
        if "title" in axis:
            axis["title"] = axis["title"] | {"font": {"size": FONT}}
    for trace in picture["data"]:
        if width := trace.get("line", {}).get("width"):
            trace["line"] = trace["line"] | {"width": THICKER * width}
        if isinstance(size := trace.get("marker", {}).get("size"), int | float):
            trace["marker"] = trace["marker"] | {"size": THICKER * size}
    return Chart(picture)
