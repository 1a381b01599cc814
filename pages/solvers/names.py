"""What both pictures of the Solvers page call the solvers, and how they write counts."""

from __future__ import annotations

from collections.abc import Mapping

from ui import sentences

NAMES: Mapping[str, str] = {
    "newton": "Newton",
    "newton-cg": "Newton-CG",
    "lbfgs": "L-BFGS",
    "gradient-descent": "Gradient descent",
    "accelerated": "Accelerated",
    "sag": "SAG",
    "svrg": "SVRG",
}
INSIDE: Mapping[str, str] = {
    **NAMES,
    "newton": "Newton’s method",
    "lbfgs": "L‑BFGS",  # does not break across lines
    "gradient-descent": "gradient descent",
    "accelerated": "accelerated descent",
}
"""Inside a sentence."""
COLUMNS: Mapping[str, str] = {
    "redundant": "redundant, like a one-hot table",
    "diverse": "diverse, every direction seen",
}


def times(value: float) -> str:
    """How many times, for a sentence."""
    return f"{round(value):,}" if value >= 10 else sentences.number(value, 2)
