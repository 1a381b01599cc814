"""An objective whose scores have twice a double's digits and whose sums go by small blocks: for one careful look."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.rows import Rows

_CUT = 2.0**-26  # slices of numbers below 1 are multiples of this
_SHIFT = 1.5 / _CUT  # added to a number below 1 and taken off again, what is left is such a multiple
_SPLIT = 2.0**27 + 1
_BLOCK = 128  # rows summed at once
_BLOCKS = 16  # of a part, at most
_NUMBERS = 2**21  # of a part, about


class FineRows(Rows):
    """Rows that compute scores with a remainder, and sum in blocks; memory is shared with the rows given."""

    in_doubles = False

    def __init__(self, rows: Rows) -> None:
        vars(self).update(vars(rows), matrix=rows.matrix, factors=rows.factors)  # which may only now be made

    def score_pairs(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x̃ᵢᵀθ for every row as the sum of two doubles, the first of which is the sum rounded; shapes (n,)."""
        with np.errstate(divide="ignore"):
            sizes = np.where(self.factors > 0, 1 / self.factors, 1.0)  # a row is no longer
        exact, rest = self._products(theta[: self.n_features], np.ldexp(1.0, np.frexp(sizes)[1]))
        high, low = two_sum(exact[0], exact[1])
        high, more = two_sum(high, exact[2])
        high, low = two_sum(high, low + (more + rest))
        high, more = _two_product(high, self.factors)
        low = more + low * self.factors
        if self.constant:
            extra, beyond = _two_product(theta[-1:], np.array([self.constant]))
            high, more = two_sum(high, extra)
            low += more + beyond
        return two_sum(high, low)

    def _products(self, weights: FloatArray, powers: FloatArray) -> tuple[list[FloatArray], FloatArray]:
        """Three products of slices, which are exact, and the sum of all others; every row is shorter than its power."""
        power = _power_above(float(np.linalg.norm(weights)))
        finer = 2.0 ** -_digits(self.dimension)
        first = _slice(weights, power)
        second = _slice(weights - first, power * finer)
        left = weights - first
        if not self.sparse:
            powers = powers[:, None]
            block = self._block(slice(None))
            a = _slice(block, powers)
            block -= a
            b = _slice(block, powers * finer)
            block -= b
            return [a @ first, a @ second, b @ first], a @ (left - second) + b @ left + block @ weights
        csr = self.matrix
        powers = np.repeat(powers, np.diff(csr.indptr))

        def times(data: FloatArray, vector: FloatArray) -> Any:
            return sp.csr_array((data, csr.indices, csr.indptr), shape=csr.shape) @ vector

        a = _slice(csr.data, powers)
        b = _slice(csr.data - a, powers * finer)
        rest = times(a, left - second) + times(b, left) + times((csr.data - a) - b, weights)
        return [times(a, first), times(a, second), times(b, first)], rest

    def combine(self, weights: FloatArray) -> FloatArray:
        """Σᵢ wᵢ x̃ᵢ, block by block, what rounding takes off carried along; shapes as for `Rows`."""
        total = np.zeros((*weights.shape[:-1], self.dimension))
        lost = np.zeros_like(total)
        for start in range(0, self.n_rows, _BLOCK):
            block = slice(start, min(start + _BLOCK, self.n_rows))
            total, rounded = two_sum(total, Rows.combine(self.part(block), weights[..., block]))
            lost += rounded
        return total + lost


def part_size(dimension: int) -> int:
    """How many rows to look at together: `FineRows.combine` takes no more blocks at once."""
    return _BLOCK * max(1, min(_BLOCKS, _NUMBERS // (_BLOCK * dimension)))


def summands_of_rows(n_rows: int) -> int:
    """The most roundings in a sum over the rows of a part: in a block, of the blocks, of weights and factors."""
    return min(n_rows, _BLOCK) + min(-(-n_rows // _BLOCK), _BLOCKS) + 8


def score_error(dimension: int, radius: float, length: float) -> float:
    """The largest error of a score of `FineRows`, besides a unit of the score: the rounding of what is not exact."""
    left = math.sqrt(dimension) * _CUT  # of a row and of θ where the first slice is taken off, at most
    unit = 2.0**-53
    return ((dimension + 8) * unit * left**2 * (3 + 2 * left) + 16 * unit**2 * radius) * length * (1 + 2.0**-20)


def _digits(dimension: int) -> int:
    """By how many digits a second slice goes beyond the first, so that its product with a first slice is exact."""
    return min(26, math.floor(27 - math.log2(max(dimension, 1)) / 2))


@singledispatch
def fine(objective: Any) -> Any:
    """The same objective, computed with care."""
    return replace(objective, rows=FineRows(objective.rows))


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a + b rounded, and what rounding took off (Knuth)."""
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


def _slice(values: FloatArray, powers: FloatArray | float) -> FloatArray:
    """Numbers below these powers of two, rounded to multiples of 2⁻²⁶ of the powers."""
    shift = _SHIFT * powers
    return np.asarray((values + shift) - shift)
