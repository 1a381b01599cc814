"""Private fits of rows that are walked a block at a time; everything private about a fit is a sum over rows.

The first walk finds whether every row can be used. Noise is drawn after it, by the process that called `fit` and once,
before the walk of the sum that it is added to; a block that is summed again draws none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray, IntArray, nonnegative
from objpert_core.accounting import Standardisation
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.objective.intervals import NO_INTERVALS
from objpert_core.accounting.objective.standardisation import AS_THEY_ARE
from objpert_core.accounting.terms import Terms
from objpert_core.blocks import Blocks, read_ahead
from objpert_core.learning.draws import Draws
from objpert_core.learning.fit import Fit, Noise, Problem, Seed
from objpert_core.learning.minimum import Found, Search
from objpert_core.learning.noise import noise_source
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import UNIT, fine_norm_bound, gradient_norm_bounds
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.problem.streamed import StreamedObjective
from objpert_core.learning.solvers.batched_newton import solve_streamed
from objpert_core.learning.standardisation import Directions, RowMap

_SAMPLE = 2**22  # numbers of rows that are kept in memory, about: 32 MB
_SURELY_FINE = 10**6  # rows, from which on the quick bound on rounding is not worth a walk


class Walked:
    """Blocks of usable rows and targets that were walked once: how many rows there are, and some of them."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._known: tuple[int, int] | None = None
        kept, stride, rows, columns = list[tuple[Any, FloatArray]](), 1, 0, 0
        self.sparse = False
        for X, targets in self.walk():
            self.sparse |= bool(sp.issparse(X))
            if columns not in (0, X.shape[1]):
                raise ValueError(f"blocks must have the same columns, got {columns} and then {X.shape[1]}")
            columns = X.shape[1]
            some = slice(-rows % stride, None, stride)
            kept.append((X[some], targets[some]))
            rows += X.shape[0]
            while rows // stride * columns > 2 * _SAMPLE:
                kept = _every_second(kept)
                stride *= 2
        if not rows:
            raise ValueError("blocks must hold at least one row, got none")
        self._known = self.shape = rows, columns
        self.sample = _joined(kept)

    def walk(self) -> Iterator[tuple[Any, FloatArray]]:
        """Blocks with at least one row; the next is read while the last is worked on."""
        rows = 0
        for X, targets in read_ahead(self._blocks):
            if X.shape[0]:
                rows += X.shape[0]
                yield X, targets
        if self._known is not None and rows != self._known[0]:
            raise ValueError(f"blocks must have the same rows in every walk, got {self._known[0]} and then {rows}")


def _every_second(kept: list[tuple[Any, FloatArray]]) -> list[tuple[Any, FloatArray]]:
    X, targets = _joined(kept)
    return [(X[::2], targets[::2])]


def _joined(kept: list[tuple[Any, FloatArray]]) -> tuple[Any, FloatArray]:
    parts = [X for X, _ in kept]
    together = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    return together, np.concatenate([targets for _, targets in kept])


class _WalkedDirections(Directions):
    """Sums of the directions of rows that are walked: exact, so the same as those of all rows at once."""

    def __init__(self, walked: Walked) -> None:
        self._walked, self._sums, self.n_features = walked, {}, walked.shape[1]

    def _sum_of_directions(self, spacing: float) -> IntArray:
        return self._over_blocks(lambda block: block._sum_of_directions(spacing))

    def _sum_of_sizes(self, center: FloatArray | None, spacing: float) -> IntArray:
        return self._over_blocks(lambda block: block._sum_of_sizes(center, spacing))

    def _over_blocks(self, term: Callable[[Directions], IntArray]) -> IntArray:
        total = np.zeros(self._walked.shape[1], dtype=object)  # whole numbers of any size
        for X, _ in self._walked.walk():
            total = total + term(Directions(Rows(X, "normalize")))
        return total


class _KnownRows(Rows):
    """What is known of rows that are walked, without the rows."""

    def __init__(self, n_rows: int, n_features: int, constant: float, *, sparse: bool) -> None:
        self.n_rows, self.n_features, self.constant, self.sparse = n_rows, n_features, constant, sparse
        self.dimension = n_features + (constant > 0)


