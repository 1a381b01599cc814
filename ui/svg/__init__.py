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
from ui.svg.axes import ON_PAGE, Panel, Scale, decode, panels, print_height
from ui.svg.cells import bar, bar_height
from ui.svg.text import FONTS, LINE, POINT, SIZE, lines, plain, text_width, write
from ui.svg.traces import draw, printed, sample

__all__ = ["decode", "to_pdf", "to_png", "to_svg"]

COLUMNS = {"One column, 84 mm": 84.0, "Two columns, 174 mm": 174.0}
"""Widths of a figure in a journal, in millimetres."""
MM = 72 / 25.4
"""Points in a millimetre."""

_EDGE = 12.0  # between the picture's edge and anything in it
_GAP = 8.0  # between an axis, its labels and its title
_ROW = 20.0  # of the legend
_SAMPLE = 32.0  # of a line in the legend


def to_svg(chart: go.Figure, *, title: str = "", width: int = ON_PAGE, height: int = 480, bare: bool = False) -> str:
    """The figure as a complete SVG document.

    Parameters
    ----------
    chart : plotly.graph_objects.Figure
        What is on the screen.
    title : str
        What it shows; drawn above the legend, wrapped, and the picture's accessible name.
    width, height : int
        In pixels; the height is without the title and the legend, and a higher figure keeps its own.
    bare : bool
        Without background and title, which a paper has in its caption, and with lines as thin as in print.
    """
    spec = chart.to_plotly_json()
    layout = spec["layout"]
    traces = [trace for trace in spec["data"] if trace.get("visible", True) is True]
    traces = [printed(trace) for trace in traces] if bare else traces
    heading = [] if bare else lines(title, width - 2 * _EDGE)
    legend = [] if layout.get("showlegend") is False else _legend_rows(traces, width)
    head = _EDGE + LINE * len(heading) + _ROW * len(legend) + _GAP
    height = round(head + (height if bare else max(height, layout.get("height") or 0)))
    scaled = [trace for trace in traces if trace.get("type") == "heatmap" and trace.get("showscale", True)]
    foot = sum(map(bar_height, scaled))
    ys = [Scale(layout[key]) for key in layout if key.startswith("yaxis")]
    left = max(_EDGE + _half_a_label(layout["xaxis"], 0), *map(_beside, ys))
    right = width - _EDGE - _half_a_label(layout["xaxis"], -1)
    drawn = panels(layout, traces, left, right, head, height)
    below = max(_below(panel.x) for panel in drawn)
    bottom = height - _EDGE - below - foot
    drawn = panels(layout, traces, left, right, head, bottom)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label={quoteattr(title)} font-family="{FONTS}" font-size="{SIZE:g}">',
        f"<title>{escape(title)}</title>",
        *([] if bare else [f'<rect width="{width}" height="{height}" fill="#ffffff"/>']),
    ]
    parts += [write(line, _EDGE, _EDGE + LINE * (row + 0.75)) for row, line in enumerate(heading)]
    for row, entries in enumerate(legend):
        parts += _legend(entries, _EDGE + LINE * len(heading) + _ROW * (row + 0.5))
    for panel in drawn:
        parts += _panel(panel, salt=title)
    lowest = {id(panel.x.spec): panel for panel in sorted(drawn, key=lambda panel: panel.y.start)}
    for panel in lowest.values():  # panels share the x axis under the lowest of them
        parts += _under(panel.x, panel.y.start)
    for note in layout.get("annotations") or ():
        parts += _note(note, drawn[0])
    for row, trace in enumerate(scaled):
        parts += bar(trace, left, right, height - _EDGE - foot + 8.0 + sum(map(bar_height, scaled[:row])))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def to_png(chart: go.Figure, *, title: str = "") -> bytes:
    """The figure as PNG, on white, with twice the pixels of its SVG; parameters as for `to_svg`."""
    return convert.png(to_svg(chart, title=title))


def to_pdf(chart: go.Figure, *, title: str = "", column: float | None = None) -> bytes:
    """The figure as a PDF of one page, its font embedded.

    Parameters
    ----------
    chart, title
        As for `to_svg`.
    column : float or None
        The width of a paper's column in millimetres: the figure then has exactly this width, text of 8 points, lines
        as in print, no title and no background.
    """
    if column is None:
        return convert.pdf(to_svg(chart, title=title), title)
    width = round(column * MM / POINT)
    height = round(print_height(chart.to_plotly_json()["layout"], width))
    drawing = to_svg(chart, title=title, width=width, height=height, bare=True)
    return convert.pdf(drawing, title, width=column * MM)


