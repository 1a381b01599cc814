"""What every private fit of a linear model does, whatever its mechanism: enforce norms, solve, add noise, certify."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict

import numpy as np

from objpert_core._validation import FloatArray, choice, nonnegative, positive
from objpert_core.accounting import Mechanism
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.terms import Terms
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.certificates.base import ON_ERROR, PrivacyCertificate
from objpert_core.learning.lattice import FINENESS, power_of_two, release_on_lattice
from objpert_core.learning.minimum import Found, Search
from objpert_core.learning.noise import LARGEST_RATIO, NoiseSource, noise_source
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.release import Refused, Release
from objpert_core.learning.row_sources import InMemory, LossOn, RowSource, Walked
from objpert_core.learning.solvers import Callback, SolverResult
from objpert_core.learning.steps.base import Outcome, PublicRows, take

Seed = int | np.random.RandomState | np.random.Generator | None
"""What the noise may be drawn from; see `noise_source`."""


class SharedOptions(TypedDict, total=False):
    """Keyword arguments that fits which differ by their noise alone have in common; see `Fit`."""

    row_norm: str
    intercept_scaling: float
    solver: str
    max_iter: int
    callback: Callback | None
    on_error: str


class FitOptions(SharedOptions, total=False):
    """Keyword arguments that all private fits of linear models share; meanings and defaults: `Fit`."""

    random_state: Seed


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised, and how a solver goes about it.

    `targets` has shape (n,), or (K, n) for a fit of each class against the others, and `solving` has keyword arguments
    of `Fit`. Rows that are walked, `Walked`, bring their targets and weights along. What is `declared` of the columns
    are `Ranges`, or a table's columns.
    """

    X: Any
    targets: FloatArray
    loss: Loss
    clip: float | None = None
    radius: float | None = None
    envelope: float | None = None
    solving: SharedOptions = field(default_factory=SharedOptions)
    weights: FloatArray | None = None
    declared: Outcome | None = None
    declared_rows: int | None = None

    @property
    def of_classes(self) -> bool:
        """Whether there is a fit for each class."""
        return np.ndim(self.targets) == 2

    @property
    def weighs(self) -> bool:
        """Whether rows have weights of their own."""
        return self.X.weighs if isinstance(self.X, Walked) else self.weights is not None


class Noise(NamedTuple):
    """What a mechanism adds, and how near to the minimum it wants the solver."""

    perturb: Callable[[NoiseSource, int], Perturbation]
    tau: float
    output: float
    radius: float | None = None


class NoisyMinimum(NamedTuple):
    """Where a solver stopped, with noise: `theta` lies on the lattice, and `result` depends on the data."""

    theta: FloatArray
    result: SolverResult
    reached: float
    spacing: float


class Ready(NamedTuple):
    """Where a fit stands before its solver starts: the rows as it sees them, and what is added to the losses."""

    rows: RowSource
    perturbation: Perturbation


