"""An objective whose rows are walked, a block at a time, for each pass; rounding is carried along (T51)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.fine import fine, two_sum
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.objective import LossPart, PerturbedObjective
from objpert_core.learning.problem.rows import Rows

Made = TypeVar("Made")
_NEXT_TO_NOTHING = 2.0**-1000
_PART = 2048  # rows that a gradient takes at once: they and their scores stay in the cache


class EachBlock(Protocol):
    """What a function makes of the losses on each block: of an objective without b, whose λ is 1."""

    def __call__(self, work: Callable[[PerturbedObjective], Made], /) -> Iterator[Made]:
        """In order; the function may run elsewhere, and all it holds is sent there."""


@dataclass(frozen=True, eq=False)
class StreamedObjective:
    """J for rows that are walked, λ a number; `sample` is an estimate of J/`scale` from rows that are in memory."""

    each: EachBlock
    n_rows: int
    lam: float
    linear: FloatArray
    sample: PerturbedObjective
    scale: float

    @property
    def loss(self) -> Loss:
        """The loss, on the rows that are in memory."""
        return self.sample.loss

    @property
    def dimension(self) -> int:
        """The length D of θ."""
        return self.sample.dimension

    @property
    def constant(self) -> float:
        """What stands in every row's last place, or 0."""
        return self.sample.rows.constant

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

    @property
    def smoothness(self) -> float:
        """An upper bound on J's curvature; one walk."""
        return sum(self.each(_smoothness)) + self.lam

    def gradient(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """∇J(θ), and no row's curvature."""
        losses, _ = self.summed(partial(_gradient, theta), _PART)
        return losses + self.tilt(theta), np.empty(0)

    def without_rows(self) -> PerturbedObjective:
        """Return the same tilt, without data."""
        return replace(self.sample.without_rows(), lam=self.lam, linear=self.linear)

    def __reduce__(self) -> Any:
        """Refuse: b stays where it was drawn."""
        raise TypeError("an objective with noise in it cannot be pickled")

    def summed(self, term: Callable[[LossPart], FloatArray], size: int, points: int = 1) -> tuple[Any, int]:
        """Σ of what `term` makes of parts of `size` rows, and how many additions a row goes through at most."""
        sums, most = Compensated(), 0
        for share, additions in self.each(partial(_summed, term, size, points)):
            sums.add(share)
            most = max(most, additions)
        return sums.total, most + 3

    def with_hessian(self, theta: FloatArray) -> tuple[StreamedObjective, FloatArray]:
        """The same objective, and the upper triangle of ∇²J at θ, shape (D, D): its next walk adds the rows to it."""
        hessian = np.asfortranarray(self.lam * np.eye(self.dimension))

        def each(work: Callable[[PerturbedObjective], Made]) -> Iterator[Made]:
            for made, gram in self.each(partial(_with_gram, work, theta)):
                np.add(hessian, gram, out=hessian)
                yield made

        return replace(self, each=each), hessian


def losses_on(rows: Rows, targets: FloatArray, loss: Loss) -> PerturbedObjective:
    """The losses on some rows, as `EachBlock` gives them to a function."""
    return PerturbedObjective(rows, targets, 1.0, np.zeros(rows.dimension), loss)


def _summed(
    term: Callable[[LossPart], FloatArray], size: int, points: int, losses: PerturbedObjective
) -> tuple[FloatArray, int]:
    return losses.summed(term, size, points)


def _with_gram(
    work: Callable[[PerturbedObjective], Made], theta: FloatArray, losses: PerturbedObjective
) -> tuple[Made, FloatArray]:
    return work(losses), losses.rows.gram(losses.gradient(theta)[1])


def _gradient(theta: FloatArray, part: LossPart) -> FloatArray:
    return part.combine(part.slopes(theta))


def _smoothness(losses: PerturbedObjective) -> float:
    return replace(losses, lam=_NEXT_TO_NOTHING).smoothness


@fine.register
def _(objective: StreamedObjective) -> StreamedObjective:
    return replace(objective, each=lambda work: objective.each(partial(_with_care, work)))


def _with_care(work: Callable[[PerturbedObjective], Made], losses: PerturbedObjective) -> Made:
    return work(fine(losses))


class Compensated:
    """A sum of arrays, with what rounding takes off carried along."""

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
