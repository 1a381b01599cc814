r"""A chart as source for PGFPlots: a ``tikzpicture`` of a column's width, with the plotted numbers in full precision.

It needs ``\usepackage{pgfplots}`` and compiles with plain pdfLaTeX. Text is 8 points high, in the paper's font;
colours, dashes and symbols are the chart's. Every name in it goes through `objpert_core.latex_text`, since columns of
somebody's own table have names, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from objpert_core import __version__
from objpert_core.latex_text import escaped
from ui.svg.axes import Panel, Scale, panels, print_height
from ui.svg.paint import on_scale, on_white, rgb
from ui.svg.pgf_traces import bars, filled_cells, mark, node, scatter, stroke
from ui.svg.text import LINE, POINT, POINTS, lines, plain, text_width
from ui.svg.traces import each, printed

_NARROWER = 0.88  # letters of TeX's font than those of the files that carry their own
_MM = 72.27 / 25.4  # TeX's points
_WRITTEN = {"scatter", "bar", "heatmap"}
_AROUND, _LEAST = 90.0, 60.0  # pixels of a chart's height that are not its axes', and what these have at least
_SAMPLE = 32.0  # points of a legend's line, and of the gaps around it and its name
_EDGE = 6.0
_GAP = 5.0


def writable(chart: go.Figure) -> bool:
    """Whether every trace of the chart has a form in PGFPlots; the app's three kinds have."""
    return all(trace.get("type", "scatter") in _WRITTEN for trace in chart.to_plotly_json()["data"])


def to_pgf(chart: go.Figure, *, title: str = "", column: float = 84.0) -> str:
    r"""The figure as source for PGFPlots, to be read with ``\input`` inside a ``figure``.

    Parameters
    ----------
    chart : plotly.graph_objects.Figure
        What is on the screen.
    title : str
        What it shows, in a comment at the top.
    column : float
        The width in millimetres.

    Raises
    ------
    ValueError
        If the chart has a trace of a kind that is not written.
    """
    if not writable(chart):
        raise ValueError(f"chart must have traces of {', '.join(sorted(_WRITTEN))} only")
    spec = chart.to_plotly_json()
    layout = spec["layout"]
    traces = [printed(trace) for trace in spec["data"] if trace.get("visible", True) is True]
    width = column * _MM
    ys = [Scale(layout[key]) for key in layout if key.startswith("yaxis")]
    left = _EDGE + max(_beside(y) for y in ys)
    right = width - _EDGE - _half_a_label(Scale(layout["xaxis"]))
    height = POINT * max(print_height(layout, width / POINT) - _AROUND, _LEAST)
    drawn = panels(layout, traces, left, right, height, 0.0)
    lowest = {id(panel.x.spec): panel.name for panel in sorted(drawn, key=lambda panel: -panel.y.start)}
    parts = [
        f"% {escaped(title)}" if title else "%",
        rf"% objpert {__version__}: \usepackage{{pgfplots}} \pgfplotsset{{compat=1.16}}",
        rf"\begin{{tikzpicture}}[trim left=0pt, trim right={width:.2f}pt,",
        rf"  every node/.append style={{font=\fontsize{{{POINTS:g}}}{{{POINTS + 1.5:g}}}\selectfont}}]",
    ]
    for number, panel in enumerate(drawn):
        legend = _legend(traces, layout, panel, width) if number == 0 else []
        notes = [_note(note, panel) for note in layout.get("annotations") or ()] if number == 0 else []
        parts += _axis(panel, labelled=panel.name in lowest.values(), legend=legend, notes=notes)
    below = _below(drawn[0].x) - _GAP
    for trace in traces:
        if trace.get("type") == "heatmap" and trace.get("showscale", True):
            below += 18.0
            parts += _scale_bar(trace, left, right, -below)
            below += 20.0
    return "\n".join([*parts, r"\end{tikzpicture}%", ""])


def _size(text: str) -> float:
    """An estimate of the width of a text in points."""
    return _NARROWER * POINT * text_width(text)


def _beside(y: Scale) -> float:
    """The room of a y axis's labels and title, in points."""
    labels = max((_size(line) for label in y.labels() for line in lines(label)), default=0.0)
    return labels + _GAP + (POINT * LINE * len(lines(y.title)) + _GAP if y.title else 0.0)


