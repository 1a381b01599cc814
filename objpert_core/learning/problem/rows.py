"""The design matrix with its row norms enforced, without a second copy of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from objpert_core._validation import FloatArray, choice
from objpert_core.learning.problem.lanes import LANES, mapped, shares

ROW_NORMS = ("normalize", "clip")

# Squares of numbers within these bounds neither overflow nor vanish.
_LARGEST_NORM = 1e150
_SMALLEST_NORM = 1e-150
_ORDINARY = 1e15
_USABLE = _LARGEST_NORM**2 * (1 - 2.0**-20)  # a squared norm below this is below the largest however it is summed

_BY_ITSELF: ContextVar[bool] = ContextVar("each row by itself", default=False)

_BLOCK_BYTES = 2**21  # rows are worked on in blocks that fit the processor's second-level cache


@contextmanager
def each_row_by_itself() -> Iterator[None]:
    """In this context a row's score depends on that row and θ alone, to the last digit, as counts of scores need."""
    before = _BY_ITSELF.set(True)
    try:
        yield
    finally:
        _BY_ITSELF.reset(before)


def is_each_by_itself() -> bool:
    """Whether this is such a context."""
    return _BY_ITSELF.get()


def row_radius(constant: float) -> float:
    """R = √(1 + s²): the largest norm of a row of norm ≤ 1 with the constant s appended."""
    return math.sqrt(1.0 + constant**2)


def safety_factor(n_features: int) -> float:
    """What a row is shortened by besides its computed norm, which is off by less than d + 4 roundings."""
    return float(1.0 - (n_features + 8) * np.finfo(np.float64).eps)


def normalising(squared: FloatArray, n_features: int) -> FloatArray:
    """By what rows of these squared norms are multiplied to have norm 1, or a little less; 0 below 1e-150."""
    norms = np.sqrt(squared)
    return np.where(norms >= _SMALLEST_NORM, safety_factor(n_features) / np.maximum(norms, _SMALLEST_NORM), 0.0)


def ordinary(factors: FloatArray) -> bool:
    """Whether rows that are multiplied by these have norms far from where single precision ends."""
    found = factors[factors > 0]
    return bool(1 / _ORDINARY <= found.min(initial=1.0) <= found.max(initial=1.0) <= _ORDINARY)


class UnusableEntryError(ValueError):
    """An entry of X that no fit can use; `row` and `column` count from 0."""

    def __init__(self, found: str, row: int, column: int, name: str | None = None) -> None:
        self.found, self.row, self.column = found, row, column
        super().__init__(
            f"X must hold finite numbers (no NaN, no inf, row norms below {_LARGEST_NORM:g}), got {found} in row "
            f"{row}, column {column if name is None else repr(name)}: fill it by a public rule, or leave such rows out "
            "(on_error='release' does)"
        )

    def __reduce__(self) -> tuple[type, tuple[str, int, int]]:
        return type(self), (self.found, self.row, self.column)


