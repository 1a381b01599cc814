"""Objectives about the same rows, solved together: one pass over the rows serves all of them.

They differ by their linear term, or also by a map of the rows. From the factorised Hessian at one's minimum each goes
its own way by quasi-Newton steps (BFGS). Where the last pass has bounded a gradient, the bound comes with its θ and its
objective from `problem.rounding`; elsewhere the caller has it bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import compress
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from objpert_core._validation import FloatArray, IntArray
from objpert_core.learning.problem.codes import CodedRows
from objpert_core.learning.problem.mapped_rows import Images
from objpert_core.learning.problem.objective import LossPart, PerturbedObjective
from objpert_core.learning.problem.rounding import Look, looks
from objpert_core.learning.problem.single_precision import bears_roughness, rough, roughness
from objpert_core.learning.problem.streamed import StreamedObjective
from objpert_core.learning.solvers.progress import Callback, CountedProblem, Progress, SolverResult
from objpert_core.learning.solvers.second_order import factorised, newton_cholesky

_BLOCK = 2048  # rows that a pass takes at once: they and their scores stay in the cache
_MEMORY = 20  # steps that an objective's model of the Hessian remembers
_PATIENCE = 6  # passes without progress after which an objective is given up
_MOST = 60  # passes at most: where they do not suffice, one objective at a time is the better way
_CENTRE = 0.3  # the common start has a gradient no shorter than that, relative to the shortest linear term
_MOST_TO_CENTRE = 40  # iterations to the common start at most
_SAMPLE_ROWS = 40  # sampled rows per parameter,
_SAMPLE_CODES = 20  # fewer where passes over all rows cost little beside a Hessian
_RIDGE = 0.125  # a sampled row's penalty at least, relative to its curvature: few rows fit some columns too well
_SAMPLED = 1e-2  # of the first gradient: the minimum of a sample is not worth more
_NEAR = 5e-3  # of the first gradient, from where all rows' Hessian is worth its price
_SLOW = 5  # passes, after which the Hessians are learned anew
_ENOUGH = 2  # walks by the Hessian of some rows, after which all rows' is worth its price,
_SMALL = 400  # up to so many parameters: it costs about as much as D/400 walks


@dataclass(frozen=True, eq=False)
class SameRows:
    """Objectives of the same rows that differ in `linear` alone, or one whose rows are walked, as a search asks
    them."""

    objectives: Sequence[Any]

    @cached_property
    def base(self) -> PerturbedObjective:
        """The first objective."""
        first, *others = self.objectives
        return replace(first, linear=np.zeros(first.dimension)) if others else first

    @property
    def exact(self) -> Any:
        """The same."""
        return self.base

    @cached_property
    def linears(self) -> FloatArray:
        """The linear term of each."""
        return np.array([objective.linear for objective in self.objectives])

    def models(self, problem: PerturbedObjective, centre: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """Where each search begins, shape (k, D), and upper triangles of the Hessians about there: one for all."""
        return np.tile(centre, (len(self.linears), 1)), self.hessians(problem, centre[None])

    def hessians(self, problem: PerturbedObjective, thetas: FloatArray) -> list[FloatArray]:
        """Upper triangles of the Hessians at the points where the objectives are; at the first of them, for all."""
        return [problem.hessian(problem.gradient(thetas[0])[1])]

    @staticmethod
    def gradients(part: LossPart, thetas: FloatArray, which: IntArray) -> FloatArray:
        """The gradients of the losses of some objectives, each at its own point: two products of matrices."""
        return part.combine(part.slopes(thetas))

    def looks(self, thetas: FloatArray, which: IntArray, size: int) -> list[Look]:
        """What a pass over the rows of `exact` finds at each point; see `rounding.looks`."""
        return looks([self.objectives[k] for k in which], thetas, size)


Family = SameRows | Images


def solve_together(
    objectives: Sequence[PerturbedObjective], *, tau: float, max_iter: int, callback: Callback | None = None
) -> list[SolverResult]:
    """Minimise each objective until ‖∇J‖₂ ≤ τ, or for as long as the gradients get shorter.

    Nocedal and Wright (2006), Numerical Optimization, Algorithm 7.4 (products with the inverse Hessian).

    The objectives differ in `linear` alone, and `lam` is a number; the Hessian has to fit in memory. `max_iter` counts
    the iterations of each, those to the common start included. ``callback(iteration, gradient_norm)`` gets the longest
    gradient after every pass.

    >>> from objpert_core.learning.problem.rows import Rows
    >>> rows, targets = Rows(np.array([[1.0], [-1.0]]), "clip"), np.array([1.0, -1.0])
    >>> several = [PerturbedObjective(rows, targets, 1.0, np.array([b])) for b in (0.0, 0.5)]
    >>> [round(float(result.theta[0]), 6) for result in solve_together(several, tau=1e-9, max_iter=100)]
    [0.674832, 0.33436]
    """
    return solve_family(SameRows(objectives), tau=tau, max_iter=max_iter, callback=callback)


def solve_family(family: Family, *, tau: float, max_iter: int, callback: Callback | None = None) -> list[SolverResult]:
    """As `solve_together`, for objectives that may also differ by a map of their rows; λ is one number for all."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite will not pass for a minimum
        return _solved(family, tau, max_iter, callback)


