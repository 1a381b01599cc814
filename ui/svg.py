"""Writes the app's line charts as SVG files on the server, so that "figure as SVG" is a plain download button.

It reads the same `plotly.graph_objects.Figure` that is on the screen and supports what the pages draw: scatter traces
(lines with dashes, markers, filled bands, vertical error bars), bar traces, linear, logarithmic and category axes,
panels stacked on one x axis, a legend. The result is black on white, fit for print, uses no external font and is well
formed XML.
"""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import plotly.graph_objects as go

_LEFT, _RIGHT, _BOTTOM, _ROW = 84.0, 20.0, 58.0, 20.0
_DASHES = {
    "solid": "",
    "dot": "2 4",
    "dash": "9 6",
    "longdash": "16 7",
    "dashdot": "9 5 2 5",
    "longdashdot": "16 6 2 6",
}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def to_svg(chart: go.Figure, *, title: str = "", width: int = 760, height: int = 480) -> str:
    """The figure as a complete SVG document; `title` becomes its accessible name."""
    spec = chart.to_plotly_json()
    traces = [trace for trace in spec["data"] if trace.get("visible", True) is True]
    layout = spec["layout"]
    legend = _legend_rows([t for t in traces if t.get("showlegend", True) and t.get("name")], width)
    if layout.get("showlegend") is False:
        legend = []
    top = 16.0 + _ROW * len(legend)
    left, right, bottom = _LEFT, width - _RIGHT, height - _BOTTOM
    x = _Scale(layout["xaxis"], left, right)
    panels = {}  # plotly's short name of the y axis → its scale
    for name in sorted(key for key in layout if key.startswith("yaxis")):
        low, high = layout[name].get("domain") or (0.0, 1.0)
        start, end = bottom - low * (bottom - top), bottom - high * (bottom - top)
        panels[name.replace("yaxis", "y")] = _Scale(layout[name], start, end)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label={quoteattr(title)} font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for name, y in panels.items():
        inside = [trace for trace in traces if (trace.get("yaxis") or "y") == name]
        parts += _panel(inside, name, x, y, lowest=y.start == bottom, salt=title)
    parts.append(
        f'<text x="{(left + right) / 2:g}" y="{height - 14}" text-anchor="middle" fill="#222">{_plain(x.title)}</text>'
    )
    for row, entries in enumerate(legend):
        parts += _legend(entries, 16.0 + _ROW * row)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


class _Scale:
    """From data to pixels on one axis, and its ticks."""

    def __init__(self, spec: dict[str, Any], start: float, end: float) -> None:
        self.title = (spec.get("title") or {}).get("text") or ""
        self.log = spec.get("type") == "log"
        self.categories = list(spec.get("categoryarray") or [])
        low, high = spec.get("range") or (-0.5, len(self.categories) - 0.5)
        self.low, self.high, self.start, self.end = float(low), float(high), start, end
        self.percent = "%" in (spec.get("tickformat") or "")

    def __call__(self, values: Any) -> np.ndarray:
        data = decode(values)
        if data.dtype.kind in "OU":
            data = np.array([self.categories.index(v) if v in self.categories else np.nan for v in data.tolist()])
        data = data.astype(float)
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                data = np.log10(data)
        share = (data - self.low) / (self.high - self.low)
        # a curve that falls out of the picture is clipped; keep its coordinates finite and small
        return self.start + np.clip(share, -20.0, 20.0) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Pixel and label of each tick."""
        if self.categories:
            return [(float(self(np.array([v]))[0]), str(v)) for v in self.categories]
        low, high = sorted((self.low, self.high))
        step = max(1, math.ceil((high - low) / 8)) if self.log else _nice_step(high - low)
        marks = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step
        return [
            (self.start + (m - self.low) / (self.high - self.low) * (self.end - self.start), self._label(m))
            for m in marks
        ]

    def _label(self, mark: float) -> str:
        if self.log:
            return "1" if mark == 0 else "10" + f"{mark:.0f}".translate(_SUPERSCRIPT)
        return f"{100 * mark:.6g} %" if self.percent else f"{mark:.6g}"


def _nice_step(span: float) -> float:
    raw = span / 6
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))


def decode(values: Any) -> np.ndarray:
    """A trace's data as an array, whether plotly kept it as one or packed it as base64."""
    if isinstance(values, dict) and "bdata" in values:
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.asarray(values)


