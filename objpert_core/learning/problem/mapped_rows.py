"""Several maps of the same rows, each expressed by the rows that the first has made of them.

A map takes a row's direction u to a∘(u − μ), which is then brought to norm 1. With a and μ of the first map (a₀, μ₀)
and of another one, and f₀ and f by what the row is then multiplied,

    f·a∘(u − μ) = (f/f₀)·ρ∘[f₀·a₀∘(u − μ₀)] − f·t,     ρ = a/a₀,     t = a∘(μ − μ₀).

So a product with the rows of any map is a product with those of the first, and some work for every row and every
column. The result is rounded, which is good enough for a search, and this module promises no more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from objpert_core._validation import FloatArray, IntArray
from objpert_core.learning.problem.objective import LossPart, PerturbedObjective
from objpert_core.learning.problem.rows import Rows, normalising

_BLOCK = 2048  # rows whose norms are found at once
_SAMPLE_ROWS = 100  # sampled rows per parameter


class Images:
    """Objectives that differ by the map that their rows went through, and by their linear term.

    `first` has the rows a₀∘(u − μ₀), normalised. `centers` and `scales`, shape (k, d), are μ and a of each map, the
    first one's first, with zeros for μ where nothing was centred. `base` is the first without its linear term.
    """

    objectives = ()

    def __init__(self, first: PerturbedObjective, centers: FloatArray, scales: FloatArray, linears: FloatArray) -> None:
        rows = first.rows
        self.base = PerturbedObjective(rows, first.targets, first.lam, np.zeros(first.dimension), first.loss)
        self.linears = linears
        self._columns, self._constant = scales / scales[0], rows.constant
        self._shifts = scales * (centers - centers[0])
        self._factors = _factors(rows, self._columns, self._shifts)
        own = rows.factors > 0
        self._ratios = np.where(own, self._factors / np.where(own, rows.factors, 1.0), 0.0)
        self._single: tuple[FloatArray, FloatArray] | None = None

    def gradients(self, part: LossPart, thetas: FloatArray, which: IntArray) -> FloatArray:
        """The gradients of the losses of some objectives, each at its own point, shape (m, D)."""
        columns, shifts, features = self._columns[which], self._shifts[which], self._columns.shape[1]
        own = thetas[:, :features]
        inner = np.zeros_like(thetas)
        np.multiply(own, columns, out=inner[:, :features])
        scores = part.rows.margins(inner)
        factors, ratios = self._of_rows(scores.dtype, which, part.where)
        scores *= ratios
        scores -= np.einsum("ij,ij->i", shifts, own).astype(scores.dtype)[:, None] * factors
        if self._constant:
            scores += (self._constant * thetas[:, -1:]).astype(scores.dtype)
        slopes = part.loss.slopes(scores, part.targets)
        found = part.combine(slopes * ratios)
        found[:, :features] *= columns
        found[:, :features] -= np.einsum("ij,ij->i", slopes, factors)[:, None] * shifts
        if self._constant:
            found[:, -1] = self._constant * slopes.sum(axis=1)
        return found

    def models(self, problem: PerturbedObjective, centre: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Where the scores of each objective are nearest to those of the base at `centre`, and the Hessian for such
        scores.
        """
        rows, features = problem.rows, self._columns.shape[1]
        stride = max(1, rows.n_rows // (_SAMPLE_ROWS * rows.dimension))
        scores = np.zeros(rows.n_rows)
        sampled = slice(None, None, stride)
        scores[sampled] = rows.margins(centre)[sampled]
        weights = np.zeros(rows.n_rows)
        weights[sampled] = stride * problem.loss.derivatives(scores, problem.targets)[1][sampled]
        starts, hessians = np.empty((len(self.linears), rows.dimension)), []
        everything = zip(self._columns, self._shifts, self._factors, self._ratios, strict=True)
        for k, (columns, shift, factors, ratios) in enumerate(everything):
            by_ratio, by_factor = weights * ratios, weights * factors
            sums = rows.combine(np.array([by_ratio * factors, by_ratio, by_ratio * scores]))[:, :features] * columns
            hessian = rows.gram(by_ratio * ratios / stride, stride)
            own = hessian[:features, :features]
            own *= np.outer(columns, columns)
            own -= np.outer(sums[0], shift) + np.outer(shift, sums[0] - (by_factor @ factors) * shift)
            pull = np.empty(rows.dimension)
            pull[:features] = sums[2] - (by_factor @ scores) * shift
            if self._constant:
                hessian[:features, -1] = self._constant * (sums[1] - by_factor.sum() * shift)
                hessian[-1, -1] = self._constant**2 * weights.sum()
                pull[-1] = self._constant * (weights @ scores)
            np.einsum("ii->i", hessian)[:] += problem.lam
            try:
                starts[k] = cho_solve(cho_factor(hessian, check_finite=False), pull, check_finite=False)
            except LinAlgError:  # differences of large numbers: the sum is not known well enough to be solved for
                starts[k] = 0.0
            hessians.append(hessian)
        return starts, hessians

    def _of_rows(self, dtype: Any, which: IntArray, where: slice) -> tuple[FloatArray, FloatArray]:
        """f and f/f₀ of some rows, in that precision."""
        factors, ratios = self._factors, self._ratios
        if dtype != factors.dtype:
            if self._single is None:
                self._single = factors.astype(dtype), ratios.astype(dtype)
            factors, ratios = self._single
        return factors[which, where], ratios[which, where]


def _factors(rows: Rows, columns: FloatArray, shifts: FloatArray) -> FloatArray:
    """By what each map's rows are multiplied to have norm 1, shape (k, n): ‖ρ∘w − t‖² by products of matrices."""
    squares, crosses = (columns**2).T, (columns * shifts).T
    lengths = np.einsum("ij,ij->i", shifts, shifts)
    found = np.empty((rows.n_rows, len(columns)))
    for start in range(0, rows.n_rows, _BLOCK):
        block = rows.matrix[start : start + _BLOCK]
        squared = block * block  # entry by entry, of a sparse array, too
        found[start : start + _BLOCK] = squared @ squares - 2 * (block @ crosses) + lengths
    return normalising(np.maximum(found.T, 0.0), rows.n_features)