def _half_a_label(x: Scale) -> float:
    labels = x.labels()
    return max(map(_size, lines(labels[-1])), default=0.0) / 2 if labels else 0.0


def _below(x: Scale) -> float:
    """The room of an x axis's labels and title, in points."""
    labels, upright = _set(x)
    rows = max((len(label) for _, label in labels), default=1)
    longest = max((_size(line) for _, label in labels for line in label), default=0.0)
    return _GAP + (longest if upright else POINT * LINE * rows) + POINT * LINE * (1 + len(_title(x)))


# --- axes ---------------------------------------------------------------------------------------------------------


def _set(x: Scale) -> tuple[list[tuple[float, list[str]]], bool]:
    """The ticks' places in points with their labels' lines, and whether those stand upright."""
    wide = Scale(x.spec, x.start / POINT, x.end / POINT)  # estimates of texts are in pixels
    labels, upright = wide.set_labels()
    return [(at * POINT, label) for at, label in labels], upright


def _title(x: Scale) -> list[str]:
    return lines(x.title, abs(x.end - x.start) / POINT)


def _axis(panel: Panel, *, labelled: bool, legend: Sequence[str], notes: Sequence[str]) -> list[str]:
    """One ``axis`` with all that is in it."""
    x, y = panel.x, panel.y
    labels, upright = _set(x)
    xlabel, ylabel = (r"\\".join(map(escaped, text)) for text in (_title(x) if labelled else [], lines(y.title)))
    options = [
        f"at={{({x.start:.2f}pt,{y.start:.2f}pt)}}, anchor=south west, scale only axis",
        f"width={x.end - x.start:.2f}pt, height={abs(y.end - y.start):.2f}pt",
        *(_range(axis, name) for name, axis in (("x", x), ("y", y))),
        _ticks(x, "x", [(_back(x, at), label if labelled else []) for at, label in labels]),
        _ticks(y, "y", [(_back(y, at), lines(label)) for at, label in y.ticks()]),
        f"xlabel={{{xlabel}}}, ylabel={{{ylabel}}}",
        "tick label style={align=center}, xlabel near ticks, ylabel near ticks, scaled ticks=false",
        "xlabel style={align=center}, ylabel style={align=center}",
        "grid=major, grid style={black!13, line width=0.3pt}, axis line style={black!73, line width=0.4pt}",
        "tick style={draw=none}, clip mode=individual, unbounded coords=jump",
    ]
    if upright:
        options.append("xticklabel style={rotate=90, anchor=east}")
    if legend:
        options.append(legend[0])
    parts = [r"\begin{axis}[", *(f"  {option}," for option in options), "]"]
    bar_traces = [index for index, trace in enumerate(panel.traces) if trace.get("type") == "bar"]
    for index, trace in enumerate(panel.traces):
        kind = trace.get("type", "scatter")
        name = escaped(plain(trace.get("name") or ""))
        parts += [f"% {name}"] if name else []
        if kind == "heatmap":
            parts += filled_cells(trace, x, y)
        elif kind == "bar":
            parts += bars(trace, bar_traces.index(index), len(bar_traces), x, y)
        else:
            parts += scatter(trace, x, y)
    return [*parts, *notes, *legend[1:], r"\end{axis}"]


def _range(axis: Scale, name: str) -> str:
    low, high = sorted((axis.low, axis.high))
    ends = [10.0**end if axis.log else end for end in (low, high)]
    text = f"{name}min={ends[0]!r}, {name}max={ends[1]!r}"
    text += f", {name}mode=log" if axis.log else ""
    return text + (f", {name} dir=reverse" if axis.low > axis.high else "")


def _back(axis: Scale, at: float) -> float:
    """The number at a place of the axis."""
    value = axis.low + (at - axis.start) / (axis.end - axis.start) * (axis.high - axis.low)
    return float(10.0**value if axis.log else value)


def _ticks(axis: Scale, name: str, found: Sequence[tuple[float, list[str]]]) -> str:
    texts = [r"\\".join(map(escaped, label)) for _, label in found]
    places = ",".join(f"{at:.10g}" for at, _ in found)
    return f"{name}tick={{{places}}}, {name}ticklabels={{{','.join(f'{{{text}}}' for text in texts)}}}"


