"""Logarithms of differences."""

from __future__ import annotations

from typing import Any

import numpy as np


def log_1m_exp(x: Any) -> Any:
    """log(1 − e^x) for x <= 0, −∞ at 0."""
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(x))
