"""Colours of an SVG chart: what SVG 1.1 readers understand, and plotly's colour scales."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

_RGB = re.compile(r"rgba?\(([^)]*)\)")


def paint(color: str) -> tuple[str, float]:
    """A colour and its opacity: SVG 1.1 readers do not know rgba()."""
    if color.startswith("rgba("):
        red, green, blue, alpha = color[5:-1].split(",")
        return f"rgb({int(red)},{int(green)},{int(blue)})", float(alpha)
    return color, 1.0


def rgb(color: str) -> tuple[str, float]:
    """A colour as LaTeX's xcolor takes it, and its opacity."""
    *channels, alpha = _channels(color)
    red, green, blue = (round(channel) for channel in channels)
    return f"{{rgb,255:red,{red};green,{green};blue,{blue}}}", alpha


def on_white(color: str, alpha: float) -> str:
    """What a colour that lets some of a white page through looks like there, for xcolor."""
    *channels, _ = _channels(color)
    red, green, blue = (255 - (255 - channel) * alpha for channel in channels)
    return rgb(f"rgb({red:.0f},{green:.0f},{blue:.0f})")[0]


def on_scale(scale: Sequence[tuple[float, str]], share: float) -> tuple[str, float]:
    """Colour and opacity of a colour scale [[0, …], …, [1, …]] at a share in [0, 1]; steps are two equal positions."""
    places = [(float(place), color) for place, color in scale]
    for (low, first), (high, second) in itertools.pairwise(places):
        if high > low and share <= high:
            between = min(max((share - low) / (high - low), 0.0), 1.0)
            if first == second or between in (0.0, 1.0):
                return paint(second if between == 1.0 else first)
            mixed = [a + (b - a) * between for a, b in zip(_channels(first), _channels(second), strict=True)]
            return f"rgb({mixed[0]:.0f},{mixed[1]:.0f},{mixed[2]:.0f})", mixed[3]
    return paint(places[-1][1])


def _channels(color: str) -> list[float]:
    if match := _RGB.fullmatch(color):
        values = [float(v) for v in match.group(1).split(",")]
        return values if len(values) == 4 else [*values, 1.0]
    return [*(float(int(color[i : i + 2], 16)) for i in (1, 3, 5)), 1.0]
