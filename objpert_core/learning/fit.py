"""What every private fit of a linear model does, whatever its mechanism: enforce norms, solve, add noise, certify."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict

import numpy as np

from objpert_core._validation import FloatArray, IntArray, choice, nonnegative, positive
from objpert_core.accounting import Mechanism, RangeNoise, Standardisation
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.steps.class_counts import balanced_weights
from objpert_core.accounting.steps.curvature import NO_INTERVALS, IntervalNoise
from objpert_core.accounting.steps.standardisation import AS_THEY_ARE
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.certificates.base import ON_ERROR, PrivacyCertificate
from objpert_core.learning.intervals.curvature import release_curvature
from objpert_core.learning.lattice import FINENESS, power_of_two, release_on_lattice
from objpert_core.learning.minimum import Found, Search
from objpert_core.learning.noise import LARGEST_RATIO, NoiseSource, noise_source, with_noise
from objpert_core.learning.problem.derived import WeightedLoss, members_of, weights_by_class
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.objective import PerturbedObjective, check_targets
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.ranges import Ranges, ranges_of_counts
from objpert_core.learning.release import Refused, Release
from objpert_core.learning.screening import usable
from objpert_core.learning.solvers import Callback, SolverResult
from objpert_core.learning.standardisation import RowMap, map_rows

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

    `targets` has shape (n,), or (K, n) for a fit of each class against the others; `clip` is C, `radius` M, `envelope`
    β, and `solving` has keyword arguments of `Fit`. Rows that are walked bring their weights along.
    """

    X: Any
    targets: FloatArray
    loss: Loss
    clip: float | None = None
    radius: float | None = None
    envelope: float | None = None
    solving: SharedOptions = field(default_factory=SharedOptions)
    weights: FloatArray | None = None
    ranges: Ranges | None = None
    declared_rows: int | None = None

    @property
    def of_classes(self) -> bool:
        """Whether there is a fit for each class."""
        return np.ndim(self.targets) == 2


class Noise(NamedTuple):
    """What a mechanism adds, and how near to the minimum it wants the solver."""

    perturb: Callable[[NoiseSource], Perturbation]
    tau: float
    output: float
    radius: float | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """Keyword arguments of `Fit.release`."""
        return {"stop_at": self.tau, "output_noise": self.output, "radius": self.radius}


