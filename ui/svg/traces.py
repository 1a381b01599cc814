"""What is drawn inside the axes of an SVG chart: lines, bands, error bars, markers, labels, bars and heat maps."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from ui.svg.axes import Scale, decode
from ui.svg.cells import cells
from ui.svg.paint import paint
from ui.svg.text import plain, write

BLACK = "#000000"
_WIDEST = 2.4
DASHES = {  # lengths of strokes and gaps in pixels
    "solid": "",
    "dot": "2 4",
    "dash": "9 6",
    "longdash": "16 7",
    "dashdot": "9 5 2 5",
    "longdashdot": "16 6 2 6",
}
# Outlines around the origin for a marker of radius 1; the sizes are plotly's, so that none looks heavier than another.
_CROSS = "M-1.2 -.4 H-.4 V-1.2 H.4 V-.4 H1.2 V.4 H.4 V1.2 H-.4 V.4 H-1.2 Z"
_ARM = 0.8 / 2**0.5
_CORNERS = [(0, 1), (1, 2), (2, 1), (1, 0), (2, -1), (1, -2), (0, -1), (-1, -2), (-2, -1), (-1, 0), (-2, 1), (-1, 2)]
_X = "M" + " L".join(f"{_ARM * across:.3f} {_ARM * down:.3f}" for across, down in _CORNERS) + " Z"
_STAR = "M" + " L".join(
    f"{radius * math.sin(turn * math.pi / 5):.3f} {-radius * math.cos(turn * math.pi / 5):.3f}"
    for turn, radius in enumerate((1.4, 0.53) * 5)
)
_STAR += " Z"
_SYMBOLS = {
    "square": "M-1 -1 H1 V1 H-1 Z",
    "diamond": "M0 -1.3 L1.3 0 L0 1.3 L-1.3 0 Z",
    "cross": _CROSS,
    "x": _X,
    "star": _STAR,
    "triangle-up": "M0 -1 L1.155 .5 H-1.155 Z",
    "triangle-down": "M0 1 L1.155 -.5 H-1.155 Z",
}


def printed(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace with lines and marks as fine as a paper's: half a point to a point and a half, at 8-point text."""
    fine = dict(trace)
    if "width" in trace.get("line", {}):
        fine["line"] = trace["line"] | {"width": min(0.8 * trace["line"]["width"], _WIDEST)}
    if "size" in trace.get("marker", {}):
        sizes = trace["marker"]["size"]
        small = 0.75 * sizes if isinstance(sizes, int | float) else [0.75 * size for size in each(sizes, 0)]
        fine["marker"] = trace["marker"] | {"size": small}
    for key in ("error_x", "error_y"):
        if trace.get(key):
            fine[key] = trace[key] | {"thickness": 1.4, "width": 3}
    return fine


def draw(traces: list[dict[str, Any]], x: Scale, y: Scale) -> list[str]:
    """The traces of one panel, the first at the bottom."""
    bars = [index for index, trace in enumerate(traces) if trace.get("type") == "bar"]
    parts = []
    for index, trace in enumerate(traces):
        if trace.get("type") == "heatmap":
            parts += cells(trace, x, y)
        else:
            parts += _bars(trace, bars.index(index), len(bars), x, y) if index in bars else _scatter(trace, x, y)
    return parts


def sample(trace: dict[str, Any], x: float, y: float, length: float) -> str:
    """What a legend shows for a trace: its line, its marker, or both."""
    mode, bar = trace.get("mode", "lines"), trace.get("type") == "bar"
    parts = []
    if "lines" in mode and not bar:
        parts.append(f'<path d="M{x:.1f} {y:.1f} h{length:g}" fill="none" {_stroke(trace.get("line", {}))}/>')
    if "markers" in mode or bar:
        look = trace.get("marker", {})
        color, symbol = each(look.get("color", _color(trace)), 1)[0], each(look.get("symbol", "circle"), 1)[0]
        parts.append(_mark(x + length / 2, y, 5.0, color, "square" if bar else symbol, look.get("line")))
    return f'<g class="sample" opacity="{trace.get("opacity", 1):g}">{"".join(parts)}</g>'


