"""The minimum of an objective over the ball ‖θ‖ ≤ M: the minimum of the objective plus ν/2 ‖θ‖², for the right ν ≥ 0.

ν is found by a search, and the result is moved onto the sphere and judged by r = ∇J(θ) + νθ with the ν ≥ 0 that makes
r shortest.

If ‖θ‖ = M, or ‖θ‖ ≤ M and ν = 0, θ is within ‖r‖/Λ of the minimum over the ball, however it was found
(docs/theorems.md, T26). `residual_bound` adds what rounding may hide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from objpert_core._validation import FloatArray, positive
from objpert_core.learning.problem.fine import FineRows
from objpert_core.learning.problem.objective import LossPart, PerturbedObjective
from objpert_core.learning.problem.rounding import gamma, gradient_norm_bound
from objpert_core.learning.solvers.first_order import MOST_SURE_STEPS, sure_projected
from objpert_core.learning.solvers.progress import Callback, CountedProblem, Problem, Progress, SolverResult

_SOLVES = 80
_SHARE = 0.25  # of τ: what each solve may leave of the gradient
_STEPS_INWARDS = 8
_SLOW = 4  # solves in which the bracket must have been halved

Solve = Callable[[Problem, FloatArray, float, int], SolverResult]
"""From a problem, a start, a gradient norm to reach and the iterations spent so far, to where the solver stopped."""


def solve_in_ball(problem: Problem, radius: float, tau: float, solve: Solve) -> SolverResult:
    """Minimise `problem` over ‖θ‖ ≤ `radius` until ‖r‖ ≤ τ; `solve` minimises without a ball, from a start."""
    limit = positive("radius", radius)
    found = solve(problem, np.zeros(problem.dimension), tau, 0)
    if _norm(found.theta) <= limit:
        return found
    search = _Search(problem, limit, tau, solve, found)
    return search.run()


@dataclass(frozen=True)
class _Point:
    """ν and θ(ν), about."""

    multiplier: float
    theta: FloatArray

    @property
    def inverse(self) -> float:
        """1/‖θ(ν)‖, which is nearly straight in ν."""
        return 1 / max(_norm(self.theta), 1e-300)


class _Search:
    """The search for ν: secants of 1/‖θ(ν)‖ through the last two points, kept inside a bracket."""

    def __init__(self, problem: Problem, radius: float, tau: float, solve: Solve, found: SolverResult) -> None:
        self.problem, self.radius, self.tau, self.solve = problem, radius, tau, solve
        self.iterations, self.trace = found.iterations, list(found.trace)
        self.evaluations, self.last = found.gradient_evaluations, found
        self.low = self.recent = self.before = _Point(0.0, found.theta)  # low: ‖θ(ν)‖ > M
        self.high: _Point | None = None
        # θ(ν) is within ‖∇J(0)‖/(Λ + ν) of 0
        steepest = _norm(self._gradient(np.zeros(problem.dimension)))
        self.most = max(steepest / radius - problem.strong_convexity, 0.0) * (1 + 1e-9)
        self.best = self._judged(found.theta)

    def run(self) -> SolverResult:
        """Narrow the bracket until the residual is short enough, or nothing gets shorter."""
        guess, widths = min(self.best[1], self.most), [self.most]
        for _ in range(_SOLVES):
            if self.best[2] <= self.tau or self.last.exhausted:
                break
            self._solve(guess)
            widths.append(self._top() - self.low.multiplier)
            if widths[-1] <= 4e-16 * self._top():
                break
            slow = len(widths) > _SLOW and widths[-1] > widths[-1 - _SLOW] / 2
            guess = self._middle() if slow else self._secant()
        theta, multiplier, norm = self.best
        return replace(
            self.last,
            theta=theta,
            gradient_norm=norm,
            converged=norm <= self.tau,
            iterations=self.iterations,
            trace=tuple(self.trace),
            gradient_evaluations=self.evaluations,
            multiplier=multiplier,
        )

    def _solve(self, multiplier: float) -> None:
        """Find θ(ν), and judge the point on the sphere that θ(ν) leads to."""
        pulled = _Pulled(self.problem, multiplier)
        self.last = self.solve(pulled, self.best[0], _SHARE * self.tau, self.iterations)
        self.iterations += self.last.iterations
        # the check at its start belongs to no iteration, as that of the first solve stands for all
        self.trace += [(self.evaluations + visits, norm) for visits, norm in self.last.trace[1:]]
        self.evaluations += self.last.gradient_evaluations
        self.before, self.recent = self.recent, _Point(multiplier, self.last.theta)
        if _norm(self.last.theta) > self.radius:
            self.low = self.recent
        else:
            self.high = self.recent
        for theta in (self.last.theta, self._between()):
            if theta is not None and theta.any():
                self.best = min(self.best, self._judged(theta), key=lambda judged: judged[2])

    def _top(self) -> float:
        return self.most if self.high is None else self.high.multiplier

    def _secant(self) -> float:
        """Where the straight line through the last two points reaches 1/M, if that place is inside the bracket."""
        rise = self.recent.inverse - self.before.inverse
        run = self.recent.multiplier - self.before.multiplier
        found = self.recent.multiplier + (1 / self.radius - self.recent.inverse) * run / rise if rise else math.nan
        return found if self.low.multiplier < found < self._top() else self._middle()

    def _middle(self) -> float:
        """The middle of the bracket, by ratio where it spans decades."""
        low, high = self.low.multiplier, self._top()
        return math.sqrt(low * high) if 0 < 16 * low < high else (low + high) / 2

    def _between(self) -> FloatArray | None:
        """The point of norm M between the ends: near both ends, its error is of second order in the bracket."""
        if self.high is None:
            return None
        start, way = self.high.theta, self.low.theta - self.high.theta
        a, b, c = float(way @ way), float(start @ way), float(start @ start) - self.radius**2
        return start + (-b + math.sqrt(max(b * b - a * c, 0.0))) / a * way if a > 0 else None

    def _judged(self, theta: FloatArray) -> tuple[FloatArray, float, float]:
        """θ moved onto the sphere, the ν ≥ 0 that makes the residual shortest there, and the residual's norm."""
        theta = onto_sphere(theta, self.radius)
        gradient = self._gradient(theta)
        multiplier = max(0.0, -float(gradient @ theta) / float(theta @ theta))
        return theta, multiplier, _norm(gradient + multiplier * theta)

    def _gradient(self, theta: FloatArray) -> FloatArray:
        self.evaluations += self.problem.n_rows
        return self.problem.gradient(theta)[0]


