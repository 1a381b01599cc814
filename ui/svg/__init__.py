"""Writes the app's charts as SVG, PNG and PDF files on the server, so that each is a plain download button.

It reads the same `plotly.graph_objects.Figure` that is on the screen and supports what the pages draw: scatter traces
(lines with dashes, markers, labels, filled bands, error bars), bar traces, heat maps with their bar of colours, linear,
logarithmic and named axes, panels stacked on one x axis, a legend. The result is black on white, fit for print, says in
a line of its own what it shows, uses no external font and is well formed XML.
"""

from __future__ import annotations

import zlib
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import plotly.graph_objects as go

from ui.svg import convert
from ui.svg.axes import Scale, decode, panels
from ui.svg.cells import bar, bar_height
from ui.svg.text import FONTS, LINE, SIZE, lines, plain, text_width, write
from ui.svg.traces import draw, sample

__all__ = ["decode", "to_pdf", "to_png", "to_svg"]

_EDGE = 12.0  # between the picture's edge and anything in it
_GAP = 8.0  # between an axis, its labels and its title
_ROW = 20.0  # of the legend
_SAMPLE = 32.0  # of a line in the legend


def to_svg(chart: go.Figure, *, title: str = "", width: int = 760, height: int = 480) -> str:
    """The figure as a complete SVG document.

    Parameters
    ----------
    chart : plotly.graph_objects.Figure
        What is on the screen.
    title : str
        What it shows; drawn above the legend, wrapped, and the picture's accessible name.
    width, height : int
        In pixels; the height is without the title and the legend, and a higher figure keeps its own.
    """
    spec = chart.to_plotly_json()
    layout = spec["layout"]
    traces = [trace for trace in spec["data"] if trace.get("visible", True) is True]
    heading = lines(title, width - 2 * _EDGE)
    legend = [] if layout.get("showlegend") is False else _legend_rows(traces, width)
    across = Scale(layout["xaxis"])
    head = _EDGE + LINE * len(heading) + _ROW * len(legend) + _GAP
    height = round(head + max(height, layout.get("height") or 0))
    names = [lines(label) for label in across.labels()]
    below = LINE * max(map(len, names), default=1)
    ends = [max(map(text_width, name), default=0.0) / 2 for name in names] or [0.0]
    left = max(_EDGE + ends[0], *(_beside(y) for _, y, _ in panels(layout, [], 0.0, 1.0)))
    right = width - _EDGE - ends[-1]
    under = lines(across.title, right - left)
    scaled = [trace for trace in traces if trace.get("type") == "heatmap" and trace.get("showscale", True)]
    foot = sum(map(bar_height, scaled))
    top, bottom = head, height - _EDGE - below - LINE * len(under) - _GAP - foot
    x = Scale(layout["xaxis"], left, right)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label={quoteattr(title)} font-family="{FONTS}" font-size="{SIZE:g}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    parts += [write(line, _EDGE, _EDGE + LINE * (row + 0.75)) for row, line in enumerate(heading)]
    for row, entries in enumerate(legend):
        parts += _legend(entries, _EDGE + LINE * len(heading) + _ROW * (row + 0.5))
    for name, y, inside in panels(layout, traces, top, bottom):
        parts += _panel(inside, name, x, y, salt=title)
    for at, label in x.ticks():
        parts += [write(line, at, bottom + LINE * (row + 1), "middle") for row, line in enumerate(lines(label))]
    parts += [
        write(line, (left + right) / 2, bottom + below + _GAP + LINE * (row + 0.75), "middle")
        for row, line in enumerate(under)
    ]
    for row, trace in enumerate(scaled):
        parts += bar(trace, left, right, height - _EDGE - foot + 8.0 + sum(map(bar_height, scaled[:row])))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def to_png(chart: go.Figure, *, title: str = "") -> bytes:
    """The figure as PNG, on white, with twice the pixels of its SVG; parameters as for `to_svg`."""
    return convert.png(to_svg(chart, title=title))


def to_pdf(chart: go.Figure, *, title: str = "") -> bytes:
    """The figure as a PDF of one page, its font embedded; parameters as for `to_svg`."""
    return convert.pdf(to_svg(chart, title=title), title)


def _beside(y: Scale) -> float:
    """The room that a y axis needs for its turned title and its longest label."""
    title = LINE * len(lines(y.title)) + _GAP if y.title else 0.0
    return _EDGE + title + max(map(text_width, y.labels()), default=0.0) + _GAP


def _panel(traces: list[dict[str, Any]], name: str, x: Scale, y: Scale, *, salt: str) -> list[str]:
    """One pair of axes with the curves in it; the x axis, which panels share, is labelled under the lowest."""
    left, right, top, bottom = x.start, x.end, y.end, y.start
    middle = (top + bottom) / 2
    clip = f"plot-{name}-{zlib.crc32(salt.encode()):x}"  # unique also where several files are pasted into one page
    frame = f'x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"'
    parts = [f'<clipPath id="{clip}"><rect {frame}/></clipPath>', '<g stroke="#dddddd" stroke-width="1">']
    parts += [f'<line x1="{p:.1f}" y1="{top:g}" x2="{p:.1f}" y2="{bottom:g}"/>' for p, _ in x.ticks()]
    parts += [f'<line x1="{left:g}" y1="{p:.1f}" x2="{right:g}" y2="{p:.1f}"/>' for p, _ in y.ticks()]
    parts += ["</g>", f'<rect {frame} fill="none" stroke="#444"/>']
    parts += [write(label, left - _GAP, at + 4.5, "end") for at, label in y.ticks()]
    for row, line in enumerate(lines(y.title)):
        at = _EDGE + LINE * (row + 0.75)
        parts.append(write(line, at, middle, "middle", f' transform="rotate(-90 {at:.1f} {middle:.1f})"'))
    return [*parts, f'<g clip-path="url(#{clip})">', *draw(traces, x, y), "</g>"]


def _legend_rows(traces: list[dict[str, Any]], width: int) -> list[list[tuple[float, dict[str, Any]]]]:
    """Legend entries with their left edge, broken into rows by an estimate of the text's width."""
    shown = [t for t in traces if t.get("showlegend", t.get("type") != "heatmap") and t.get("name")]
    rows: list[list[tuple[float, dict[str, Any]]]] = [[]]
    at = _EDGE
    for trace in sorted(shown, key=lambda trace: trace.get("legendrank", 1000)):
        need = _SAMPLE + 6 + text_width(plain(trace["name"]))
        if rows[-1] and at + need > width - _EDGE:
            rows.append([])
            at = _EDGE
        rows[-1].append((at, trace))
        at += need + 14
    return [row for row in rows if row]


def _legend(entries: list[tuple[float, dict[str, Any]]], middle: float) -> list[str]:
    parts = []
    for at, trace in entries:
        parts.append(sample(trace, at, middle, _SAMPLE))
        parts.append(write(plain(trace["name"]), at + _SAMPLE + 6, middle + 4.5))
    return parts
