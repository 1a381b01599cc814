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
    named = sum("name" in trace and trace.get("showlegend", True) for trace in picture["data"])
    letters = FONT - (2 if named <= 4 else 4 if named <= 6 else 6)  # or the legend takes half of the picture
    layout["legend"] = layout.get("legend", {}) | {"font": {"size": letters}}
    for axis in (value for name, value in layout.items() if name.startswith(("xaxis", "yaxis"))):
        lines = any("<br>" in str(text) for text in axis.get("ticktext", ()))
        axis["tickfont"] = axis.get("tickfont", {}) | {"size": FONT - (5 if lines else 2)}
        if lines:
            axis["tickangle"] = 0  # upright names would leave the picture no height
        if "title" in axis:
            axis["title"] = axis["title"] | {"font": {"size": FONT}}
    for trace in picture["data"]:
        if width := trace.get("line", {}).get("width"):
            trace["line"] = trace["line"] | {"width": THICKER * width}
        if isinstance(size := trace.get("marker", {}).get("size"), int | float):
            trace["marker"] = trace["marker"] | {"size": THICKER * size}
        if "maxdisplayed" in trace.get("marker", {}):
            trace["zorder"] = -1  # its marks are wider than the line that it may lie on
    return Chart(picture)