def _solved(family: Family, tau: float, max_iter: int, callback: Callback | None) -> list[SolverResult]:
    base, linears = family.base, family.linears
    quick = rough(base) if bears_roughness(base) else base
    near = tau if len(linears) == 1 else max(tau, _CENTRE * float(np.linalg.norm(linears, axis=1).min()))
    if quick is not base:
        near = max(near, roughness(base, 1.0))
    centre, search = _centre(quick, near, _Search(max_iter, callback))
    starts, hessians = family.models(quick, centre)
    draws, exact = _Draws(family, starts, hessians, search), family.exact
    if quick is not exact:
        goal = max(tau, roughness(exact, float(np.linalg.norm(centre))))
        each_its_own = len(hessians) == len(linears)
        gradients = draws.approach(quick, goal, most=_SLOW if each_its_own else _MOST)
        if each_its_own and np.linalg.norm(gradients, axis=1).max() > goal:
            draws.renew(quick)
            gradients = draws.approach(quick, goal)
        draws.leap(gradients)
        quick = base = exact  # the copy in single precision gives way to rows that may only now be made
    _ = exact.rows.matrix
    draws.approach(exact, tau)
    return draws.results(tau)


def solve_streamed(
    problem: StreamedObjective, *, tau: float, max_iter: int, callback: Callback | None = None
) -> SolverResult:
    """As `solve_together` for one objective whose rows are walked: by the Hessian of some rows, then of all."""
    search, sample, scale = _Search(max_iter, callback), problem.sample, problem.scale
    counted, zero = CountedProblem(sample), np.zeros(problem.dimension)
    first = float(np.linalg.norm(sample.gradient(zero)[0]))
    progress = Progress(max(tau / scale, _SAMPLED / 10 * first), min(max_iter, _MOST_TO_CENTRE), counted)
    start = newton_cholesky(counted, zero, progress)
    search.passes = progress.iterations
    search.trace = [(count, scale * norm) for count, norm in zip(progress.evaluations, progress.norms, strict=True)]
    hessian = sample.hessian(sample.gradient(start)[1])
    hessian *= scale
    draws = _Draws(SameRows([problem]), start[None], [hessian], search)
    with np.errstate(over="ignore", invalid="ignore"):
        small = problem.dimension <= _SMALL
        gradients = draws.approach(problem, tau, most=_ENOUGH if small else _MOST)
        (result,) = draws.results(tau)
        if small and not (result.converged or result.exhausted):
            (_, before), (_, norm) = result.trace[-2:]
            draws.leap(gradients)
            draws.approach(problem, tau, anew=norm**2 > tau * before)  # else the next walk will do
            (result,) = draws.results(tau)
        if not (result.converged or result.exhausted):
            draws.approach(problem, tau, anew=True)
            (result,) = draws.results(tau)
    return result


@dataclass
class _Search:
    """How far a search has come: its passes, and the trace of what it found."""

    limit: int
    callback: Callback | None
    passes: int = 0
    trace: list[tuple[int, float]] = field(default_factory=list)


