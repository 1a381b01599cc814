"""Numbers as texts that keep a promise: rounded in decimal, and up where they are promised."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

from objpert_core._literals import plain


def significant(value: float, digits: int, *, up: bool) -> Decimal:
    """A finite number to `digits` significant digits of its shortest decimal, towards +∞ or to the nearest."""
    exact = Decimal(repr(float(value)))
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return exact.quantize(step, rounding=ROUND_CEILING if up else ROUND_HALF_EVEN)


def promised(value: float) -> str:
    """A promised ε or δ in up to six digits, rounded up."""
    return plain(float(significant(value, 6, up=True)), 6)
