"""What regressions read off the data: X̃ᵀX̃ and X̃ᵀỹ as whole numbers, exact whatever the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, choice, length, nonnegative
from objpert_core.learning.certificates.base import ON_ERROR
from objpert_core.learning.posterior.factor import least_eigenvalue
from objpert_core.learning.quadratic.grid import residual_unit, rows_of_squares, whole_sums

_MARGIN = 2**17
EIGENVALUE_ERROR = 2.0**-22
"""Twice the margin, in units of `unit`², which is at most 2⁻⁴⁰ times the squared norm that rows can have."""


@dataclass(frozen=True, eq=False)
class RegressionSums:
    """X̃ᵀX̃ in units of `unit`² and X̃ᵀỹ in units of `unit`·`step`, public powers of two, as Python's integers."""

    gram: np.ndarray
    moment: np.ndarray
    unit: float
    step: float
    target_bound: float
    constant: float

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.moment)

    @cached_property
    def least_eigenvalue(self) -> Fraction:
        """λ_min(X̃ᵀX̃), off by at most `EIGENVALUE_ERROR` times the squared norm that rows can have."""
        return least_eigenvalue(self.gram, _MARGIN) * Fraction(self.unit) ** 2


def regression_sums(
    X: Any,
    targets: FloatArray,
    *,
    target_bound: float = 1.0,
    row_norm: str = "clip",
    intercept_scaling: float = 0.0,
    on_error: str = "raise",
) -> RegressionSums:
    """Enforce norms, clip targets to ±target_bound, round each row to a grid, and sum; arguments as in `Fit`."""
    bound, constant = length("target_bound", target_bound), nonnegative("intercept_scaling", intercept_scaling)
    releases = choice("on_error", on_error, ON_ERROR) == "release"
    with np.errstate(under="ignore"):  # where the caller has numpy raise for it, that would tell of tiny entries
        rows, targets = rows_of_squares(X, targets, row_norm, constant, releases=releases)
        step = residual_unit(bound, bound, constant)
        sums = whole_sums(rows, targets, bound=bound, step=step)
    gram, tilt = sums.gram.astype(object), sums.tilt.astype(object)
    return RegressionSums(gram, -tilt, sums.unit, step, bound, sums.constant)
