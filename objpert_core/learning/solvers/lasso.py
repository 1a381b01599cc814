"""A quadratic, weighted absolute values and a box, which a noisy Gram matrix poses: solving it is post-processing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, choice, nonnegative, positive_integer
from objpert_core.learning.solvers.progress import Callback, SolverResult

MOST_CHECKS = 10_000
_U = 2.0**-53


@dataclass(frozen=True, eq=False)
class BoxedLasso:
    """The problem: `curvature` is B, `slope` c, `centre` θ̃ and `penalty` α; low and high may be infinite."""

    curvature: FloatArray
    slope: FloatArray
    centre: FloatArray
    penalty: FloatArray
    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        if self.curvature.shape != (self.dimension, self.dimension):
            raise ValueError(
                f"curvature must have shape {(self.dimension, self.dimension)} for a slope of {self.dimension} "
                f"numbers, got {self.curvature.shape}"
            )
        for name in ("centre", "penalty", "low", "high"):
            if (shape := getattr(self, name).shape) != (self.dimension,):
                raise ValueError(f"{name} must have shape {(self.dimension,)}, got {shape}")
        if not (self.penalty >= 0).all():
            raise ValueError(f"penalty must be numbers >= 0, got {float(self.penalty[~(self.penalty >= 0)][0])}")
        if not (self.low <= self.high).all():
            where = int(np.argmin(self.low <= self.high))
            raise ValueError(f"low must be at most high, got {float(self.low[where])} and {float(self.high[where])}")

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.slope)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """The quadratic's gradient, B(θ − θ̃) + c."""
        return np.asarray(self.curvature @ (theta - self.centre) + self.slope)

    def value(self, theta: FloatArray) -> float:
        """J(θ); the box is not looked at."""
        moved = theta - self.centre
        return float(moved @ (self.curvature @ moved) / 2 + self.slope @ moved + self.penalty @ np.abs(theta))

    def residual(self, theta: FloatArray, gradient: FloatArray | None = None) -> float:
        """The distance of 0 from ∂J(θ) plus the normals of the box at θ, a point of the box; `gradient` if known."""
        slope = self.gradient(theta) if gradient is None else gradient
        least = slope + np.where(theta > 0, self.penalty, -self.penalty)
        most = slope + np.where(theta < 0, -self.penalty, self.penalty)
        least[theta <= self.low] = -np.inf
        most[theta >= self.high] = np.inf
        return math.hypot(*np.maximum(0.0, np.maximum(least, -most)))  # which overflows no sooner than it must

    def rounding(self, theta: FloatArray) -> float:
        """How long a gradient computed in doubles may be next to the minimum: no residual need be smaller."""
        lengths = np.abs(theta - self.centre) + np.abs(theta)  # the second as θ itself is rounded
        sizes = np.abs(self.curvature) @ lengths + np.abs(self.slope) + self.penalty
        return 2 * (self.dimension + 4) * _U * math.hypot(*sizes)


Report = Callable[[FloatArray, float], bool]
"""Takes a point and its residual, and says whether to stop."""
LassoSolver = Callable[[BoxedLasso, FloatArray, Report], FloatArray]
"""From a problem, a start and somewhere to report residuals to, to the point of the box it stopped at."""


def coordinate_descent(problem: BoxedLasso, theta: FloatArray, report: Report) -> FloatArray:
    """Minimise over one coefficient after the other; after every sweep, over all that are neither 0 nor at a bound."""
    curvature, diagonal = problem.curvature, np.diagonal(problem.curvature)
    theta = np.clip(theta, problem.low, problem.high)
    gradient = problem.gradient(theta)
    while not report(theta, problem.residual(theta, gradient)):
        for j in range(problem.dimension):
            value = theta[j] - gradient[j] / diagonal[j]
            size = max(abs(value) - problem.penalty[j] / diagonal[j], 0.0)
            new = min(max(size if value > 0 else 0.0 - size, problem.low[j]), problem.high[j])
            if new != theta[j]:
                gradient += (new - theta[j]) * curvature[j]
                theta[j] = new
        gradient = problem.gradient(theta)
        if report(theta, problem.residual(theta, gradient)):
            break
        _newton(problem, theta, gradient)
        gradient = problem.gradient(theta)
    return theta


def _newton(problem: BoxedLasso, theta: FloatArray, gradient: FloatArray) -> None:
    """One step, in place, over the coefficients that are free to move either way; to the first corner on the way."""
    free = np.flatnonzero((theta != 0) | (problem.penalty == 0))
    free = free[(theta[free] > problem.low[free]) & (theta[free] < problem.high[free])]
    if not len(free):
        return
    slope = gradient[free] + problem.penalty[free] * np.sign(theta[free])
    step = -np.linalg.solve(problem.curvature[np.ix_(free, free)], slope)
    corners = np.where(step > 0, problem.high[free], problem.low[free])
    towards_zero = (problem.penalty[free] > 0) & (theta[free] * step < 0)
    corners = np.where(towards_zero, np.where(step > 0, np.minimum(corners, 0), np.maximum(corners, 0)), corners)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = np.where(step != 0, (corners - theta[free]) / step, np.inf)
    share = min(1.0, float(shares.min()))
    theta[free] = np.where(shares <= share, corners, theta[free] + share * step)


def davis_yin(problem: BoxedLasso, theta: FloatArray, report: Report) -> FloatArray:
    """Split as Davis and Yin (2017) do: absolute values, a gradient step, then the box, which holds the result."""
    step = 1.0 / float(np.linalg.eigvalsh(problem.curvature)[-1])
    inner = theta.copy()
    while True:
        shrunk = np.sign(inner) * np.maximum(np.abs(inner) - step * problem.penalty, 0.0)
        found = np.clip(shrunk, problem.low, problem.high)  # with its zeros, which the point after the box has not
        if report(found, problem.residual(found)):
            return found
        moved = 2 * shrunk - inner - step * problem.gradient(shrunk)
        inner = inner + np.clip(moved, problem.low, problem.high) - shrunk


LASSO_SOLVERS: dict[str, LassoSolver] = {"coordinate-descent": coordinate_descent, "davis-yin": davis_yin}
"""Solvers by name. To add one, put a function here: `solve_lasso` checks what it returns."""


def solve_lasso(
    problem: BoxedLasso,
    *,
    tau: float = 0.0,
    solver: str = "coordinate-descent",
    max_iter: int = MOST_CHECKS,
    start: FloatArray | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise `problem` until its residual is at most τ, in units of J per unit of θ, or as small as doubles can
    tell."""
    choice("solver", solver, tuple(LASSO_SOLVERS))
    nonnegative("tau", tau), positive_integer("max_iter", max_iter)
    residuals: list[float] = []

    def report(theta: FloatArray, residual: float) -> bool:
        residuals.append(residual)
        if callback is not None:
            callback(len(residuals) - 1, residual)
        return residual <= max(tau, problem.rounding(theta)) or len(residuals) > max_iter

    theta = LASSO_SOLVERS[solver](problem, problem.centre if start is None else start, report)
    residual = problem.residual(theta)
    return SolverResult(
        theta=theta,
        gradient_norm=residual,
        converged=residual <= max(tau, problem.rounding(theta)),
        iterations=len(residuals) - 1,
        trace=tuple((0, one) for one in residuals),
        gradient_evaluations=0,
        exhausted=len(residuals) > max_iter,
        solver=solver,
    )
