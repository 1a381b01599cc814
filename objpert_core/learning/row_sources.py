"""Rows that a fit learns from, wherever they are: in memory, in blocks that are walked here, or on a cluster's workers.

A fit asks for sums over rows and for an objective, and sees nothing else of them. In memory, blocks of rows go on
threads; rows that are walked are read once for each sum. Whole numbers have the same sum whatever the blocks; a θ is
certified by a gradient that is summed block by block (docs/theorems.md, T51). The first walk finds whether every row
can be used. Noise is drawn by the process that called `fit`, once for each sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray, IntArray, positive_integer
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.steps.base import Step
from objpert_core.blocks import Blocks, Kept, Made, OnWorkers
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.problem.codes import CodedRows
from objpert_core.learning.problem.derived import LEAST_WEIGHT, WeightedLoss
from objpert_core.learning.problem.lanes import mapped, shares
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.objective import PerturbedObjective, check_targets
from objpert_core.learning.problem.rows import Rows, TableRows, rows_of
from objpert_core.learning.problem.streamed import StreamedObjective, losses_on
from objpert_core.learning.screening import judged
from objpert_core.learning.steps.base import Outcome, PublicRows, Some, SumOf, take
from objpert_core.learning.steps.standardisation import SPACING, SumOfDirections

_SAMPLE = 2**23  # numbers of rows that are kept in memory, about: 64 MB
_COPRIME = 104_729  # a prime
_COPIES = 4  # of the rows, for which a cluster has to have room: as given, as changed (for two draws), under work
_FORESEEN = SumOfDirections(SPACING)  # which the first walk makes, so that there is a walk less
_KEPT = 2**29  # bytes of codes at most that are kept here
_FITS = 2**61  # sums of whole numbers below it are of 64 bits; larger ones have as many digits as they need

LossOn = Callable[[Rows], Loss]
"""The loss on some rows, which may go by their norms; it pickles."""


class RowSource(ABC):
    """Usable rows, their targets and weights, as a fit sees them. What is public of them, and what sums give.

    `n_rows` are used of `rows_given`; `constant` stands in every row's last place, unless it is 0.
    """

    rows_given: int
    n_rows: int
    n_features: int
    sparse: bool
    weighs: bool
    row_norm: str
    constant: float
    changed: tuple[Outcome, ...] = ()
    """The outcomes that have made other rows of these, in their order."""

    @property
    def dimension(self) -> int:
        """The number of parameters D."""
        return self.n_features + (self.constant > 0)

    def sum(self, of: SumOf) -> IntArray:
        """The sum over all rows of what `of` makes of some; see `SumOf`."""
        if not _hashable(of):
            return _total(self._sums_of_parts(of))
        if of not in self._known:
            self._known[of] = _total(self._sums_of_parts(of))
        return self._known[of]

    def seen_through(self, outcome: Outcome) -> Self:
        """The same rows as an outcome lets them be seen: as other rows, with other weights, or as they are."""
        other = copy(self)
        other._weigh(outcome)
        if outcome.changes_rows:
            other.row_norm, other.changed = outcome.norm_after or self.row_norm, (*self.changed, outcome)
            other.n_features = self.n_features if outcome.features is None else outcome.features
            other._known = {}
            other._change(outcome, self)
        return other

    @abstractmethod
    def objective(self, perturbation: Perturbation, loss: LossOn, which: int | None = None) -> Any:
        """The sum of the losses and the perturbation; with `which` that of one class against the others."""

    _known: dict[Hashable, IntArray]

    @abstractmethod
    def _sums_of_parts(self, of: SumOf) -> Iterable[IntArray]:
        """What `of` makes of parts of the rows, at least one."""

    @abstractmethod
    def _weigh(self, outcome: Outcome) -> None:
        """Multiply the weights by those of an outcome."""

    @abstractmethod
    def _change(self, outcome: Outcome, before: Self) -> None:
        """See the rows of a source through an outcome that changes rows."""


def _hashable(of: SumOf) -> bool:
    try:
        hash(of)
    except TypeError:
        return False
    return True


def _total(parts: Iterable[IntArray]) -> IntArray:
    """A sum of arrays of whole numbers, of any size."""
    return reduce(_added, parts)


def _added(one: IntArray, other: IntArray) -> IntArray:
    largest = max(int(np.abs(part).max(initial=0)) for part in (one, other))
    return one + other if largest < _FITS else one.astype(object) + other.astype(object)


def _weighed(weights: FloatArray | None, outcome: Outcome, targets: FloatArray) -> FloatArray | None:
    own = outcome.weights(targets)
    if own is None:
        return weights
    own = np.minimum(own, 1.0)  # no row counts for more than a row, whatever an outcome says
    return own if weights is None else own * weights


class InMemory(RowSource):
    """Rows in memory; `of` checks what anybody has given."""

    def __init__(
        self, rows: Rows, targets: FloatArray, weights: FloatArray | None = None, *, row_norm: str = "normalize"
    ) -> None:
        self._rows: Rows | None = rows
        self.targets, self.weights, self.row_norm = targets, weights, row_norm
        self.rows_given = self.n_rows = rows.n_rows
        self.n_features, self.sparse, self.constant = rows.n_features, rows.sparse, rows.constant
        self.weighs, self._known = weights is not None, {}
        self._own: tuple[LossOn, Loss] | None = None  # the loss on all rows, for several draws

    @classmethod
    def of(
        cls,
        X: Any,
        targets: FloatArray,
        loss: Loss,
        weights: FloatArray | None = None,
        *,
        row_norm: str,
        constant: float,
        releases: bool,
    ) -> InMemory:
        """Rows that can be used; `ValueError` for others, which are left out instead for a fit that `releases`."""
        given = X.shape[0]
        keep = np.ones(given, dtype=bool) if weights is None else _heavy(weights, given)
        if targets.ndim in (1, 2) and targets.shape[-1] == given:
            if releases:
                X, good = judged(X, targets, loss)
                keep &= good
            if not keep.all():
                X, targets, weights = X[keep], targets[..., keep], None if weights is None else weights[keep]
        rows = rows_of(X, row_norm, constant)
        for one in targets if targets.ndim == 2 else [targets]:
            check_targets(one, rows.n_rows, loss, least=0 if releases else 1)
        if targets.ndim == 2 and (several := (targets == 1.0).sum(axis=0) > 1).any():
            raise ValueError(f"targets must be +1.0 for one class at most, got more in row {int(np.argmax(several))}")
        found = cls(rows, targets, weights, row_norm=row_norm)
        found.rows_given = given
        return found

    @property
    def rows(self) -> Rows:
        """The rows, made when they are asked for."""
        if self._rows is None:
            self._rows = self._make()
        return self._rows

    def objective(self, perturbation: Perturbation, loss: LossOn, which: int | None = None) -> PerturbedObjective:
        """See `RowSource.objective`."""
        if self._own is None or self._own[0] is not loss:
            self._own = loss, loss(self.rows)
        own = self._own[1] if self.weights is None else WeightedLoss(self._own[1], self.weights)
        targets = self.targets if which is None else self.targets[which]
        return PerturbedObjective(self.rows, targets, perturbation.quadratic, linear_term(perturbation, self), own)

    def _sums_of_parts(self, of: SumOf) -> Iterable[IntArray]:
        rows = self.rows
        parts = shares(rows.n_rows) or [slice(0, 0)]
        return mapped(lambda part: of(Some(rows.part(part), self.targets[..., part])), parts)

    def _weigh(self, outcome: Outcome) -> None:
        self.weights = _weighed(self.weights, outcome, self.targets)

    def _change(self, outcome: Outcome, before: InMemory) -> None:
        row_norm = self.row_norm  # what held this source would keep its rows until garbage is collected
        self._rows, self._own, self._make = None, None, lambda: outcome.seen(before.rows, row_norm)


def _heavy(weights: FloatArray, rows: int) -> Any:
    """Which rows have a weight that counts."""
    if weights.shape != (rows,):
        raise ValueError(f"weights must be one number for each of X's {rows} rows, got shape {weights.shape}")
    if not (right := (weights >= 0) & (weights <= 1)).all():
        raise ValueError(f"weights must be numbers from 0 to 1, got {weights[~right][0]!r}")
    return weights >= LEAST_WEIGHT


def linear_term(perturbation: Perturbation, rows: RowSource) -> FloatArray:
    """b, shape (D,)."""
    return np.zeros(rows.dimension) if perturbation.linear is None else perturbation.linear


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


@dataclass(frozen=True, eq=False)
class _Seen:
    """How rows of a block are seen where the block is."""

    row_norm: str = "normalize"
    constant: float = 0.0
    weighing: tuple[Outcome, ...] = ()

    def sums(self, of: SumOf, X: Any, beside: Beside) -> IntArray:
        """What a statistic is of these rows."""
        given = X.beside(self.constant) if isinstance(X, Rows) else X
        return of(Some(given, beside.targets, self.row_norm, self.constant))

    def losses(self, loss: LossOn, which: int | None, X: Any, beside: Beside) -> PerturbedObjective:
        """The losses on these rows, as `EachBlock` gives them to a function."""
        rows = rows_of(X, self.row_norm, self.constant)
        weights = reduce(lambda so_far, one: _weighed(so_far, one, beside.targets), self.weighing, beside.weights)
        own = loss(rows) if weights is None else WeightedLoss(loss(rows), weights)
        return losses_on(rows, beside.targets if which is None else beside.targets[which], own)

    def worked(self, loss: LossOn, which: int | None, work: Callable[[Any], Made], X: Any, beside: Beside) -> Made:
        """What a function makes of the losses."""
        return work(self.losses(loss, which, X, beside))


class Walked(RowSource):
    """Blocks of usable rows that were walked once: their numbers, the sum of their directions, and a sample of them."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks, self._rules, self._seen = blocks, tuple[Outcome, ...](), _Seen()
        self.row_norm, self.constant = "normalize", 0.0
        self.sparse = self.weighs = False
        self.n_rows = self.rows_given = self.n_features = 0
        self._known = {}
        self.sample = _joined(self._sampled_there() if isinstance(blocks, OnWorkers) else self._sampled_here())
        if self.sparse:
            self._known = {}  # no sum was made of sparse blocks

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows that were given, and of columns."""
        return self.rows_given, self.n_features

    def learned_with(self, *, row_norm: str, constant: float, releases: bool) -> Walked:
        """The same rows for a fit; `ValueError` if there are none, unless it `releases`."""
        if not (self.n_rows or releases):
            raise ValueError("X must have at least one row, got 0")
        other = copy(self)
        other.row_norm, other.constant = row_norm, constant
        other._known = dict(self._known) if row_norm == "normalize" else {}
        other._seen = replace(self._seen, row_norm=row_norm, constant=constant)
        return other

    def objective(self, perturbation: Perturbation, loss: LossOn, which: int | None = None) -> StreamedObjective:
        """See `RowSource.objective`."""
        losses, linear = self._seen.losses(loss, which, *self.sample), linear_term(perturbation, self)
        lam, scale = float(np.asarray(perturbation.quadratic)), max(1, self.n_rows) / max(1, losses.n_rows)
        sample = replace(losses, lam=lam / scale, linear=linear / scale)
        each = partial(self._seen.worked, loss, which)
        return StreamedObjective(lambda work: self.each(partial(each, work)), self.n_rows, lam, linear, sample, scale)

    def each(self, work: Callable[[Any, Beside], Made]) -> Iterator[Made]:
        """What `work` makes of each block with a row and what stands beside it, there; of none if none is usable."""
        rows = 0
        for given, made in self._blocks.each(partial(_unless_empty, self._rules, work)):
            rows += given
            yield from made
        if not self.n_rows:
            yield work(*self.sample)
        if rows != self.rows_given:
            raise ValueError(f"blocks must have the same rows in every walk, got {self.rows_given} and then {rows}")

    def _sums_of_parts(self, of: SumOf) -> Iterable[IntArray]:
        return self.each(partial(self._seen.sums, of))

    def _weigh(self, outcome: Outcome) -> None:
        if outcome.weights(self.sample[1].targets) is not None:
            self._seen = replace(self._seen, weighing=(*self._seen.weighing, outcome))

    def _change(self, outcome: Outcome, before: Walked) -> None:
        """Change rows in every walk, or once where there is room for them."""
        X, beside = before.sample
        self.sample, self._rules = (outcome.apply(X), beside), (*before._rules, outcome)
        self._seen = replace(self._seen, row_norm=self.row_norm)
        if self.sparse:
            return
        changed, size = partial(_changed, self._rules), self.n_rows * _bytes_a_row(self.sample[0])
        if isinstance(self._blocks, OnWorkers) and self._blocks.has_room(_COPIES * size):
            self._blocks, self._rules = self._blocks.through(changed), ()
        elif isinstance(self.sample[0], CodedRows) and size <= _KEPT:  # the files are not read again
            self._blocks, self._rules = Kept(self._blocks.through(changed)), ()

    # The first walk

    def _sampled_here(self) -> list[tuple[Any, Beside]]:
        kept, stride = list[tuple[Any, Beside]](), 1
        for X, beside in self._blocks.each(_itself):
            some = slice(-self.n_rows % stride, None, stride)
            if X.shape[1]:
                kept.append((X[some].copy(), beside.part(some)))  # a view would keep the whole block
            self._count(_Shape.of(0, X, beside))
            while self.n_rows // stride * self.n_features > 2 * _SAMPLE:
                kept, stride = [_some(2, 0, *_joined(kept))], 2 * stride
        return self._not_none(kept)

    def _sampled_there(self) -> list[tuple[Any, Beside]]:
        for shape in self._blocks.each(_Shape.of):
            self._count(shape)
        stride = max(1, self.n_rows * self.n_features // _SAMPLE)
        return self._not_none([some for some in self._blocks.each(partial(_some, stride)) if some[0].shape[1]])

    def _count(self, shape: _Shape) -> None:
        if not shape.columns:
            return
        if self.n_features not in (0, shape.columns):
            raise ValueError(f"blocks must have the same columns, got {self.n_features} and then {shape.columns}")
        if self.n_features and self.sparse is not shape.sparse:  # a row's norm would go by its block, in its last digit
            raise ValueError("blocks must all be dense or all be sparse, got both")
        self.sparse, self.weighs = shape.sparse, self.weighs | shape.weighs
        self.rows_given, self.n_features = self.rows_given + shape.rows_given, shape.columns
        self.n_rows += shape.rows
        if shape.directions is not None:
            so_far = self._known.get(_FORESEEN)
            self._known[_FORESEEN] = shape.directions if so_far is None else _added(so_far, shape.directions)

    def _not_none(self, kept: list[tuple[Any, Beside]]) -> list[tuple[Any, Beside]]:
        if not kept:
            raise ValueError("blocks must hold at least one row, got none")
        return kept


@dataclass(frozen=True)
class _Shape:
    """What a walk needs to know of a block."""

    rows: int
    rows_given: int
    columns: int
    sparse: bool
    weighs: bool
    directions: IntArray | None

    @classmethod
    def of(cls, _place: int, X: Any, beside: Beside) -> _Shape:
        sparse = bool(sp.issparse(X))
        directions = None if sparse or isinstance(X, Rows) else _FORESEEN(Some(X, beside.targets))
        return cls(X.shape[0], beside.rows_given, X.shape[1], sparse, beside.weights is not None, directions)


def _itself(_place: int, X: Any, beside: Beside) -> tuple[Any, Beside]:
    return X, beside


def _some(stride: int, place: int, X: Any, beside: Beside) -> tuple[Any, Beside]:
    """Every `stride`-th row of a block; blocks begin at different rows."""
    some = slice(place * _COPRIME % stride, None, stride)
    return X[some], beside.part(some)


def _seen_through(rules: tuple[Outcome, ...], X: Any) -> Any:
    """The rows of a block as several outcomes change them, one after the other."""
    return reduce(lambda rows, outcome: outcome.apply(rows), rules, X) if X.shape[0] else X


def _changed(rules: tuple[Outcome, ...], _place: int, X: Any, beside: Beside) -> tuple[Any, Beside]:
    changed = _seen_through(rules, X)
    return changed.packed() if isinstance(changed, CodedRows) else changed, beside


def _bytes_a_row(X: Any) -> int:
    return -(-X.nbytes // max(1, X.shape[0]))


def _unless_empty(
    rules: tuple[Outcome, ...], work: Callable[[Any, Beside], Made], _place: int, X: Any, beside: Beside
) -> tuple[int, list[Made]]:
    """How many rows were given, and what `work` makes of those that can be used, if there are any."""
    return beside.rows_given, [work(_seen_through(rules, X), beside)] if X.shape[0] else []


def _joined(kept: list[tuple[Any, Beside]]) -> tuple[Any, Beside]:
    parts = [X for X, _ in kept]
    if isinstance(parts[0], TableRows):
        together: Any = TableRows(np.concatenate([one.matrix for one in parts]))
    else:
        together = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    return together, Beside.joined([beside for _, beside in kept])


def take_alone(step: Step, X: Any, source: NoiseSource, *, n_rows: int | None = None, **public: Any) -> Any:
    """What a step alone makes of rows in memory; X may be `Rows`, and `public` are fields of `PublicRows`.

    The public number of rows is `n_rows`, or X's own if that is left out.
    """
    given = X if isinstance(X, Rows) else Rows(X, "normalize")
    rows = InMemory(given, np.zeros(given.n_rows))
    count = rows.n_rows if n_rows is None else positive_integer("n_rows", n_rows)
    return take(step, rows, source, PublicRows(count, rows.n_features, rows.sparse, **public))