def _beside(y: Scale) -> float:
    """The room that a y axis needs for its turned title and its longest label."""
    title = LINE * len(lines(y.title)) + _GAP if y.title else 0.0
    return _EDGE + title + max((text_width(line) for label in y.labels() for line in lines(label)), default=0.0) + _GAP


def _half_a_label(axis: dict[str, Any], end: int) -> float:
    """Half the width of the first or last label of an x axis."""
    labels = [lines(label) for label in Scale(axis).labels()]
    return max(map(text_width, labels[end]), default=0.0) / 2 if labels else 0.0


def _below(x: Scale) -> float:
    """The room that an x axis needs for its labels and its title."""
    labels, upright = x.set_labels()
    names = [label for _, label in labels]
    high = (
        max((text_width(line) for name in names for line in name), default=0.0)
        if upright
        else LINE * max(map(len, names), default=1)
    )
    return high + _GAP + LINE * len(lines(x.title, abs(x.end - x.start)))


def _under(x: Scale, bottom: float) -> list[str]:
    """The labels of an x axis and its title."""
    labels, upright = x.set_labels()
    parts = []
    for at, label in labels:
        for row, line in enumerate(label):
            if upright:
                place = at + LINE * (row - (len(label) - 1) / 2) + 4.5
                parts.append(
                    write(
                        line, place, bottom + _GAP, "end", f' transform="rotate(-90 {place:.1f} {bottom + _GAP:.1f})"'
                    )
                )
            else:
                parts.append(write(line, at, bottom + LINE * (row + 1), "middle"))
    title = lines(x.title, abs(x.end - x.start))
    start = bottom + _below(x) - LINE * len(title)
    middle = (x.start + x.end) / 2
    return [*parts, *(write(line, middle, start + LINE * (row + 0.75), "middle") for row, line in enumerate(title))]


def _note(note: dict[str, Any], panel: Panel) -> list[str]:
    """A text at a place of the first panel, which plotly gives in powers of ten on a logarithmic axis."""
    px, py = (
        float(axis([10.0 ** note[key] if axis.log else note[key]])[0]) for key, axis in (("x", panel.x), ("y", panel.y))
    )
    anchor = {"left": "start", "right": "end"}.get(note.get("xanchor", "center"), "middle")
    rise = {"bottom": -4.0, "top": 13.0}.get(note.get("yanchor", "middle"), 4.5)
    return [write(plain(note["text"]), px, py + rise, anchor)]


def _panel(panel: Panel, *, salt: str) -> list[str]:
    """One pair of axes with the curves in it; the x axis, which panels share, is labelled under the lowest."""
    name, x, y, traces = panel
    left, right, top, bottom = x.start, x.end, y.end, y.start
    middle = (top + bottom) / 2
    clip = f"plot-{name}-{zlib.crc32(salt.encode()):x}"  # unique also where several files are pasted into one page
    frame = f'x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"'
    parts = [f'<clipPath id="{clip}"><rect {frame}/></clipPath>', '<g stroke="#dddddd" stroke-width="1">']
    parts += [f'<line x1="{p:.1f}" y1="{top:g}" x2="{p:.1f}" y2="{bottom:g}"/>' for p, _ in x.ticks()]
    parts += [f'<line x1="{left:g}" y1="{p:.1f}" x2="{right:g}" y2="{p:.1f}"/>' for p, _ in y.ticks()]
    parts += ["</g>", f'<rect {frame} fill="none" stroke="#444"/>']
    for at, label in y.ticks():
        rows = lines(label)
        first = at + 4.5 - LINE * (len(rows) - 1) / 2
        parts += [write(line, left - _GAP, first + LINE * row, "end") for row, line in enumerate(rows)]
    edge = left - _beside(y) + _EDGE if x.spec.get("domain") or y.spec.get("scaleanchor") else _EDGE
    for row, line in enumerate(lines(y.title)):
        at = edge + LINE * (row + 0.75)
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
