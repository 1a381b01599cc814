"""Objectives that differ by their linear term alone, solved together: one pass over the rows serves all of them.

First the minimum without any linear term is found, and the Hessian there is factorised. From there every objective goes
its own way by quasi-Newton steps, which start from that one Hessian and learn from their own gradients (BFGS). A pass
multiplies the rows by a matrix, all points at once. As long as single precision tells better from worse it is used.

Nobody has to trust what comes out: the gradient at each point is for the caller to check.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import cho_solve

from objpert_core._validation import FloatArray, IntArray
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rough import bears_roughness, rough, roughness
from objpert_core.learning.solvers.progress import Callback, CountedProblem, Progress, SolverResult
from objpert_core.learning.solvers.second_order import factorise, newton_cholesky

_BLOCK = 2048  # rows that a pass takes at once: they and their scores stay in the cache
_MEMORY = 20  # steps that an objective's model of the Hessian remembers
_PATIENCE = 6  # passes without progress after which an objective is given up
_MOST = 60  # passes at most: where they do not suffice, one objective at a time is the better way
_CENTRE = 0.3  # the common start has a gradient that short, relative to the shortest linear term
_MOST_TO_CENTRE = 40  # iterations to the common start at most


def solve_together(
    objectives: Sequence[PerturbedObjective], *, tau: float, max_iter: int, callback: Callback | None = None
) -> list[SolverResult]:
    """Minimise each objective until ‖∇J‖₂ ≤ τ, or for as long as that seems worth while.

    Parameters
    ----------
    objectives : sequence of PerturbedObjective
        They differ in `linear` alone; `lam` is a number. The Hessian has to fit in memory.
    tau : float
        The gradient norm τ > 0 to reach.
    max_iter : int
        Iterations of each at most, those to the common start included.
    callback : callable, optional
        ``callback(iteration, gradient_norm)`` after every pass, with the longest gradient.

    Returns
    -------
    list of SolverResult
        One for each objective, with ``converged=False`` where τ was not reached. Their `gradient_norm` is the last one
        that the solver has seen.

    Notes
    -----
    Nocedal and Wright (2006), Numerical Optimization, Algorithm 7.4 (products with the inverse Hessian).

    Examples
    --------
    >>> from objpert_core.learning.problem.rows import Rows
    >>> rows, targets = Rows(np.array([[1.0], [-1.0]]), "clip"), np.array([1.0, -1.0])
    >>> several = [PerturbedObjective(rows, targets, 1.0, np.array([b])) for b in (0.0, 0.5)]
    >>> [round(float(result.theta[0]), 6) for result in solve_together(several, tau=1e-9, max_iter=100)]
    [0.674832, 0.33436]
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite will not pass for a minimum
        return _solved(objectives, tau, max_iter, callback)


def _solved(
    objectives: Sequence[PerturbedObjective], tau: float, max_iter: int, callback: Callback | None
) -> list[SolverResult]:
    zero = np.zeros(objectives[0].dimension)
    exact = replace(objectives[0], linear=zero)
    quick = rough(exact) if bears_roughness(exact) else exact
    linears = np.array([objective.linear for objective in objectives])

    counted = CountedProblem(quick)
    near = max(tau, _CENTRE * float(np.linalg.norm(linears, axis=1).min()))
    if quick is not exact:
        near = max(near, roughness(exact, 1.0))
    progress = Progress(near, min(max_iter, _MOST_TO_CENTRE), counted, callback)
    centre = newton_cholesky(counted, zero, progress)
    draws = _Draws(centre, linears, factorise(counted, counted.gradient(centre)[1]), progress, max_iter)
    if quick is not exact:
        gradients = draws.approach(quick, max(tau, roughness(exact, float(np.linalg.norm(centre)))))
        draws.leap(gradients)
    draws.approach(exact, tau)
    return draws.results(tau)


