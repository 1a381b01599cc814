"""Checks of arguments, written once: one sentence that names the parameter, the value and what is allowed."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def _refuse(name: str, value: object, allowed: str) -> ValueError:
    return ValueError(f"{name} must be {allowed}, got {value!r}")


def _as_float(name: str, value: Any, allowed: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.ndarray)):
        raise _refuse(name, value, allowed)
    if isinstance(value, np.ndarray) and (value.ndim != 0 or value.dtype.kind not in "iuf"):
        raise _refuse(name, value, allowed)
    try:
        return float(value)
    except OverflowError:  # an int beyond the doubles
        raise _refuse(name, value, allowed) from None


def positive(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it is a finite number > 0."""
    allowed = "a finite number > 0"
    number = _as_float(name, value, allowed)
    if not (math.isfinite(number) and number > 0):
        raise _refuse(name, value, allowed)
    return number


def nonnegative(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it is a finite number >= 0."""
    allowed = "a finite number >= 0"
    number = _as_float(name, value, allowed)
    if not (math.isfinite(number) and number >= 0):
        raise _refuse(name, value, allowed)
    return number


def finite(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it is a finite number."""
    allowed = "a finite number"
    number = _as_float(name, value, allowed)
    if not math.isfinite(number):
        raise _refuse(name, value, allowed)
    return number


def in_open_unit(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it lies strictly between 0 and 1."""
    allowed = "a number strictly between 0 and 1"
    number = _as_float(name, value, allowed)
    if not 0 < number < 1:
        raise _refuse(name, value, allowed)
    return number


def rate(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it lies in (0, 1]."""
    allowed = "a number above 0 and at most 1"
    number = _as_float(name, value, allowed)
    if not 0 < number <= 1:
        raise _refuse(name, value, allowed)
    return number


def positive_integer(name: str, value: Any) -> int:
    """`value` as an int; `ValueError` unless it is a whole number >= 1."""
    allowed = "a whole number >= 1"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < 1:
        raise _refuse(name, value, allowed)
    return int(value)


def nonnegative_integer(name: str, value: Any) -> int:
    """`value` as an int; `ValueError` unless it is a whole number >= 0."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < 0:
        raise _refuse(name, value, "a whole number >= 0")
    return int(value)


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """`value`; `ValueError` unless it is one of the strings in `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise _refuse(name, value, "one of " + ", ".join(repr(item) for item in allowed))
    return value


def _array(name: str, value: Any, allowed: str) -> FloatArray:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise _refuse(name, value, allowed)
    return array.astype(np.float64)


def _first_bad(array: FloatArray, bad: NDArray[np.bool_]) -> float:
    return float(array[bad].flat[0])


def epsilon_array(value: Any, name: str = "epsilon") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a finite number >= 0."""
    allowed = "a finite number >= 0"
    array = _array(name, value, allowed)
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        raise _refuse(name, _first_bad(array, bad), allowed)
    return array


def delta_array(value: Any, name: str = "delta") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry lies strictly between 0 and 1."""
    allowed = "a number strictly between 0 and 1"
    array = _array(name, value, allowed)
    bad = ~((array > 0) & (array < 1))
    if bad.any():
        raise _refuse(name, _first_bad(array, bad), allowed)
    return array


def privacy_budget_array(value: Any, name: str = "epsilon") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a number >= 0; infinity, no promise, is allowed."""
    allowed = "a number >= 0"
    array = _array(name, value, allowed)
    bad = ~(array >= 0)
    if bad.any():
        raise _refuse(name, _first_bad(array, bad), allowed)
    return array


def positive_array(name: str, value: Any) -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a finite number > 0."""
    allowed = "a finite number > 0"
    array = _array(name, value, allowed)
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        raise _refuse(name, _first_bad(array, bad), allowed)
    return array


def unit_array(value: Any, name: str) -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a probability, in [0, 1]."""
    allowed = "a number from 0 to 1"
    array = _array(name, value, allowed)
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        raise _refuse(name, _first_bad(array, bad), allowed)
    return array


def alpha_array(value: Any, name: str = "alpha") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a finite Rényi order >= 1."""
    allowed = "a finite Rényi order >= 1"
    array = _array(name, value, allowed)
    bad = ~(np.isfinite(array) & (array >= 1))
    if bad.any():
        raise _refuse(name, _first_bad(array, bad), allowed)
    return array


def like_input(value: Any, result: FloatArray) -> Any:
    """A float where `value` was a scalar, the array otherwise: scalars in, float out; arrays in, arrays out."""
    return float(result) if np.ndim(value) == 0 else result


def random_state_argument(name: str, value: Any) -> int | np.random.RandomState | np.random.Generator | None:
    """`value`; `ValueError` unless it is None, an integer >= 0 or one of numpy's generators."""
    if value is None or isinstance(value, (np.random.RandomState, np.random.Generator)):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < 0:
        raise _refuse(name, value, "None, an integer >= 0, or a numpy RandomState or Generator")
    return int(value)


def boolean(name: str, value: Any) -> bool:
    """`value` as a bool; `ValueError` unless it is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise _refuse(name, value, "True or False")
    return bool(value)


def above(name: str, value: Any, least: float) -> float:
    """`value` as a float; `ValueError` unless it is a finite number > `least`."""
    allowed = f"a finite number > {least:g}"
    number = _as_float(name, value, allowed)
    if not (math.isfinite(number) and number > least):
        raise _refuse(name, value, allowed)
    return number


def at_least(name: str, value: Any, least: float) -> float:
    """`value` as a float; `ValueError` unless it is a finite number >= `least`."""
    allowed = f"a finite number >= {least:g}"
    number = _as_float(name, value, allowed)
    if not (math.isfinite(number) and number >= least):
        raise _refuse(name, value, allowed)
    return number


def count_array(value: Any, name: str = "k") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a whole number >= 0."""
    allowed = "a whole number >= 0"
    array = _array(name, value, allowed)
    bad = ~(np.isfinite(array) & (array >= 0) & (array == np.floor(array)))
    if bad.any():
        raise _refuse(name, _first_bad(array, bad), allowed)
    return array


def check_fields(instance: object, check: Callable[[str, Any], Any], *names: str) -> None:
    """Replace the named fields of a frozen dataclass by what `check(name, value)` makes of them.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Noise:
    ...     sigma: float
    ...     def __post_init__(self):
    ...         check_fields(self, positive, "sigma")
    >>> Noise(2).sigma
    2.0
    """
    for name in names:
        object.__setattr__(instance, name, check(name, getattr(instance, name)))