def _panel(traces: list[dict[str, Any]], name: str, x: _Scale, y: _Scale, *, lowest: bool, salt: str) -> list[str]:
    """One pair of axes with the curves in it; only the lowest panel carries the numbers of the shared x axis."""
    left, right, top, bottom = x.start, x.end, y.end, y.start
    middle = (top + bottom) / 2
    clip = f"plot-{name}-{zlib.crc32(salt.encode()):x}"  # unique also where several files are pasted into one page
    frame = f'x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"'
    parts = [f'<clipPath id="{clip}"><rect {frame}/></clipPath>', '<g stroke="#dddddd" stroke-width="1">']
    parts += [f'<line x1="{p:.1f}" y1="{top:g}" x2="{p:.1f}" y2="{bottom:g}"/>' for p, _ in x.ticks()]
    parts += [f'<line x1="{left:g}" y1="{p:.1f}" x2="{right:g}" y2="{p:.1f}"/>' for p, _ in y.ticks()]
    parts += ["</g>", f'<rect {frame} fill="none" stroke="#444"/>', '<g fill="#222222">']
    if lowest:
        parts += [
            f'<text x="{p:.1f}" y="{bottom + 18:g}" text-anchor="middle">{escape(t)}</text>' for p, t in x.ticks()
        ]
    parts += [f'<text x="{left - 8:g}" y="{p + 4.5:.1f}" text-anchor="end">{escape(t)}</text>' for p, t in y.ticks()]
    turned = f'transform="rotate(-90 18 {middle:g})"'
    parts += [f'<text x="18" y="{middle:g}" text-anchor="middle" {turned}>{_plain(y.title)}</text>', "</g>"]
    parts.append(f'<g clip-path="url(#{clip})">')
    bars = [index for index, trace in enumerate(traces) if trace.get("type") == "bar"]
    for index, trace in enumerate(traces):
        parts += _bars(trace, bars.index(index), len(bars), x, y) if index in bars else _scatter(trace, x, y)
    return [*parts, "</g>"]


def _plain(text: str) -> str:
    for tag in ("<b>", "</b>", "<i>", "</i>", "<br>"):
        text = text.replace(tag, " " if tag == "<br>" else "")
    return escape(text)


def _scatter(trace: dict[str, Any], x: _Scale, y: _Scale) -> list[str]:
    xs, ys = x(trace["x"]), y(trace["y"])
    mode, line, opacity = trace.get("mode", "lines"), trace.get("line", {}), trace.get("opacity", 1)
    color, width = line.get("color", "#000000"), line.get("width", 2)
    parts = [f"<g opacity={quoteattr(f'{opacity:g}')}><title>{_plain(trace.get('name') or '')}</title>"]
    runs = _runs(xs, ys)
    if trace.get("fill") in ("toself", "tozeroy"):
        for run in runs:
            points = run
            if trace["fill"] == "tozeroy":
                zero = float(y(np.array([10.0**y.low if y.log else 0.0]))[0])
                points = [(run[0][0], zero), *run, (run[-1][0], zero)]
            fill, alpha = _paint(trace.get("fillcolor") or color)
            parts.append(f'<path d="{_path(points)} Z" fill="{fill}" fill-opacity="{alpha:g}"/>')
    if "lines" in mode and width:
        dash = _DASHES.get(line.get("dash", "solid"), "")
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        for run in runs:
            parts.append(f'<path d="{_path(run)}" fill="none" stroke="{color}" stroke-width="{width:g}"{dashes}/>')
    error = trace.get("error_y")
    if error and error.get("array") is not None:
        data, up = decode(trace["y"]).astype(float), decode(error["array"]).astype(float)
        down = up if error.get("arrayminus") is None else decode(error["arrayminus"]).astype(float)
        for px, p1, p2 in zip(xs, y(data - down), y(data + up), strict=True):
            parts.append(f'<path d="M{px:.1f} {p1:.1f} L{px:.1f} {p2:.1f}" stroke="{color}" stroke-width="1.5"/>')
    if "markers" in mode:
        marker = trace.get("marker", {})
        paints = _paints(marker.get("color", color), len(xs))
        every = max(1, math.ceil(len(xs) / marker["maxdisplayed"])) if marker.get("maxdisplayed") else 1
        for px, py, fill in list(zip(xs, ys, paints, strict=False))[::every]:
            if math.isfinite(px) and math.isfinite(py):
                parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3.5" fill="{fill}"/>')
    return [*parts, "</g>"]


