"""Rows on a grid: Gram matrix and tilt as exact sums of what each row contributes, whatever the other rows are.

Entries of a row of enforced norm, and residuals clipped at the anchor, are rounded towards zero to multiples of a power
of two. Sums of products are exact, so that a row moves them by its own contribution (docs/theorems.md, T35). What a row
becomes depends on it alone: its norm is summed as `squares` does, its score from left to right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO
from objpert_core.learning.problem.losses import SquaredLoss
from objpert_core.learning.problem.objective import check_targets
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.screening import usable

_DIGITS = 20  # of the largest entries
_BLOCK_ROWS = 2**11  # entries are below 2²¹: a block's sums of products are whole numbers up to 2⁵³, exact in doubles
_BLOCK_ENTRIES = 2**20
_EXACT_ROWS = 2**20  # up to here sums of products fit 64 bits


def row_unit(constant: float) -> float:
    """The grid's width for rows with a constant appended: 2⁻²⁰ times the power of two next below their norm."""
    return power_of_two(row_radius(constant)) * 2.0**-_DIGITS


def residual_unit(bound: float, sigma: float, constant: float) -> float:
    """The grid's width for residuals: 2⁻²⁰ of their bound, or wide enough for the tilt's noise σ to fit 64 bits."""
    least = power_of_two(sigma) / (LARGEST_RATIO / 4) / row_unit(constant)
    return max(power_of_two(bound) * 2.0**-_DIGITS, least)


def rows_of_squares(
    X: Any, targets: FloatArray, row_norm: str, constant: float, *, releases: bool
) -> tuple[Rows, FloatArray]:
    """The rows and targets of a sum of squares, without those that cannot be used where a fit `releases` always."""
    loss = SquaredLoss()
    if releases and targets.shape == (X.shape[0],):
        X, targets = usable(X, targets, loss)
    rows = Rows(X, row_norm, constant)
    check_targets(targets, rows.n_rows, loss, least=0 if releases else 1)
    return rows, targets


@dataclass(frozen=True)
class WholeSums:
    """Sums over rows as whole numbers: `gram` in units of `unit`², `tilt` of `unit` times the residuals' unit."""

    gram: np.ndarray
    tilt: np.ndarray
    unit: float
    constant: float


def whole_sums(
    rows: Rows,
    targets: FloatArray | None = None,
    *,
    anchor: FloatArray | None = None,
    bound: float = 0.0,
    step: float = 1.0,
) -> WholeSums:
    """Sum x̃x̃ᵀ and x̃·clip(x̃ᵀθ̃ − y, ±bound) over rows on the grid, exactly; without targets there is no tilt."""
    unit = row_unit(rows.constant)
    dimension = rows.dimension
    kind: Any = np.int64 if rows.n_rows <= _EXACT_ROWS else object
    gram, tilt = np.zeros((dimension, dimension), dtype=kind), np.zeros(dimension, dtype=kind)
    whole_anchor = None if anchor is None or not anchor.any() else anchor * unit
    for part, block in _blocks(rows, unit):
        gram += (block.T @ block).astype(np.int64)
        if targets is not None:
            scores = 0.0 if whole_anchor is None else _summed(block * whole_anchor)
            with np.errstate(over="ignore"):  # clipped at once
                residuals = np.clip(scores - targets[part], -bound, bound)
            tilt += (np.trunc(residuals / step) @ block).astype(np.int64)
    constant = float(np.trunc(rows.constant / unit) * unit)
    return WholeSums(gram, tilt, unit, constant)


def _blocks(rows: Rows, unit: float) -> Iterator[tuple[slice, FloatArray]]:
    """Some rows at a time, as whole numbers of units, the constant in the last column."""
    size = max(1, min(_BLOCK_ROWS, _BLOCK_ENTRIES // rows.dimension))
    for start in range(0, rows.n_rows, size):
        part = slice(start, min(start + size, rows.n_rows))
        values: Any = rows.part(part).matrix
        dense = values.toarray() if rows.sparse else np.array(values, dtype=np.float64, order="C")
        block = np.empty((len(dense), rows.dimension))
        block[:, : rows.n_features] = np.trunc(dense * (rows.factors[part] / unit)[:, None])
        if rows.constant:
            block[:, -1] = math.trunc(rows.constant / unit)
        yield part, block


def _summed(values: FloatArray) -> FloatArray:
    """The sum of each row, from left to right."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1])
