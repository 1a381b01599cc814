"""An objective whose scores have twice a double's digits and whose sums go by small blocks: for one careful look.

A score is a sum of d products, and d roundings of a sum are too many where rows are many and wide. So a row and θ are
cut in two, each by one addition of a large number and one subtraction. The products of the two leading halves have
53 digits at most, as have all their sums, in whatever order: a product of matrices gets that part exactly. What is left
is 2²⁶ times smaller, and its rounding, too (docs/theorems.md, T15).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows

CUT = 2.0**-26
"""The leading half of a number below 1 is a multiple of this."""
_SHIFT = 1.5 / CUT  # added to a number below 1 and taken off again, what is left is such a multiple
_SPLIT = 2.0**27 + 1
_ENTRIES = 64  # of a sparse row, summed at once
_BLOCK = 128  # rows summed at once
_BLOCKS = 16  # of a part, at most
_NUMBERS = 2**21  # of a part, about


class FineRows(Rows):
    """Rows that compute scores with a remainder, and sum in blocks.

    Parameters
    ----------
    rows : Rows
        Memory is shared.

    Examples
    --------
    >>> rows = FineRows(Rows(np.array([[0.6, 0.8]]), "clip"))
    >>> high, low = rows.score_pairs(np.array([1e16, 1.0]))
    >>> bool(abs(low[0]) <= 2.0**-53 * high[0])
    True
    """

    def __init__(self, rows: Rows) -> None:
        vars(self).update(vars(rows))

    @property
    def part_size(self) -> int:
        """How many rows to look at together: `combine` takes no more blocks at once."""
        return _BLOCK * max(1, min(_BLOCKS, _NUMBERS // (_BLOCK * self.dimension)))

    def score_pairs(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x̃ᵢᵀθ for every row as the sum of two doubles, the first of which is the sum rounded; shapes (n,)."""
        weights = theta[: self.n_features]
        upper = _halves(weights, _power_above(float(np.linalg.norm(weights))))
        with np.errstate(divide="ignore"):
            sizes = np.where(self.factors > 0, 1 / self.factors, 1.0)
        exact, rest = self._products(weights, upper, np.ldexp(1.0, np.frexp(sizes)[1]))
        high, low = two_sum(exact, rest)
        high, more = _two_product(high, self.factors)
        low = more + low * self.factors
        if self.constant:
            extra, beyond = _two_product(theta[-1:], np.array([self.constant]))
            high, more = two_sum(high, extra)
            low += more + beyond
        return two_sum(high, low)

    def _products(self, weights: FloatArray, upper: FloatArray, powers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Products of the leading halves of rows, cut by their own `powers`, and of weights; and all others."""
        if not self.sparse:
            block = self._block(slice(None))
            leading = _halves(block, powers[:, None])
            block -= leading
            return leading @ upper, leading @ (weights - upper) + block @ weights
        csr = self.matrix
        leading = _halves(csr.data, np.repeat(powers, np.diff(csr.indptr)))
        exact: Any = sp.csr_array((leading, csr.indices, csr.indptr), shape=csr.shape) @ upper
        rest = _short_sums(leading, csr.indices, csr.indptr, weights - upper)
        return exact, rest + _short_sums(csr.data - leading, csr.indices, csr.indptr, weights)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Σᵢ wᵢ x̃ᵢ, block by block; `weights` has shape (n,), the result (D,)."""
        total = np.zeros(self.dimension)
        for start in range(0, self.n_rows, _BLOCK):
            block = slice(start, min(start + _BLOCK, self.n_rows))
            total += Rows.combine(self.part(block), weights[block])
        return total


def summands_of_rows(n_rows: int) -> int:
    """How many roundings a sum over the rows of a part has at most: in a block, of the blocks, of weights and factors.

    Examples
    --------
    >>> summands_of_rows(10), summands_of_rows(10**7)
    (19, 152)
    """
    return min(n_rows, _BLOCK) + min(-(-n_rows // _BLOCK), _BLOCKS) + 8


def summands_of_score(dimension: int, sparse: bool) -> int:
    """How many roundings the sums have at most of which a score's smaller half is made.

    Examples
    --------
    >>> summands_of_score(1000, sparse=False), summands_of_score(100_000, sparse=True)
    (1000, 192)
    """
    if not sparse:
        return dimension
    levels = 1
    while _ENTRIES**levels < dimension:
        levels += 1
    return _ENTRIES * levels


def fine(objective: PerturbedObjective) -> PerturbedObjective:
    """The same objective, looked at with care.

    Examples
    --------
    >>> exact = PerturbedObjective(Rows(np.array([[1.0], [-1.0]]), "clip"), np.array([1.0, -1.0]), 1.0, np.zeros(1))
    >>> fine(exact).gradient(np.zeros(1))[0].tolist()
    [-1.0]
    """
    return replace(objective, rows=FineRows(objective.rows))


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a + b rounded, and what rounding took off (Knuth).

    Examples
    --------
    >>> [float(part[0]) for part in two_sum(np.array([1.0]), np.array([2.0**-60]))] == [1.0, 2.0**-60]
    True
    """
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _two_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a·b rounded, and what rounding took off (Dekker)."""
    product = a * b
    first, second = _SPLIT * a, _SPLIT * b
    first, second = first - (first - a), second - (second - b)
    left, right = a - first, b - second
    return product, ((first * second - product) + first * right + left * second) + left * right


def _power_above(size: float) -> float:
    return math.ldexp(1.0, math.frexp(size)[1]) if math.isfinite(size) else size


def _halves(values: FloatArray, powers: FloatArray | float) -> FloatArray:
    """The leading halves of numbers below these powers of two."""
    shift = _SHIFT * powers
    return np.asarray((values + shift) - shift)


def _short_sums(data: FloatArray, indices: Any, indptr: Any, weights: FloatArray) -> FloatArray:
    """A sparse matrix times a vector, no more than `_ENTRIES` numbers being summed at a time."""
    while True:
        pieces = np.maximum(1, -(-np.diff(indptr) // _ENTRIES))
        ends = np.cumsum(pieces)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - pieces, pieces)
        starts = np.append(np.repeat(indptr[:-1], pieces) + _ENTRIES * within, indptr[-1])
        sums: Any = sp.csr_array((data, indices, starts), shape=(len(starts) - 1, len(weights))) @ weights
        if len(sums) == len(pieces):
            return np.asarray(sums)
        data, indices, indptr, weights = sums, np.zeros(len(sums), np.int64), np.append(0, ends), np.ones(1)