def _note(note: dict[str, Any], panel: Panel) -> str:
    """A text at a place, which plotly gives in powers of ten on a logarithmic axis."""
    px, py = (10.0 ** note[key] if axis.log else float(note[key]) for key, axis in (("x", panel.x), ("y", panel.y)))
    down = {"bottom": "south", "top": "north"}.get(note.get("yanchor", "middle"), "")
    across = {"left": "west", "right": "east"}.get(note.get("xanchor", "center"), "")
    return node(px, py, f"{down} {across}".strip() or "center", note["text"])


def _scale_bar(trace: dict[str, Any], left: float, right: float, top: float) -> list[str]:
    """The bar of a heat map's colours with its labels, under the axes."""
    spec = trace.get("colorbar") or {}
    low, high = float(trace["zmin"]), float(trace["zmax"])
    title = (spec.get("title") or {}).get("text") or ""
    places = sorted({float(place) for place, _ in trace["colorscale"]})
    labels = zip(spec.get("tickvals") or [], spec.get("ticktext") or [], strict=True)
    ticks = [((value - low) / (high - low), [plain(str(label))]) for value, label in labels]
    axis = Scale({"type": "linear", "range": (0, 1)})
    parts = [
        r"\begin{axis}[",
        f"  at={{({left:.2f}pt,{top:.2f}pt)}}, anchor=south west, scale only axis,",
        f"  width={right - left:.2f}pt, height=8pt, xmin=0, xmax=1, ymin=0, ymax=1, ytick=\\empty,",
        f"  {_ticks(axis, 'x', ticks)}, title={{{escaped(plain(title))}}},",
        "  tick style={draw=none}, axis line style={black!73, line width=0.4pt},",
        "  title style={at={(0.5,1)}, yshift=-4pt}, axis on top,",
        "]",
    ]
    for start, end in pairwise(places):
        fill, alpha = on_scale(trace["colorscale"], (start + end) / 2)
        parts.append(rf"\fill[color={on_white(fill, alpha)}] (axis cs:{start!r},0) rectangle (axis cs:{end!r},1);")
    return [*parts, r"\end{axis}"]


# --- the legend ---------------------------------------------------------------------------------------------------


def _legend(traces: Sequence[dict[str, Any]], layout: dict[str, Any], panel: Panel, width: float) -> list[str]:
    """The legend's place and columns, then its entries; nothing where there is none."""
    if layout.get("showlegend") is False:
        return []
    shown = [t for t in traces if t.get("showlegend", t.get("type") != "heatmap") and t.get("name")]
    shown = sorted(shown, key=lambda trace: trace.get("legendrank", 1000))
    if not shown:
        return []
    sizes = [_SAMPLE + _size(plain(trace["name"])) for trace in shown]
    columns = next(
        (n for n in range(len(shown), 1, -1) if sum(max(sizes[place::n]) for place in range(n)) <= width - 2 * _EDGE), 1
    )
    where = (
        f"legend style={{at={{(0,1)}}, anchor=south west, xshift={-panel.x.start + _EDGE:.2f}pt, yshift=3pt, "
        "draw=none, fill=none, inner sep=0pt, /tikz/every even column/.append style={column sep=6pt}}, "
        f"legend cell align=left, legend columns={columns}, legend image post style={{xscale=0.75}}"
    )
    return [where, *(f"{_sample(trace)}\n\\addlegendentry{{{escaped(plain(trace['name']))}}}" for trace in shown)]


def _sample(trace: dict[str, Any]) -> str:
    """A legend's line, mark or both."""
    mode, marker = trace.get("mode", "lines"), trace.get("marker", {})
    base = (trace.get("line") or {}).get("color") or "#000000"
    if trace.get("type") == "bar":
        square = mark(each(marker.get("color", "#1a80c4"), 1)[0], "square", 10.0)
        return rf"\addlegendimage{{only marks, {square}}}"
    look = [stroke(trace.get("line", {}))] if "lines" in mode else ["only marks", f"color={rgb(base)[0]}"]
    if "markers" in mode:
        color, symbol = each(marker.get("color", base), 1)[0], each(marker.get("symbol", "circle"), 1)[0]
        look.append(mark(color, symbol, 6.0, marker.get("line")))
    return rf"\addlegendimage{{{', '.join(look)}}}"
