"""Rows that are kept as codes: in each column a row switches on one piece, and a public map says what a piece adds.

n × C small integers take the place of n × D numbers. Scores are look-ups, gradients are counts of weights, Hessians are
weighted tables of two columns at a time. All are sums over the rows that the map makes, none of which is made
(docs/theorems.md, T54).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.learning.problem.lanes import slices
from objpert_core.learning.problem.rows import Rows, safety_factor

_AT_ONCE = 2**16  # rows of a table of two columns: their codes stay in the cache


class CodedRows(Rows):
    """Rows x̃ = (f · (T₁[code₁], …, T_C[code_C]), s), with a factor f ≤ 1 that brings longer rows to norm 1.

    Parameters
    ----------
    codes : ndarray of integers, shape (C, n)
        Which piece of each column a row switches on. Codes of a column lie together in memory.
    maps : sequence of ndarray, each of shape (pieces, width)
        T_c: what each piece of column c adds to a row. Public numbers, or released ones.
    constant : float
        The constant s; 0 appends nothing.

    Examples
    --------
    >>> rows = CodedRows(np.array([[0, 1, 1], [2, 0, 2]]), [np.eye(2), np.eye(3) / 2], 0.5)
    >>> rows.margins(np.array([1.0, 2.0, 8.0, 0.0, 4.0, 1.0])).round(3).tolist()
    [3.183, 5.867, 4.078]
    >>> bool(np.allclose(rows.margins(np.ones(6)), rows.made().margins(np.ones(6))))
    True
    """

    def __init__(self, codes: IntArray, maps: Sequence[FloatArray], constant: float = 0.0) -> None:
        codes = np.asarray(codes)
        if codes.ndim != 2 or codes.shape[0] != len(maps) or codes.dtype.kind not in "iu":
            raise ValueError(
                f"codes must be integers, one line for each of {len(maps)} columns, got {codes.dtype} of {codes.shape}"
            )
        self.maps = tuple(_a_map(column, one) for column, one in enumerate(maps))
        for column, (line, one) in enumerate(zip(codes, self.maps, strict=True)):
            if (wrong := line[(line < 0) | (line >= len(one))]).size:
                raise ValueError(f"codes of column {column} must be from 0 to {len(one) - 1}, got {wrong[0]}")
        self.sparse, self.constant = False, constant
        self.codes, self.n_rows = codes, codes.shape[1]
        ends = np.cumsum([0, *(one.shape[1] for one in self.maps)])
        self.places = [slice(start, end) for start, end in pairwise(ends.tolist())]
        self.n_features = int(ends[-1])
        self.dimension = self.n_features + (constant > 0)
        self._squares = [np.einsum("ij,ij->i", one, one) for one in self.maps]
        norms = np.sqrt(self._squared_norms())
        safety = safety_factor(self.n_features)
        self.factors = np.where(norms > safety, safety / np.maximum(norms, safety), 1.0)

    @property
    def matrix(self) -> Any:
        """The rows before their factors, made where a block of them is asked for."""
        return _MadeInBlocks(self)

    def made(self) -> Rows:
        """The same rows, as a matrix: for a few."""
        return Rows(self.matrix[:], "clip", self.constant)

    def _squared_norms(self) -> FloatArray:
        # column after column, in their order: no other row, and no place, decides how a row's squares are added up
        total = np.zeros(self.n_rows)
        for line, squares in zip(self.codes, self._squares, strict=True):
            total += squares[line]
        return total

    def part(self, where: slice) -> CodedRows:
        """See `Rows.part`."""
        return self._some(where)

    def every(self, stride: int) -> CodedRows:
        """See `Rows.every`."""
        return self if stride == 1 else self._some(slice(None, None, stride))

    def _some(self, where: slice) -> CodedRows:
        some = copy(self)
        some.codes, some.factors = self.codes[:, where], self.factors[where]
        some.n_rows = len(some.factors)
        return some

    def shorten(self, out: FloatArray) -> FloatArray:
        """See `Rows.shorten`."""
        for part in self._parts():
            out[part] = self.matrix[part]
        return self.factors

    def margins(self, theta: FloatArray) -> FloatArray:
        """See `Rows.margins`: a look-up for each column; a score depends on its row and θ alone."""
        product = np.zeros((*theta.shape[:-1], self.n_rows))
        for line, one, place in zip(self.codes, self.maps, self.places, strict=True):
            product += np.take(theta[..., place] @ one.T, line, axis=-1)
        product *= self.factors
        if self.constant:
            product += self.constant * theta[..., -1:]
        return product

    def combine(self, weights: FloatArray) -> FloatArray:
        """See `Rows.combine`: weights are counted by pieces, and the map goes over the counts."""
        result = np.empty((*weights.shape[:-1], self.dimension))
        lines, sums = np.atleast_2d(weights * self.factors), result.reshape(-1, self.dimension)
        for line, one, place in zip(self.codes, self.maps, self.places, strict=True):
            for scaled, out in zip(lines, sums, strict=True):
                out[place] = np.bincount(line, weights=scaled, minlength=len(one)) @ one
        if self.constant:
            result[..., -1] = self.constant * weights.sum(axis=-1)
        return result

    def gram(self, weights: FloatArray, stride: int = 1) -> FloatArray:
        """See `Rows.gram`: tables of two columns at a time, each between the maps of both."""
        gram = np.zeros((self.dimension, self.dimension), order="F")
        once, twice = weights * self.factors * stride, weights * self.factors**2 * stride
        for column, (one, place) in enumerate(zip(self.maps, self.places, strict=True)):
            for other in range(column + 1):
                table = self._table(column, other, twice, stride)
                gram[self.places[other], place] = self.maps[other].T @ (table @ one)
            if self.constant:
                counted = np.bincount(self.codes[column, ::stride], weights=once[::stride], minlength=len(one))
                gram[place, -1] = self.constant * (counted @ one)
        if self.constant:
            gram[-1, -1] = self.constant**2 * stride * weights[::stride].sum()
        return gram

    def _table(self, column: int, other: int, weights: FloatArray, stride: int) -> FloatArray:
        """Σ of the weights of rows that switch on a piece of `other` and one of `column`, shape (other, column)."""
        shape = len(self.maps[other]), len(self.maps[column])
        if column == other:
            counted = np.bincount(self.codes[column, ::stride], weights=weights[::stride], minlength=shape[0])
            return np.diag(counted)
        table = np.zeros(shape[0] * shape[1])
        for some in slices(self.n_rows, _AT_ONCE, stride):
            cells = self.codes[other, some].astype(np.intp)
            cells *= shape[1]
            cells += self.codes[column, some]
            table += np.bincount(cells, weights=weights[some], minlength=len(table))
        return table.reshape(shape)


class _MadeInBlocks:
    """The matrix that coded rows stand for, of which blocks can be had; it has no products of its own."""

    dtype = np.dtype(object)  # whoever looks for doubles in memory goes on block by block

    def __init__(self, rows: CodedRows) -> None:
        self._rows = rows
        self.shape = rows.n_rows, rows.n_features

    def __getitem__(self, where: slice | int) -> FloatArray:
        rows = self._rows
        return np.concatenate([one[line[where]] for line, one in zip(rows.codes, rows.maps, strict=True)], axis=-1)


def _a_map(column: int, one: FloatArray) -> FloatArray:
    one = np.ascontiguousarray(one, dtype=np.float64)
    if one.ndim != 2 or not np.isfinite(one).all():
        raise ValueError(f"maps must be tables of finite numbers, got shape {one.shape} for column {column}")
    return one
