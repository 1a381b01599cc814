"""An axis of an SVG chart: from data to pixels, and its ticks."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

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
        """Pixel and label of each tick."""
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

    def labels(self) -> list[str]:
        """The ticks' labels alone, for measuring."""
        return [label for _, label in self.ticks()]

    def _label(self, mark: float) -> str:
        if self.log:
            return "1" if mark == 0 else "10" + f"{mark:.0f}".translate(_SUPERSCRIPT)
        return f"{100 * mark:.6g} %" if self.percent else f"{mark:.6g}"


def panels(
    layout: dict[str, Any], traces: list[dict[str, Any]], top: float, bottom: float
) -> Iterator[tuple[str, Scale, list[dict[str, Any]]]]:
    """The y axes between two heights: plotly's short name of each, its scale, and the traces on it."""
    for key in sorted(key for key in layout if key.startswith("yaxis")):
        name, ends = key.replace("yaxis", "y"), layout[key].get("domain") or (0.0, 1.0)
        start, end = (bottom - share * (bottom - top) for share in ends)
        yield name, Scale(layout[key], start, end), [t for t in traces if (t.get("yaxis") or "y") == name]


def _nice_step(span: float) -> float:
    raw = span / 6
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
