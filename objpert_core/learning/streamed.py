"""Private fits of rows that are walked a block at a time; everything private about a fit is a sum over rows.

The first walk finds whether every row can be used, and sums the directions. Noise is drawn after it, by the process
that called `fit`, once for each sum. Centre, scales and curvature are sums of whole numbers, the same whatever the
blocks; θ is certified by a gradient that is summed block by block (docs/theorems.md, T51).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray, IntArray, nonnegative
from objpert_core.accounting import Standardisation
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.steps.standardisation import AS_THEY_ARE
from objpert_core.accounting.terms import Terms
from objpert_core.blocks import Blocks, Made, OnWorkers
from objpert_core.learning.draws import Draws
from objpert_core.learning.fit import Fit, Noise, Problem, Seed
from objpert_core.learning.minimum import Found, Search
from objpert_core.learning.noise import noise_source
from objpert_core.learning.problem.derived import LEAST_WEIGHT, WeightedLoss, members_of, weights_by_class
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import UNIT, fine_norm_bound, gradient_norm_bounds
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.problem.streamed import StreamedObjective, losses_on
from objpert_core.learning.ranges import Ranges
from objpert_core.learning.screening import judged
from objpert_core.learning.solvers import SolverResult
from objpert_core.learning.solvers.batched_newton import solve_streamed
from objpert_core.learning.standardisation import SPACING, Directions, RowMap

_SAMPLE = 2**23  # numbers of rows that are kept in memory, about: 64 MB
_COPRIME = 104_729  # a prime
_SURELY_FINE = 4 * 10**6  # rows, from which on the quick bound on rounding is not worth a walk
_COPIES = 4  # of the rows, for which a cluster has to have room: as given, as changed (for two draws), under work

_Rule = Callable[[Any], Any]
"""What a released rule makes of some rows, each by itself."""


@dataclass(frozen=True, eq=False)
class Beside:
    """What stands beside a block's rows: targets, how many rows it was given with, and weights unless all are 1."""

    targets: FloatArray
    rows_given: int
    weights: FloatArray | None = None

    def usable(self, X: Any, *, releases: bool) -> tuple[Any, Beside]:
        """The rows that count, and what stands beside them; see `Problem` and, for a fit that `releases`, `usable`."""
        keep = np.ones(self.rows_given, dtype=bool) if self.weights is None else self.weights >= LEAST_WEIGHT
        if releases:
            X, good = judged(X, self.targets)
            keep &= good
        return (X, self) if keep.all() else (X[keep], self.part(keep))

    def part(self, some: Any) -> Beside:
        """What stands beside some of the rows."""
        weights = None if self.weights is None else self.weights[some]
        return Beside(self.targets[..., some], self.rows_given, weights)

    @classmethod
    def joined(cls, parts: Sequence[Beside]) -> Beside:
        """What stands beside the rows of several blocks, one after the other."""
        targets = np.concatenate([one.targets for one in parts], axis=-1)
        weights = [np.ones(one.targets.shape[-1]) if one.weights is None else one.weights for one in parts]
        weighs = any(one.weights is not None for one in parts)
        given = sum(one.rows_given for one in parts)
        return cls(targets, given, np.concatenate(weights) if weighs else None)


