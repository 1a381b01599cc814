"""Rows that are kept as codes: in each column a row switches on one piece, and a public map says what a piece adds.

n × C small integers take the place of n × D numbers. Scores are look-ups, gradients are counts of weights, Hessians are
weighted tables of two columns at a time. All are sums over the rows that the map makes, none of which is made
(docs/theorems.md, T54). Columns of few pieces are taken together: a pair of columns is a column of pairs, and saves a
look-up, a count and many tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cache, cached_property
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray, IntArray
from objpert_core.learning.problem.fine import FineRows, score_error
from objpert_core.learning.problem.lanes import mapped, slices
from objpert_core.learning.problem.rows import Rows, safety_factor

_TOGETHER = 200  # pieces at most of columns that are taken together
_BLOCK = 2**12  # rows summed at once: errors grow with this and with the number of blocks


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

    at_once = 2**16
    _summed = _BLOCK

    def __init__(self, codes: IntArray, maps: Sequence[FloatArray], constant: float = 0.0) -> None:
        codes = np.asarray(codes)
        if codes.ndim != 2 or codes.shape[0] != len(maps) or codes.dtype.kind not in "iu":
            raise ValueError(
                f"codes must be integers, one line for each of {len(maps)} columns, got {codes.dtype} of {codes.shape}"
            )
        self.maps = tuple(_a_map(column, one) for column, one in enumerate(maps))
        for column, (line, one) in enumerate(zip(codes, self.maps, strict=True)):
            if line.size and not 0 <= line.min() <= line.max() < len(one):
                wrong = line[(line < 0) | (line >= len(one))][0]
                raise ValueError(f"codes of column {column} must be from 0 to {len(one) - 1}, got {wrong}")
        self.sparse, self.constant = False, constant
        self.codes, self.n_rows = codes, codes.shape[1]
        ends = np.cumsum([0, *(one.shape[1] for one in self.maps)])
        self.places = [slice(start, end) for start, end in pairwise(ends.tolist())]
        self.n_features = int(ends[-1])
        self.dimension = self.n_features + (constant > 0)
        self._groups = _groups([len(one) for one in self.maps])
        self._columns = _together(self.maps, self._groups)
        self._order = np.concatenate([np.arange(self.n_features)[self.places[k]] for one in self._groups for k in one])
        norms = np.sqrt(self._squared_norms())
        safety = safety_factor(self.n_features)
        self.factors = np.where(norms > safety, safety / np.maximum(norms, safety), 1.0)

    @cached_property
    def _layout(self) -> _Layout:
        """The rows as products and tables take them."""
        sizes = [len(one.map) for one in self._columns]
        codes = np.empty((len(sizes), self.n_rows), np.min_scalar_type(max(sizes, default=1) - 1))
        for line, (first, *others) in zip(codes, self._groups, strict=True):
            line[:] = self.codes[first]
            for column in others:
                line *= len(self.maps[column])
                line += self.codes[column].astype(line.dtype)
        pieces = np.empty((self.n_rows, len(sizes)), np.int32)
        starts = np.array([one.pieces.start for one in self._columns], np.int32)
        for some in slices(self.n_rows, _BLOCK):  # they stay in the cache
            np.add(codes[:, some].T, starts, out=pieces[some])
        return _Layout(pieces, codes)

    @cached_property
    def _blocks(self) -> list[_Block]:
        """The rows in blocks, several where threads may share them."""
        pieces, total = self._layout.pieces, self._columns[-1].pieces.stop
        columns = pieces.shape[1]
        found, ones = [], np.ones(min(self._summed, self.n_rows) * columns)
        ends = np.arange(0, len(ones) + 1, max(1, columns), dtype=np.int32)
        empty = cache(lambda count: (made := sp.csr_array((count, total)), made.T))  # takes longer to make than to copy
        for rows in slices(self.n_rows, self._summed):
            count, own = rows.stop - rows.start, pieces[rows].ravel()
            both: Any = [copy(one) for one in empty(count)]
            for one in both:  # made from arrays, they would look at all of them
                one.data, one.indices, one.indptr = ones[: len(own)], own, ends[: count + 1]
            found.append(_Block(rows, *both))
        return found

    def packed(self) -> CodedRows:
        """The same rows in little memory: whoever takes a copy of them, such as `beside`, lays it out for itself."""
        other = copy(self)
        for made in ("_layout", "_blocks"):
            vars(other).pop(made, None)
        return other

    @property
    def nbytes(self) -> int:
        """The memory of `packed` rows in bytes."""
        return self.codes.nbytes + self.factors.nbytes

    @property
    def matrix(self) -> Any:
        """The rows before their factors, made where a block of them is asked for."""
        return _MadeInBlocks(self)

    def made(self) -> Rows:
        """The same rows, as a matrix: for a few."""
        return Rows(self.matrix[:], "clip", self.constant)

    def _squared_norms(self) -> FloatArray:
        # column after column, in one order: no other row, and no place, decides how a row's squares are added up
        return self._looked_up(np.concatenate([np.einsum("ij,ij->i", one.map, one.map) for one in self._columns]))

    def _looked_up(self, values: FloatArray) -> FloatArray:
        """Σ over the columns of what `values` has for a row's pieces, shape (n,); of (pieces, k) shape (k, n)."""
        sums = np.empty((*values.shape[1:], self.n_rows))

        def look_up(block: _Block) -> None:
            sums[..., block.rows] = (block.switched @ values).T

        mapped(look_up, self._blocks)
        return sums

    def _counted(self, weights: FloatArray) -> FloatArray:
        """The sum of the weights of each piece's rows, shape (pieces,), or (pieces, k) for k lines of weights."""
        counts = mapped(lambda block: block.transposed @ weights[..., block.rows].T, self._blocks)
        return sum(counts, np.zeros((self._columns[-1].pieces.stop, *weights.shape[:-1])))

    def additions(self, n_rows: int) -> int:
        """See `Rows.additions`: in a block, of the blocks, and of a column's pieces."""
        return min(n_rows, self._summed + -(-n_rows // self._summed) + max(len(one.map) for one in self._columns))

    def part(self, where: slice) -> CodedRows:
        """See `Rows.part`."""
        return self if where.stop - where.start == self.n_rows else self._some(where, np.asarray)

    def every(self, stride: int) -> CodedRows:
        """See `Rows.every`."""
        return self if stride == 1 else self._some(slice(None, None, stride), np.ascontiguousarray)

    def _some(self, where: slice, taken: Callable[[Any], Any]) -> CodedRows:
        some = self.packed()
        some.codes, some.factors = self.codes[:, where], taken(self.factors[where])
        some.n_rows = len(some.factors)
        some._layout = _Layout(taken(self._layout.pieces[where]), taken(self._layout.codes[:, where]))
        return some

    def shorten(self, out: FloatArray) -> FloatArray:
        """See `Rows.shorten`."""
        for part in self._parts():
            out[part] = self.matrix[part]
        return self.factors

    def margins(self, theta: FloatArray) -> FloatArray:
        """See `Rows.margins`: a look-up for each column; a score depends on its row and θ alone."""
        weights = theta[..., self._order].T
        product = self._looked_up(np.concatenate([one.map @ weights[one.place] for one in self._columns]))
        product *= self.factors
        if self.constant:
            product += self.constant * theta[..., -1:]
        return product

    def combine(self, weights: FloatArray) -> FloatArray:
        """See `Rows.combine`: weights are counted by pieces, and the map goes over the counts."""
        result, counts = np.empty((*weights.shape[:-1], self.dimension)), self._counted(weights * self.factors)
        result[..., self._order] = np.hstack([counts[one.pieces].T @ one.map for one in self._columns])
        if self.constant:
            result[..., -1] = self.constant * sum(weights[..., block.rows].sum(axis=-1) for block in self._blocks)
        return result

    def gram(self, weights: FloatArray, stride: int = 1) -> FloatArray:
        """See `Rows.gram`: tables of two columns at a time, each between the maps of both."""
        rows, weights = self.every(stride), weights[::stride] * stride
        once = weights * rows.factors
        twice = once * rows.factors
        counts, columns, codes = rows._counted(twice), self._columns, rows._layout.codes.astype(np.intp)
        together = np.zeros((self.dimension, self.dimension))  # by the columns that are taken together
        for one in columns:
            together[one.place, one.place] = one.map.T @ (counts[one.pieces, None] * one.map)

        def between(pair: tuple[int, int]) -> None:
            one, other = (columns[k] for k in pair)
            cells = codes[pair[0]] * len(other.map)
            cells += codes[pair[1]]
            table = np.bincount(cells, weights=twice, minlength=len(one.map) * len(other.map))
            found = one.map.T @ table.reshape(len(one.map), -1) @ other.map
            together[one.place, other.place], together[other.place, one.place] = found, found.T

        mapped(between, [(k, other) for k in range(len(columns)) for other in range(k)])
        order = np.argsort(np.append(self._order, np.arange(self.n_features, self.dimension)))
        gram = together[np.ix_(order, order)].T  # which is symmetric, and whose columns lie together
        if self.constant:
            gram[:, -1] = self.constant * rows.combine(weights)
            gram[-1, -1] = self.constant**2 * weights.sum()
        return gram


class CarefulCodes(CodedRows):
    """The same rows, for a look at one θ with fewer roundings: sums in short blocks, and what pieces add with all the
    digits that a double has."""

    at_once = 2**15
    _summed = 2**8

    def __init__(self, rows: CodedRows) -> None:
        vars(self).update(vars(rows))
        vars(self).pop("_blocks", None)

    def scores(self, thetas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x̃ᵢᵀθ of every row at each of k points, shape (k, n), and what each is off by at most (T54, 4)."""
        values, off = np.empty((self._columns[-1].pieces.stop, len(thetas))), 0.0
        lengths = np.linalg.norm(thetas, axis=1)[:, None]
        for one in self._columns:
            rows = FineRows(Rows(one.map, "clip"))
            pairs = [rows.score_pairs(theta) for theta in thetas[:, self._order[one.place]]]
            values[one.pieces] = np.column_stack([high for high, _ in pairs]) / rows.factors[:, None]
            off = off + score_error(rows.dimension, 1.0, 1 + 2.0**-10) * lengths
        scores, sizes = (self._looked_up(some) * self.factors for some in (values, np.abs(values)))
        if self.constant:
            scores += self.constant * thetas[:, -1:]
            sizes += np.abs(self.constant * thetas[:, -1:])
        return scores, (len(self._columns) + 9) * 2.0**-53 * sizes + off


class _Column(NamedTuple):
    """A column, or several together: which pieces and which features are its own, and what a piece adds to a row."""

    pieces: slice
    place: slice
    map: FloatArray


class _Block(NamedTuple):
    """Some rows, with a 1 for each piece that a row switches on, shape (rows, pieces), and the same transposed."""

    rows: slice
    switched: Any
    transposed: Any


class _Layout(NamedTuple):
    """Rows by columns that are taken together: places of pieces, shape (n, columns), and codes, the other way round."""

    pieces: IntArray
    codes: IntArray


def _together(maps: Sequence[FloatArray], groups: Sequence[Sequence[int]]) -> list[_Column]:
    """Some columns as one, whose pieces are theirs in every combination."""
    found, piece, place = list[_Column](), 0, 0
    for first, *others in groups:
        one = maps[first]
        for own in (maps[column] for column in others):
            one = np.hstack([np.repeat(one, len(own), axis=0), np.tile(own, (len(one), 1))])
        found.append(_Column(slice(piece, piece + len(one)), slice(place, place + one.shape[1]), one))
        piece, place = piece + len(one), place + one.shape[1]
    return found


def _groups(sizes: Sequence[int]) -> list[list[int]]:
    """Which columns are taken together, by their numbers of pieces alone: the large first, the small where they fit."""
    groups: list[list[int]] = []
    for column in sorted(range(len(sizes)), key=lambda column: -sizes[column]):
        fit = (one for one in groups if prod(sizes[k] for k in one) * sizes[column] <= _TOGETHER)
        if (group := next(fit, None)) is None:
            groups.append([column])
        else:
            group.append(column)
    return groups


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
    if one.ndim != 2 or not len(one) or not np.isfinite(one).all():
        raise ValueError(f"maps must be tables of finite numbers, got shape {one.shape} for column {column}")
    return one