class StreamedFit(Fit):
    """A fit of rows that are walked; see `Fit`."""

    def __init__(self, walked: Walked, loss: Loss, *, random_state: Seed, solving: Any) -> None:
        self.source = noise_source(random_state)
        self._walked, self._loss, self._releases = walked, loss, False
        self._row_norm = solving.get("row_norm", "normalize")
        constant = nonnegative("intercept_scaling", solving.get("intercept_scaling", 0.3))
        self.rows_given, columns = walked.shape
        self.rows = _KnownRows(self.rows_given, columns, constant, sparse=walked.sparse)
        self._search = Search(max_iter=solving.get("max_iter", 1000), callback=solving.get("callback"))
        self._map, self._ranges, self._weights, self._class_weights = RowMap(), None, None, None

    def standardise(self, plan: Standardisation, n_rows: int) -> None:
        """See `Fit.standardise`."""
        if plan == AS_THEY_ARE:
            return
        if self.rows.sparse and plan.center_noise is not None:
            raise ValueError("X must be dense where rows are centred, got sparse blocks")
        self._map = _WalkedDirections(self._walked).release(plan, self.source, n_rows)

    def _mapped(self, X: Any) -> Rows:
        standardised = self._map.center is not None or self._map.scale is not None
        return Rows(self._map.apply(X) if standardised else X, self._row_norm, self.rows.constant)

    def walk(self) -> Iterator[tuple[Rows, FloatArray]]:
        """The rows that are learned from, and their targets."""
        for X, targets in self._walked.walk():
            yield self._mapped(X), targets

    def objective(self, perturbation: Perturbation, loss: Any) -> Any:
        """See `Fit.objective`; `loss` says what the loss on some rows is."""
        linear = np.zeros(self.rows.dimension) if perturbation.linear is None else perturbation.linear
        X, targets = self._walked.sample
        rows, lam = self._mapped(X), float(np.asarray(perturbation.quadratic))
        scale = self.rows.n_rows / len(targets)
        sample = PerturbedObjective(rows, targets, lam / scale, linear / scale, loss(rows))
        known = self.rows.n_rows, self.rows.dimension, self.rows.constant
        return StreamedObjective(self.walk, loss, self._loss, *known, lam, linear, sample, scale)

    def _found(self, objective: Any, tau: float, added: float, radius: float | None, given: Found | None) -> Found:
        if radius is not None:
            raise ValueError(f"radius must be None for Blocks, got {radius!r}")
        result = solve_streamed(objective, tau=tau / 2, max_iter=self._search.max_iter, callback=self._search.callback)

        def with_added(norm: float) -> Found:
            return Found(result, (norm + added) * (1 + 8 * UNIT))

        if result.converged and self.rows.n_rows < _SURELY_FINE:
            found = with_added(gradient_norm_bounds([objective], result.theta[None])[0])
            if found.norm <= tau:
                return found
        with np.errstate(all="ignore"):
            return with_added(fine_norm_bound(objective, result.theta))


class StreamedDraws(Draws):
    """Fits of rows that are walked, one for each random state, one after the other."""

    def __init__(self, problem: Problem, terms: Terms, random_states: Sequence[Seed]) -> None:
        if problem.solving.get("on_error") == "release":
            raise ValueError("on_error must be 'raise' for Blocks, got 'release'")
        in_memory = problem.ranges, problem.weights, terms.ranges, terms.class_count_noise
        if any(each is not None for each in in_memory) or terms.intervals != NO_INTERVALS:
            raise ValueError("problem must have no ranges, weights or intervals for Blocks, which are not in memory")
        walked = problem.X
        self._classes, self._states = None, random_states
        self._cut = None
        self.fits = [
            StreamedFit(walked, problem.loss, random_state=state, solving=problem.solving) for state in random_states
        ]
        self._terms, self._plan = terms, terms.standardisation
        self._public_rows = self.rows_given if terms.public_rows is None else terms.public_rows

    def _prepared(self, noise: Noise, loss: Any) -> Iterator[Any]:
        for shared in self.fits:
            fit = copy(shared)
            fit.standardise(self._plan, self._public_rows)
            yield fit, noise.perturb(fit.source), loss, None