class Fit:
    """One private fit: its rows, its noise and its solver.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix, shape (n, d)
        Rows are rescaled or clipped to norm 1 here, whatever they were.
    targets : ndarray, shape (n,)
        −1.0 or +1.0 for a `MarginLoss`; any finite numbers for a `ResidualLoss`.
    loss : Loss
    row_norm : {"normalize", "clip"}, default="normalize"
        See `Rows`. A zero row contributes through the constant only.
    intercept_scaling : float, default=0.3
        The constant s appended to every row; 0 for no intercept.
    solver, max_iter, callback
        See `solve`; "newton", 1000 and None unless given.
    random_state : None, int, RandomState or Generator, default=None
        See `noise_source`.
    on_error : {"raise", "release"}, default="raise"
        "raise" refuses NaN, inf and no rows with a `ValueError`. "release" leaves unusable rows out of every sum, goes
        on with a slower solver where the first does not reach τ, and releases the answer for no data where rounding
        stops that one, too (docs/theorems.md, T23).
    source : NoiseSource, optional
        What the noise is drawn from, in place of `random_state`, for a fit that is part of another fit.
    weights : ndarray, shape (n,), optional
        What each row's loss is multiplied by, from 0 to 1.

    """

    def __init__(
        self,
        X: Any,
        targets: FloatArray,
        loss: Loss,
        *,
        row_norm: str = "normalize",
        intercept_scaling: float = 0.3,
        solver: str = "newton",
        max_iter: int = 1000,
        random_state: Seed = None,
        callback: Callback | None = None,
        on_error: str = "raise",
        source: NoiseSource | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        self.source = noise_source(random_state) if source is None else source
        releases = choice("on_error", on_error, ON_ERROR) == "release"
        constant = nonnegative("intercept_scaling", intercept_scaling)
        told: dict[str, Any] = {"row_norm": row_norm, "constant": constant, "releases": releases}
        walked = isinstance(X, Walked)
        self.data: RowSource = X.learned_with(**told) if walked else InMemory.of(X, targets, loss, weights, **told)
        self.search = Search(solver, max_iter, callback, releases)
        self._stated = {"row_norm": row_norm, "intercept_scaling": constant, "on_error": on_error}

    @property
    def rows(self) -> Rows:
        """The rows, which are in memory."""
        assert isinstance(self.data, InMemory)
        return self.data.rows

    def drawing_from(self, random_state: Seed) -> Fit:
        """Return a fit that shares this fit's rows and draws noise of its own."""
        other = copy(self)
        other.source = noise_source(random_state)
        return other

    def released(
        self,
        terms: Terms,
        public: PublicRows,
        mechanism: Mechanism,
        noise: Noise,
        loss: LossOn,
        classes: int | None,
        facts: dict[str, Any],
    ) -> Generator[Ready, Found | None, Release[Any]]:
        """All that a fit under these terms does, from top to bottom: with `classes` one for each, under one
        certificate."""
        rows, minima = self.data, list[NoisyMinimum]()
        for step in terms.steps:
            if not step.after:
                public = public.knowing(take(step, rows, self.source, public))
                rows = rows.seen_through(public.outcomes[-1])
        for which in [None] if classes is None else range(classes):
            perturbation = noise.perturb(self.source, rows.dimension)
            found = yield Ready(rows, perturbation)
            objective = rows.objective(perturbation, loss, which)
            minima.append(self._minimum(objective, perturbation.error, noise, found))
        thetas = np.array([minimum.theta for minimum in minima])
        public = replace(public, theta=thetas[0] if classes is None else thetas)
        for step in terms.steps:
            if step.after:
                public = public.knowing(take(step, rows, self.source, public))
        facts = facts | ({} if classes is None else {"fits": classes})
        return self._certified(mechanism, minima, public.theta, public.outcomes, facts)

    def release(
        self,
        mechanism: Mechanism,
        perturbation: Perturbation,
        loss: Loss,
        /,
        *,
        stop_at: float,
        output_noise: float,
        radius: float | None = None,
        **facts: Any,
    ) -> Release[Any]:
        """Minimise the perturbed objective until its gradient is as short as promised, add noise to θ and certify it.

        τ pays for all that arithmetic adds: the gradient as computed, a bound on its rounding, the noise's distance
        from normal noise and the rounding of θ to the lattice must not exceed τ together (docs/theorems.md, T15).

        Parameters
        ----------
        mechanism : Mechanism
            What the certificate describes.
        perturbation : Perturbation
            Added to the sum of the losses.
        loss : Loss
            Clipped, where it has to be.
        stop_at : float > 0
            τ, the gradient norm to reach.
        output_noise : float
            Standard deviation of the noise on every coefficient.
        radius : float > 0, optional
            M: minimise over the ball ‖θ‖ ≤ M; τ then bounds a residual (docs/theorems.md, T26). Output noise comes on
            top.
        **facts
            The certificate's fields that neither the mechanism nor this fit decides.

        Raises
        ------
        ConvergenceError
            If the solver does not reach τ. Nothing is released and no other noise is tried: to choose the noise by
            whether the solver succeeds would void the proof. With ``on_error="release"`` only where τ is too small for
            no data at all.
        """
        noise: dict[str, Any] = {"stop_at": stop_at, "output_noise": output_noise, "radius": radius}
        noisy = self.noisy_minimum(perturbation, loss, **noise)
        return self._certified(mechanism, [noisy], noisy.theta, (), facts)

    def noisy_minimum(
        self,
        perturbation: Perturbation,
        loss: Loss,
        /,
        *,
        stop_at: float,
        output_noise: float,
        radius: float | None = None,
    ) -> NoisyMinimum:
        """Minimise and add noise, without a certificate; arguments and errors as in `release`."""
        noise = Noise(lambda *_: perturbation, stop_at, output_noise, radius)
        return self._minimum(self.data.objective(perturbation, lambda _: loss), perturbation.error, noise)

    def refuse(self, mechanism: Mechanism, reason: str, /, **facts: Any) -> Refused[Any]:
        """Release no model, and certify what it cost to find out; `reason` is one public sentence."""
        return Refused(self._certificate(mechanism, facts), reason)

    def _minimum(self, objective: Any, error: float, noise: Noise, given: Found | None = None) -> NoisyMinimum:
        """Where the gradient is as short as promised, with output noise; `error` is the perturbation's."""
        step = objective.strong_convexity * math.sqrt(objective.dimension)  # what a lattice of spacing 2 costs of τ
        spacing = _spacing(noise.tau, step, noise.output)
        ball = None if noise.radius is None else positive("radius", noise.radius)
        result, reached = self.search.found(objective, noise.tau, error + step * spacing / 2, ball, given)
        if not reached <= noise.tau:
            raise ConvergenceError(self.search.why_not(result, reached, noise.tau))
        theta = release_on_lattice(result.theta, noise.output, spacing, self.source)
        return NoisyMinimum(theta, result, reached, spacing)

    def _certified(
        self,
        mechanism: Mechanism,
        minima: Sequence[NoisyMinimum],
        theta: Any,
        outcomes: tuple[Outcome, ...],
        facts: dict[str, Any],
    ) -> Release[Any]:
        found = {
            "gradient_norm": max(one.reached for one in minima),
            "n_iter": sum(one.result.iterations for one in minima),
            "lattice": minima[0].spacing,
        }
        trace = tuple(norm for one in minima for norm in one.result.gradient_norms)
        return Release(theta, self._certificate(mechanism, found | facts), trace, outcomes)

    def _certificate(self, mechanism: Mechanism, facts: dict[str, Any]) -> PrivacyCertificate:
        return PrivacyCertificate.describe(mechanism, **self._stated, **self.source.provenance, **facts)


def _spacing(tau: float, step: float, output_noise: float) -> float:
    """Choose the lattice from public numbers: rounding θ to it costs at most τ/16, and the noise is far wider."""
    spacing = power_of_two(min(tau / (8 * step), output_noise / FINENESS))
    if not output_noise / spacing <= LARGEST_RATIO:
        raise ValueError(
            f"sigma_out must be at most {LARGEST_RATIO * spacing:.3g} for tau = {tau:g}, got {output_noise!r}"
        )
    return spacing
