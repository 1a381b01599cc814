"""Several private fits of the same rows that differ by their noise alone, so that they can share their work.

Every draw costs what a fit by itself costs. The noise of one may have a part in the θ of another, but each θ is within
τ/λ of its own minimum, and the output noise covers that distance (docs/theorems.md, T44).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from objpert_core.accounting import IntervalNoise, Mechanism, RangeNoise, Standardisation
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.steps.class_counts import ClassCounts
from objpert_core.accounting.steps.curvature import NO_INTERVALS
from objpert_core.accounting.steps.standardisation import AS_THEY_ARE
from objpert_core.accounting.terms import Terms
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.fit import Fit, Noise, Problem, Seed
from objpert_core.learning.minimum import Found
from objpert_core.learning.problem.lanes import all_cores
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.mapped_rows import Images
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import gradient_norm_bound
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.release import Release
from objpert_core.learning.solvers import MAX_CHOLESKY_DIMENSION, solve, solve_family, solve_together
from objpert_core.learning.standardisation import Directions, RowMap
from objpert_core.learning.steps.ranges import WITHIN
from objpert_core.learning.steps.stated import stated as stated_steps

_SHARED_SOLVERS = (
    "newton",
    "newton-cholesky",
)  # whose results `solve_together` may give; others were asked for by name
_MOST_NUMBERS = 2**26  # in the rows, 0.5 GB: of more than that draws make no second copy to share


class Draws:
    """Fits of the same problem under the same terms, one for each random state; errors as in `Fit`."""

    def __init__(self, problem: Problem, terms: Terms, random_states: Sequence[Seed]) -> None:
        solving, self._classes = problem.solving, problem.targets if problem.of_classes else None
        state, *others = random_states
        first = self._first(problem, state)
        self._terms = terms
        self._plan, self._range_noise = terms.step(Standardisation) or AS_THEY_ARE, terms.step(RangeNoise)
        self._intervals, self._counts = terms.step(IntervalNoise) or NO_INTERVALS, terms.step(ClassCounts)
        # No row is shortened where intervals are about rows as they are, or where rows keep their lengths for a map.
        clips = solving.get("row_norm") == "clip"
        self._unclipped = self._intervals != NO_INTERVALS or (clips and self._plan != AS_THEY_ARE)
        if problem.ranges is not None and self._range_noise is None:
            first.cut_to(problem.ranges, unclipped=self._unclipped)
        first = first.weighing(problem.weights)
        self.fits = [first, *(first.drawing_from(state) for state in others)]
        self._states = random_states
        self._solver = solving.get("solver", "newton")
        self._max_iter, self._callback = solving.get("max_iter", 1000), solving.get("callback")
        self._row_norm = solving.get("row_norm", "normalize")
        self._known, noise = problem.ranges, self._range_noise
        parts = [word for word, part in (("public", problem.ranges), ("private", noise)) if part is not None]
        limited = noise is not None and noise.magnitudes is None
        self._cut = WITHIN if limited else " and ".join(parts) or None
        self._public_rows = self.rows_given if terms.public_rows is None else terms.public_rows

    def _first(self, problem: Problem, state: Seed) -> Fit:
        targets = problem.targets if self._classes is None else self._classes[0]
        return Fit(problem.X, targets, problem.loss, random_state=state, **problem.solving)

    @property
    def rows(self) -> Rows:
        """The rows that all fits share, as they are before centring and scaling."""
        return self.fits[0].rows

    @property
    def rows_given(self) -> int:
        """The number of rows that were given, unusable ones included."""
        return self.fits[0].rows_given

    @all_cores()
    def release(
        self, mechanism: Mechanism, noise: Noise, loss: Callable[[Rows], Loss], /, **facts: Any
    ) -> list[Release[Any]]:
        """Release every draw; `loss` gives the loss on the rows that are learned from."""
        facts |= _stated(self._terms) | ({} if self._cut is None else {"feature_ranges": self._cut})
        if (counts := self._counts) is not None:
            classes = None if self._classes is None else list(self._classes)
            self.fits = [fit.balanced(classes, counts.noise) for fit in self.fits]
        releases: list[Release[Any]] = []
        try:
            if self._classes is not None:
                for shared in self.fits:
                    fit = self._with_map(shared)
                    released = fit.release_several(
                        mechanism, list(self._classes), noise.perturb, self._loss(loss, fit), **noise.asked, **facts
                    )
                    releases.append(released)
                return releases
            for fit, perturbation, own_loss, found in self._prepared(noise, loss):
                releases.append(
                    fit.release(
                        mechanism,
                        perturbation,
                        own_loss,
                        **noise.asked,
                        found=found,
                        intervals=self._intervals,
                        **facts,
                    )
                )
        except ConvergenceError as error:
            if len(self.fits) == 1:
                raise
            raise ConvergenceError(f"with random_state={self._states[len(releases)]!r}: {error}") from error
        return releases

    def _loss(self, loss: Callable[[Rows], Loss], fit: Fit) -> Any:
        return loss(fit.rows)

    def _with_map(self, shared: Fit) -> Fit:
        """A fit of its own, of rows whose ranges, centre and scales it has released."""
        fit = copy(shared)
        fit.find_ranges(self._range_noise, self._public_rows, known=self._known, unclipped=self._unclipped)
        fit.standardise(self._plan, self._public_rows)
        return fit

    def _prepared(
        self, noise: Noise, loss: Callable[[Rows], Loss]
    ) -> Iterator[tuple[Fit, Perturbation, Loss, Found | None]]:
        """Every draw's fit, perturbation and loss, and what a shared solver has found for it."""
        if self._plan != AS_THEY_ARE or self._range_noise is not None:
            yield from self._mapped(noise, loss)
            return
        same = loss(self.rows)
        drawn = [noise.perturb(fit.source) for fit in self.fits]
        objectives = [fit.objective(perturbation, same) for fit, perturbation in zip(self.fits, drawn, strict=True)]
        found = self._together(objectives, noise.tau) if noise.radius is None else [None] * len(drawn)
        for fit, perturbation, own in zip(self.fits, drawn, found, strict=True):
            yield fit, perturbation, same, own

    def _mapped(
        self, noise: Noise, loss: Callable[[Rows], Loss]
    ) -> Iterator[tuple[Fit, Perturbation, Loss, Found | None]]:
        """As `_prepared`, for rows that are mapped privately: directions are shared, and a solver where it can be."""
        if not self._may_share(noise.radius):
            for shared in self.fits:
                fit = self._with_map(shared)
                yield fit, noise.perturb(fit.source), loss(fit.rows), None
            return
        directions = Directions(self.rows)
        maps = [directions.release(self._plan, fit.source, self._public_rows) for fit in self.fits]
        drawn = [noise.perturb(fit.source) for fit in self.fits]
        first = self.fits[0].learning_from(maps[0], directions.learned(maps[0]))
        found = self._found_by_maps(first.objective(drawn[0], loss(first.rows)), maps, drawn, noise.tau)
        del first  # and its rows
        for shared, row_map, perturbation, own in zip(self.fits, maps, drawn, found, strict=True):
            fit = shared.learning_from(row_map, directions.learned(row_map))
            yield fit, perturbation, loss(fit.rows), own

    def _may_share(self, radius: float | None) -> bool:
        """Whether directions are to be shared; rows that cannot be mapped are left for each fit to refuse."""
        rows = self.rows
        centred = self._plan.center_noise is not None
        fits = rows.matrix.nnz if rows.sparse else rows.n_rows * rows.n_features
        return (
            len(self.fits) > 1
            and self._range_noise is None
            and rows.n_rows > 0
            and radius is None
            and self._row_norm == "normalize"
            and not (rows.sparse and centred)
            and fits <= _MOST_NUMBERS
        )

    def _found_by_maps(
        self, first: PerturbedObjective, maps: Sequence[RowMap], drawn: Sequence[Perturbation], tau: float
    ) -> Sequence[Found | None]:
        """What one solver finds for objectives that differ by a map and a linear term, or Nones."""
        none = [None] * len(drawn)
        alike = all(np.ndim(one.quadratic) == 0 and one.quadratic == drawn[0].quadratic for one in drawn)
        cannot = self._solver not in _SHARED_SOLVERS or first.dimension > MAX_CHOLESKY_DIMENSION
        if cannot or not alike or first.loss.part(slice(0, 1)) is not first.loss:
            return none
        zeros, ones = np.zeros(first.rows.n_features), np.ones(first.rows.n_features)
        images = Images(
            first,
            self.rows,
            np.array([zeros if one.center is None else one.center for one in maps]),
            np.array([ones if one.scale is None else one.scale for one in maps]),
            np.array([np.zeros(first.dimension) if one.linear is None else one.linear for one in drawn]),
        )
        results = solve_family(images, tau=tau / 2, max_iter=self._max_iter, callback=self._callback)
        return [Found(result, result.bound(one)) for one, result in zip(images.objectives, results, strict=True)]

    def _together(self, objectives: Sequence[PerturbedObjective], tau: float) -> Sequence[Found | None]:
        """What one solver finds for all objectives; None for each where they have to be solved one by one."""
        one, count = objectives[0], len(objectives)
        alike = all(np.ndim(other.lam) == 0 and other.lam == one.lam for other in objectives)
        alike = alike and self._counts is None  # whose noise gives every draw weights of its own
        if count == 1 or not one.n_rows or not alike:
            return [None] * count
        told: dict[str, Any] = {"tau": tau / 2, "max_iter": self._max_iter, "callback": self._callback}
        if all(np.array_equal(other.linear, one.linear) for other in objectives):
            result = solve(one, solver=self._solver, **told)
            return [Found(result, gradient_norm_bound(one, result.theta))] * count
        if self._solver not in _SHARED_SOLVERS or one.dimension > MAX_CHOLESKY_DIMENSION:
            return [None] * count
        results = solve_together(objectives, **told)
        return [Found(result, result.bound(one)) for one, result in zip(objectives, results, strict=True)]


def _stated(terms: Terms) -> dict[str, Any]:
    """The fields in which a certificate states the terms, but for ε; some kinds have no field for what is left out."""
    stated: dict[str, Any] = {
        "delta": terms.delta,
        "accountant": terms.accountant,
        "public_rows": terms.public_rows,
        "rows_declared": None if terms.public_rows is None else terms.rows_declared,
        "rows_per_person": terms.rows_per_person,
    }
    stated |= stated_steps(terms.steps)
    if terms.fits > 1:
        stated["rest_weight"] = terms.rest_weight
    return stated
