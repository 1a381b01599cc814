"""What tests read of charts."""

import base64
from typing import Any

import numpy as np


def decode(values: Any) -> np.ndarray:
    """A trace's data as an array, whether plotly kept it as one or packed it as base64."""
    if isinstance(values, dict) and "bdata" in values:
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.asarray(values)
