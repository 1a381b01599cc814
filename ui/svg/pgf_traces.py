"""What is drawn inside the axes of a PGFPlots figure: lines, bands, error bars, marks, labels, bars and heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from objpert_core.latex_text import escaped
from ui.svg.axes import Scale, decode
from ui.svg.cells import runs
from ui.svg.paint import on_white, rgb
from ui.svg.text import POINT, plain
from ui.svg.traces import DASHES, bar_width, each, pieces

_MARKS = {  # plotly's symbols: the mark, hollow or filled, and what turns it
    "circle": ("o", "*", ""),
    "square": ("square", "square*", ""),
    "diamond": ("diamond", "diamond*", ""),
    "triangle-up": ("triangle", "triangle*", ""),
    "triangle-down": ("triangle", "triangle*", "rotate=180"),
    "cross": ("+", "+", ""),
    "x": ("x", "x", ""),
    "star": ("star", "star", ""),
}
_LINES = {"+", "x", "star"}  # marks that are lines and have no inside
_LONGER = 1.3  # or they would look smaller than the others
_ANCHORS = {"top": "south", "middle": "", "bottom": "north", "left": "east", "center": "", "right": "west"}


def _numbers(values: Any, axis: Scale) -> np.ndarray:
    """The data as they are; a name is its place on a named axis. What lies far outside the picture ends nearer by.

    TeX has no numbers beyond 16,383 points; 20 times the picture's size is as far as any file of the app draws.
    """
    data = decode(values)
    if data.dtype.kind in "OU":
        data = Scale({**axis.spec, "type": "linear"}, axis.low, axis.high)(data)
    data = data.astype(float)
    span = axis.high - axis.low
    low, high = sorted((axis.low - 20 * span, axis.high + 20 * span))
    if axis.log:
        low, high = 10.0 ** max(low, -300), 10.0 ** min(high, 300)
        data = np.where(data > 0, data, np.nan)
    return np.where(np.isfinite(data), np.clip(data, low, high), np.nan)


def scatter(trace: dict[str, Any], x: Scale, y: Scale) -> list[str]:
    """A line with its area, its error bars, its marks and its labels; nothing where no point can be shown."""
    xs, ys = _numbers(trace["x"], x), _numbers(trace["y"], y)
    if not np.any(np.isfinite(xs) & np.isfinite(ys)):
        return []
    mode, line = trace.get("mode", "lines"), trace.get("line", {})
    faint = [] if trace.get("opacity", 1) == 1 else [f"opacity={trace['opacity']:g}"]
    base = line.get("color") or "#000000"
    parts = []
    if trace.get("fill") in ("toself", "tozeroy"):
        color, alpha = rgb(trace.get("fillcolor") or base)
        closed = " -- cycle" if trace["fill"] == "toself" else r" \closedcycle"
        for run in pieces(xs, ys):
            look = [f"draw=none, fill={color}, fill opacity={alpha:g}", *faint]
            parts.append(_plot(look, {"x": [point[0] for point in run], "y": [point[1] for point in run]}, closed))
    looks = _mark_looks(trace, len(xs)) if "markers" in mode else []
    errors = _errors(trace, x, y, xs, ys)
    together = len(set(looks)) <= 1 and not ("lines" in mode and "maxdisplayed" in trace.get("marker", {}))
    if "lines" in mode and line.get("width", 2):
        look = [stroke(line), *faint]
        look += [looks[0]] if looks and together else ["mark=none"]
        drawn = errors if together else {}
        parts.append(_plot(look, {"x": xs.tolist(), "y": ys.tolist()} | drawn))
        if together:
            looks, errors = [], {}
    if "markers" in mode and looks:
        every = max(1, math.ceil(len(xs) / trace["marker"].get("maxdisplayed", math.inf))) if len(xs) else 1
        for look_of_mark in dict.fromkeys(looks):
            chosen = [index for index in range(0, len(xs), every) if looks[index] == look_of_mark]
            columns = {"x": xs, "y": ys} | {key: np.asarray(values) for key, values in errors.items()}
            picked = {key: values[chosen].tolist() for key, values in columns.items()}
            parts.append(_plot(["only marks", f"color={rgb(base)[0]}", look_of_mark, *faint], picked))
    elif errors:
        look = ["draw=none, mark=none", f"color={rgb(base)[0]}", *faint]
        parts.append(_plot(look, {"x": xs.tolist(), "y": ys.tolist()} | errors))
    if "text" in mode:
        for px, py, text in zip(xs.tolist(), ys.tolist(), each(trace.get("text") or "", len(xs)), strict=True):
            down, across = (trace.get("textposition") or "middle center").split()
            anchor = f"{_ANCHORS[down]} {_ANCHORS[across]}".strip() or "center"
            if math.isfinite(px) and math.isfinite(py) and text:
                parts.append(node(px, py, anchor, str(text)))
    return parts


def node(px: float, py: float, anchor: str, text: str) -> str:
    """A text at a point of the axes; `anchor` is the side of it that lies there."""
    return rf"\node[anchor={anchor}, inner sep=3pt] at (axis cs:{px!r},{py!r}) {{{escaped(plain(text))}}};"


def _plot(look: Sequence[str], columns: dict[str, Sequence[float]], closed: str = "") -> str:
    """A plot of points; columns of error bars are read where there are any."""
    errors = [key for key in ("x", "y") if f"{key}plus" in columns]
    options = ["row sep=crcr", *(f"{key} error plus={key}plus, {key} error minus={key}minus" for key in errors)]
    bars = "".join(f", {key} dir=both, {key} explicit" for key in errors)
    bars = (
        f", error bars/.cd{bars}, error bar style={{solid}}, error mark options={{solid, rotate=90, mark size=2pt}}"
        if errors
        else ""
    )
    rows = "\n".join(" ".join(map(repr, row)) + r"\\" for row in zip(*columns.values(), strict=True))
    table = f"table[{', '.join(options)}] {{{' '.join(columns)}\\\\\n{rows}\n}}"
    return f"\\addplot[{', '.join(look)}, forget plot{bars}] {table}{closed};"


def _errors(trace: dict[str, Any], x: Scale, y: Scale, xs: np.ndarray, ys: np.ndarray) -> dict[str, list[float]]:
    """Columns of the error bars; one that would leave a logarithmic axis has no length, as on the screen's files."""
    found: dict[str, list[float]] = {}
    for key, axis, data in (("x", x, xs), ("y", y, ys)):
        error = trace.get(f"error_{key}") or {}
        if error.get("array") is None or error.get("visible") is False:
            continue
        more = decode(error["array"]).astype(float)
        less = decode(error["arrayminus"]).astype(float) if error.get("arrayminus") is not None else more
        known = np.isfinite(data) & np.isfinite(more) & np.isfinite(less) & ~(axis.log & (data - less <= 0))
        found |= {f"{key}plus": np.where(known, more, 0.0).tolist(), f"{key}minus": np.where(known, less, 0.0).tolist()}
    return found