def _scatter(trace: dict[str, Any], x: Scale, y: Scale) -> list[str]:
    xs, ys = x(trace["x"]), y(trace["y"])
    mode, line = trace.get("mode", "lines"), trace.get("line", {})
    parts = [f'<g opacity="{trace.get("opacity", 1):g}">{_title(trace)}']
    runs = pieces(xs, ys)
    if trace.get("fill") in ("toself", "tozeroy"):
        for run in runs:
            points = run
            if trace["fill"] == "tozeroy":
                points = [(run[0][0], y.floor()), *run, (run[-1][0], y.floor())]
            fill, alpha = paint(trace.get("fillcolor") or _color(trace))
            parts.append(f'<path d="{_path(points)} Z" fill="{fill}" fill-opacity="{alpha:g}"/>')
    if "lines" in mode and line.get("width", 2):
        parts += [f'<path d="{_path(run)}" fill="none" {_stroke(line)}/>' for run in runs]
    parts += _intervals(trace, "error_x", x, ys) + _intervals(trace, "error_y", y, xs)
    if "markers" in mode:
        parts += _markers(trace, xs, ys)
    if "text" in mode:
        parts += _labels(trace, xs, ys)
    return [*parts, "</g>"]


def _labels(trace: dict[str, Any], xs: np.ndarray, ys: np.ndarray) -> list[str]:
    """Texts at their points, as plotly's `textposition` says: "top center", "middle right" …"""
    texts = each(trace.get("text") or "", len(xs))
    down, across = (trace.get("textposition") or "middle center").split()
    rise, shift = (
        {"top": -8.0, "middle": 4.5, "bottom": 17.0}[down],
        {"left": -8.0, "center": 0.0, "right": 8.0}[across],
    )
    anchor = {"left": "end", "center": "middle", "right": "start"}[across]
    return [
        write(plain(label), px + shift, py + rise, anchor)
        for px, py, label in zip(xs.tolist(), ys.tolist(), texts, strict=True)
        if math.isfinite(px) and math.isfinite(py)
    ]


def _intervals(trace: dict[str, Any], key: str, along: Scale, across: np.ndarray) -> list[str]:
    """Error bars with caps; `along` is the axis they run along, `across` the points' pixels on the other one."""
    error = trace.get(key) or {}
    if error.get("array") is None or error.get("visible") is False:
        return []
    data, more = decode(trace[key[-1]]).astype(float), decode(error["array"]).astype(float)
    less = decode(error["arrayminus"]).astype(float) if error.get("arrayminus") is not None else more
    color, _ = paint(error.get("color") or _color(trace))
    half = error.get("width", 4)  # plotly too counts it from the bar to the cap's end
    parts = []
    for place, low, high in zip(across.tolist(), along(data - less).tolist(), along(data + more).tolist(), strict=True):
        if not all(map(math.isfinite, (place, low, high))):
            continue
        if key == "error_y":
            bar = f"M{place:.1f} {low:.1f} V{high:.1f}"
            caps = "".join(f" M{place - half:.1f} {end:.1f} h{2 * half:g}" for end in (low, high))
        else:
            bar = f"M{low:.1f} {place:.1f} H{high:.1f}"
            caps = "".join(f" M{end:.1f} {place - half:.1f} v{2 * half:g}" for end in (low, high))
        width = error.get("thickness", 2)
        parts.append(f'<path class="{key}" d="{bar}{caps}" fill="none" stroke="{color}" stroke-width="{width:g}"/>')
    return parts


def _markers(trace: dict[str, Any], xs: np.ndarray, ys: np.ndarray) -> list[str]:
    look, count = trace.get("marker", {}), len(xs)
    colors = each(look.get("color", _color(trace)), count)
    symbols = each(look.get("symbol", "circle"), count)
    sizes = each(look.get("size", 7), count)
    every = max(1, math.ceil(count / look["maxdisplayed"])) if look.get("maxdisplayed") else 1
    points = zip(xs.tolist(), ys.tolist(), sizes, colors, symbols, strict=False)
    return [
        _mark(px, py, size / 2, color, symbol, look.get("line"))
        for px, py, size, color, symbol in list(points)[::every]
        if math.isfinite(px) and math.isfinite(py)
    ]


