"""Logarithms of differences."""

from __future__ import annotations

from typing import Any

import numpy as np


def log_1m_exp(x: Any) -> Any:
    """log(1 − e^x) for x <= 0, −∞ at 0.

    >>> float(log_1m_exp(np.log(0.25)).round(12)) == round(float(np.log(0.75)), 12)
    True
    """
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(x))