class _Pulled:
    """A problem with ν/2 ‖θ‖² added, which answers all that a `Problem` is asked."""

    def __init__(self, problem: Problem, multiplier: float) -> None:
        self._problem, self._multiplier = problem, multiplier
        self.dimension, self.n_rows = problem.dimension, problem.n_rows
        self.slopes, self.combine = problem.slopes, problem.combine
        self.row_smoothness = problem.row_smoothness
        self.strong_convexity = problem.strong_convexity + multiplier
        self.tilt_smoothness = problem.tilt_smoothness + multiplier
        self.smoothness = problem.smoothness + multiplier

    def gradient(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, curvature = self._problem.gradient(theta)
        return gradient + self._multiplier * theta, curvature

    def value_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self._problem.value_gradient(theta)
        return value + self._multiplier / 2 * float(theta @ theta), gradient + self._multiplier * theta

    def hessian(self, curvature: FloatArray, stride: int = 1) -> FloatArray:
        hessian = self._problem.hessian(curvature, stride)
        np.einsum("ii->i", hessian)[:] += self._multiplier
        return hessian

    def hessian_product(self, curvature: FloatArray, vector: FloatArray) -> FloatArray:
        return self._problem.hessian_product(curvature, vector) + self._multiplier * vector

    def greatest_hessian_product(self, vector: FloatArray) -> FloatArray:
        return self._problem.greatest_hessian_product(vector) + self._multiplier * vector

    def tilt(self, theta: FloatArray) -> FloatArray:
        return self._problem.tilt(theta) + self._multiplier * theta

    def parts(self, size: int) -> list[LossPart]:
        return list(self._problem.parts(size))


def onto_sphere(theta: FloatArray, radius: float) -> FloatArray:
    """Stretch or shorten θ ≠ 0 to the norm `radius`, but for 32 roundings, and not beyond it as computed by NumPy."""
    theta = theta * (radius / _exact_norm(theta))
    for _ in range(_STEPS_INWARDS):
        if _norm(theta) <= radius:
            break
        theta = theta * (1 - 2.0**-53)
    return theta


def sure_in_ball(problem: Problem, radius: float, tau: float, callback: Callback | None) -> SolverResult:
    """Minimise `problem` over ‖θ‖ ≤ `radius` by the method whose number of steps has a bound for all data."""
    limit = positive("radius", radius)
    counted = CountedProblem(problem)
    progress = Progress(tau, MOST_SURE_STEPS, counted, callback)
    theta = sure_projected(counted, limit, progress)
    gradient, _ = counted.gradient(theta)
    multiplier, norm = 0.0, _norm(gradient)
    if _norm(theta) >= limit * (1 - 1e-9):  # on the sphere, but for rounding
        moved = onto_sphere(theta, limit)
        gradient, _ = counted.gradient(moved)
        pull = max(0.0, -float(gradient @ moved) / float(moved @ moved))
        if (residual := _norm(gradient + pull * moved)) < norm:
            theta, multiplier, norm = moved, pull, residual
    return SolverResult(
        theta=theta,
        gradient_norm=norm,
        converged=norm <= tau,
        solver="sure",
        multiplier=multiplier,
        **progress.told(),
    )


def _norm(vector: FloatArray) -> float:
    return float(np.linalg.norm(vector))


def _exact_norm(vector: FloatArray) -> float:
    """The norm, right to four roundings however long the vector is."""
    scale = math.ldexp(1.0, math.frexp(float(np.abs(vector).max(initial=0.0)))[1])
    return scale * math.sqrt(math.fsum((vector / scale) ** 2))


def residual_bound(objective: PerturbedObjective, theta: FloatArray, multiplier: float, radius: float) -> float:
    """Bound Λ times the distance of θ from the minimum over the ball, rounding included: what is compared with τ.

    Where ‖θ‖ is M but for e, Λ·‖θ − θ*‖ ≤ ‖∇J(θ) + νθ‖ + (√(LΛ) + Λ)·e with L the curvature of J (docs/theorems.md,
    T26).

    θ, shape (D,), has norm `radius` at most, as computed, and is on the sphere, but for rounding, where `multiplier`,
    ν, is above 0; else ValueError.

    >>> from objpert_core.learning.problem.rows import Rows
    >>> from objpert_core.learning.solvers import solve
    >>> rows = Rows(np.array([[1.0], [-1.0]]), "clip")
    >>> objective = PerturbedObjective(rows, np.array([1.0, -1.0]), 1.0, np.zeros(1))
    >>> result = solve(objective, tau=1e-9, radius=0.5)
    >>> result.theta.tolist(), residual_bound(objective, result.theta, result.multiplier, 0.5) < 1e-9
    ([0.5], True)
    """
    if not multiplier >= 0:
        raise ValueError(f"multiplier must be a number >= 0, got {multiplier!r}")
    norm, room = _norm(theta), gamma(objective.dimension + 4)
    if not norm <= radius * (1 + room):
        raise ValueError(f"theta must be of norm {radius!r} at most, got {norm!r}")
    if isinstance(objective.rows, FineRows):
        norm, room = _exact_norm(theta), gamma(4)
    if multiplier > 0:
        away = abs(radius - norm) + room * radius
    else:  # surely inside, a point is where it is
        away = 0.0 if norm * (1 + room) <= radius * (1 - room) else max(norm - radius, 0.0) + room * radius
    ridge = multiplier * np.eye(objective.dimension) if np.ndim(objective.lam) else multiplier
    lam = objective.lam + ridge
    pulled = PerturbedObjective(objective.rows, objective.targets, lam, objective.linear, objective.loss)
    least = objective.strong_convexity
    stretched = (math.sqrt(objective.smoothness * least) + least) * away * (1 + 2.0**-20)
    return (gradient_norm_bound(pulled, theta) + stretched) * (1 + room)