class Rows:
    """Rows x̃ = (x · c, s): each row of `X` times the factor c that enforces its norm, then the constant s.

    "normalize" gives every row norm 1, but a row whose norm is below 1e-150 counts as zero and stays zero; "clip"
    shrinks rows longer than 1 alone. Factors are rounded down, so ‖x · c‖ ≤ 1 holds in spite of rounding.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix or array, shape (n, d)
        float64 or float32, best as CSR where sparse; never written to. Products are computed in float64. ValueError for
        NaN, infinity or a row of norm above 1e150.
    row_norm : {"normalize", "clip"}
    constant : float
        The constant s; 0 appends nothing.

    Examples
    --------
    >>> rows = Rows(np.array([[3.0, 4.0], [0.0, 0.0]]), "normalize", 0.5)
    >>> rows.margins(np.array([1.0, 1.0, 2.0])).round(12).tolist()
    [2.4, 1.0]
    """

    in_doubles = True
    """Whether products have a double's digits, and no others."""
    at_once = 1
    """How many rows a sum over blocks takes at once, at least."""

    def __init__(self, X: Any, row_norm: str, constant: float = 0.0) -> None:
        choice("row_norm", row_norm, ROW_NORMS)
        self.sparse = bool(sp.issparse(X))
        self.matrix: Any = _canonical(X) if self.sparse else X
        self.constant = constant
        self.n_rows, self.n_features = X.shape
        self.dimension = self.n_features + (constant > 0)
        self.factors = self._norm_factors(row_norm)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of features."""
        return self.n_rows, self.n_features

    def beside(self, constant: float) -> Self:
        """The same rows with another constant."""
        other = copy(self)
        other.constant, other.dimension = constant, self.n_features + (constant > 0)
        return other

    def _norm_factors(self, row_norm: str) -> FloatArray:
        squared = self._squared_norms()
        # One comparison finds NaN, infinity and squares that overflowed: none of them is below the limit.
        if not (bad := squared < _LARGEST_NORM**2).all():
            row = int(np.argmin(bad))
            found = "NaN" if np.isnan(squared[row]) else "infinity or a number too large to square"
            raise UnusableEntryError(found, row, self._worst_column(row))
        if row_norm == "clip":
            norms, safety = np.sqrt(squared), safety_factor(self.n_features)
            return np.where(norms > safety, safety / np.maximum(norms, safety), 1.0)
        return normalising(squared, self.n_features)

    def _worst_column(self, row: int) -> int:
        """The column of a row's first NaN, or of its largest entry."""
        if not self.sparse:
            return int(np.argmax(np.abs(np.asarray(self.matrix[row], dtype=np.float64))))  # the first NaN, if any
        start, end = self.matrix.indptr[row : row + 2]
        return int(self.matrix.indices[start + np.argmax(np.abs(self.matrix.data[start:end]))])

    def norms(self) -> FloatArray:
        """‖x̃ᵢ‖ of every row after enforcement, constant included, shape (n,); never below the exact norm."""
        slack = 1.0 + (self.n_features + 8) * np.finfo(np.float64).eps
        return np.sqrt(self._squared_norms() * self.factors**2 + self.constant**2) * slack

    def slopes_of_norm(self, norm: float) -> FloatArray:
        """The slope f' at which each row's gradient has the given norm, shape (n,); of a zero row some large number."""
        return norm / self.norms().clip(_SMALLEST_NORM)

    def part(self, where: slice) -> Rows:
        """Return consecutive rows as `Rows` that share these rows' memory and their factors; `where` has step 1."""
        part = object.__new__(type(self))
        part.sparse, part.constant = self.sparse, self.constant
        part.n_features, part.dimension = self.n_features, self.dimension
        part.n_rows = where.stop - where.start
        part.factors = self.factors[where]
        if self.sparse:
            csr = self.matrix
            starts = csr.indptr[where.start : where.stop + 1]
            stored = slice(starts[0], starts[-1])
            part.matrix = sp.csr_array((part.n_rows, self.n_features))  # made from arrays, it would copy short ones
            part.matrix.data, part.matrix.indices = csr.data[stored], csr.indices[stored]
            part.matrix.indptr = starts - starts[0]
        else:
            part.matrix = self.matrix[where]
        return part

    def shorten(self, out: FloatArray) -> FloatArray:
        """Write all rows, without the constant, in single precision; return by what each is to be multiplied."""
        if ordinary(self.factors):
            mapped(lambda part: np.copyto(out[part], self.matrix[part], casting="same_kind"), list(self._parts()))
            return self.factors
        np.multiply(self.matrix, self.factors[:, None], out=out, casting="same_kind")
        return np.ones(self.n_rows)

    def every(self, stride: int) -> Rows:
        """Copy every `stride`-th row; of `stride` 1 nothing is copied."""
        if stride == 1:
            return self
        some = copy(self)
        some.matrix, some.factors = self.matrix[::stride], self.factors[::stride]
        if not self.sparse:
            some.matrix = np.ascontiguousarray(some.matrix)
        some.n_rows = len(some.factors)
        return some

    def additions(self, n_rows: int) -> int:
        """How many additions the term of a row goes through at most where `combine` has so many rows."""
        return n_rows

    def squared_norm(self) -> float:
        """An upper bound on ‖X̃‖², for few rows: (tr (X̃X̃ᵀ)⁸)^{1/8}, too large by the eighth root of the rank at most."""
        if self.sparse:
            gram = (self.matrix @ self.matrix.T).toarray()
        else:
            block = self._block(slice(None))
            gram = block @ block.T
        gram *= self.factors[:, None] * self.factors
        gram += self.constant**2
        trace = float(np.trace(gram))
        if trace == 0:
            return 0.0
        gram /= trace  # so that powers neither overflow nor vanish
        square = gram @ gram
        fourth = square @ square
        return trace * float(np.einsum("ij,ij->", fourth, fourth)) ** 0.125

    def _squared_norms(self) -> FloatArray:
        own = self.sparse or (self.matrix.dtype == np.float64 and self.matrix.flags.c_contiguous)
        if own and (self.sparse or self.matrix.flags.aligned):
            if self.sparse or self.n_rows < LANES**2:  # no share has a single row
                return squares(self.matrix)
            return np.concatenate(mapped(lambda share: squares(self.matrix[share]), shares(self.n_rows)))
        with np.errstate(over="ignore", invalid="ignore"):  # found by the caller
            # in memory row by row: numpy sums in another order where columns lie together, and other rows may decide
            # whether they do
            blocks = (np.array(self.matrix[part], dtype=np.float64, order="C") for part in self._parts())
            return np.concatenate([np.empty(0), *(squares(block) for block in blocks)])

    def _parts(self, stride: int = 1) -> Iterator[slice]:
        size = max(64, _BLOCK_BYTES // (8 * self.dimension)) * stride
        for start in range(0, self.n_rows, size):
            yield slice(start, min(start + size, self.n_rows), stride)

    def _block(self, part: slice) -> FloatArray:
        return self.matrix[part].astype(np.float64)

    def margins(self, theta: FloatArray) -> FloatArray:
        """x̃ᵢᵀθ for every row; `theta` has shape (D,), the result (n,). From (k, D) to (k, n), k points in one pass."""
        weights = theta[..., : self.n_features]
        if _BY_ITSELF.get():
            product = self._products_by_row(weights)
        elif self.sparse:
            product = (self.matrix @ weights.T).T
        elif self.matrix.dtype == np.float64:
            product = weights @ self.matrix.T
        else:
            product = np.concatenate([weights @ self._block(part).T for part in self._parts()], axis=-1)
        product *= self.factors
        if self.constant:
            product += self.constant * theta[..., -1:]
        return product

    def _products_by_row(self, weights: FloatArray) -> FloatArray:
        """Of every row with `weights`, summed in an order that looks at this row alone: not by BLAS."""
        several = [np.ascontiguousarray(one) for one in np.atleast_2d(weights)]
        product = np.empty((len(several), self.n_rows))
        if self.sparse:
            for one, out in zip(several, product, strict=True):
                out[:] = self.matrix @ one
            return product.reshape(*weights.shape[:-1], self.n_rows)
        for part in self._parts():
            block = np.array(self.matrix[part], dtype=np.float64, order="C")
            size = len(block)
            if size == 1:  # numpy sums the entries of a row that is alone in another order
                block = np.repeat(block, 2, axis=0)
            for one, out in zip(several, product, strict=True):
                out[part] = np.einsum("ij,j->i", block, one)[:size]
        return product.reshape(*weights.shape[:-1], self.n_rows)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Σᵢ wᵢ x̃ᵢ; `weights` has shape (n,), the result (D,). From (k, n) to (k, D), k sums in one pass."""
        scaled = weights * self.factors
        result = np.empty((*weights.shape[:-1], self.dimension))
        features = result[..., : self.n_features]
        if self.sparse:
            features[:] = (self.matrix.T @ scaled.T).T
        elif self.matrix.dtype == np.float64:
            features[:] = np.dot(scaled, self.matrix)
        else:
            features[:] = sum(scaled[..., part] @ self._block(part) for part in self._parts())
        if self.constant:
            result[..., -1] = self.constant * weights.sum(axis=-1)
        return result

    def gram(self, weights: FloatArray, stride: int = 1) -> FloatArray:
        """Upper triangle of Σᵢ wᵢ x̃ᵢx̃ᵢᵀ, (D, D), wᵢ ≥ 0; with ``stride > 1`` an estimate from every `stride`-th row."""
        roots = np.sqrt(weights * stride)
        if self.sparse:
            return self._sparse_gram(roots, stride)
        gram = np.zeros((self.dimension, self.dimension), order="F")
        buffer: FloatArray | None = None
        for part in self._parts(stride):
            root = roots[part]
            if buffer is None:
                buffer = np.empty((len(root), self.dimension))
            block = buffer[: len(root)]
            np.multiply(self.matrix[part], (root * self.factors[part])[:, None], out=block[:, : self.n_features])
            if self.constant:
                np.multiply(self.constant, root, out=block[:, -1])
            gram = dsyrk(1.0, block.T, beta=1.0, c=gram, overwrite_c=True)
        return gram

    def _sparse_gram(self, roots: FloatArray, stride: int) -> FloatArray:
        part, scaled = self.matrix, roots * self.factors
        if stride > 1:
            part, roots, scaled = part[::stride], roots[::stride], scaled[::stride]
        data = part.data * np.repeat(scaled, np.diff(part.indptr))
        weighted = sp.csr_array((data, part.indices, part.indptr), shape=part.shape)
        gram = np.zeros((self.dimension, self.dimension), order="F")
        product: Any = weighted.T @ weighted
        gram[: self.n_features, : self.n_features] = product.toarray()
        if self.constant:
            gram[: self.n_features, -1] = self.constant * (weighted.T @ roots)
            gram[-1, -1] = self.constant**2 * (roots @ roots)
        return gram


class TableRows(Rows):
    """Rows of a table before a step makes other rows of them: any doubles, NaN for missing values; each can be used."""

    def __init__(self, values: FloatArray) -> None:
        self.sparse, self.constant, self.matrix = False, 0.0, values
        self.n_rows, self.n_features = values.shape
        self.dimension, self.factors = self.n_features, np.ones(self.n_rows)

    def __getitem__(self, some: Any) -> TableRows:
        return TableRows(self.matrix[some])

    def copy(self) -> TableRows:
        """Rows in memory of their own."""
        return TableRows(self.matrix.copy())

    def margins(self, theta: FloatArray) -> FloatArray:
        """Refuse: nothing bounds the norm of such a row."""
        raise ValueError("X must hold rows of norm at most 1, got those of a table, of which no step has made pieces")


def rows_of(X: Any, row_norm: str, constant: float) -> Rows:
    """Rows with the constant, their norms enforced; what are `Rows` already has its own rule for norms."""
    return X.beside(constant) if isinstance(X, Rows) else Rows(X, row_norm, constant)


def usable_rows(X: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Find the rows that `Rows` takes, each by itself: near the limit the order of sums, so other rows, would
    decide."""
    sparse = bool(sp.issparse(X))
    if sparse:
        X = _canonical(X)
    found = squares(X)
    usable = found < _USABLE  # neither NaN nor infinity is
    with np.errstate(invalid="ignore"):
        unsure = np.abs(found - _USABLE) < 2.0**-22 * _USABLE
    for row in np.flatnonzero(unsure):
        entries = X[[row]].data if sparse else X[row]
        usable[row] = math.fsum(entries**2) < _USABLE
    return X, usable


def squares(matrix: Any) -> FloatArray:
    """The squared norm of every row; NaN and infinity are for the caller to find."""
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(matrix, np.ndarray):
            # numpy sums the entries of a row that is alone in another order
            several = np.repeat(matrix, 2, axis=0) if len(matrix) == 1 else matrix
            return np.einsum("ij,ij->i", several, several)[: len(matrix)]
        entries: Any = sp.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
        return np.asarray(entries @ np.ones(matrix.shape[1]))


def _canonical(X: Any) -> sp.csr_array:
    """`X` as CSR float64 without repeated entries, sharing memory where it can. Entries stored twice are added by
    products but not by a sum of squares: taken as they are, such a row would be longer than its computed norm.
    """
    csr = by_rows(X)
    csr = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape, dtype=np.float64)
    if not csr.has_canonical_format:
        order = np.lexsort((csr.indices, np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))))
        csr = sp.csr_array((csr.data[order], csr.indices[order], csr.indptr.copy()), shape=csr.shape)
        csr.sum_duplicates()  # in the order stored, whatever other rows are like: scipy's own sorting may change it
    return csr


def by_rows(X: Any) -> Any:
    """Make CSR of a sparse matrix; what the matrix stores twice stays there twice, in the same order. scipy adds such
    entries up in an order that can depend on the other rows, and so can the last digits of the sum.
    """
    if X.ndim != 2 or X.format in ("csr", "csc"):
        return X.tocsr()
    coo = X.tocoo(copy=False)
    order = np.argsort(coo.row, kind="stable")
    ends = np.cumsum(np.bincount(coo.row, minlength=coo.shape[0]))
    return sp.csr_array((coo.data[order], coo.col[order], np.concatenate([[0], ends])), shape=coo.shape)