class NoisyMinimum(NamedTuple):
    """Where a solver stopped, with noise: `theta` lies on the lattice, and `result` depends on the data."""

    theta: FloatArray
    result: SolverResult
    reached: float
    spacing: float


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
    ) -> None:
        self.source = noise_source(random_state) if source is None else source
        self.rows_given = X.shape[0]
        self._releases = choice("on_error", on_error, ON_ERROR) == "release"
        if self._releases and targets.shape == (self.rows_given,):
            X, targets = usable(X, targets, loss)
        self.rows = Rows(X, row_norm, nonnegative("intercept_scaling", intercept_scaling))
        check_targets(targets, self.rows.n_rows, loss, least=0 if self._releases else 1)
        self._targets, self._row_norm, self._loss = targets, row_norm, loss
        self._search = Search(solver, max_iter, callback, self._releases)
        self._map = RowMap()
        self._ranges: Ranges | None = None
        self._weights: FloatArray | None = None
        self._class_weights: FloatArray | None = None

    def cut_to(self, ranges: Ranges, *, unclipped: bool = False) -> None:
        """Learn from the rows that `ranges` make of this fit's rows; `unclipped` as for `Ranges.unclipped`."""
        ranges = ranges.unclipped() if unclipped else ranges
        self._ranges, self.rows = ranges, Rows(ranges.apply(self.rows.matrix), self._row_norm, self.rows.constant)

    def find_ranges(
        self, plan: RangeNoise | None, n_rows: int, *, known: Ranges | None, unclipped: bool = False
    ) -> None:
        """Release ranges of the columns without `known` ones, from this fit's source, and cut rows to them."""
        if plan is not None:
            shape = self.rows_given, self.rows.n_features
            told: dict[str, Any] = {"n_rows": n_rows, "known": known, "sparse": self.rows.sparse}
            released = ranges_of_counts(self._counted, shape, plan, self.source, **told)
            self.cut_to(released, unclipped=unclipped)

    def _counted(self, count: Callable[[Any], IntArray]) -> IntArray:
        """What `count` counts in the rows as they were given."""
        return count(self.rows.matrix)

    def weighing(self, weights: FloatArray | None) -> Fit:
        """Return a fit in which each of this fit's rows has a weight above 0 and at most 1; None for no weights."""
        other = copy(self)
        other._weights = weights
        return other

    def balanced(self, classes: Sequence[FloatArray] | None, noise: float) -> Fit:
        """Release noisy counts of the classes, from this fit's source, and return a fit that weighs rows by them.

        `classes` has a row of targets for each class; None for the two of this fit's own targets (docs/theorems.md,
        T14).
        """
        drawn = self.source.rounded_normal(noise, 2 if classes is None else len(classes))
        targets = self._targets if classes is None else np.array(classes)
        shares = balanced_weights(with_noise(self._class_counts(targets), drawn).astype(np.float64), noise)
        other = self._weighing_classes(targets, shares)
        other._class_weights = shares
        return other

    def _class_counts(self, targets: FloatArray) -> IntArray:
        """How many rows each class has."""
        return members_of(targets).sum(axis=1)

    def _weighing_classes(self, targets: FloatArray, shares: FloatArray) -> Fit:
        own = weights_by_class(targets, shares)
        return self.weighing(own if self._weights is None else own * self._weights)

    def standardise(self, plan: Standardisation, n_rows: int) -> None:
        """Release a centre and scales with `plan`'s noise, from this fit's source, and learn from the mapped rows."""
        if plan == AS_THEY_ARE:
            return
        if self._row_norm != "normalize" and self._ranges is None:
            raise ValueError(f"row_norm must be 'normalize' where rows are centred or scaled, got {self._row_norm!r}")
        self._map, self.rows = map_rows(self.rows, plan, self.source, n_rows=n_rows)

    def learning_from(self, row_map: RowMap, learned: Rows) -> Fit:
        """Return a fit, with this fit's noise source, of the rows that a released map has made of this fit's rows."""
        other = copy(self)
        other._map, other.rows = row_map, learned
        return other

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
        found: Found | None = None,
        intervals: IntervalNoise = NO_INTERVALS,
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
        found : Found, optional
            What a solver has found already; where that is not within τ, this fit's own solver starts anew.
        intervals : IntervalNoise
            The noise of the curvature that is released after θ, at θ; by default none is.
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
        noisy = self.noisy_minimum(perturbation, loss, **noise, found=found)
        certificate = self._certificate(
            mechanism, gradient_norm=noisy.reached, n_iter=noisy.result.iterations, lattice=noisy.spacing, **facts
        )
        release = self._released(noisy.theta, certificate, noisy.result.gradient_norms)
        if intervals == NO_INTERVALS:
            return release
        sums = release_curvature(self.rows, self._summed, noisy.theta, intervals, self.source)
        both = {"hessian_": sums.hessian, "outer_": sums.outer}
        return replace(release, published={**release.published, **_there(both)})

    def _summed(self, work: Callable[[Rows, FloatArray], IntArray]) -> IntArray:
        """The sum over all rows of what `work` makes of some."""
        return work(self.rows, self._targets)

    def release_several(
        self,
        mechanism: Mechanism,
        targets: Sequence[FloatArray],
        perturb: Callable[[NoiseSource], Perturbation],
        loss: Loss,
        /,
        *,
        stop_at: float,
        output_noise: float,
        radius: float | None = None,
        **facts: Any,
    ) -> Release[Any]:
        """Fit the same rows to several targets of shape (n,) under one certificate; `theta` has shape (K, D).

        Arguments and errors as in `release`. `perturb` draws anew for every fit, before its output noise. If one fit
        does not reach τ, nothing is released.
        """
        told: dict[str, Any] = {"stop_at": stop_at, "output_noise": output_noise, "radius": radius}
        found = [self._with(one).noisy_minimum(perturb(self.source), loss, **told) for one in targets]
        certificate = self._certificate(
            mechanism,
            gradient_norm=max(one.reached for one in found),
            n_iter=sum(one.result.iterations for one in found),
            lattice=found[0].spacing,
            fits=len(found),
            **facts,
        )
        traces = tuple(norm for one in found for norm in one.result.gradient_norms)
        return self._released(np.array([one.theta for one in found]), certificate, traces)

    def _released(self, theta: FloatArray, certificate: PrivacyCertificate, traces: tuple[float, ...]) -> Release[Any]:
        ranges = None if self._ranges is None else np.array([self._ranges.low, self._ranges.high])
        found = {"center_": self._map.center, "scale_": self._map.scale, "feature_ranges_": ranges}
        return Release(theta, certificate, traces, _there(found | {"class_weights_": self._class_weights}))

    def _with(self, targets: FloatArray) -> Fit:
        check_targets(targets, self.rows.n_rows, self._loss, least=0 if self._releases else 1)
        other = copy(self)
        other._targets = targets
        return other

    def objective(self, perturbation: Perturbation, loss: Loss) -> PerturbedObjective:
        """Return what is minimised: the sum of the losses and the perturbation."""
        linear = np.zeros(self.rows.dimension) if perturbation.linear is None else perturbation.linear
        loss = loss if self._weights is None else WeightedLoss(loss, self._weights)
        return PerturbedObjective(self.rows, self._targets, perturbation.quadratic, linear, loss)

    def drawing_from(self, random_state: Seed) -> Fit:
        """Return a fit that shares this fit's rows and draws noise of its own."""
        other = copy(self)
        other.source = noise_source(random_state)
        return other

    def noisy_minimum(
        self,
        perturbation: Perturbation,
        loss: Loss,
        /,
        *,
        stop_at: float,
        output_noise: float,
        radius: float | None = None,
        found: Found | None = None,
    ) -> NoisyMinimum:
        """Minimise and add noise, without a certificate; arguments and errors as in `release`."""
        objective = self.objective(perturbation, loss)
        step = objective.strong_convexity * math.sqrt(objective.dimension)  # what a lattice of spacing 2 costs of τ
        spacing = _spacing(stop_at, step, output_noise)
        ball = None if radius is None else positive("radius", radius)
        result, reached = self._found(objective, stop_at, perturbation.error + step * spacing / 2, ball, found)
        if not reached <= stop_at:
            raise ConvergenceError(self._search.why_not(result, reached, stop_at))
        theta = release_on_lattice(result.theta, output_noise, spacing, self.source)
        return NoisyMinimum(theta, result, reached, spacing)

    def _found(
        self, objective: PerturbedObjective, tau: float, added: float, radius: float | None, given: Found | None
    ) -> Found:
        return self._search.found(objective, tau, added, radius, given)

    def refuse(self, mechanism: Mechanism, reason: str, /, **facts: Any) -> Refused[Any]:
        """Release no model, and certify what it cost to find out; `reason` is one public sentence."""
        return Refused(self._certificate(mechanism, **facts), reason)

    def _certificate(self, mechanism: Mechanism, /, **facts: Any) -> PrivacyCertificate:
        return PrivacyCertificate.describe(
            mechanism,
            row_norm=self._row_norm,
            intercept_scaling=self.rows.constant,
            **self.source.provenance,
            on_error="release" if self._releases else "raise",
            **facts,
        )


def _there(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value is not None}


def _spacing(tau: float, step: float, output_noise: float) -> float:
    """Choose the lattice from public numbers: rounding θ to it costs at most τ/16, and the noise is far wider."""
    spacing = power_of_two(min(tau / (8 * step), output_noise / FINENESS))
    if not output_noise / spacing <= LARGEST_RATIO:
        raise ValueError(
            f"sigma_out must be at most {LARGEST_RATIO * spacing:.3g} for tau = {tau:g}, got {output_noise!r}"
        )
    return spacing
