"""Several maps of the same rows, each expressed by the rows as they were given, or by those that the first has made.

A map takes a row's direction u to a∘(u − μ), which is then brought to norm 1. With a and μ of one map (a₀, μ₀) and of
another one, and f₀ and f by what the row is then multiplied,

    f·a∘(u − μ) = (f/f₀)·ρ∘[f₀·a₀∘(u − μ₀)] − f·t,     ρ = a/a₀,     t = a∘(μ − μ₀).

So a product with the rows of any map is one with those of the first, in single precision, or with the directions
themselves, where a₀ = 1, μ₀ = 0 and f₀ = 1 and rounding has a bound (docs/theorems.md, T52). No map makes its rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from objpert_core._validation import FloatArray, IntArray
from objpert_core.learning.problem.objective import LossPart, PerturbedObjective
from objpert_core.learning.problem.rounding import UNIT, Look, gamma, largest_slope, looks
from objpert_core.learning.problem.rows import Rows, normalising

_BLOCK = 2048  # rows whose norms are found at once
_FAR_OUT = 2.0**10  # the stretch of a row that lies too near to the centre: its norm has too few digits
_VAST = 1e140  # in what a row's squares are multiplied by: below it none of them is lost by underflow
_UP = 1 + 2.0**-16  # rounds up numbers that are right to four digits


class Images:
    """Objectives that differ by the map that their rows went through, and by their linear term.

    `first` has the rows that the first map made, `given` the rows as given; `base` and `exact` are those objectives
    without their linear term, and `centers` and `scales`, shape (k, d), are μ and a of each map.
    """

    def __init__(
        self, first: PerturbedObjective, given: Rows, centers: FloatArray, scales: FloatArray, linears: FloatArray
    ) -> None:
        self.base = replace(first, linear=np.zeros(first.dimension))
        self.exact = replace(self.base, rows=given)
        self.linears, self.objectives = linears, [replace(self.exact, linear=one) for one in linears]
        shifts, factors = scales * centers, _factors(given, scales, scales * centers)
        known = factors[0] > 0
        ratios = np.where(known, factors / np.where(known, factors[0], 1.0), 0.0)
        moved = scales * (centers - centers[0])
        self._by_first = _Through(scales / scales[0], moved, ratios, factors, given.constant)
        self._by_directions = _Through(scales, shifts, factors, factors, given.constant)
        self._sizes = _sizes(given, scales, shifts, factors)

    def gradients(self, part: LossPart, thetas: FloatArray, which: IntArray) -> FloatArray:
        """The gradients of the losses of some objectives, each at its own point, by rows of `base`, shape (m, D)."""
        return self._by_first.gradients(part, thetas, which)

    def looks(self, thetas: FloatArray, which: IntArray, size: int) -> list[Look]:
        """As `rounding.looks`, at some objectives: each bound is about the rows that the objective's own map makes."""
        term = partial(self._gradients_and_limits, which)
        return looks([self.objectives[k] for k in which], thetas, size, term)

    def _gradients_and_limits(
        self, which: IntArray, thetas: FloatArray, own: float, radius: float, part: LossPart
    ) -> FloatArray:
        """The gradients, and these rows' share of what all rows can add to an error at most (docs/theorems.md, T52)."""
        given, through, lengths = self.exact.rows, self._by_directions, np.linalg.norm(thetas, axis=1)
        count, (pull, factors, stretches, turns) = given.n_rows, self._sizes[:, which]
        off, largest = largest_slope(part.loss, own)
        reach = np.linalg.norm(thetas[:, : given.n_features] * through.columns[which], axis=1) + pull * lengths
        scores = lengths * (turns + count * gamma(4) * radius) + gamma(given.n_features + 8) * factors * reach
        slopes = math.sqrt(2) * largest * stretches
        errors = radius * (count * off + part.loss.smoothness * scores + gamma(16) * slopes) + largest * turns
        share = _UP * part.rows.n_rows / count
        return np.column_stack([through.gradients(part, thetas, which), share * errors, share * slopes])

    def models(self, problem: PerturbedObjective, centre: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Where each objective's scores are nearest to the base's at `centre`, and the Hessian for such scores."""
        rows, through = problem.rows, self._by_first
        scores = rows.margins(centre)
        weights = problem.loss.derivatives(scores, problem.targets)[1]
        pulls, total = rows.combine(weights * scores), (weights * through.factors[0]) @ scores
        starts, hessians = np.empty((len(self.linears), rows.dimension)), self._hessians(rows, weights)
        for k, (columns, shift, hessian) in enumerate(zip(through.columns, through.shifts, hessians, strict=True)):
            pull = pulls.copy()
            pull[: len(shift)] = columns * pull[: len(shift)] - total * shift
            try:
                starts[k] = cho_solve(cho_factor(hessian, check_finite=False), pull, check_finite=False)
            except LinAlgError:  # differences of large numbers: the sum is not known well enough to be solved for
                starts[k] = 0.0
        return starts, hessians

    def hessians(self, problem: PerturbedObjective, thetas: FloatArray) -> list[FloatArray]:
        """As in `models`, with what each row bends the objectives at their own points, in the mean."""
        everything, rows = np.arange(len(thetas)), slice(0, problem.n_rows)
        scores = self._by_first.scores(problem.rows, thetas, everything, rows)
        bends = [problem.loss.derivatives(own, problem.targets)[1] for own in scores]
        return self._hessians(problem.rows, np.mean(bends, axis=0))

    def _hessians(self, rows: Rows, weights: FloatArray) -> list[FloatArray]:
        """Of each map Σwᵢzᵢzᵢᵀ + λI, with z what the map makes of a row of the base, as long as this row."""
        through, gram = self._by_first, rows.gram(weights)
        own, features = through.factors[0], through.columns.shape[1]
        sizes, found = weights * own, []
        along, lengths, total = rows.combine(sizes)[:features], sizes @ own, sizes.sum()
        for columns, shift in zip(through.columns, through.shifts, strict=True):
            hessian, moved = gram.copy(), columns * along
            block = hessian[:features, :features]
            block *= np.outer(columns, columns)
            block -= np.outer(moved, shift) + np.outer(shift, moved - lengths * shift)
            if through.constant:
                hessian[:features, -1] = columns * hessian[:features, -1] - through.constant * total * shift
            np.einsum("ii->i", hessian)[:] += self.base.lam
            found.append(hessian)
        return found


class _Through:
    """Maps, expressed by some rows: ρ and t of each, shape (k, d), and f/f₀ and f of every row, shape (k, n)."""

    def __init__(
        self, columns: FloatArray, shifts: FloatArray, ratios: FloatArray, factors: FloatArray, constant: float
    ) -> None:
        self.columns, self.shifts, self.constant = columns, shifts, constant
        self.ratios, self.factors = ratios, factors
        self._single: tuple[FloatArray, FloatArray] | None = None

    def gradients(self, part: LossPart, thetas: FloatArray, which: IntArray) -> FloatArray:
        columns, shifts, features = self.columns[which], self.shifts[which], self.columns.shape[1]
        slopes = part.loss.slopes(self.scores(part.rows, thetas, which, part.where), part.targets)
        factors, ratios = self._of_rows(slopes.dtype, which, part.where)
        found = part.combine(slopes * ratios)
        found[:, :features] *= columns
        found[:, :features] -= np.einsum("ij,ij->i", slopes, factors)[:, None] * shifts
        if self.constant:
            found[:, -1] = self.constant * slopes.sum(axis=1)
        return found

    def scores(self, rows: Rows, thetas: FloatArray, which: IntArray, where: slice) -> FloatArray:
        """The scores of some rows, at each point by its own map, shape (m, rows)."""
        own = thetas[:, : self.columns.shape[1]]
        inner = np.zeros_like(thetas)
        np.multiply(own, self.columns[which], out=inner[:, : own.shape[1]])
        scores = rows.margins(inner)
        factors, ratios = self._of_rows(scores.dtype, which, where)
        scores *= ratios
        scores -= np.einsum("ij,ij->i", self.shifts[which], own).astype(scores.dtype)[:, None] * factors
        if self.constant:
            scores += (self.constant * thetas[:, -1:]).astype(scores.dtype)
        return scores

    def _of_rows(self, dtype: object, which: IntArray, where: slice) -> tuple[FloatArray, FloatArray]:
        """f and f/f₀ of some rows, in that precision."""
        factors, ratios = self.factors, self.ratios
        if dtype != factors.dtype:
            if self._single is None:
                self._single = factors.astype(np.float32), ratios.astype(np.float32)
            factors, ratios = self._single
        return factors[which, where], ratios[which, where]


def _factors(given: Rows, scales: FloatArray, shifts: FloatArray) -> FloatArray:
    """By what each map's rows are multiplied to have norm 1, shape (k, n): ‖a∘u − t‖² by products of matrices."""
    squares, crosses = (scales**2).T, (scales * shifts).T
    lengths = np.einsum("ij,ij->i", shifts, shifts)
    found = np.empty((given.n_rows, len(scales)))
    for start in range(0, given.n_rows, _BLOCK):
        part = given.part(slice(start, min(start + _BLOCK, given.n_rows)))
        block, own = part.matrix.astype(np.float64), part.factors[:, None]
        squared = block * block  # entry by entry, of a sparse array, too
        found[start : start + _BLOCK] = own * (own * (squared @ squares) - 2 * (block @ crosses)) + lengths
    return normalising(np.maximum(found.T, 0.0), given.n_features)


def _sizes(given: Rows, scales: FloatArray, shifts: FloatArray, factors: FloatArray) -> FloatArray:
    """Of each map A = ‖a∘μ‖, Σf, ΣP and Σξ, shape (4, k): a row's stretch P = 1 + 2Af is ‖a∘u‖ + A at most, in units of
    ‖a∘(u − μ)‖, and ξ bounds how far f·a∘(u − μ) is from the row that the map makes (docs/theorems.md, T52).
    """
    pull = _UP * np.linalg.norm(shifts, axis=1)[:, None]
    stretches = _UP * (1 + 2 * pull * factors)
    missing = (factors <= 0) & ((pull > 0) | (given.factors > 0))
    vanishing = factors * np.maximum(given.factors, 1.0) * np.maximum(scales.max(axis=1), 1.0)[:, None] > _VAST
    stretches[missing | vanishing | (stretches > _FAR_OUT)] = math.inf
    turns = gamma(given.n_features + 8) * (0.51 * stretches**2 + 0.5) + 12 * UNIT * stretches
    return np.array([pull[:, 0], *(numbers.sum(axis=1) for numbers in (factors, stretches, turns))])
