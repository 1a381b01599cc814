"""Solvers that stop where ‖∇J(θ)‖₂ ≤ τ, and a registry for more of them.

The privacy proof of Algorithm 1 needs the gradient norm and nothing else, so the gradient norm is also what the
Newton solvers make smaller from step to step: along a Newton direction it always falls, and unlike the value of
the objective it can be compared down to the last digits. Whatever a solver claims, `solve` evaluates the
gradient once more at the point returned, and only that evaluation decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from objpert_core._validation import choice, positive, positive_integer
from objpert_core.learning.kinks import descend_past_kinks
from objpert_core.learning.losses import FloatArray

Callback = Callable[[int, float], object]
"""``callback(iteration, gradient_norm)``: called at the start (iteration 0) and after every iteration."""

MAX_CHOLESKY_DIMENSION = 4096  # a Hessian of 134 MB; beyond it "newton" solves its systems iteratively


class Problem(Protocol):
    """What a solver may ask of an objective (`PerturbedObjective` answers it)."""

    @property
    def dimension(self) -> int:
        """The length of θ."""

    @property
    def n_rows(self) -> int:
        """The number of rows summed over."""

    def gradient(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The gradient and each row's curvature."""

    def value_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """The value and the gradient."""

    def hessian(self, curvature: FloatArray, stride: int = 1) -> FloatArray:
        """The Hessian's upper triangle."""

    def hessian_product(self, curvature: FloatArray, vector: FloatArray) -> FloatArray:
        """The Hessian times a vector."""


@dataclass(frozen=True)
class SolverResult:
    """Where a solver stopped.

    Attributes
    ----------
    theta : ndarray, shape (D,)
    gradient_norm : float
        ‖∇J(theta)‖₂ from one evaluation made after the solver had returned.
    converged : bool
        Whether that is ≤ τ.
    iterations : int
    gradient_norms : tuple of float
        The norm at the start and after each iteration.
    solver : str
        The registry's name of the solver that ran.
    """

    theta: FloatArray
    gradient_norm: float
    converged: bool
    iterations: int
    gradient_norms: tuple[float, ...]
    solver: str


@dataclass
class _Progress:
    """Gradient norms so far, with the caller's callback told of each."""

    tau: float
    max_iter: int
    callback: Callback | None
    norms: list[float] = field(default_factory=list)

    def report(self, norm: float) -> None:
        self.norms.append(norm)
        if self.callback is not None:
            self.callback(self.iterations, norm)

    @property
    def iterations(self) -> int:
        return max(len(self.norms) - 1, 0)

    @property
    def over(self) -> bool:
        return self.norms[-1] <= self.tau or self.iterations >= self.max_iter


Solver = Callable[[Problem, FloatArray, _Progress], FloatArray]


class _Directions(Protocol):
    """A model of the Hessian that turns gradients into steps."""

    def step(self, gradient: FloatArray, curvature: FloatArray, progress: _Progress) -> FloatArray:
        """An approximate −H⁻¹∇J."""

    @property
    def patience(self) -> int:
        """How often the last step is worth halving."""

    def judge(self, contraction: float) -> bool:
        """Hear by how much the norm shrank (1: not at all); False when no better step is to be had."""


