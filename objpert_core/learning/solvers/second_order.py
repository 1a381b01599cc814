"""Newton's method that makes the gradient norm fall, by Cholesky factors or products with the Hessian; and L-BFGS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from objpert_core._validation import FloatArray
from objpert_core.learning.solvers.progress import CountedProblem, Progress

MAX_CHOLESKY_DIMENSION = 4096
"""Where a Hessian takes 134 MB; beyond it "newton" solves its systems iteratively."""
_SLOPE_LEFT = 0.5  # of the slope at the start: a step past a kink ends where at most this much of it is left
_AIM = 0.2  # what is left of it where an interpolation aims
_EVALUATIONS = 60  # of the gradient for one such step
_PATIENCE = 100  # such steps without a smaller gradient, after which rounding, not the method, sets the limit


def factorised(hessian: FloatArray) -> tuple[FloatArray, bool]:
    """The Cholesky factor of a matrix by its upper triangle, or of one near it: an error would tell of data."""
    ridge, diagonal = 0.0, np.einsum("ii->i", hessian)
    least = np.finfo(np.float64).eps * float(np.abs(diagonal).sum())
    if not (np.isfinite(hessian).all() and least > 0):
        return np.eye(len(hessian)), False
    while True:
        try:
            return cho_factor(hessian, lower=False, check_finite=False)
        except LinAlgError:  # rounding has cost a tiny λ its positive definiteness: a little more restores it
            added = max(100 * ridge, least)
            diagonal += added - ridge
            ridge = added


class CholeskyDirections:
    """Factorised Hessians, each kept while it still shrinks the gradient well."""

    KEEP = 0.3
    SAMPLE_ROWS = 40  # sampled rows per parameter: the estimate is then within a few ten per cent
    NEAR = 1e-2  # of the first gradient norm: from here on all rows are used

    def __init__(self, problem: CountedProblem) -> None:
        self.problem = problem
        self.stride = max(1, problem.n_rows // (self.SAMPLE_ROWS * problem.dimension))
        self.factor: tuple[FloatArray, bool] | None = None
        self.exact = False

    def step(self, gradient: FloatArray, curvature: FloatArray, progress: Progress) -> FloatArray:
        """By the factor at hand, or a new one."""
        if progress.norms[-1] <= self.NEAR * progress.norms[0]:
            self.stride = 1
        self.exact = self.factor is None and self.stride == 1
        if self.factor is None:
            self.factor = factorised(self.problem.hessian(curvature, self.stride))
        return -cho_solve(self.factor, gradient, check_finite=False)

    @property
    def patience(self) -> int:
        """An old factor is not worth many attempts."""
        return 40 if self.exact else 2

    def judge(self, contraction: float) -> bool:
        """Drop the factor where it no longer does well."""
        if contraction > self.KEEP or self.stride > 1:
            self.factor = None
        if contraction >= 1:
            if self.exact:
                return False
            self.stride = 1
        return True


class ResidualDirections:
    """Newton steps by conjugate residuals: products with the Hessian only, for many features."""

    patience = 40

    def __init__(self, problem: CountedProblem) -> None:
        self.problem = problem

    def step(self, gradient: FloatArray, curvature: FloatArray, progress: Progress) -> FloatArray:
        """As many products as the step deserves."""
        norm = progress.norms[-1]
        # Loose while far, tight while near (superlinear), but never tighter than τ asks for.
        goal = max(min(0.1, math.sqrt(norm / progress.norms[0])) * norm, 0.3 * progress.tau)
        step = np.zeros_like(gradient)
        residual = -gradient
        direction = residual.copy()
        image = self.problem.hessian_product(curvature, direction)
        direction_image = image.copy()
        energy = residual @ image
        for _ in range(10 * self.problem.dimension):
            length = energy / (direction_image @ direction_image)
            step += length * direction
            residual -= length * direction_image
            if np.linalg.norm(residual) <= goal:
                break
            image = self.problem.hessian_product(curvature, residual)
            energy, previous = residual @ image, energy
            direction = residual + energy / previous * direction
            direction_image = image + energy / previous * direction_image
        return step

    def judge(self, contraction: float) -> bool:
        """False unless the norm shrank: every step has the Hessian of its own point, and none would do better."""
        return contraction < 1


Directions = CholeskyDirections | ResidualDirections
"""A model of the Hessian that turns gradients into steps −H⁻¹∇J, about; `patience` is how often one is worth halving.

