"""A chart as a small picture without words: curves, marks and cells between two axes, for light and dark pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.svg.axes import decode, panels
from ui.svg.traces import draw

_MOST = 60  # points of a curve
_EDGE = 4.0
_INK = "#888888"  # 3 : 1 at least on white and on Streamlit's dark background


def to_thumbnail(spec: dict[str, Any], *, note: str = "", width: int = 320, height: int = 150) -> str:
    """A small SVG document of a chart, transparent and without any text.

    Parameters
    ----------
    spec : dict
        The chart as plotly's JSON.
    note : str
        Stands in a comment at the top.
    width, height : int
        In pixels.
    """
    layout = spec["layout"]
    parts = [f"<!-- {note} -->"] if note else []
    parts.append(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    )
    drawn = [_plain(trace) for trace in spec["data"] if _drawn(trace)]
    for axis, x, y, inside in panels(layout, drawn, _EDGE, width - _EDGE, _EDGE, height - _EDGE):
        box = f'x="{x.start:g}" y="{y.end:g}" width="{x.end - x.start:g}" height="{y.start - y.end:g}"'
        parts += [f'<clipPath id="{axis}"><rect {box}/></clipPath>', f'<g clip-path="url(#{axis})">']
        parts += [*(part.replace("<title></title>", "") for part in draw(inside, x, y)), "</g>"]
        parts.append(f'<path d="M{x.start:g} {y.end:g} V{y.start:g} H{x.end:g}" fill="none" stroke="{_INK}"/>')
    return "\n".join([*parts, "</svg>", ""])


def _drawn(trace: dict[str, Any]) -> bool:
    return trace.get("visible", True) is True and trace.get("mode") != "text"


def _plain(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace without its name and its labels; long curves with fewer points."""
    small = trace | {"name": "", "mode": (trace.get("mode") or "lines").replace("+text", "")}
    if trace.get("type", "scatter") != "scatter":
        return small
    across, down = decode(trace["x"]), decode(trace["y"])
    if small["mode"] == "lines" and len(across) > _MOST:
        kept = np.unique(np.linspace(0, len(across) - 1, _MOST).round().astype(int))
        small |= {"x": across[kept], "y": down[kept]}
    return small