def stroke(line: dict[str, Any]) -> str:
    """The look of a line: colour, width, dashes, opacity."""
    color, alpha = rgb(line.get("color") or "#000000")
    named = line.get("dash", "solid")
    strokes = DASHES.get(named, named.replace("px", "").replace(",", " ")).split()
    lengths = [0.8 * POINT * float(stroke) for stroke in strokes]
    dash = " ".join(f"{'off' if place % 2 else 'on'} {length:.1f}pt" for place, length in enumerate(lengths))
    look = f"color={color}, line width={POINT * line.get('width', 2):.2f}pt"
    return look + (f", dash pattern={dash}" if dash else "") + (f", draw opacity={alpha:g}" if alpha < 1 else "")


def _mark_looks(trace: dict[str, Any], count: int) -> list[str]:
    """The look of every mark, as options."""
    marker = trace.get("marker", {})
    base = (trace.get("line") or {}).get("color") or "#000000"
    columns = (
        each(marker.get(key, default), count) for key, default in (("color", base), ("symbol", "circle"), ("size", 5))
    )
    looks = zip(range(count), *columns, strict=False)  # a list may be longer than the points
    return [mark(color, symbol, size, marker.get("line")) for _, color, symbol, size in looks]


def mark(color: str, symbol: str, size: float, outline: dict[str, Any] | None = None) -> str:
    """The look of a mark."""
    fill, alpha = rgb(color)
    named, hollow, _ = symbol.partition("-open")
    empty, filled, turn = _MARKS.get(named, _MARKS["circle"])
    shape = empty if hollow else filled
    options = ["solid", *([turn] if turn else [])]
    edge = rgb(outline["color"])[0] if outline and outline.get("width") and outline.get("color") else fill
    if shape in _LINES:
        options.append(f"draw={fill}, line width=1pt")
        size *= _LONGER
    else:
        options.append(f"draw={edge}, line width={0.8 if hollow else 0.4}pt" + ("" if hollow else f", fill={fill}"))
    if alpha < 1:
        options.append(f"opacity={alpha:g}")
    return f"mark={shape}, mark size={POINT * size / 2:.2f}pt, mark options={{{', '.join(options)}}}"


def bars(trace: dict[str, Any], index: int, count: int, x: Scale, y: Scale) -> list[str]:
    """Bars of one trace, a plot for each colour; beside those of others they are moved, as on the screen."""
    flat = trace.get("orientation") == "h"
    along, across = (x, y) if flat else (y, x)
    ends, places = _numbers(trace["x" if flat else "y"], along), _numbers(trace["y" if flat else "x"], across)
    points = bar_width(trace, across)
    unit = abs((across.high - across.low) / (across.end - across.start))
    shift = ((index + 0.5) / count - 0.5) * points * unit
    places = places * 10.0**shift if across.log else places + shift
    # on a logarithmic axis a width in the axis's units would not be the same everywhere
    width = f"{points / count:.2f}pt" if across.log else repr(points * unit / count)
    colors = each(trace.get("marker", {}).get("color", "#1a80c4"), len(ends))
    parts = []
    for color in dict.fromkeys(colors):
        chosen = [place for place, other in enumerate(colors) if other == color]
        columns = {"x": (ends if flat else places)[chosen].tolist(), "y": (places if flat else ends)[chosen].tolist()}
        look = ["xbar" if flat else "ybar", f"bar width={width}", f"draw=none, fill={rgb(color)[0]}"]
        parts.append(_plot(look, columns))
    for end, place, text in zip(ends.tolist(), places.tolist(), each(trace.get("text") or "", len(ends)), strict=True):
        if text and math.isfinite(end) and math.isfinite(place):
            parts.append(node(*((end, place, "west") if flat else (place, end, "south")), str(text)))
    return parts


def filled_cells(trace: dict[str, Any], x: Scale, y: Scale) -> list[str]:
    """The cells of a heat map, neighbours of one colour as one rectangle; they overlap, so that no seam shows."""
    across, down = _numbers(trace["x"], x).tolist(), _numbers(trace["y"], y).tolist()
    parts = []
    for row, start, end, (fill, alpha) in runs(trace):
        corner = f"(axis cs:{across[start]!r},{down[row]!r}) rectangle (axis cs:{across[end]!r},{down[row + 1]!r})"
        parts.append(rf"\filldraw[color={on_white(fill, alpha)}, line width=0.1pt] {corner};")
    return [r"\begin{scope}", r"\clip (rel axis cs:0,0) rectangle (rel axis cs:1,1);", *parts, r"\end{scope}"]
