"""An axis of an SVG chart: from data to pixels, and its ticks."""

from __future__ import annotations

import base64
import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ui.svg.text import lines, text_width

ON_PAGE = 760
"""Width of a chart on a page, in pixels, for which its height is chosen."""
_LEAST, _LOW = 0.6, 220  # a narrow figure loses no more of its height than to this share, and a low one nothing
_APART = 6.0  # between two labels
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def decode(values: Any) -> np.ndarray:
    """A trace's data as an array, whether plotly kept it as one or packed it as base64."""
    if isinstance(values, dict) and "bdata" in values:
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.asarray(values)


class Scale:
    """From data to pixels on one axis, from `start` to `end`, and its ticks."""

    def __init__(self, spec: dict[str, Any], start: float = 0.0, end: float = 1.0) -> None:
        self.spec = spec
        self.title: str = (spec.get("title") or {}).get("text") or ""
        self.log = spec.get("type") == "log"
        self.categories = list(spec.get("categoryarray") or [])
        low, high = spec.get("range") or (-0.5, len(self.categories) - 0.5)
        self.low, self.high, self.start, self.end = float(low), float(high), start, end
        self.percent = "%" in (spec.get("tickformat") or "")

    def __call__(self, values: Any) -> np.ndarray:
        """The pixels of data, or of names on a named axis; NaN where there is nothing to show."""
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

    def floor(self) -> float:
        """Pixel of zero, or of the lower end of a logarithmic axis: where bars and filled areas stand."""
        return float(self(np.array([10.0**self.low if self.log else 0.0]))[0])

    def ticks(self) -> list[tuple[float, str]]:
        """Pixel and label of each tick; where labels are hidden they are empty."""
        found = self._ticks()
        return [(at, "") for at, _ in found] if self.spec.get("showticklabels") is False else found

    def _ticks(self) -> list[tuple[float, str]]:
        if self.spec.get("ticktext") is not None:
            return list(zip(self(self.spec["tickvals"]).tolist(), map(str, self.spec["ticktext"]), strict=True))
        if self.categories:
            return list(zip(self(np.arange(len(self.categories))).tolist(), map(str, self.categories), strict=True))
        low, high = sorted((self.low, self.high))
        step = max(1, math.ceil((high - low) / 8)) if self.log else _nice_step(high - low)
        marks = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step
        return [
            (self.start + (m - self.low) / (self.high - self.low) * (self.end - self.start), self._label(m))
            for m in marks
        ]

    def set_labels(self) -> tuple[list[tuple[float, list[str]]], bool]:
        """Pixel and lines of each tick's label so that none lies on the next; and whether they stand upright.

        Words are broken into lines; where a single one is too long all stand upright. Of numbers some are left out.
        """
        found = sorted(self.ticks())
        slot = min((after - at for (at, _), (after, _) in pairwise(found)), default=math.inf)
        if any(letter.isalpha() for _, label in found for letter in label):
            broken = [(at, lines(label, slot - _APART)) for at, label in found]
            upright = any(text_width(line) > slot for _, label in broken for line in label)
            return ([(at, lines(label)) for at, label in found] if upright else broken), upright
        kept, last = [], -math.inf
        for at, label in found:
            half = text_width(label) / 2
            fits = at - half >= last + _APART / 2
            last = at + half if fits else last
            kept.append((at, [label] if fits else []))
        return kept, False

    def labels(self) -> list[str]:
        """The ticks' labels alone, for measuring."""
        return [label for _, label in self.ticks()]

    def _label(self, mark: float) -> str:
        if self.log:
            return "1" if mark == 0 else "10" + f"{mark:.0f}".translate(_SUPERSCRIPT)
        return f"{100 * mark:.6g} %" if self.percent else f"{mark:.6g}"


class Panel(NamedTuple):
    """One pair of axes: plotly's short name of the y axis, both scales, and the traces on them."""

    name: str
    x: Scale
    y: Scale
    traces: list[dict[str, Any]]


def panels(
    layout: dict[str, Any], traces: list[dict[str, Any]], left: float, right: float, top: float, bottom: float
) -> list[Panel]:
    """The pairs of axes between these edges; a y axis without an anchor stands on the first x axis."""
    found = []
    for key in sorted(key for key in layout if key.startswith("yaxis")):
        name, across = key.replace("yaxis", "y"), (layout[key].get("anchor") or "x").replace("x", "xaxis")
        start, end = (left + share * (right - left) for share in layout[across].get("domain") or (0.0, 1.0))
        low, high = (bottom - share * (bottom - top) for share in layout[key].get("domain") or (0.0, 1.0))
        x, y = Scale(layout[across], start, end), Scale(layout[key], low, high)
        if layout[key].get("scaleanchor"):
            x, y = _one_scale(x, y)
        found.append(Panel(name, x, y, [trace for trace in traces if (trace.get("yaxis") or "y") == name]))
    return found


def print_height(layout: dict[str, Any], width: float) -> float:
    """The height of a paper figure of this width, both in pixels, without the legend."""
    own = layout.get("height") or 430
    return float(max(own * min(1.0, max(_LEAST, width / ON_PAGE)), min(own, _LOW)))


def _one_scale(x: Scale, y: Scale) -> tuple[Scale, Scale]:
    """Both axes with as many pixels to the unit; the longer one is shortened, around its middle."""
    units = [abs(axis.high - axis.low) for axis in (x, y)]
    pixels = min(abs(axis.end - axis.start) / span for axis, span in zip((x, y), units, strict=True))
    made = []
    for axis, span in zip((x, y), units, strict=True):
        middle, half = (axis.start + axis.end) / 2, math.copysign(pixels * span / 2, axis.end - axis.start)
        made.append(Scale(axis.spec, middle - half, middle + half))
    return made[0], made[1]


def _nice_step(span: float) -> float:
    raw = span / 6
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