class _CholeskyDirections:
    """Factorised Hessians, each kept while it still shrinks the gradient well.

    One factorisation costs as much as about ten gradients, so it is used again (a chord step) until a step
    shrinks the gradient by less than `KEEP`. Far from the solution, where any Hessian is soon out of date, it
    is estimated from every few rows if there are many more rows than parameters. All that is at stake is the
    number of steps.
    """

    KEEP = 0.3
    SAMPLE_ROWS = 40  # sampled rows per parameter: the estimate is then within a few ten per cent
    NEAR = 1e-2  # of the first gradient norm: from here on all rows are used

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.stride = max(1, problem.n_rows // (self.SAMPLE_ROWS * problem.dimension))
        self.factor: tuple[FloatArray, bool] | None = None
        self.exact = False

    def step(self, gradient: FloatArray, curvature: FloatArray, progress: _Progress) -> FloatArray:
        if progress.norms[-1] <= self.NEAR * progress.norms[0]:
            self.stride = 1
        self.exact = self.factor is None and self.stride == 1
        if self.factor is None:
            self.factor = self._factorise(curvature)
        return -cho_solve(self.factor, gradient, check_finite=False)

    def _factorise(self, curvature: FloatArray) -> tuple[FloatArray, bool]:
        ridge = 0.0
        while True:
            hessian = self.problem.hessian(curvature, self.stride)
            diagonal = np.einsum("ii->i", hessian)
            diagonal += ridge
            least = np.finfo(np.float64).eps * float(diagonal.sum())
            try:
                return cho_factor(hessian, lower=False, overwrite_a=True, check_finite=False)
            except LinAlgError:  # rounding has cost a tiny λ its positive definiteness: a little more restores it
                ridge = max(100 * ridge, least)

    @property
    def patience(self) -> int:
        return 40 if self.exact else 2

    def judge(self, contraction: float) -> bool:
        if contraction > self.KEEP or self.stride > 1:
            self.factor = None
        if contraction >= 1:
            if self.exact:
                return False
            self.stride = 1
        return True


class _ResidualDirections:
    """Newton steps by conjugate residuals: products with the Hessian only, for many features.

    Unlike conjugate gradients the residual falls with every product, so the step shrinks the gradient wherever
    the iteration is cut short.
    """

    patience = 40

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def step(self, gradient: FloatArray, curvature: FloatArray, progress: _Progress) -> FloatArray:
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
        return contraction < 1


def _descend(problem: Problem, theta: FloatArray, progress: _Progress, directions: _Directions) -> FloatArray:
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


def _newton(problem: Problem, theta: FloatArray, progress: _Progress) -> FloatArray:
    if problem.dimension <= MAX_CHOLESKY_DIMENSION:
        return _newton_cholesky(problem, theta, progress)
    return _newton_cg(problem, theta, progress)


def _newton_cholesky(problem: Problem, theta: FloatArray, progress: _Progress) -> FloatArray:
    return _descend(problem, theta, progress, _CholeskyDirections(problem))


def _newton_cg(problem: Problem, theta: FloatArray, progress: _Progress) -> FloatArray:
    return _descend(problem, theta, progress, _ResidualDirections(problem))


def _lbfgs(problem: Problem, theta: FloatArray, progress: _Progress) -> FloatArray:
    """SciPy's L-BFGS-B without bounds, then Newton steps if the line search gives up.

    Its line search compares values of J, which near the minimum agree to the last digit long before the gradient
    is small. What is left then is a matter of one or two Newton steps.
    """
    last = (theta, math.nan)

    def value_gradient(point: FloatArray) -> tuple[float, FloatArray]:
        nonlocal last
        value, gradient = problem.value_gradient(point)
        last = (point.copy(), float(np.linalg.norm(gradient)))
        return value, gradient

    def after_iteration(point: FloatArray) -> None:
        if not np.array_equal(point, last[0]):
            value_gradient(point)
        progress.report(last[1])
        if progress.over:
            raise StopIteration

    value_gradient(theta)
    progress.report(last[1])
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
    return found.x if progress.over else _newton_cg(problem, found.x, progress)


SOLVERS: dict[str, Solver] = {
    "newton": _newton,
    "newton-cholesky": _newton_cholesky,
    "newton-cg": _newton_cg,
    "lbfgs": _lbfgs,
}
"""Solvers by name. To add one, put a function (problem, start, progress) → θ here: `solve` checks what it returns."""


def solve(
    problem: Problem,
    *,
    tau: float,
    solver: str = "newton",
    max_iter: int = 1000,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise `problem` from θ = 0 until ‖∇J‖₂ ≤ τ.

    Parameters
    ----------
    problem : Problem
        For example a `PerturbedObjective`.
    tau : float
        The gradient norm τ > 0 to reach, in units of J per unit of θ (not relative to anything).
    solver : {"newton", "newton-cholesky", "newton-cg", "lbfgs"}
        "newton" is damped Newton, by Cholesky factorisation up to 4,096 parameters and by conjugate residuals
        beyond; the next two insist on one of them; "lbfgs" needs gradients only.
    max_iter : int
        Iterations at most.
    callback : callable, optional
        ``callback(iteration, gradient_norm)``; an exception raised in it ends the run and is passed on. The
        norms depend on the data and are outside every privacy guarantee.

    Returns
    -------
    SolverResult
        With ``converged=False`` where τ was not reached; nothing is raised for that here.

    Raises
    ------
    ValueError
        For an unknown solver, ``tau <= 0`` or ``max_iter < 1``.

    Notes
    -----
    Redberg, Koskela and Wang (2023), Algorithm 1, step 4, admits any solver that reaches τ.

    Examples
    --------
    >>> from objpert_core.learning.objective import PerturbedObjective
    >>> from objpert_core.learning.rows import Rows
    >>> rows = Rows(np.array([[1.0], [-1.0]]), "clip")
    >>> result = solve(PerturbedObjective(rows, np.array([1.0, -1.0]), 1.0, np.zeros(1)), tau=1e-9)
    >>> result.converged, round(float(result.theta[0]), 6)
    (True, 0.674832)
    """
    choice("solver", solver, tuple(SOLVERS))
    progress = _Progress(positive("tau", tau), positive_integer("max_iter", max_iter), callback)
    theta = SOLVERS[solver](problem, np.zeros(problem.dimension), progress)
    gradient, _ = problem.gradient(theta)
    norm = float(np.linalg.norm(gradient))
    return SolverResult(theta, norm, norm <= tau, progress.iterations, tuple(progress.norms), solver)
