"""Solvers that stop where ‖∇J(θ)‖₂ ≤ τ, behind one interface, and a registry for more of them.

The privacy proof of Algorithm 1 needs the gradient norm and nothing else: whatever a solver claims, `solve` evaluates
the gradient once more at the point returned, and that alone decides.
"""

from __future__ import annotations

import numpy as np

from objpert_core._validation import FloatArray, choice, positive, positive_integer
from objpert_core.learning.solvers.ball import onto_sphere, residual_bound, solve_in_ball, sure_in_ball
from objpert_core.learning.solvers.batched_newton import solve_family, solve_together
from objpert_core.learning.solvers.finite_sum import sag, svrg
from objpert_core.learning.solvers.first_order import MOST_SURE_STEPS, accelerated, gradient_descent, sure
from objpert_core.learning.solvers.progress import Callback, CountedProblem, Problem, Progress, Solver, SolverResult
from objpert_core.learning.solvers.second_order import MAX_CHOLESKY_DIMENSION, lbfgs, newton, newton_cg, newton_cholesky

__all__ = [
    "CHEAP_STEPS",
    "MAX_CHOLESKY_DIMENSION",
    "SOLVERS",
    "Callback",
    "Problem",
    "Solver",
    "SolverResult",
    "onto_sphere",
    "residual_bound",
    "solve",
    "solve_family",
    "solve_surely",
    "solve_together",
]

SOLVERS: dict[str, Solver] = {
    "newton": newton,
    "newton-cholesky": newton_cholesky,
    "newton-cg": newton_cg,
    "lbfgs": lbfgs,
    "gradient-descent": gradient_descent,
    "accelerated": accelerated,
    "sag": sag,
    "svrg": svrg,
}
"""Solvers by name. To add one, put a function (problem, start, progress) → θ here: `solve` checks what it returns."""

CHEAP_STEPS = {"gradient-descent": 100, "accelerated": 100}
"""Solvers that need many cheap steps: they may take that many times `max_iter`."""


def solve(
    problem: Problem,
    *,
    tau: float,
    solver: str = "newton",
    max_iter: int = 1000,
    callback: Callback | None = None,
    radius: float | None = None,
) -> SolverResult:
    """Minimise `problem` from θ = 0 until ‖∇J‖₂ ≤ τ; where τ is not reached, ``converged`` is False and nothing raised.

    Redberg, Koskela and Wang (2023), Algorithm 1, step 4, admits any solver that reaches τ; Appendix F counts what each
    needs. "sag" and "svrg" draw rows at random, always from the same fixed seed: the order of rows has no part in the
    privacy proof, and a fit stays reproducible.

    Parameters
    ----------
    problem : Problem
        For example a `PerturbedObjective`.
    tau : float
        The gradient norm τ > 0 to reach, in units of J per unit of θ (not relative to anything).
    solver : {"newton", "newton-cholesky", "newton-cg", "lbfgs", "gradient-descent", "accelerated", "sag", "svrg"}
        "newton" is damped Newton, by Cholesky factorisation up to 4,096 parameters and by conjugate residuals beyond;
        "newton-cholesky" and "newton-cg" always take one of these two ways; "lbfgs" needs gradients only. The other
        solvers are those of Appendix F, with its bounds on gradient evaluations for fixed λ: O(n² log n), O(n^1.5 log
        n), and O(n log n) for "sag" and "svrg". They are slower than Newton's method wherever it fits in memory.
    max_iter : int
        Iterations at most. An iteration is a step that made progress for the Newton solvers and "lbfgs", a pass over
        the data with the check that follows for "sag" and "svrg", and one gradient for "gradient-descent" and
        "accelerated", which may take 100 · max_iter of them.
    callback : callable, optional
        ``callback(iteration, gradient_norm)``; an exception raised in it ends the run and is passed on. The
        norms depend on the data and are outside every privacy guarantee.
    radius : float > 0, optional
        M: minimise over the ball ‖θ‖ ≤ M. There τ bounds the gradient of J + ν/2 ‖θ‖², for a ν ≥ 0 that is found and
        reported; `residual_bound` certifies the result. `max_iter` then limits all the solves together.

    Examples
    --------
    >>> from objpert_core.learning.problem.objective import PerturbedObjective
    >>> from objpert_core.learning.problem.rows import Rows
    >>> rows = Rows(np.array([[1.0], [-1.0]]), "clip")
    >>> result = solve(PerturbedObjective(rows, np.array([1.0, -1.0]), 1.0, np.zeros(1)), tau=1e-9)
    >>> result.converged, round(float(result.theta[0]), 6), result.gradient_evaluations
    (True, 0.674832, 18)
    """
    choice("solver", solver, tuple(SOLVERS))
    limit = positive_integer("max_iter", max_iter) * CHEAP_STEPS.get(solver, 1)
    run, tau = SOLVERS[solver], positive("tau", tau)
    zero = np.zeros(problem.dimension)
    if radius is None:
        return _run(problem, zero, run, solver, tau, limit, callback)

    def one(pulled: Problem, start: FloatArray, tau: float, spent: int) -> SolverResult:
        def heard(iteration: int, norm: float) -> None:
            if callback is not None and (iteration or not spent):  # one start for all the solves
                callback(spent + iteration, norm)

        # From next to the minimum SAG's first pass leads away, and its steps stay as short as that made them.
        start = zero if run is sag else start
        return _run(pulled, start, run, solver, tau, max(limit - spent, 1), heard)

    return solve_in_ball(problem, radius, tau, one)


def solve_surely(
    problem: Problem, *, tau: float, callback: Callback | None = None, radius: float | None = None
) -> SolverResult:
    """Minimise `problem` from θ = 0 by the one method whose number of steps has a bound for all data.

    Arguments as for `solve`. In exact arithmetic it converges within a million steps (docs/theorems.md, T23 and T26).
    """
    if radius is not None:
        return sure_in_ball(problem, radius, positive("tau", tau), callback)
    start = np.zeros(problem.dimension)
    return _run(problem, start, sure, "sure", positive("tau", tau), MOST_SURE_STEPS, callback)


def _run(
    problem: Problem, start: FloatArray, solver: Solver, name: str, tau: float, limit: int, callback: Callback | None
) -> SolverResult:
    counted = CountedProblem(problem)
    progress = Progress(tau, limit, counted, callback)
    theta = solver(counted, start, progress)
    gradient, _ = counted.gradient(theta)
    norm = float(np.linalg.norm(gradient))
    return SolverResult(
        theta=theta,
        gradient_norm=norm,
        converged=norm <= tau,
        solver=name,
        **progress.told(),
    )
