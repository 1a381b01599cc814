"""A plotly figure that nobody checks: plotly takes 15 ms to validate, copy and encode what a page draws, this takes 1.

`Chart` is a `plotly.graph_objects.Figure`, as far as Streamlit can tell, that keeps the dictionary it was made from.
Whoever asks for more than `to_dict`, as tests do with `chart.data` or `chart.layout`, gets the validated figure.

`larger` makes a figure for a lecture hall, `smaller` one for a telephone.
"""

import base64
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io

FONT = 20  # pixels, as the text around a slide's chart
THICKER = 1.6  # lines and marks of a slide
LEAST = 12  # pixels: letters of a slide's legend
SMALL = 10  # pixels: names of a telephone's legend, two beside each other
BESIDE = 480  # letters of a name times their pixels: two names have room beside each other on a slide of 960 pixels
LONGEST = 26  # letters of a name that has room in half of a telephone's picture


class Chart(go.Figure):
    """A figure from one dictionary with plotly's full names, which is neither validated nor changed.

    >>> chart = Chart({"data": [{"type": "scatter", "x": [1, 2], "y": [3, 4]}], "layout": {"height": 200}})
    >>> chart.to_dict()["data"], chart.layout.height
    ([{'type': 'scatter', 'x': [1, 2], 'y': [3, 4]}], 200)
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self.__dict__["_spec"] = spec

    def __getattr__(self, name: str) -> Any:
        spec = self.__dict__.pop("_spec", None)
        if spec is None:
            raise AttributeError(name)
        super().__init__(spec)
        return getattr(self, name)

    def to_dict(self) -> dict[str, Any]:
        """What plotly.js gets, for the caller to change, except for the template, which all share."""
        if "_spec" not in self.__dict__:
            return super().to_dict()
        spec: dict[str, Any] = _encoded(self.__dict__["_spec"])
        spec["layout"].setdefault("template", _template(plotly.io.templates.default))
        return spec


def _encoded(value: Any) -> Any:
    """Dictionaries and lists anew, without what is None; arrays of floats as plotly.js reads them fastest."""
    if isinstance(value, dict):
        return {key: _encoded(part) for key, part in value.items() if part is not None}
    if isinstance(value, list | tuple):
        return [_encoded(part) for part in value]
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype != np.float64 or not value.size:
        return value.tolist()
    encoded = {"dtype": "f8", "bdata": base64.b64encode(value.tobytes()).decode("ascii")}
    return encoded if value.ndim == 1 else encoded | {"shape": ", ".join(map(str, value.shape))}


@cache
def _template(name: str) -> dict[str, Any]:
    """Streamlit's theme, which its browser half fills in."""
    found: dict[str, Any] = plotly.io.templates[name].to_plotly_json()
    return found


def larger(figure: go.Figure) -> go.Figure:
    """The same figure for a slide, with larger letters and thicker lines; the one given is left as it is."""
    picture: dict[str, Any] = figure.to_plotly_json()
    layout = picture["layout"]
    layout.pop("height", None)  # the window decides
    layout["font"] = layout.get("font", {}) | {"size": FONT}
    named = _named(picture)
    letters = FONT - (2 if len(named) <= 4 else 4 if len(named) <= 6 else 6)  # or the legend takes half of the picture
    if len(named) > 4 and (fits := BESIDE // max(map(len, named))) >= LEAST:
        letters = min(letters, fits)
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


def smaller(figure: go.Figure) -> go.Figure:
    """The same figure for a telephone: its legend has two columns where names are short, so the picture is higher."""
    picture: dict[str, Any] = figure.to_plotly_json()
    layout = picture["layout"]
    named = _named(picture)
    fits = len(named) > 2 and max(map(len, named)) <= LONGEST
    # A legend that begins beside the axis has the whole picture's width, so that a name ends before its neighbour.
    half: dict[str, Any] = {"x": -0.1, "entrywidth": 0.5, "entrywidthmode": "fraction"} if fits else {}
    layout["legend"] = layout.get("legend", {}) | half | {"font": {"size": SMALL}, "itemwidth": 30}
    for axis in (value for name, value in layout.items() if name.startswith(("xaxis", "yaxis"))):
        axis["tickfont"] = axis.get("tickfont", {}) | {"size": SMALL + 1}
        if "title" in axis:  # upright and longer than the axis, it would reach the legend
            axis["title"] = axis["title"] | {"font": {"size": SMALL + 2}}
    return Chart(picture)


def _named(picture: dict[str, Any]) -> list[str]:
    """The names in the legend."""
    return [str(trace["name"]) for trace in picture["data"] if "name" in trace and trace.get("showlegend", True)]
