"""An objective whose rows are walked, a block at a time, for each pass over them: for rows that memory has no room for.

Partial sums of blocks are joined with what rounding takes off carried along, so that the bound on a sum hardly grows
with the number of blocks (docs/theorems.md, T51).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.fine import two_sum
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.objective import LossPart, PerturbedObjective
from objpert_core.learning.problem.rows import Rows


@dataclass(frozen=True, eq=False)
class StreamedObjective:
    """J for rows that are walked; λ is a number.

    `walk` gives the rows and targets of each block, and `loss_of` the loss on them. `sample` is an estimate of J,
    divided by `scale`, from rows that are in memory.
    """

    walk: Callable[[], Iterator[tuple[Rows, FloatArray]]]
    loss_of: Callable[[Rows], Loss]
    loss: Loss
    n_rows: int
    dimension: int
    constant: float
    lam: float
    linear: FloatArray
    sample: PerturbedObjective
    scale: float

    @property
    def rows(self) -> StreamedObjective:
        """What is known of the rows: their number, their constant and the number of their columns."""
        return self

    @property
    def strong_convexity(self) -> float:
        """λ."""
        return self.lam

    tilt_smoothness = strong_convexity

    def tilt(self, theta: FloatArray) -> FloatArray:
        """λθ + b, the part of the gradient that needs no data."""
        return self.lam * theta + self.linear

    def objectives(self) -> Iterator[PerturbedObjective]:
        """The objective of each block alone, its tilt included."""
        for rows, targets in self.walk():
            yield PerturbedObjective(rows, targets, self.lam, self.linear, self.loss_of(rows))

    def summed(self, term: Callable[[LossPart], FloatArray], size: int) -> tuple[Any, int]:
        """Σ of what `term` makes of parts of `size` rows, and how many additions a term goes through at most."""
        sums, most = Compensated(), 0
        for objective in self.objectives():
            share, additions = objective.summed(term, size)
            sums.add(share)
            most = max(most, additions)
        return sums.total, most + 3

    def hessian_at(self, theta: FloatArray) -> FloatArray:
        """Upper triangle of ∇²J, shape (D, D)."""
        sums = np.zeros((self.dimension, self.dimension), order="F")
        for objective in self.objectives():
            sums += objective.rows.gram(objective.gradient(theta)[1])
        np.einsum("ii->i", sums)[:] += self.lam
        return sums


class Compensated:
    """A sum of arrays, with what rounding takes off carried along.

    >>> sums = Compensated()
    >>> for value in (1e16, 1.0, 1.0, -1e16):
    ...     sums.add(np.array([value]))
    >>> sums.total.tolist()
    [2.0]
    """

    def __init__(self) -> None:
        self._total: Any = 0.0
        self._lost: Any = 0.0

    def add(self, term: Any) -> None:
        """Add a term."""
        self._total, rounded = two_sum(self._total, term)
        self._lost = self._lost + rounded

    @property
    def total(self) -> Any:
        """The sum, off by u of itself and hardly more."""
        return self._total + self._lost
