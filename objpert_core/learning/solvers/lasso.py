"""Solvers for a quadratic with absolute values over a box, behind one interface, and their registry.

They see B, c and public numbers only. Where B and c have been released, solving is post-processing: it costs no
privacy, its accuracy does not touch the promise, and one release serves for every penalty and every box.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from objpert_core._validation import FloatArray, choice, nonnegative, positive_integer
from objpert_core.learning.solvers.boxed import BoxedLasso
from objpert_core.learning.solvers.progress import Callback, SolverResult
from objpert_core.learning.solvers.splitting import Report, davis_yin, three_operator

MOST_CHECKS = 10_000
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


LASSO_SOLVERS: dict[str, LassoSolver] = {"coordinate-descent": coordinate_descent, "davis-yin": davis_yin}
"""Solvers by name. To add one, put a function here: `solve_lasso` checks what it returns."""
ROW_SOLVERS: dict[str, Callable[..., SolverResult]] = {"three-operator": three_operator}
"""Solvers that visit rows, for research: what they return is no function of noisy sums, so no release may use it."""


def solve_lasso(
    problem: BoxedLasso,
    *,
    tau: float = 0.0,
    solver: str = "coordinate-descent",
    max_iter: int = MOST_CHECKS,
    start: FloatArray | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise `problem` until its residual is at most τ, or as small as doubles can tell. τ is in units of J per unit
    of θ; 0 asks for the least residual that rounding allows (`BoxedLasso.rounding`).

    >>> two = np.array([1.0, 1.0])
    >>> problem = BoxedLasso(2 * np.eye(2), np.array([-4.0, -0.5]), 0 * two, two, -9 * two, 9 * two)
    >>> solve_lasso(problem).theta.tolist()
    [1.5, 0.0]
    """
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
