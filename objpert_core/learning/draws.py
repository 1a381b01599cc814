"""Several private fits of the same rows that differ by their noise alone, so that they can share their work.

Every draw costs what a fit by itself costs: each θ is within τ/λ of its own minimum (docs/theorems.md, T44).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from objpert_core.accounting import IntervalNoise, Mechanism, RangeNoise, Standardisation
from objpert_core.accounting.terms import Terms
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.fit import Fit, Noise, Problem, Ready, Seed
from objpert_core.learning.minimum import Found
from objpert_core.learning.problem.lanes import all_cores
from objpert_core.learning.problem.mapped_rows import Images
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import gradient_norm_bound
from objpert_core.learning.release import Release
from objpert_core.learning.row_sources import InMemory, LossOn, RowSource, linear_term
from objpert_core.learning.solvers import MAX_CHOLESKY_DIMENSION, solve, solve_family, solve_together
from objpert_core.learning.steps.base import PublicRows, kind_of
from objpert_core.learning.steps.ranges import PUBLIC, WITHIN, Ranges
from objpert_core.learning.steps.standardisation import RowMap
from objpert_core.learning.steps.stated import stated as stated_steps

_SHARED_SOLVERS = (
    "newton",
    "newton-cholesky",
)  # whose results `solve_together` may give; others were asked for by name
_MOST_NUMBERS = 2**26  # in the rows, 0.5 GB: of more than that draws make no second copy to share

OneFit = Generator[Ready, Found | None, Release[Any]]


def refuse_steps(problem: Problem, terms: Terms, kind: type[PrivacyCertificate]) -> None:
    """`ValueError` for steps, ranges and weights that certificates cannot name, or steps that suit no such fit."""
    facts = stated_steps(terms.steps) | ({"weighted": True} if problem.weighs else {})
    facts |= {} if not isinstance(problem.declared, Ranges) else {"feature_ranges": PUBLIC}
    if unnamed := sorted(set(facts).difference(item.name for item in fields(kind))):
        raise ValueError(
            f"steps, ranges and weights must be left out for a {kind.__name__}, which cannot name "
            f"{' and '.join(unnamed)}, got {facts!r}"
        )
    for step in terms.steps:
        if reason := kind_of(step).refused(step, problem, facts):
            raise ValueError(reason)


class Draws:
    """Fits of the same problem under the same terms, one for each random state; errors as in `Fit`."""

    def __init__(self, problem: Problem, terms: Terms, random_states: Sequence[Seed]) -> None:
        self._terms, self._states, self._declared = terms, random_states, problem.declared
        self._classes = len(problem.targets) if problem.of_classes else None
        state, *others = random_states
        rest: dict[str, Any] = {"weights": problem.weights, "random_state": state, **problem.solving}
        one = Fit(problem.X, problem.targets, problem.loss, **rest)
        # No row is shortened where intervals are about rows as they are, or where rows keep their lengths for a map.
        lengths = problem.solving.get("row_norm") == "clip" and terms.step(Standardisation) is not None
        rows, declared, unclipped = one.data, problem.declared, lengths or terms.step(IntervalNoise) is not None
        if declared is not None and terms.step(RangeNoise) is None:
            declared = declared.unclipped() if unclipped else declared
            one.data = rows.seen_through(declared)
        self.fits = [one, *(one.drawing_from(state) for state in others)]
        self._public = PublicRows(
            terms.public_rows,
            rows.n_features,
            rows.sparse,
            self._classes or 2,
            rows.row_norm,
            rows.constant,
            unclipped,
            () if declared is None else (declared,),
        )

    @property
    def rows(self) -> RowSource:
        """The rows that all fits share, as they are before any step."""
        return self.fits[0].data

    @property
    def features(self) -> int:
        """How many columns the rows have that are learned from; about as many, where a step decides."""
        known = None if self._declared is None else self._declared.features
        return self.rows.n_features if known is None else known

    @all_cores()
    def release(self, mechanism: Mechanism, noise: Noise, loss: LossOn, /, **facts: Any) -> list[Release[Any]]:
        """Release every draw; `loss` gives the loss on the rows that are learned from."""
        facts |= _stated(self._terms) | self._stated_ranges()
        told = self._terms, self._public, mechanism, noise, loss, self._classes, facts
        running = [fit.released(*told) for fit in self.fits]
        releases: list[Release[Any]] = []
        try:
            for fit, found in zip(running, self._shared(running, noise, loss), strict=True):
                releases.append(_finished(fit, found))
        except ConvergenceError as error:
            if len(self.fits) == 1:
                raise
            raise ConvergenceError(f"with random_state={self._states[len(releases)]!r}: {error}") from error
        return releases

    def _stated_ranges(self) -> dict[str, str]:
        private = self._terms.step(RangeNoise)
        if private is not None and private.magnitudes is None:
            return {"feature_ranges": WITHIN}
        ranges = self._declared if isinstance(self._declared, Ranges) else None
        both = ("public", ranges), ("private", private)
        words = [word for word, part in both if part is not None]
        return {"feature_ranges": " and ".join(words)} if words else {}

    def _shared(self, running: Sequence[OneFit], noise: Noise, loss: LossOn) -> Sequence[Found | None]:
        """What one solver finds for all; None for each that is to be fitted by itself, when its turn comes."""
        none, rows = [None] * len(running), self.rows
        if len(running) == 1 or self._classes is not None or noise.radius is not None:
            return none
        if not isinstance(rows, InMemory) or not rows.n_rows:
            return none
        ready = [next(running[0])]
        maps = ready[0].rows.changed[len(rows.changed) :]
        numbers = rows.rows.matrix.nnz if rows.sparse else rows.n_rows * rows.n_features
        mapped = [type(one) for one in maps] == [RowMap] and numbers <= _MOST_NUMBERS and rows.row_norm == "normalize"
        if maps and not mapped:
            return none
        ready += [next(fit) for fit in running[1:]]
        first, drawn = ready[0].rows, [one.perturbation for one in ready]
        assert isinstance(first, InMemory)
        alike = all(np.ndim(one.quadratic) == 0 and one.quadratic == drawn[0].quadratic for one in drawn)
        alike = alike and all(getattr(one.rows, "weights", None) is first.weights for one in ready)
        if not alike:
            return none
        return self._by_maps(ready, rows, noise, loss) if maps else self._together(ready, noise, loss)

    def _by_maps(self, ready: Sequence[Ready], given: InMemory, noise: Noise, loss: LossOn) -> Sequence[Found | None]:
        """What one solver finds for objectives that differ by a map and a linear term."""
        first = ready[0].rows.objective(ready[0].perturbation, loss)
        if not self._may_solve(first) or first.loss.part(slice(0, 1)) is not first.loss:
            return [None] * len(ready)
        maps: list[Any] = [one.rows.changed[-1] for one in ready]
        zeros, ones = np.zeros(given.n_features), np.ones(given.n_features)
        images = Images(
            first,
            given.rows,
            np.array([zeros if one.center is None else one.center for one in maps]),
            np.array([ones if one.scale is None else one.scale for one in maps]),
            np.array([linear_term(one.perturbation, given) for one in ready]),
        )
        results = solve_family(images, **self._asked(noise))
        return [Found(result, result.bound(one)) for one, result in zip(images.objectives, results, strict=True)]

    def _together(self, ready: Sequence[Ready], noise: Noise, loss: LossOn) -> Sequence[Found | None]:
        """What one solver finds for objectives that differ by a linear term, if they do."""
        objectives = [rows.objective(perturbation, loss) for rows, perturbation in ready]
        one = objectives[0]
        if all(np.array_equal(other.linear, one.linear) for other in objectives):
            result = solve(one, solver=self.fits[0].search.solver, **self._asked(noise))
            return [Found(result, gradient_norm_bound(one, result.theta))] * len(ready)
        if not self._may_solve(one):
            return [None] * len(ready)
        results = solve_together(objectives, **self._asked(noise))
        return [Found(result, result.bound(one)) for one, result in zip(objectives, results, strict=True)]

    def _may_solve(self, one: PerturbedObjective) -> bool:
        return self.fits[0].search.solver in _SHARED_SOLVERS and one.dimension <= MAX_CHOLESKY_DIMENSION

    def _asked(self, noise: Noise) -> dict[str, Any]:
        search = self.fits[0].search
        return {"tau": noise.tau / 2, "max_iter": search.max_iter, "callback": search.callback}


def _finished(fit: OneFit, found: Found | None) -> Release[Any]:
    """What a fit releases, which is told what was found for it, and nothing where its solver starts again."""
    try:
        while True:
            fit.send(found)
            found = None
    except StopIteration as done:
        return done.value


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