class _Draws:
    """Where each of k objectives is, and what its steps so far tell of its Hessian."""

    def __init__(
        self, centre: FloatArray, linears: FloatArray, factor: tuple[FloatArray, bool], progress: Progress, limit: int
    ) -> None:
        self._linears, self._factor, self._progress = linears, factor, progress
        self._thetas = np.tile(centre, (len(linears), 1))
        self._traces = [list(zip(progress.evaluations, progress.norms, strict=True)) for _ in linears]
        self._steps: deque[tuple[FloatArray, FloatArray, FloatArray]] = deque(maxlen=_MEMORY)
        self._passes, self._most = progress.iterations, min(limit, progress.iterations + _MOST)

    def approach(self, problem: PerturbedObjective, goal: float) -> FloatArray:
        """Make steps until each gradient is as short as `goal`, or gets no shorter; return the gradients."""
        count, n = len(self._thetas), problem.n_rows
        parts = problem.parts(_BLOCK)

        def gradients_at(thetas: FloatArray, which: IntArray) -> FloatArray:
            losses = sum(part.combine(part.slopes(thetas)) for part in parts)
            return np.asarray(losses + problem.lam * thetas + self._linears[which])

        gradients = gradients_at(self._thetas, np.arange(count))
        norms = np.linalg.norm(gradients, axis=1)
        self._write_down(norms, range(count), n)
        lengths, rejected = np.ones(count), np.zeros(count, dtype=np.intp)
        while self._passes < self._most:
            which = np.flatnonzero((norms > goal) & (rejected < _PATIENCE))
            if not len(which):
                break
            steps = np.zeros_like(gradients)
            steps[which] = lengths[which, None] * self._directions(gradients)[which]
            candidates = self._thetas[which] + steps[which]
            changes = np.zeros_like(gradients)
            found = gradients_at(candidates, which)
            changes[which] = found - gradients[which]
            self._remember(steps, changes)
            new_norms = np.linalg.norm(found, axis=1)
            better = new_norms <= (1 - 1e-4 * lengths[which]) * norms[which]
            moved, stayed = which[better], which[~better]
            self._thetas[moved], gradients[moved], norms[moved] = candidates[better], found[better], new_norms[better]
            lengths[moved], rejected[moved] = 1.0, 0
            lengths[stayed] /= 2
            rejected[stayed] += 1
            self._write_down(norms, moved, n)
        return gradients

    def _write_down(self, norms: FloatArray, which: Iterable[int], rows: int) -> None:
        """Count a pass, and add the norms found in it to the traces of those that moved."""
        self._passes += 1
        for draw in which:
            self._traces[draw].append((self._traces[draw][-1][0] + rows, float(norms[draw])))
        if self._progress.callback is not None:
            self._progress.callback(self._passes, float(norms.max()))

    def leap(self, gradients: FloatArray) -> None:
        """Make a step without a look at where it leads."""
        self._thetas += self._directions(gradients)

    def _remember(self, steps: FloatArray, changes: FloatArray) -> None:
        """Keep what a step did to the gradient, where it tells of a positive curvature."""
        products = np.einsum("ij,ij->i", steps, changes)
        sizes = np.linalg.norm(steps, axis=1) * np.linalg.norm(changes, axis=1)
        told = products > 1e-12 * sizes
        self._steps.append((steps, changes, np.where(told, 1 / np.where(told, products, 1.0), 0.0)))

    def _directions(self, gradients: FloatArray) -> FloatArray:
        """−H⁻¹∇J of each objective, by the common Hessian and its own steps."""
        left, shares = gradients.copy(), []
        for steps, changes, weights in reversed(self._steps):
            share = weights * np.einsum("ij,ij->i", steps, left)
            left -= share[:, None] * changes
            shares.append(share)
        found = cho_solve(self._factor, left.T, check_finite=False).T
        for (steps, changes, weights), share in zip(self._steps, reversed(shares), strict=True):
            found += (share - weights * np.einsum("ij,ij->i", changes, found))[:, None] * steps
        return np.asarray(-found)

    def results(self, tau: float) -> list[SolverResult]:
        """What was found, each with its trace."""
        return [
            SolverResult(
                theta=theta,
                gradient_norm=trace[-1][1],
                converged=trace[-1][1] <= tau,
                iterations=len(trace) - 1,
                trace=tuple(trace),
                gradient_evaluations=trace[-1][0],
                exhausted=self._passes >= self._most,
                solver="together",
            )
            for theta, trace in zip(self._thetas, self._traces, strict=True)
        ]
