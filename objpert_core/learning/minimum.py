"""How the search for a minimum ends at τ: which solvers have a try, and what bounds the gradient where they stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from objpert_core._literals import plain
from objpert_core._validation import FloatArray
from objpert_core.learning.problem.codes import CodedRows
from objpert_core.learning.problem.fine import fine
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import UNIT, fine_norm_bound, gradient_norm_bound, gradient_norm_bounds
from objpert_core.learning.problem.streamed import StreamedObjective
from objpert_core.learning.solvers import (
    MAX_CHOLESKY_DIMENSION,
    Callback,
    SolverResult,
    onto_sphere,
    residual_bound,
    solve,
    solve_surely,
    solve_together,
)
from objpert_core.learning.solvers.batched_newton import solve_streamed

_SURELY_FINE = 4 * 10**6  # walked rows, from which on the quick bound on rounding is not worth a walk
_MUCH = 2**21  # numbers in the rows, from which on it pays to read them in single precision first


class Found(NamedTuple):
    """Where a solver stopped; `norm` bounds the exact gradient, or the residual, at that place."""

    result: SolverResult
    norm: float


Objective = PerturbedObjective | StreamedObjective
Judged = Callable[[Any, SolverResult], Found]
"""Where a solver stopped, with the first bound that is within τ, or else with the closest."""


@dataclass(frozen=True)
class Search:
    """The search of one fit; where it is `sure`, it ends within τ for all data (docs/theorems.md, T23)."""

    solver: str = "newton"
    max_iter: int = 1000
    callback: Callback | None = None
    sure: bool = False

    def found(
        self, objective: Objective, tau: float, added: float, radius: float | None = None, given: Found | None = None
    ) -> Found:
        """Where to stop, and a bound there on the gradient's norm, or the residual's, with what is `added` to it."""

        def judged(problem: Objective, result: SolverResult) -> Found:
            for norm in _bounds(problem, result, radius):
                found = Found(result, _with(added, norm))
                if found.norm <= tau:
                    break
            return found

        if isinstance(objective, StreamedObjective):
            if radius is not None:
                raise ValueError(f"radius must be None for Blocks, got {radius!r}")
            told: dict[str, Any] = {"max_iter": self.max_iter, "callback": self.callback}

            def attempt() -> Found:
                return judged(objective, solve_streamed(objective, tau=tau / 2, **told))

        else:

            def attempt() -> Found:
                return self._attempt(objective, tau, added, radius, given, judged)

        return self._surely(objective, tau, radius, attempt, judged) if self.sure else attempt()

    def _attempt(
        self,
        objective: PerturbedObjective,
        tau: float,
        added: float,
        radius: float | None,
        given: Found | None,
        judged: Judged,
    ) -> Found:
        """What quick passes find where they pay, and else this search's own solver, of rows in memory."""
        start = self._roughly(objective, tau) if given is None and radius is None else given
        if start is not None:
            found = Found(start.result, _with(added, start.norm))
            if not found.norm <= tau and start.result.converged:
                found = judged(objective, start.result)
            if found.norm <= tau:
                return found
        told: dict[str, Any] = {"solver": self.solver, "max_iter": self.max_iter, "callback": self.callback}
        told |= {"tau": tau / 2, "radius": radius}
        found = judged(objective, solve(objective, **told))
        if not found.norm <= tau and not found.result.exhausted:  # of very many rows long sums have too few digits
            found = min(found, judged(objective, solve(fine(objective), **told)), key=lambda one: one.norm)
        return found

    def _surely(
        self, objective: Any, tau: float, radius: float | None, attempt: Callable[[], Found], judged: Judged
    ) -> Found:
        """What an attempt finds, or a slower solver, or last the answer for no data."""
        nothing = objective.without_rows()
        spare = judged(nothing, _minimum_of_tilt(nothing, tau / 2, radius))
        if not objective.n_rows or not spare.norm <= tau:
            return spare
        if (found := attempt()).norm <= tau:
            return found
        for problem in (objective, fine(objective)):
            found = judged(objective, solve_surely(problem, tau=tau / 2, callback=self.callback, radius=radius))
            if found.norm <= tau:
                return found
        return spare

    def _roughly(self, objective: PerturbedObjective, tau: float) -> Found | None:
        """What the solver for several draws finds for one, where so many numbers make its first passes pay."""
        large = objective.n_rows * objective.dimension >= _MUCH and not objective.rows.sparse
        if not large or self.solver != "newton" or objective.dimension > MAX_CHOLESKY_DIMENSION:
            return None
        if np.ndim(objective.lam):
            return None
        (result,) = solve_together([objective], tau=tau / 2, max_iter=self.max_iter, callback=self.callback)
        return Found(result, result.bound(objective))

    def why_not(self, result: SolverResult, reached: float, tau: float) -> str:
        """The sentence of the error where the search did not end within τ."""
        if result.exhausted:
            advice = f"raise max_iter above {self.max_iter} or try another solver"
        else:
            norm = f"{reached:.3g}"
            advice = f"tau is too small for these data in double precision: with all rounding the norm may be {norm}"
        return (
            f"solver {result.solver!r} reached gradient norm {result.gradient_norm:.3g} in {result.iterations} "
            f"iterations, but the privacy proof needs tau = {plain(tau)}; nothing was released ({advice})"
        )


def _with(added: float, norm: float) -> float:
    return (norm + added) * (1 + 8 * UNIT)  # roundings of both


def _bounds(problem: Objective, result: SolverResult, radius: float | None) -> Iterator[float]:
    """Bounds on the gradient's norm where a solver stopped, or the residual's, each closer and dearer."""
    theta = result.theta
    if isinstance(problem, StreamedObjective):
        yield result.bound(problem)
        if result.converged and (problem.n_rows < _SURELY_FINE or isinstance(problem.sample.rows, CodedRows)):
            yield gradient_norm_bounds([problem], theta[None])[0]
        with np.errstate(all="ignore"):
            yield fine_norm_bound(problem, theta)
        return
    for rows in (lambda: problem, lambda: fine(problem)):
        if radius is None:
            yield gradient_norm_bound(rows(), theta)
        else:
            yield residual_bound(rows(), theta, result.multiplier, radius)


def _minimum_of_tilt(objective: PerturbedObjective, tau: float, radius: float | None) -> SolverResult:
    """Minimise θᵀΛθ/2 + bᵀθ, an objective without rows, in closed form; but for a matrix Λ in a ball, to τ."""
    if np.ndim(objective.lam) == 0:
        theta: FloatArray = -objective.linear / objective.lam
    else:
        theta = np.linalg.solve(np.asarray(objective.lam), -objective.linear)
    multiplier = 0.0
    if radius is not None and float(np.linalg.norm(theta)) > radius:
        if np.ndim(objective.lam):
            return solve_surely(objective, tau=tau, radius=radius)
        theta = onto_sphere(theta, radius)
        multiplier = max(0.0, float(np.linalg.norm(objective.linear)) / radius - float(objective.lam))
    norm = float(np.linalg.norm(objective.tilt(theta) + multiplier * theta))
    return SolverResult(
        theta=theta,
        gradient_norm=norm,
        converged=True,
        iterations=0,
        trace=((0, norm),),
        gradient_evaluations=0,
        exhausted=False,
        solver="closed form",
        multiplier=multiplier,
    )