class Walked:
    """Blocks of usable rows that were walked once: their numbers, the sum of their directions, and a sample of them."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks, self.sparse, self.weighs = blocks, False, False
        self._rule: _Rule = _as_they_are
        self.directions: Any = 0  # whole numbers of any size, in units of SPACING; None where they are not known
        self.rows_used = self._rows = self._columns = 0
        self.sample = _joined(self._sampled_there() if isinstance(blocks, OnWorkers) else self._sampled_here())
        self.shape = self._rows, self._columns

    def _sampled_here(self) -> list[tuple[Any, Beside]]:
        kept, stride = list[tuple[Any, Beside]](), 1
        for X, beside in self._blocks.each(_itself):
            some = slice(-self.rows_used % stride, None, stride)
            if X.shape[1]:
                kept.append((X[some].copy(), beside.part(some)))  # a view would keep the whole block
            self._count(_Shape.of(0, X, beside))
            while self.rows_used // stride * self._columns > 2 * _SAMPLE:
                kept, stride = [_some(2, 0, *_joined(kept))], 2 * stride
        return self._not_none(kept)

    def _sampled_there(self) -> list[tuple[Any, Beside]]:
        for shape in self._blocks.each(_Shape.of):
            self._count(shape)
        stride = max(1, self.rows_used * self._columns // _SAMPLE)
        return self._not_none([some for some in self._blocks.each(partial(_some, stride)) if some[0].shape[1]])

    def _count(self, shape: _Shape) -> None:
        if shape.columns:
            self.sparse, self.weighs = self.sparse | shape.sparse, self.weighs | shape.weighs
            if self._columns not in (0, shape.columns):
                raise ValueError(f"blocks must have the same columns, got {self._columns} and then {shape.columns}")
            self._rows, self._columns = self._rows + shape.rows_given, shape.columns
            self.rows_used += shape.rows
            self.directions = self.directions + shape.directions

    def _not_none(self, kept: list[tuple[Any, Beside]]) -> list[tuple[Any, Beside]]:
        if not kept:
            raise ValueError("blocks must hold at least one row, got none")
        return kept

    def changed(self, rule: _Rule) -> Walked:
        """The same rows, each changed by a rule of its own: in every walk, or once where there is room for them."""
        other = copy(self)
        X, beside = self.sample
        other.sample, other.directions = (rule(X), beside), None
        numbers = self.rows_used * self._columns
        if isinstance(self._blocks, OnWorkers) and not self.sparse and self._blocks.has_room(_COPIES * 8 * numbers):
            other._blocks = self._blocks.through(partial(_changed, rule))
        else:
            other._rule = partial(_one_after_the_other, self._rule, rule)
        return other

    def each(self, work: Callable[[Any, Beside], Made]) -> Iterator[Made]:
        """What `work` makes of each block with a row and what stands beside it, there; of none if none is usable."""
        rows = 0
        for given, made in self._blocks.each(partial(_unless_empty, self._rule, work)):
            rows += given
            yield from made
        if not self.rows_used:
            yield work(*self.sample)
        if rows != self._rows:
            raise ValueError(f"blocks must have the same rows in every walk, got {self._rows} and then {rows}")


@dataclass(frozen=True)
class _Shape:
    """What a walk needs to know of a block."""

    rows: int
    rows_given: int
    columns: int
    sparse: bool
    weighs: bool
    directions: Any

    @classmethod
    def of(cls, _place: int, X: Any, beside: Beside) -> _Shape:
        sparse = bool(sp.issparse(X))
        directions = 0 if sparse else _directions_of_block("normalize", SPACING, X, beside).astype(object)
        return cls(X.shape[0], beside.rows_given, X.shape[1], sparse, beside.weights is not None, directions)


def _itself(_place: int, X: Any, beside: Beside) -> tuple[Any, Beside]:
    return X, beside


def _some(stride: int, place: int, X: Any, beside: Beside) -> tuple[Any, Beside]:
    """Every `stride`-th row of a block; blocks begin at different rows."""
    some = slice(place * _COPRIME % stride, None, stride)
    return X[some], beside.part(some)


def _unless_empty(rule: _Rule, work: Callable[[Any, Beside], Made], _place: int, X: Any, beside: Beside) -> Any:
    """How many rows were given, and what `work` makes of those that can be used, if there are any."""
    return beside.rows_given, [work(rule(X), beside)] if X.shape[0] else []


def _as_they_are(X: Any) -> Any:
    return X


def _one_after_the_other(first: _Rule, second: _Rule, X: Any) -> Any:
    return second(first(X))


def _changed(rule: _Rule, _place: int, X: Any, beside: Beside) -> tuple[Any, Beside]:
    return (rule(X) if X.shape[0] else X), beside


def _joined(kept: list[tuple[Any, Beside]]) -> tuple[Any, Beside]:
    parts = [X for X, _ in kept]
    together = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    return together, Beside.joined([beside for _, beside in kept])


class _WalkedDirections(Directions):
    """Sums of the directions of rows that are walked: exact, so the same as those of all rows at once."""

    def __init__(self, walked: Walked, row_norm: str) -> None:
        self._walked, self._sums, self.n_features, self._row_norm = walked, {}, walked.shape[1], row_norm

    def _sum_of_directions(self, spacing: float) -> IntArray:
        if spacing == SPACING and self._walked.directions is not None:
            return np.asarray(self._walked.directions)
        return self._over_blocks(partial(_directions_of_block, self._row_norm, spacing))

    def _sum_of_sizes(self, center: FloatArray | None, spacing: float) -> IntArray:
        return self._over_blocks(partial(_sizes_of_block, self._row_norm, center, spacing))

    def _over_blocks(self, term: Callable[[Any, Beside], IntArray]) -> IntArray:
        total = np.zeros(self._walked.shape[1], dtype=object)  # whole numbers of any size
        for share in self._walked.each(term):
            total = total + share
        return total


def _directions_of_block(row_norm: str, spacing: float, X: Any, _beside: Beside) -> IntArray:
    return Directions(Rows(X, row_norm))._sum_of_directions(spacing)


def _sizes_of_block(row_norm: str, center: FloatArray | None, spacing: float, X: Any, _beside: Beside) -> IntArray:
    return Directions(Rows(X, row_norm))._sum_of_sizes(center, spacing)


class _KnownRows(Rows):
    """What is known of rows that are walked, without the rows."""

    def __init__(self, n_rows: int, n_features: int, constant: float, *, sparse: bool) -> None:
        self.n_rows, self.n_features, self.constant, self.sparse = n_rows, n_features, constant, sparse
        self.dimension = n_features + (constant > 0)


@dataclass(frozen=True, eq=False)
class _Learned:
    """How a block becomes the losses that are learned from: what is public, and what is sent to where the block is."""

    row_norm: str
    constant: float
    loss_on: Callable[[Rows], Loss]
    which: int | None = None  # of several classes, the one against the others
    shares: FloatArray | None = None  # what a row of each class weighs, by noisy counts

    def losses(self, X: Any, beside: Beside) -> PerturbedObjective:
        rows, targets, weights = Rows(X, self.row_norm, self.constant), beside.targets, beside.weights
        if self.shares is not None:
            by_class = weights_by_class(targets, self.shares)
            weights = by_class if weights is None else by_class * weights
        loss = self.loss_on(rows) if weights is None else WeightedLoss(self.loss_on(rows), weights)
        return losses_on(rows, targets if self.which is None else targets[self.which], loss)

    def __call__(self, work: Callable[[PerturbedObjective], Any], X: Any, beside: Beside) -> Any:
        return work(self.losses(X, beside))


class StreamedFit(Fit):
    """A fit of rows that are walked; see `Fit`."""

    def __init__(self, walked: Walked, loss: Loss, *, random_state: Seed, solving: Any) -> None:
        self.source = noise_source(random_state)
        self._walked, self._loss, self._releases = walked, loss, solving.get("on_error") == "release"
        if not (walked.rows_used or self._releases):
            raise ValueError("X must have at least one row, got 0")
        self._row_norm = self._learned_norm = solving.get("row_norm", "normalize")
        constant = nonnegative("intercept_scaling", solving.get("intercept_scaling", 0.3))
        self.rows_given, columns = walked.shape
        self.rows = _KnownRows(walked.rows_used, columns, constant, sparse=walked.sparse)
        self._search = Search(
            max_iter=solving.get("max_iter", 1000), callback=solving.get("callback"), sure=self._releases
        )
        self._map, self._ranges, self._weights, self._class_weights = RowMap(), None, None, None
        self._which: int | None = None
        self._targets = np.empty(0)  # which stand in the blocks

    def _with(self, targets: Any) -> StreamedFit:
        """See `Fit._with`; `targets` is the number of a class."""
        other = copy(self)
        other._which = targets
        return other

    def _class_counts(self, targets: Any) -> IntArray:
        """See `Fit._class_counts`."""
        return reduce(np.add, self._walked.each(_class_counts_of_block))

    def _weighing_classes(self, targets: Any, shares: FloatArray) -> Fit:
        return self.weighing(shares)

    def standardise(self, plan: Standardisation, n_rows: int) -> None:
        """See `Fit.standardise`."""
        if plan == AS_THEY_ARE:
            return
        if self.rows.sparse and plan.center_noise is not None:
            raise ValueError("X must be dense where rows are centred, got sparse blocks")
        released = _WalkedDirections(self._walked, self._row_norm).release(plan, self.source, n_rows)
        self._map, self._learned_norm = replace(released, row_norm=self._row_norm), "normalize"
        self._walked = self._walked.changed(self._map.apply)

    def cut_to(self, ranges: Ranges, *, unclipped: bool = False) -> None:
        """See `Fit.cut_to`."""
        self._ranges = ranges.unclipped() if unclipped else ranges
        self._walked = self._walked.changed(self._ranges.apply)

    def _counted(self, count: Callable[[Any], IntArray]) -> IntArray:
        """See `Fit._counted`."""
        return reduce(np.add, self._walked.each(partial(_of_rows, count)))

    def objective(self, perturbation: Perturbation, loss: Any) -> Any:
        """See `Fit.objective`; `loss` says what the loss on some rows is."""
        linear = np.zeros(self.rows.dimension) if perturbation.linear is None else perturbation.linear
        X, beside = self._walked.sample
        learned = _Learned(self._learned_norm, self.rows.constant, loss, self._which, self._weights)
        lam, scale = float(np.asarray(perturbation.quadratic)), max(1, self.rows.n_rows) / max(1, X.shape[0])
        sample = replace(learned.losses(X, beside), lam=lam / scale, linear=linear / scale)
        known = self.rows.n_rows, self.rows.dimension, self.rows.constant
        return StreamedObjective(
            lambda work: self._walked.each(partial(learned, work)), self._loss, *known, lam, linear, sample, scale
        )

    def _summed(self, work: Callable[[Rows, FloatArray], IntArray]) -> IntArray:
        """See `Fit._summed`; nothing is centred or scaled where it is asked for."""
        shares = self._walked.each(partial(_on_rows, work, self._row_norm, self.rows.constant))
        return reduce(np.add, shares)

    def _found(self, objective: Any, tau: float, added: float, radius: float | None, given: Found | None) -> Found:
        if radius is not None:
            raise ValueError(f"radius must be None for Blocks, got {radius!r}")
        told: dict[str, Any] = {"max_iter": self._search.max_iter, "callback": self._search.callback}

        def bounded(problem: Any, result: SolverResult) -> Found:
            def with_added(norm: float) -> Found:
                return Found(result, (norm + added) * (1 + 8 * UNIT))

            if (found := with_added(result.bound(problem))).norm <= tau:
                return found
            if result.converged and self.rows.n_rows < _SURELY_FINE:
                found = with_added(gradient_norm_bounds([problem], result.theta[None])[0])
                if found.norm <= tau:
                    return found
            with np.errstate(all="ignore"):
                return with_added(fine_norm_bound(problem, result.theta))

        def attempt() -> Found:
            return bounded(objective, solve_streamed(objective, tau=tau / 2, **told))

        return self._search.ended(objective, tau, None, attempt, bounded)


def _class_counts_of_block(_X: Any, beside: Beside) -> IntArray:
    return members_of(beside.targets).sum(axis=1)


def _of_rows(count: Callable[[Any], IntArray], X: Any, _beside: Beside) -> IntArray:
    return count(X)


def _on_rows(
    work: Callable[[Rows, FloatArray], IntArray], row_norm: str, constant: float, X: Any, beside: Beside
) -> IntArray:
    return work(Rows(X, row_norm, constant), beside.targets)


class StreamedDraws(Draws):
    """Fits of rows that are walked, one for each random state, one after the other."""

    def _first(self, problem: Problem, state: Seed) -> Fit:
        """See `Draws._first`."""
        if self._classes is not None:
            numbers: Any = range(len(self._classes))
            self._classes = numbers
        return StreamedFit(problem.X, problem.loss, random_state=state, solving=problem.solving)

    def _loss(self, loss: Any, _fit: Fit) -> Any:
        """See `Draws._loss`; every block has its own."""
        return loss

    def _prepared(self, noise: Noise, loss: Any) -> Iterator[Any]:
        for shared in self.fits:
            fit = self._with_map(shared)
            yield fit, noise.perturb(fit.source), loss, None


def draws_of(problem: Problem, terms: Terms, random_states: Sequence[Seed]) -> Draws:
    """Fits of rows in memory, or of rows that are walked."""
    return (StreamedDraws if isinstance(problem.X, Walked) else Draws)(problem, terms, random_states)
