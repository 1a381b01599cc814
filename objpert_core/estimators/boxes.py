"""Public anchors and boxes as parameters: one number a feature, and the two ends that coefficients are kept between."""

from __future__ import annotations

from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.quadratic.release import LARGEST_ANCHOR

_ANCHORS = f"None or an array of numbers of size at most {LARGEST_ANCHOR:g}, one a feature"
_BOXES = "None or two numbers, or arrays of numbers, the first of them nowhere above the second"


def anchor_argument(name: str, value: Any) -> FloatArray | None:
    """`value` as an array; `ValueError` unless it is None or numbers of a reasonable size, one a feature."""
    if value is None:
        return None
    found = _numbers(value)
    if found is None or found.ndim != 1 or not (np.abs(found) <= LARGEST_ANCHOR).all():
        raise ValueError(f"{name} must be {_ANCHORS}, got {value!r}")
    return found


def box_argument(name: str, value: Any) -> tuple[FloatArray, FloatArray] | None:
    """`value` as two arrays, of no or one dimension; `ValueError` unless it is None or the ends of a box."""
    if value is None:
        return None
    ends = [_numbers(end) for end in value] if isinstance(value, (tuple, list)) and len(value) == 2 else []
    numbers = [end for end in ends if end is not None and end.ndim <= 1]
    if len(numbers) != 2 or not _ends_of_a_box(*numbers):
        raise ValueError(f"{name} must be {_BOXES}, got {value!r}")
    return numbers[0], numbers[1]


def _ends_of_a_box(low: FloatArray, high: FloatArray) -> bool:
    if low.ndim and high.ndim and low.shape != high.shape:
        return False
    return bool(np.all(low <= high) and np.all(low < np.inf) and np.all(high > -np.inf))


def _numbers(value: Any) -> FloatArray | None:
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        return None
    return found.astype(np.float64) if found.dtype.kind in "iuf" else None


def one_a_feature(name: str, values: FloatArray, features: int) -> None:
    """`ValueError` unless `values` has one number for each feature."""
    if values.shape != (features,):
        raise ValueError(f"{name} must have one number for each of X's {features} features, got {len(values)}")
