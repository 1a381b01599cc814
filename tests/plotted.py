"""What tests read of charts."""

import base64
from typing import Any

import numpy as np

BACKGROUNDS = {"light": "#ffffff", "dark": "#171614"}  # Streamlit's two themes


def decode(values: Any) -> np.ndarray:
    """A trace's data as an array, whether plotly kept it as one or packed it as base64."""
    if isinstance(values, dict) and "bdata" in values:
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.asarray(values)


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two ``#rrggbb`` colours, from 1 to 21."""
    lights = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lights[0] + 0.05) / (lights[1] + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
