"""Numbers and calls as text that reads back as the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain(value: float, digits: int = 12) -> str:
    """A number as people type it: so many significant digits, no superfluous zeros.

    >>> plain(5.0), plain(0.25), plain(1e-5)
    ('5', '0.25', '1e-5')
    """
    text = f"{value:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """``name(key=value, …)`` with values as Python literals that round-trip exactly.

    >>> call("Gaussian", {"sigma": 2.0})
    'Gaussian(sigma=2.0)'
    """
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