def _mark(x: float, y: float, radius: float, color: str, symbol: str, outline: dict[str, Any] | None = None) -> str:
    fill, alpha = paint(color)
    symbol, hollow, _ = symbol.partition("-open")
    look = 'fill="none"' if hollow else f'fill="{fill}"' + (f' fill-opacity="{alpha:g}"' if alpha < 1 else "")
    if hollow or (outline and outline.get("width")):
        line: dict[str, Any] = {"width": 1, "color": color} | (outline or {})  # plotly's defaults for a hollow marker
        width = line["width"] / (radius if symbol in _SYMBOLS else 1)  # those outlines are scaled with the shape
        look += f' stroke="{paint(line["color"])[0]}" stroke-width="{width:g}"'
    if symbol not in _SYMBOLS:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" {look}/>'
    place = f'transform="translate({x:.1f} {y:.1f}) scale({radius:g})"'
    return f'<path class="{symbol}" d="{_SYMBOLS[symbol]}" {place} {look}/>'


def _bars(trace: dict[str, Any], index: int, count: int, x: Scale, y: Scale) -> list[str]:
    flat = trace.get("orientation") == "h"
    along, across = (x, y) if flat else (y, x)
    ends, places = along(trace["x" if flat else "y"]), across(trace["y" if flat else "x"])
    zero, full = along.floor(), bar_width(trace, across)
    width = full / count
    paints = each(trace.get("marker", {}).get("color", "#1a80c4"), len(ends))
    texts = each(trace.get("text") or "", len(ends))
    parts = [f"<g>{_title(trace)}"]
    for end, place, fill, text in zip(ends.tolist(), places.tolist(), paints, texts, strict=True):
        if not (math.isfinite(end) and math.isfinite(place)):
            continue
        start, low, length = place - full / 2 + index * width, min(end, zero), abs(end - zero)
        left, top, wide, high = (low, start, length, width) if flat else (start, low, width, length)
        parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{fill}"/>')
        if text:
            label = plain(str(text))
            parts.append(write(label, end + 5, place + 4.5) if flat else write(label, place, end - 5, "middle"))
    return [*parts, "</g>"]


def bar_width(trace: dict[str, Any], across: Scale) -> float:
    """The pixels that the bars at one place take: as wide as the trace says, or four fifths of their distance."""
    if trace.get("width"):
        return float(abs(trace["width"] / (across.high - across.low) * (across.end - across.start)))
    places = across(trace["y" if trace.get("orientation") == "h" else "x"])
    gap = float(np.min(np.abs(np.diff(places)))) if len(places) > 1 else abs(across.end - across.start)
    return 0.8 * gap


def _title(trace: dict[str, Any]) -> str:
    return f"<title>{escape(plain(trace.get('name') or ''))}</title>"


def _color(trace: dict[str, Any]) -> str:
    return str((trace.get("line") or {}).get("color") or BLACK)


def _stroke(line: dict[str, Any]) -> str:
    color, alpha = paint(line.get("color") or BLACK)
    named = line.get("dash", "solid")
    dash = DASHES.get(named, named.replace("px", "").replace(",", " "))  # plotly also takes lengths: "4px,3px"
    look = f'stroke="{color}" stroke-width="{line.get("width", 2):g}"'
    look += f' stroke-opacity="{alpha:g}"' if alpha < 1 else ""
    return look + (f' stroke-dasharray="{dash}"' if dash else "")


def each(value: Any, count: int) -> list[Any]:
    """One value for each of `count` points, whether the trace has one for all or a list."""
    if isinstance(value, (str, int, float)):
        return [value] * count
    return list(decode(value).tolist()) if isinstance(value, dict) else list(value)


def pieces(xs: np.ndarray, ys: np.ndarray) -> list[list[tuple[float, float]]]:
    """The curve cut at its gaps."""
    runs: list[list[tuple[float, float]]] = [[]]
    for px, py in zip(xs.tolist(), ys.tolist(), strict=True):
        if math.isfinite(px) and math.isfinite(py):
            runs[-1].append((px, py))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _path(points: list[tuple[float, float]]) -> str:
    return "M" + " L".join(f"{px:.1f} {py:.1f}" for px, py in points)
