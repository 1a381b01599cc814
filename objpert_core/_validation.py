"""Checks of arguments, written once: one sentence that names the parameter, the value and what is allowed."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Check = Callable[[str, Any], Any]
"""Takes a parameter's name and value and returns the value as it is used; `ValueError` where it is not allowed."""
_LARGEST_WHOLE = 10**100


def _refuse(name: str, value: object, allowed: str) -> ValueError:
    return ValueError(f"{name} must be {allowed}, got {value!r}")


def _number(name: str, value: Any, allowed: str, good: Callable[[float], bool]) -> float:
    """`value` as a float; `ValueError` unless it is a real number (no truth value) for which `good` holds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.ndarray)):
        raise _refuse(name, value, allowed)
    if isinstance(value, np.ndarray) and (value.ndim != 0 or value.dtype.kind not in "iuf"):
        raise _refuse(name, value, allowed)
    try:
        number = float(value)
    except OverflowError:  # an int beyond the doubles
        raise _refuse(name, value, allowed) from None
    if not good(number):
        raise _refuse(name, value, allowed)
    return number


def finite(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it is a finite number."""
    return _number(name, value, "a finite number", math.isfinite)


def positive(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it is a finite number > 0."""
    return above(name, value, 0)


def nonnegative(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it is a finite number >= 0."""
    return at_least(name, value, 0)


def above(name: str, value: Any, least: float) -> float:
    """`value` as a float; `ValueError` unless it is a finite number > `least`."""
    return _number(name, value, f"a finite number > {least:g}", lambda number: least < number < math.inf)


def at_least(name: str, value: Any, least: float) -> float:
    """`value` as a float; `ValueError` unless it is a finite number >= `least`."""
    return _number(name, value, f"a finite number >= {least:g}", lambda number: least <= number < math.inf)


def within(name: str, value: Any, least: float, most: float) -> float:
    """`value` as a float; `ValueError` unless it is a finite number > 0, and one from `least` to `most`."""
    allowed = f"a number from {least:g} to {most:g}"
    return _number(name, positive(name, value), allowed, lambda number: least <= number <= most)


def length(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it is from 1e-50 to 1e50: accounting squares its ratio to the noise."""
    return within(name, value, 1e-50, 1e50)


def square(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it is a number from 1e-110 to 1e110: for squares of a `length`."""
    return within(name, value, 1e-110, 1e110)


def in_open_unit(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it lies strictly between 0 and 1."""
    return _number(name, value, "a number strictly between 0 and 1", lambda number: 0 < number < 1)


def rate(name: str, value: Any) -> float:
    """`value` as a float; `ValueError` unless it lies in (0, 1]."""
    return _number(name, value, "a number above 0 and at most 1", lambda number: 0 < number <= 1)


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < least:
        raise _refuse(name, value, f"a whole number >= {least}")
    return int(value)


def positive_integer(name: str, value: Any) -> int:
    """`value` as an int; `ValueError` unless it is a whole number >= 1 whose square a double holds."""
    if (whole := _whole(name, value, 1)) > _LARGEST_WHOLE:
        raise _refuse(name, value, "a whole number from 1 to 10**100")
    return whole


def nonnegative_integer(name: str, value: Any) -> int:
    """`value` as an int; `ValueError` unless it is a whole number >= 0."""
    return _whole(name, value, 0)


def integer_up_to(name: str, value: Any, most: int) -> int:
    """`value` as an int; `ValueError` unless it is a whole number >= 1 and at most `most`."""
    if (whole := _whole(name, value, 1)) > most:
        raise _refuse(name, value, f"a whole number from 1 to {most}")
    return whole


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """`value`; `ValueError` unless it is one of the strings in `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise _refuse(name, value, "one of " + ", ".join(repr(item) for item in allowed))
    return value


def _array(name: str, value: Any, allowed: str, good: Callable[[FloatArray], NDArray[np.bool_]]) -> FloatArray:
    """`value` as a float array; `ValueError` that names the first entry for which `good` does not hold."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise _refuse(name, value, allowed)
    array = array.astype(np.float64)
    if (bad := ~good(array)).any():
        raise _refuse(name, float(array[bad].flat[0]), allowed)
    return array


def epsilon_array(value: Any, name: str = "epsilon") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a finite number >= 0."""
    return _array(name, value, "a finite number >= 0", lambda entries: np.isfinite(entries) & (entries >= 0))


def delta_array(value: Any, name: str = "delta") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry lies strictly between 0 and 1."""
    return _array(name, value, "a number strictly between 0 and 1", lambda entries: (entries > 0) & (entries < 1))


def privacy_budget_array(value: Any, name: str = "epsilon") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a number >= 0; infinity, no promise, is allowed."""
    return _array(name, value, "a number >= 0", lambda entries: entries >= 0)


def positive_array(name: str, value: Any) -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a finite number > 0."""
    return _array(name, value, "a finite number > 0", lambda entries: np.isfinite(entries) & (entries > 0))


def unit_array(value: Any, name: str) -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a probability, in [0, 1]."""
    return _array(name, value, "a number from 0 to 1", lambda entries: (entries >= 0) & (entries <= 1))


def alpha_array(value: Any, name: str = "alpha") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a finite Rényi order >= 1."""
    return _array(name, value, "a finite Rényi order >= 1", lambda entries: np.isfinite(entries) & (entries >= 1))


def count_array(value: Any, name: str = "k") -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a whole number >= 0."""
    return _array(
        name,
        value,
        "a whole number >= 0",
        lambda entries: np.isfinite(entries) & (entries >= 0) & (entries == np.floor(entries)),
    )


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


def between(least: float, most: float) -> Check:
    """Check that a value is a number from `least`, which is positive, to `most`."""
    return lambda name, value: within(name, value, least, most)


def or_zero(check: Check) -> Check:
    """`check`, or the value 0, which becomes 0.0."""
    return lambda name, value: check(name, number) if (number := nonnegative(name, value)) else 0.0


def some_positive(name: str, values: Any) -> tuple[float, ...]:
    """`values` as floats; `ValueError` unless there is at least one, and each is a finite number > 0."""
    if not values:
        raise ValueError(f"{name} must hold at least one number > 0, got none")
    return tuple(positive(name, value) for value in values)


def check_fields(instance: object, check: Check, *names: str) -> None:
    """Replace the named fields of a frozen dataclass by what `check(name, value)` makes of them."""
    for name in names:
        object.__setattr__(instance, name, check(name, getattr(instance, name)))


def sign_labels(labels: Any, rows: int, of: str) -> FloatArray:
    """Labels in {-1, +1} as a float array of shape (rows,); messages say what the labels belong `of`."""
    y = np.array(labels, dtype=float)
    if y.ndim != 1 or not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(f"labels must be a sequence of values in {{-1, +1}}, got {labels!r}")
    if y.size != rows:
        raise ValueError(f"labels must be as many as {of}, {rows}, got {y.size}")
    return y


def once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON for `json.loads`; `ValueError` for a key that stands twice, which readers treat differently."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key stands twice")
    return values


def from_a_stranger(name: str, text: str, largest: int) -> Any:
    """What a JSON text of at most `largest` characters holds; one sentence about `name` where it cannot be read."""
    if len(text) > largest:
        raise ValueError(f"the {name} must have at most {largest:,} characters, got {len(text):,}")
    try:
        values = json.loads(text, object_pairs_hook=once_each)
        json.dumps(values, ensure_ascii=False).encode()  # half a letter, "\ud800", could not be written again
    except (ValueError, RecursionError):
        raise ValueError(f"the {name} must be complete JSON that names no key twice") from None
    return values
