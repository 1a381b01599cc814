"""What every solver sees: the problem, whose passes over rows are counted, and the trace of gradient norms.

The unit of cost is one *gradient evaluation*: one visit to one row, to compute its loss's derivatives at a new θ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypedDict

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.objective import LossPart
from objpert_core.learning.problem.rounding import Look

Callback = Callable[[int, float], object]
"""``callback(iteration, gradient_norm)``: called at the start (iteration 0) and after every iteration."""


class Problem(Protocol):
    """What a solver may ask of an objective (`PerturbedObjective` answers it)."""

    @property
    def dimension(self) -> int:
        """The length of θ."""

    @property
    def n_rows(self) -> int:
        """The number of rows n summed over."""

    @property
    def strong_convexity(self) -> float:
        """λ, or the least eigenvalue of Λ: a strong convexity of J that holds whatever the data."""

    @property
    def tilt_smoothness(self) -> float:
        """λ, or the greatest eigenvalue of Λ: the curvature of the part that needs no data."""

    @property
    def row_smoothness(self) -> float:
        """The largest curvature β of one row's loss as a function of θ."""

    @property
    def smoothness(self) -> float:
        """An upper bound on J's curvature that needs no pass over the data."""

    def gradient(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The gradient and each row's curvature."""

    def value_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """The value and the gradient."""

    def hessian(self, curvature: FloatArray, stride: int = 1) -> FloatArray:
        """The Hessian's upper triangle."""

    def hessian_product(self, curvature: FloatArray, vector: FloatArray) -> FloatArray:
        """The Hessian times a vector."""

    def greatest_hessian_product(self, vector: FloatArray) -> FloatArray:
        """The Hessian times a vector, with every row's curvature at the largest its loss has."""

    def slopes(self, theta: FloatArray) -> FloatArray:
        """f' of every row, shape (n,)."""

    def combine(self, weights: FloatArray) -> FloatArray:
        """Σ wᵢx̃ᵢ over all rows, shape (D,)."""

    def tilt(self, theta: FloatArray) -> FloatArray:
        """Λθ + b, the part of the gradient that needs no data."""

    def parts(self, size: int) -> Sequence[LossPart]:
        """The rows in consecutive parts of `size` (the last may be smaller)."""


@dataclass(frozen=True)
class CountedPart:
    """A part that reports its visits."""

    part: LossPart
    count: Callable[[int], None]
    where: slice
    n_rows: int

    def slopes(self, theta: FloatArray) -> FloatArray:
        """See `LossPart.slopes`; counted."""
        self.count(self.n_rows)
        return self.part.slopes(theta)

    def combine(self, weights: FloatArray) -> FloatArray:
        """See `LossPart.combine`; belongs to the visit that computed the weights."""
        return self.part.combine(weights)

    def smoothness(self) -> float:
        """See `LossPart.smoothness`; one visit of each row."""
        self.count(self.n_rows)
        return self.part.smoothness()


class CountedProblem:
    """A problem that counts the rows visited, so that no solver has to, and none can forget."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.evaluations = 0
        self.dimension, self.n_rows = problem.dimension, problem.n_rows
        self.tilt = problem.tilt

    def combine(self, weights: FloatArray) -> FloatArray:
        """As the problem's; belongs to the visit that computed the weights."""
        return self._problem.combine(weights)

    @cached_property
    def strong_convexity(self) -> float:
        """As the problem's; no visit."""
        return self._problem.strong_convexity

    @cached_property
    def tilt_smoothness(self) -> float:
        """As the problem's; no visit."""
        return self._problem.tilt_smoothness

    @cached_property
    def row_smoothness(self) -> float:
        """As the problem's; no visit, as norms need no θ."""
        return self._problem.row_smoothness

    @cached_property
    def smoothness(self) -> float:
        """As the problem's; no visit, as norms need no θ."""
        return self._problem.smoothness

    def count(self, rows: int) -> None:
        """Add visits to `rows` rows."""
        self.evaluations += rows

    def gradient(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As the problem's; n visits."""
        self.count(self.n_rows)
        return self._problem.gradient(theta)

    def value_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """As the problem's; n visits."""
        self.count(self.n_rows)
        return self._problem.value_gradient(theta)

    def hessian(self, curvature: FloatArray, stride: int = 1) -> FloatArray:
        """As the problem's; n / stride visits."""
        self.count(-(-self.n_rows // stride))
        return self._problem.hessian(curvature, stride)

    def hessian_product(self, curvature: FloatArray, vector: FloatArray) -> FloatArray:
        """As the problem's; n visits."""
        self.count(self.n_rows)
        return self._problem.hessian_product(curvature, vector)

    def greatest_hessian_product(self, vector: FloatArray) -> FloatArray:
        """As the problem's; n visits."""
        self.count(self.n_rows)
        return self._problem.greatest_hessian_product(vector)

    def slopes(self, theta: FloatArray) -> FloatArray:
        """As the problem's; n visits."""
        self.count(self.n_rows)
        return self._problem.slopes(theta)

    def parts(self, size: int) -> list[CountedPart]:
        """As the problem's, counting too."""
        parts = self._problem.parts(size)
        return [CountedPart(part, self.count, part.where, part.where.stop - part.where.start) for part in parts]


class Told(TypedDict):
    """Fields of a `SolverResult`."""

    iterations: int
    trace: tuple[tuple[int, float], ...]
    gradient_evaluations: int
    exhausted: bool


@dataclass
class Progress:
    """The trace so far, with the callback told of each check, and the two reasons to stop: τ and `max_iter`."""

    tau: float
    max_iter: int
    problem: CountedProblem
    callback: Callback | None = None
    evaluations: list[int] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    _best: float = float("inf")
    _since_best: int = 0

    def report(self, norm: float) -> None:
        """Write one checked gradient norm down, and tell the callback."""
        self.norms.append(norm)
        self.evaluations.append(self.problem.evaluations)
        self._since_best = 0 if norm < self._best else self._since_best + 1
        self._best = min(norm, self._best)
        if self.callback is not None:
            self.callback(self.iterations, norm)

    @property
    def iterations(self) -> int:
        """Checks after the first."""
        return max(len(self.norms) - 1, 0)

    @property
    def over(self) -> bool:
        """Whether τ is reached or the iterations are used up."""
        return self.norms[-1] <= self.tau or self.exhausted

    @property
    def exhausted(self) -> bool:
        """Whether the iterations are used up."""
        return self.iterations >= self.max_iter

    def told(self) -> Told:
        """What a result says of the way to it, the last check included."""
        return {
            "iterations": self.iterations,
            "trace": tuple(zip(self.evaluations, self.norms, strict=True)),
            "gradient_evaluations": self.problem.evaluations,
            "exhausted": self.exhausted,
        }

    def idle(self, patience: int) -> bool:
        """Whether the last `patience` checks have not found a smaller norm, so that rounding sets the limit."""
        return self._since_best >= patience


Solver = Callable[[CountedProblem, FloatArray, Progress], FloatArray]
"""From a problem, a start and somewhere to report to, to the θ it stopped at."""


@dataclass(frozen=True)
class SolverResult:
    """Where a solver stopped.

    Attributes
    ----------
    theta : ndarray, shape (D,)
    gradient_norm, converged : float, bool
        ‖∇J(theta)‖₂ from one evaluation made after the solver had returned, and whether it is ≤ τ.
    iterations : int
    trace : tuple of (int, float)
        (gradient evaluations so far, ‖∇J‖₂) at the start and after each iteration.
    gradient_evaluations : int
        Visits to single rows, the last check included.
    exhausted : bool
        Whether the solver stopped because its iterations were used up.
    solver : str
    multiplier : float
        ν ≥ 0 where θ was kept in a ball: `gradient_norm` is then ‖∇J(θ) + νθ‖.
    look : Look or None
        What the solver's last pass has found at this θ, if it has bounded it.
    """

    theta: FloatArray
    gradient_norm: float
    converged: bool
    iterations: int
    trace: tuple[tuple[int, float], ...]
    gradient_evaluations: int
    exhausted: bool
    solver: str
    multiplier: float = 0.0
    look: Look | None = None

    def bound(self, objective: object) -> float:
        """A bound on ‖∇J(theta)‖₂ for this very objective, where the solver's last pass has found one; else inf."""
        look = self.look
        if look is None or look.objective is not objective or look.theta is not self.theta:
            return math.inf
        return look.bound

    @property
    def gradient_norms(self) -> tuple[float, ...]:
        """The norm at the start and after each iteration."""
        return tuple(norm for _, norm in self.trace)
