"""Three-operator splitting: a quadratic, absolute values and a box, each handled by itself.

The paper's solver visits one row a step. `three_operator` is therefore for research, not for releases: its result
depends on the rows beyond the noisy Gram matrix, so that no theorem about that matrix covers it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from objpert_core._validation import FloatArray, positive_integer
from objpert_core.learning.solvers.boxed import BoxedLasso
from objpert_core.learning.solvers.progress import SolverResult

Report = Callable[[FloatArray, float], bool]
"""Takes a point and its residual, and says whether to stop."""


def davis_yin(problem: BoxedLasso, theta: FloatArray, report: Report) -> FloatArray:
    """Split as Davis and Yin (2017, Algorithm 1) do: absolute values first, a gradient step, then the box, which holds
    the result.
    """
    step = 1.0 / float(np.linalg.eigvalsh(problem.curvature)[-1])
    inner = theta.copy()
    while True:
        shrunk = _shrink(inner, step * problem.penalty)
        found = np.clip(shrunk, problem.low, problem.high)  # with its zeros, which the point after the box has not
        if report(found, problem.residual(found)):
            return found
        moved = 2 * shrunk - inner - step * problem.gradient(shrunk)
        inner = inner + np.clip(moved, problem.low, problem.high) - shrunk


def three_operator(
    X: FloatArray,
    y: FloatArray,
    bend: FloatArray,
    centre: FloatArray,
    penalty: FloatArray,
    low: FloatArray,
    high: FloatArray,
    *,
    tau: float = 0.0,
    steps: int = 1000,
    seed: int = 0,
) -> SolverResult:
    """Minimise ½‖Xθ − y‖² + ½(θ − θ̃)ᵀ·bend·(θ − θ̃) + Σ αⱼ|θⱼ| over a box, one row a step: not for releases."""
    positive_integer("steps", steps)
    n = len(X)
    whole = BoxedLasso(X.T @ X + bend, X.T @ (X @ centre - y), centre, penalty, low, high)
    step = 1.0 / float(n * np.max(np.einsum("ij,ij->i", X, X)) + np.linalg.eigvalsh(bend)[-1])
    chosen = np.random.default_rng(seed).integers(n, size=steps)
    inner = centre.copy()
    found = np.clip(inner, low, high)
    trace = [(0, whole.residual(found))]
    taken = 0
    for taken, i in enumerate(chosen, start=1):
        shrunk = _shrink(inner, step * penalty)
        slope = n * X[i] * (X[i] @ shrunk - y[i]) + bend @ (shrunk - centre)
        found = np.clip(2 * shrunk - inner - step * slope, low, high)
        inner = inner + taken**-0.502 * (found - shrunk)
        if taken % n == 0 or taken == steps:
            trace.append((taken, whole.residual(found)))
            if trace[-1][1] <= tau:
                break
    return SolverResult(
        theta=found,
        gradient_norm=trace[-1][1],
        converged=trace[-1][1] <= tau,
        iterations=len(trace) - 1,
        trace=tuple(trace),
        gradient_evaluations=taken,
        exhausted=taken == steps,
        solver="three-operator",
    )


def _shrink(values: FloatArray, by: FloatArray) -> FloatArray:
    return np.asarray(np.sign(values) * np.maximum(np.abs(values) - by, 0.0))
