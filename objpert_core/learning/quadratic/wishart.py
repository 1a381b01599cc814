"""Wishart matrices by Bartlett's decomposition: in doubles for simulations, with as many digits as a release needs.

W ~ Wishart_d(m) is LLᵀ for a lower triangular L of independent entries, normal below the diagonal, and L_ii² ~ χ² with
m − i + 1 degrees of freedom. A release needs round(A + cW) as if W were known with all its digits (docs/theorems.md,
T35): normal numbers lie in cells of width 2⁻⁵⁰, and get 64 more digits where that leaves a rounding open, and so on.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, isqrt, ldexp

import numpy as np

from objpert_core._validation import FloatArray, IntArray, integer_up_to, nonnegative_integer, positive_integer
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.normal_digits import FIRST_DIGITS, NormalDigits

_U = 2.0**-52
_SAFE = 1 + 2.0**-20  # for what the computation of a bound rounds
_HALF = Fraction(1, 2)


def wishart(rng: np.random.Generator, dimension: int, degrees_of_freedom: int, size: int | None = None) -> FloatArray:
    """Draw Wishart matrices in doubles, shape (d, d) or (size, d, d), for simulations and not for a release."""
    d, m = positive_integer("dimension", dimension), positive_integer("degrees_of_freedom", degrees_of_freedom)
    integer_up_to("dimension", d, m)
    count = 1 if size is None else nonnegative_integer("size", size)
    factor = np.zeros((count, d, d))
    below = np.tril_indices(d, -1)
    factor[:, below[0], below[1]] = rng.standard_normal((count, len(below[0])))
    diagonal = np.arange(d)
    factor[:, diagonal, diagonal] = np.sqrt(rng.chisquare(m - diagonal, size=(count, d)))
    drawn = factor @ factor.transpose(0, 2, 1)
    return np.asarray(drawn[0] if size is None else drawn)


class ExactWishart:
    """One Wishart matrix W whose digits are drawn as they are asked for."""

    def __init__(
        self, source: NoiseSource, dimension: int, degrees_of_freedom: int, digits: int = FIRST_DIGITS
    ) -> None:
        self._source, self._first = source, integer_up_to("digits", digits, 52)
        d = positive_integer("dimension", dimension)
        integer_up_to("dimension", d, positive_integer("degrees_of_freedom", degrees_of_freedom))
        self._below = d * (d - 1) // 2  # row by row: (1, 0), (2, 0), (2, 1), (3, 0), …
        squares = degrees_of_freedom - np.arange(d)
        self._starts = self._below + np.concatenate([[0], np.cumsum(squares)])
        self._cells: IntArray = source.rounded_normal(2.0**digits, int(self._starts[-1]))
        self._known = NormalDigits(self._cells, digits)
        self._dimension = d
        self.refinements = 0

    def rounded(self, gram: np.ndarray, power: int, scale: float, spacing: float) -> FloatArray:
        """Round gram·2^power + scale·W to multiples of `spacing`, entry by entry, no rounding in doubt."""
        W, error = self.bounds()
        rows, columns = np.tril_indices(self._dimension)
        ratio = scale / spacing  # exactly
        given = np.ldexp(gram[rows, columns].astype(np.float64), power) / spacing
        points = given + ratio * W[rows, columns]
        slack = (ratio * error[rows, columns] + 4 * _U * (np.abs(given) + ratio * np.abs(W[rows, columns]))) * _SAFE
        nearest = np.rint(points) + 0.0  # -0.0 would tell on which side of 0 the number lay
        open_ = ~(np.abs(points - nearest) + slack < 0.5)
        drawn = Fraction(scale) / Fraction(spacing)
        unit = (Fraction(2) ** power if power >= 0 else Fraction(1, 2**-power)) / Fraction(spacing)
        for place in np.flatnonzero(open_):
            i, j = int(rows[place]), int(columns[place])
            nearest[place] = float(self._decided(i, j, int(gram[i, j]) * unit, drawn))
        result = np.empty((self._dimension, self._dimension))
        result[rows, columns] = nearest * spacing
        result[columns, rows] = result[rows, columns]
        return result

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """W in doubles and the largest error of each entry, by the digits drawn first."""
        d = self._dimension
        normals = self._cells * ldexp(1.0, -self._first)
        off = ldexp(0.5, -self._first) + _U * np.abs(normals)
        factor, error = np.zeros((d, d)), np.zeros((d, d))
        below = np.tril_indices(d, -1)
        factor[below], error[below] = normals[: self._below], off[: self._below]
        for i in range(d):
            own = slice(self._starts[i], self._starts[i + 1])
            squared = float(normals[own] @ normals[own])
            wrong = float((2 * np.abs(normals[own]) + off[own]) @ off[own])
            wrong += (own.stop - own.start + 2) * _U * (squared + wrong)
            root = squared**0.5
            factor[i, i] = root
            error[i, i] = min(wrong / root if root > 0 else np.inf, wrong**0.5) * _SAFE + _U * root
        size = np.abs(factor)
        mixed = size @ error.T
        slack = mixed + mixed.T + error @ error.T + (d + 4) * _U * (size @ size.T)
        return factor @ factor.T, slack * _SAFE

    def _decided(self, i: int, j: int, given: Fraction, scale: Fraction) -> int:
        """The integer nearest to given + scale·W_ij, with as many digits drawn as decide it."""
        while True:
            low, high = (floor(given + scale * end + _HALF) for end in self.interval(i, j))
            if low == high:
                return low
            self.refine()

    def interval(self, i: int, j: int) -> tuple[Fraction, Fraction]:
        """Bounds that W_ij, i ≥ j, surely lies between, by all digits drawn so far."""
        low, high = self._squares(j)
        if i == j:
            for k in range(j):
                more = _product(*[self._known.ends(self._place(j, k))] * 2, square=True)
                low, high = low + more[0], high + more[1]
        else:
            root = isqrt(low), isqrt(high) + 1
            low, high = _product(self._known.ends(self._place(i, j)), root)
            for k in range(j):
                more = _product(self._known.ends(self._place(i, k)), self._known.ends(self._place(j, k)))
                low, high = low + more[0], high + more[1]
        unit = 1 << 2 * (self._known.digits + 1)
        return Fraction(low, unit), Fraction(high, unit)

    def _squares(self, i: int) -> tuple[int, int]:
        """The sum of the squares that L_ii is the root of."""
        low = high = 0
        for place in range(self._starts[i], self._starts[i + 1]):
            more = _product(*[self._known.ends(place)] * 2, square=True)
            low, high = low + more[0], high + more[1]
        return low, high

    def _place(self, i: int, j: int) -> int:
        return i * (i - 1) // 2 + j

    def refine(self) -> None:
        """Draw at least 64 more digits of every normal number."""
        self._known.refine(self._source.read)
        self.refinements += 1


def _product(one: tuple[int, int], other: tuple[int, int], *, square: bool = False) -> tuple[int, int]:
    """The least and the largest product of numbers between these ends; for a square, of one number with itself."""
    ends = [a * b for a in one for b in other]
    if square:
        return (0 if one[0] < 0 < one[1] else min(one[0] ** 2, one[1] ** 2)), max(ends)
    return min(ends), max(ends)
