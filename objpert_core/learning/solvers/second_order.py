"""Newton's method that makes the gradient norm fall: by Cholesky factors, or by products with the Hessian only.

The privacy proof needs the gradient norm and nothing else, so these solvers make the gradient norm smaller from step to
step.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from objpert_core._validation import FloatArray
from objpert_core.learning.solvers.kinks import descend_past_kinks
from objpert_core.learning.solvers.progress import CountedProblem, Progress

MAX_CHOLESKY_DIMENSION = 4096
"""Where a Hessian takes 134 MB; beyond it "newton" solves its systems iteratively."""


class Directions(Protocol):
    """A model of the Hessian that turns gradients into steps."""

    def step(self, gradient: FloatArray, curvature: FloatArray, progress: Progress) -> FloatArray:
        """An approximate −H⁻¹∇J."""

    @property
    def patience(self) -> int:
        """How often the last step is worth halving."""

    def judge(self, contraction: float) -> bool:
        """Hear by how much the norm shrank (1: not at all); False when no better step is to be had."""


def factorise(problem: CountedProblem, curvature: FloatArray, stride: int = 1) -> tuple[FloatArray, bool]:
    """The Cholesky factor of the Hessian, as `scipy.linalg.cho_solve` takes it; arguments as for `hessian`."""
    return factorised(problem.hessian(curvature, stride))


def factorised(hessian: FloatArray) -> tuple[FloatArray, bool]:
    """The Cholesky factor of a matrix of which the upper triangle is given, or of one near it that has such a factor.
    There is an answer whatever the matrix holds: an error in a search would tell of the data.
    """
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
            self.factor = factorise(self.problem, curvature, self.stride)
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
            return descend_past_kinks(problem, theta, progress, directions)
    return theta


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