def _bars(trace: dict[str, Any], index: int, count: int, x: _Scale, y: _Scale) -> list[str]:
    xs, ys = x(trace["x"]), y(trace["y"])
    zero = float(y(np.array([10.0**y.low if y.log else 0.0]))[0])
    gap = float(np.min(np.abs(np.diff(xs)))) if len(xs) > 1 else abs(x.end - x.start)
    width = 0.8 * gap / count
    paints = _paints(trace.get("marker", {}).get("color", "#1a80c4"), len(xs))
    parts = [f"<g><title>{_plain(trace.get('name') or '')}</title>"]
    for px, py, fill in zip(xs, ys, paints, strict=True):
        if math.isfinite(px) and math.isfinite(py):
            left = px - 0.4 * gap + index * width
            parts.append(
                f'<rect x="{left:.1f}" y="{min(py, zero):.1f}" width="{width:.1f}" '
                f'height="{abs(py - zero):.1f}" fill="{fill}"/>'
            )
    return [*parts, "</g>"]


def _paints(color: Any, count: int) -> list[str]:
    """One colour for each of `count` points, whether the trace has one for all or a list."""
    return [color] * count if isinstance(color, str) else [str(c) for c in list(color)]


def _runs(xs: np.ndarray, ys: np.ndarray) -> list[list[tuple[float, float]]]:
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


def _paint(color: str) -> tuple[str, float]:
    """A colour and its opacity: SVG 1.1 readers do not know rgba()."""
    if color.startswith("rgba("):
        red, green, blue, alpha = color[5:-1].split(",")
        return f"rgb({int(red)},{int(green)},{int(blue)})", float(alpha)
    return color, 1.0


def _legend_rows(traces: list[dict[str, Any]], width: int) -> list[list[tuple[float, dict[str, Any]]]]:
    """Legend entries with their left edge, broken into rows by an estimate of the text's width."""
    rows: list[list[tuple[float, dict[str, Any]]]] = []
    at = math.inf
    for trace in traces:
        need = 52 + 7.2 * len(trace["name"])
        if at + need > width - _RIGHT:
            rows.append([])
            at = _LEFT
        rows[-1].append((at, trace))
        at += need
    return rows


def _legend(entries: list[tuple[float, dict[str, Any]]], top: float) -> list[str]:
    parts = []
    for at, trace in entries:
        line = trace.get("line", {})
        color = line.get("color") or trace.get("marker", {}).get("color") or "#000000"
        color = color if isinstance(color, str) else "#000000"
        dash = _DASHES.get(line.get("dash", "solid"), "")
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(
            f'<path d="M{at:.1f} {top:g} h32" stroke="{color}" stroke-width="{line.get("width") or 2:g}"{dashes}/>'
            f'<text x="{at + 38:.1f}" y="{top + 4.5:g}" fill="#222222">{_plain(trace["name"])}</text>'
        )
    return parts