`judge` hears by how much the norm shrank (1: not at all), and is False when no better step is to be had.
"""


def _descend(problem: CountedProblem, theta: FloatArray, progress: Progress, directions: Directions) -> FloatArray:
    """Damped Newton steps, each shortened until the gradient norm falls."""
    gradient, curvature = problem.gradient(theta)
    norm = float(np.linalg.norm(gradient))
    if not progress.norms:
        progress.report(norm)
    while not progress.over:
        step = directions.step(gradient, curvature, progress)
        length, halvings = 1.0, directions.patience
        while True:
            candidate = theta + length * step
            new_gradient, new_curvature = problem.gradient(candidate)
            new_norm = float(np.linalg.norm(new_gradient))
            if new_norm <= (1 - 1e-4 * length) * norm or halvings == 0:
                break
            length, halvings = length / 2, halvings - 1
        if new_norm < norm:
            more = directions.judge(new_norm / norm)
            theta, gradient, curvature, norm = candidate, new_gradient, new_curvature, new_norm
            progress.report(norm)
        else:
            more = directions.judge(1.0)
        if not more:  # a kink of the loss, or rounding
            return _descend_past_kinks(problem, theta, progress, directions)
    return theta


def _descend_past_kinks(
    problem: CountedProblem, theta: FloatArray, progress: Progress, directions: Directions
) -> FloatArray:
    """Newton steps, each as long as the objective falls along it, until `progress` is over.

    Where the Hessian jumps, as that of a clipped loss does, the gradient's norm may grow along a step, but the step
    leads downhill: it is judged by the objective's slope along it, which can be compared down to the last digits.
    """
    gradient, curvature = problem.gradient(theta)
    best, best_norm = theta, float(np.linalg.norm(gradient))
    idle = 0
    while not progress.over and idle < _PATIENCE:
        directions.judge(1.0)  # no Hessian from elsewhere
        step = directions.step(gradient, curvature, progress)
        start = float(gradient @ step)
        low, low_slope, high, high_slope = 0.0, start, np.inf, np.nan
        length = 1.0
        for _ in range(_EVALUATIONS):
            candidate = theta + length * step
            new_gradient, new_curvature = problem.gradient(candidate)
            norm, slope = float(np.linalg.norm(new_gradient)), float(new_gradient @ step)
            if norm <= best_norm / 2 or _SLOPE_LEFT * start <= slope <= 0:
                break
            if slope > 0:
                high, high_slope = length, slope
            else:
                low, low_slope = length, slope
            if np.isinf(high):
                length *= 4
            else:
                share = (_AIM * start - low_slope) / (high_slope - low_slope)
                length = low + min(max(share, 0.1), 0.9) * (high - low)
        else:
            break
        theta, gradient, curvature = candidate, new_gradient, new_curvature
        idle = 0 if norm < best_norm else idle + 1
        if norm < best_norm:
            best, best_norm = theta, norm
        progress.report(norm)
    return best


def newton(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """By Cholesky factorisation up to `MAX_CHOLESKY_DIMENSION` parameters, by conjugate residuals beyond."""
    if problem.dimension <= MAX_CHOLESKY_DIMENSION:
        return newton_cholesky(problem, theta, progress)
    return newton_cg(problem, theta, progress)


def newton_cholesky(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """Damped Newton steps by Cholesky factorisation."""
    return _descend(problem, theta, progress, CholeskyDirections(problem))


def newton_cg(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """Damped Newton steps by conjugate residuals."""
    return _descend(problem, theta, progress, ResidualDirections(problem))


def lbfgs(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """SciPy's L-BFGS-B without bounds, then Newton steps if the line search gives up."""
    last: tuple[FloatArray, float, FloatArray] | None = None

    def value_gradient(point: FloatArray) -> tuple[float, FloatArray]:
        nonlocal last
        if last is None or not np.array_equal(point, last[0]):
            last = (point.copy(), *problem.value_gradient(point))
        return last[1:]

    def after_iteration(point: FloatArray) -> None:
        progress.report(float(np.linalg.norm(value_gradient(point)[1])))
        if progress.over:
            raise StopIteration

    progress.report(float(np.linalg.norm(value_gradient(theta)[1])))
    if progress.over:
        return theta
    # The evaluation limit is a safety net: a line search takes one or two evaluations as a rule.
    options: Any = {
        "maxiter": progress.max_iter,
        "maxfun": 20 * progress.max_iter,
        "ftol": 0.0,
        "gtol": 0.0,
        "maxcor": 20,
    }
    run: Any = minimize  # its type stubs do not know functions of plain arrays
    found = run(value_gradient, theta, jac=True, method="L-BFGS-B", callback=after_iteration, options=options)
    return found.x if progress.over else newton_cg(problem, found.x, progress)