def _centre(problem: PerturbedObjective, near: float, search: _Search) -> tuple[FloatArray, _Search]:
    """A point where the gradient is as short as `near`, or a small part of what it was, and the search up to there."""
    sampled = _SAMPLE_CODES if isinstance(problem.rows, CodedRows) else _SAMPLE_ROWS
    stride = max(1, problem.n_rows // (sampled * problem.dimension))
    sample = problem.sampled(stride)
    if stride > 1:
        sample = replace(sample, lam=max(sample.lam, _RIDGE * problem.loss.smoothness))
    counted, zero = CountedProblem(sample), np.zeros(problem.dimension)
    first = float(np.linalg.norm(sample.gradient(zero)[0]))

    def heard(iteration: int, norm: float) -> None:
        if search.callback is not None:
            search.callback(iteration, stride * norm)

    limit = min(search.limit, _MOST_TO_CENTRE)
    progress = Progress(max(near / stride, _SAMPLED * first), limit, counted, heard)
    start = newton_cholesky(counted, zero, progress)
    search.passes = progress.iterations
    search.trace = [(count, stride * norm) for count, norm in zip(progress.evaluations, progress.norms, strict=True)]
    if stride == 1:
        return start, search
    hessian = sample.hessian(sample.gradient(start)[1])
    hessian *= stride
    alone = _Draws(SameRows([problem]), start[None], [hessian], search)
    alone.approach(problem, max(near, _NEAR * stride * first))
    return alone.first(), search


class _Draws:
    """Where each of k objectives is, and what its steps so far tell of its Hessian."""

    def __init__(self, family: Family, starts: FloatArray, hessians: list[FloatArray], search: _Search) -> None:
        self._family, self._thetas, self._search = family, starts.copy(), search
        self._factors = [factorised(hessian) for hessian in hessians]
        self._traces = [list(search.trace) for _ in family.linears]
        self._steps: deque[tuple[FloatArray, FloatArray, FloatArray]] = deque(maxlen=_MEMORY)
        self._most = min(search.limit, search.passes + _MOST)
        self._looks: list[Look | None] = [None] * len(starts)

    def first(self) -> FloatArray:
        """Where the first objective is; the search goes on with its trace."""
        self._search.trace = self._traces[0]
        return self._thetas[0]

    def approach(self, problem: Any, goal: float, *, most: int = _MOST, anew: bool = False) -> FloatArray:
        """Step until each gradient is as short as `goal` or gets no shorter, `most` passes; return the gradients."""
        count, n = len(self._thetas), problem.n_rows
        most = min(self._most, self._search.passes + most)
        first, hessian = problem.with_hessian(self._thetas[0]) if anew else (problem, None)

        def gradients_at(
            thetas: FloatArray, which: IntArray, problem: Any = problem
        ) -> tuple[FloatArray, Sequence[Look | None]]:
            if problem.rows is self._family.exact.rows:
                found = self._family.looks(thetas, which, _BLOCK)
                return np.array([look.gradient for look in found]), found
            gradients = partial(self._family.gradients, thetas=thetas, which=which)
            losses, _ = problem.summed(gradients, _BLOCK, points=len(thetas))
            return np.asarray(losses + problem.lam * thetas + self._family.linears[which]), [None] * len(which)

        gradients, self._looks[:] = gradients_at(self._thetas, np.arange(count), first)
        if hessian is not None:
            self._learn([hessian])
        norms = np.linalg.norm(gradients, axis=1)
        self._write_down(norms, range(count), n)
        lengths, rejected = np.ones(count), np.zeros(count, dtype=np.intp)
        while self._search.passes < most:
            which = np.flatnonzero((norms > goal) & (rejected < _PATIENCE))
            if not len(which):
                break
            steps = np.zeros_like(gradients)
            steps[which] = lengths[which, None] * self._directions(gradients)[which]
            candidates = self._thetas[which] + steps[which]
            changes = np.zeros_like(gradients)
            found, seen = gradients_at(candidates, which)
            changes[which] = found - gradients[which]
            self._remember(steps, changes)
            new_norms = np.linalg.norm(found, axis=1)
            better = new_norms <= (1 - 1e-4 * lengths[which]) * norms[which]
            moved, stayed = which[better], which[~better]
            for draw, look in compress(zip(which, seen, strict=True), better):
                self._looks[draw] = look
            self._thetas[moved], gradients[moved], norms[moved] = candidates[better], found[better], new_norms[better]
            lengths[moved], rejected[moved] = 1.0, 0
            lengths[stayed] /= 2
            rejected[stayed] += 1
            self._write_down(norms, moved, n)
        return gradients

    def _write_down(self, norms: FloatArray, which: Iterable[int], rows: int) -> None:
        """Count a pass, and add the norms found in it to the traces of those that moved."""
        self._search.passes += 1
        for draw in which:
            trace = self._traces[draw]
            trace.append((trace[-1][0] + rows, float(norms[draw])))
        if self._search.callback is not None:
            self._search.callback(self._search.passes, float(norms.max()))

    def renew(self, problem: PerturbedObjective) -> None:
        """Learn the Hessians anew."""
        self._learn(self._family.hessians(problem, self._thetas))

    def _learn(self, hessians: list[FloatArray]) -> None:
        self._factors = [factorised(hessian) for hessian in hessians]
        self._steps.clear()

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
        """−H⁻¹∇J of each objective, by the Hessian at the start and its own steps."""
        left, shares = gradients.copy(), []
        for steps, changes, weights in reversed(self._steps):
            share = weights * np.einsum("ij,ij->i", steps, left)
            left -= share[:, None] * changes
            shares.append(share)
        if len(self._factors) == 1:
            found = cho_solve(self._factors[0], left.T, check_finite=False).T
        else:
            pairs = zip(self._factors, left, strict=True)
            found = np.array([cho_solve(factor, line, check_finite=False) for factor, line in pairs])
        for (steps, changes, weights), share in zip(self._steps, reversed(shares), strict=True):
            found += (share - weights * np.einsum("ij,ij->i", changes, found))[:, None] * steps
        return np.asarray(-found)

    def results(self, tau: float) -> list[SolverResult]:
        """What was found, each with its trace."""
        return [
            SolverResult(
                theta=theta if look is None else look.theta,
                look=look,
                gradient_norm=trace[-1][1],
                converged=trace[-1][1] <= tau,
                iterations=len(trace) - 1,
                trace=tuple(trace),
                gradient_evaluations=trace[-1][0],
                exhausted=self._search.passes >= self._most,
                solver="together",
            )
            for theta, trace, look in zip(self._thetas, self._traces, self._looks, strict=True)
        ]
