"""A figure for a file: black on white, with a sentence that says what it shows, or as wide as a paper's column.

plotly writes SVG and PNG itself, in the reader's browser (`ui.files`). Without one `draw` has kaleido do it, an extra
that drives a Chromium of this machine; it makes PDF files, too. Neither asks another host for anything.
"""

import importlib.util
import math
import textwrap
from functools import cache
from typing import Any

import plotly.graph_objects as go

from ui.chart import Chart
from ui.jobs import moment

COLUMNS = {"With its title": None, "One column, 84 mm": 84.0, "Two columns, 174 mm": 174.0}
"""What a figure is for: a page, or a column of a journal, as wide as that."""
SCALES = {"svg": 1, "pdf": 1, "png": 2}
"""Dots of a file for one pixel."""
QUIET = {"mathjax": False, "proxy_server": "127.0.0.1:9"}
"""kaleido would fetch MathJax, and Chromium calls its maker at every start: a proxy that is not there answers."""
MM = 96 / 25.4
"""Pixels in a millimetre."""

_WIDE, _HIGH = 760, 430  # a chart on a page, in pixels
_LEAST, _LOW = 0.6, 220  # a narrow figure loses no more of its height than to this share, and a low one nothing
_LETTERS, _POINTS_8 = 13.0, 8 * 96 / 72  # pixels
_LETTER, _SAMPLE, _LINE = 0.58, 50.0, 1.45  # how wide a letter of one pixel is; what stands beside a name; line to line
_FINE = {"line": ("width", 0.65), "marker": ("size", 0.6), "error_x": ("width", 0.6), "error_y": ("width", 0.6)}
_AXIS = {"gridcolor": "#dddddd", "linecolor": "#444444", "mirror": True, "showline": True}


def printed(figure: go.Figure, *, title: str = "", column: float | None = None) -> Chart:
    """The same figure for a file, with its width and height; the one given is left as it is.

    In a `column` of so many millimetres it has text of 8 points, lines as in print, and no title: a paper has captions.
    """
    picture: dict[str, Any] = figure.to_plotly_json()
    layout, traces = picture["layout"], picture["data"]
    width, letters = (_WIDE, _LETTERS) if column is None else (round(column * MM, 2), _POINTS_8)
    font = {"size": letters, "color": "#222222"}
    said = textwrap.wrap(title, int(width / (_LETTER * letters))) if column is None else []
    names = [str(trace["name"]) for trace in traces if trace.get("name") and trace.get("showlegend", True)]
    beside = max(1, int(width / (_SAMPLE + _LETTER * letters * max(map(len, names), default=1))))
    rows = math.ceil(len(names) / beside) if layout.get("showlegend", True) else 0
    own = layout.get("height") or _HIGH
    high = max(own * min(1.0, max(_LEAST, width / _WIDE)), min(own, _LOW)) + _LINE * letters * (rows + len(said))
    head: dict[str, Any] = {"text": "<br>".join(said), "font": font}
    if rows:  # plotly makes room for a legend and its title, and lays a title of the figure's own over the legend
        above = {"legend": layout.get("legend", {}) | {"font": font, "title": head | {"side": "top"}}}
    else:
        above = {"title": head | {"x": 0, "xref": "paper", "yref": "container", "automargin": bool(said)}}
    axes = {
        key: axis | _AXIS | {"tickfont": font, "title": (axis.get("title") or {}) | {"font": font}}
        for key, axis in layout.items()
        if key.startswith(("xaxis", "yaxis"))
    }
    still = {key: value for key, value in layout.items() if key not in ("updatemenus", "sliders")}
    sheet: dict[str, Any] = {"paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff", "template": {}}
    sheet |= {"font": font | {"family": "Helvetica, Arial, sans-serif"}, "width": width, "height": round(high)}
    bar = {"modebar": {"color": "#222222", "bgcolor": "#ffffff"}}
    traces = traces if column is None else [_fine(trace) for trace in traces]
    return Chart({"data": traces, "layout": still | axes | above | sheet | bar})


def _fine(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace with lines and marks as fine as a paper's, at 8-point text."""
    fine = dict(trace)
    for part, (key, share) in _FINE.items():
        if isinstance(size := (trace.get(part) or {}).get(key), int | float):
            fine[part] = trace[part] | {key: share * size}
    return fine


@cache
def drawable() -> bool:
    """Whether kaleido and a Chromium that it can drive are here."""
    if importlib.util.find_spec("kaleido") is None:
        return False
    from choreographer.browsers.chromium import Chromium

    return Chromium.find_browser(skip_local=False) is not None


def draw(figure: Chart, form: str) -> bytes:
    """The file of a figure that has its width and height; `form` is a key of `SCALES`."""
    import kaleido

    with moment():  # a Chromium takes seconds and a quarter of a gigabyte
        made: bytes = kaleido.calc_fig_sync(
            figure.to_dict(),
            opts={"format": form, "scale": SCALES[form]},
            kopts=QUIET,
        )
    return made
