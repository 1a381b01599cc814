"""Phased empirical risk minimisation: disjoint parts of the rows, each minimised close to where the last one ended.

Phase i has its own rows, a step η_i and a start θ_{i−1}, minimises Σ ℓ + ‖θ − θ_{i−1}‖²/η_i over the ball, and adds
Gaussian noise. A replaced row moves its phase's minimum by Lη_i at most, a solver that stops at τ_i by τ_iη_i, and
later phases only post-process: so all together cost what one Gaussian mechanism does. Only gradients need a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import FloatArray, choice, nonnegative, positive_integer
from objpert_core.accounting import REPLACE_ONE, OutputPerturbation
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.population.published import phased_schedule
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.learning.certificates.base import ON_ERROR, PrivacyCertificate
from objpert_core.learning.certificates.field_rules import COUNT, NONNEGATIVE, POSITIVE, fact, one_of, or_nothing
from objpert_core.learning.certificates.shown import by_public_rows
from objpert_core.learning.fit import Fit
from objpert_core.learning.noise import LARGEST_RATIO, with_noise
from objpert_core.learning.population.noisy_sgd import shrink_into
from objpert_core.learning.problem.envelopes import MoreauEnvelope, envelope_steps
from objpert_core.learning.problem.losses import Loss, loss_named
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.sampling import Streams
from objpert_core.learning.screening import judged
from objpert_core.learning.solvers import Callback, solve

SLACK = 2.0**-16
"""τ_i/L: what a solver that stops early may add to the sensitivity."""
ROUNDED = 25.0
"""β_i·η_i/2 of a loss with corners: its envelope's smoothness, which costs accuracy only."""
_ROUNDING = 1 + 2.0**-48
_ORDER = 2**16  # the name of a stream: beyond those of the phases


class Phase(NamedTuple):
    """One phase: which rows, and how long a step η."""

    part: slice
    step: float

    @property
    def lam(self) -> float:
        """2/η, the λ of the phase's objective."""
        return 2 / self.step


def phases_of(schedule: Sequence[tuple[int, float]]) -> Iterator[Phase]:
    """Lay the parts of a schedule of (rows, η) end to end."""
    start = 0
    for rows, step in schedule:
        yield Phase(slice(start, start + rows), step)
        start += rows


def smooth_enough(loss: Loss, rows: Rows, phase: Phase) -> Loss:
    """The loss itself, or for one with corners its envelope of smoothness 25·2/η."""
    if np.isfinite(loss.smoothness):
        return loss
    return MoreauEnvelope(loss, envelope_steps(rows, ROUNDED * phase.lam))


def phased_minimum(
    rows: Rows,
    targets: FloatArray,
    loss: Loss,
    schedule: Sequence[tuple[int, float]],
    noise: float,
    lipschitz: float,
    radius: float,
    seed: int,
    solver: str = "newton",
) -> FloatArray:
    """Go through all phases with ordinary normal noise σ_G, rows in random order: for experiments, not for release."""
    random = np.random.default_rng(seed)
    theta = np.zeros(rows.dimension)
    for phase in phases_of(schedule):
        part = rows.part(phase.part)
        own = smooth_enough(loss, part, phase)
        objective = PerturbedObjective(part, targets[phase.part], phase.lam, -phase.lam * theta, own)
        found = solve(objective, tau=SLACK * lipschitz, radius=radius, solver=solver)
        theta = with_noise(found.theta, lipschitz * phase.step * noise * random.standard_normal(rows.dimension))
    return theta * shrink_into(theta, radius)


@dataclass(frozen=True, kw_only=True, repr=False)
class PhasedCertificate(PrivacyCertificate, algorithm="phased ERM", mechanisms=("OutputPerturbation",)):
    """The certificate of phased empirical risk minimisation; common fields: `PrivacyCertificate`.

    Rows are replaced. Every phase is a Gaussian mechanism on rows of its own. The model lies on no lattice: it was
    projected onto the ball after the last noise.

    Attributes
    ----------
    noise_multiplier : float
        Noise of every phase, divided by how far a row can move the phase's minimum.
    first_step : float
        η₁; every phase has a quarter of the step of the one before.
    phases : int
        Phase i has ⌊n/2^i⌋ rows, at least one.
    ball_radius, lipschitz : float
        M, and L: no row's gradient is longer.
    slack : float
        τ_i/L: what a solver that stops early may add to the minimum's movement.
    loss, loss_parameter : str, float or None
        The loss, as `loss_named` knows it.
    public_rows : int
        n, treated as public.
    """

    noise_multiplier: float = fact(POSITIVE)
    first_step: float = fact(POSITIVE)
    phases: int = fact(COUNT)
    ball_radius: float = fact(POSITIVE)
    lipschitz: float = fact(POSITIVE)
    slack: float = fact(POSITIVE)
    loss: str = fact(one_of(*EVERY_LOSS))
    loss_parameter: float | None = fact(or_nothing(NONNEGATIVE))
    public_rows: int = fact(COUNT)

    @classmethod
    def numbers(cls, mechanism: OutputPerturbation) -> dict[str, Any]:
        """Name the noise, in units of the sensitivity."""
        return {"noise_multiplier": mechanism.sigma / mechanism.sensitivity}

    def reach(self, dimension: int) -> float | None:
        """M: all noise came before the projection onto the ball."""
        return self.ball_radius

    def rebuild(self) -> OutputPerturbation:
        """See `PrivacyCertificate.rebuild`. Rows are replaced: a row left out would move all later rows."""
        return OutputPerturbation(self.noise_multiplier, 1.0, adjacency=REPLACE_ONE)

    def holds(self) -> bool:
        """Say whether L bounds the gradients of this loss on these rows, and all phases have rows of their own."""
        steepest = loss_named(self.loss, self.loss_parameter, EVERY_LOSS).lipschitz * self.radius
        enough = self.phases <= self.public_rows.bit_length()  # 2^phases ≤ 2n
        return self.lipschitz >= steepest and enough

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether the last phase, whose noise is the least, has room for a lattice of this `spacing`."""
        step = self.first_step * 4.0 ** (1 - self.phases)
        points = noise_of(self.lipschitz, step, self.slack, self.noise_multiplier) / spacing
        room = spacing * math.sqrt(dimension) / step <= self.slack * self.lipschitz
        return bool(room and 2.0**10 <= points <= LARGEST_RATIO)

    def _lines(self) -> list[str]:
        return [
            f"  proof      {self.phases} Gaussian mechanisms on disjoint rows, noise {self.noise_multiplier:.6g} times "
            "the sensitivity of each",
            f"  run        in the ball of radius {self.ball_radius:g}, first step {self.first_step:.6g}, "
            f"solvers may stop at {self.slack:g} times a row's gradient",
            f"  objective  {self.loss} loss, gradients of norm at most {self.lipschitz:.6g} ({self._rows()})",
            *by_public_rows(self.public_rows, self.rows_declared, "phases and noise were"),
        ]


def noise_of(lipschitz: float, step: float, slack: float, multiplier: float) -> float:
    """Compute the noise of a phase: multiplier·(L + τ)η, as a replaced row moves the minimum by Lη, a solver by τη."""
    return multiplier * lipschitz * (1 + slack) * step * _ROUNDING


def phased_release(
    X: Any,
    targets: FloatArray,
    loss: Loss,
    *,
    epsilon: float,
    delta: float,
    radius: float,
    public_rows: int | None = None,
    rows_per_person: int = 1,
    row_norm: str = "normalize",
    intercept_scaling: float = 0.0,
    solver: str = "newton",
    max_iter: int = 1000,
    random_state: Any = None,
    on_error: str = "raise",
    callback: Callback | None = None,
) -> Release[PhasedCertificate]:
    """Fit a private linear model in a ball by phased empirical risk minimisation; arguments as in `Fit`, errors, too.

    Rows of one person are replaced; `loss` has a bounded slope, and corners are rounded. Phases and noise go by
    `public_rows`, or X's number of rows, which is then public; rows beyond are not used, and there must be as many,
    unless ``on_error="release"``. After Feldman, Koren and Talwar (2020); docs/theorems.md, T30.
    """
    given = X.shape[0]
    known = max(given, 1) if public_rows is None else positive_integer("public_rows", public_rows)
    if type(loss) not in EVERY_LOSS.values() or not math.isfinite(loss.lipschitz):
        raise ValueError(f"loss must be one of EVERY_LOSS with a bounded slope, got {loss!r}")
    constant = nonnegative("intercept_scaling", intercept_scaling)
    lipschitz = loss.lipschitz * row_radius(constant)
    dimension = X.shape[1] + (constant > 0)
    sizes = Sizes(known, dimension, epsilon, delta, radius, lipschitz, rows_per_person=rows_per_person)
    schedule, multiplier = phased_schedule(sizes), sizes.noise
    streams = Streams(random_state)
    there = np.ones(given, dtype=bool)
    if choice("on_error", on_error, ON_ERROR) == "release" and targets.shape == (given,):
        X, there = judged(X, targets, loss)
    else:
        Fit(X, targets, loss, row_norm=row_norm, intercept_scaling=constant)  # says what is wrong, and in which row
        if known > given:
            raise ValueError(f"public_rows must be at most the number of rows, {given}, got {public_rows!r}")
    keep = np.zeros(max(known, given), dtype=bool)
    keep[:given] = there
    order = np.random.default_rng(list(streams.stream(_ORDER).read(32))).permutation(known)
    trace: list[float] = []
    theta, iterations, spacing = np.zeros(dimension), 0, math.inf
    matrix: Any = X
    matrix = matrix.tocsr() if sp.issparse(X) else matrix  # not every sparse format hands out rows
    for number, phase in enumerate(phases_of(schedule)):
        chosen = np.sort(order[phase.part])
        chosen = chosen[keep[chosen]]
        fit = Fit(
            matrix[chosen],
            targets[chosen],
            loss,
            row_norm=row_norm,
            intercept_scaling=constant,
            solver=solver,
            max_iter=max_iter,
            source=streams.stream(number),
            callback=None if callback is None else _after(callback, iterations + number),
            on_error=on_error,
        )
        found = fit.noisy_minimum(
            Perturbation(-phase.lam * theta, phase.lam),
            smooth_enough(loss, fit.rows, phase),
            stop_at=SLACK * lipschitz,
            output_noise=noise_of(lipschitz, phase.step, SLACK, multiplier),
            radius=radius,
        )
        theta, spacing = found.theta, min(spacing, found.spacing)
        iterations += found.result.iterations
        trace += found.result.gradient_norms
    theta = theta * shrink_into(theta, radius)
    certificate = PhasedCertificate.from_mechanism(
        OutputPerturbation(multiplier, 1.0, adjacency=REPLACE_ONE),
        epsilon=float(epsilon),
        delta=float(delta),
        accountant="profile",
        row_norm=row_norm,
        intercept_scaling=constant,
        **streams.provenance,
        lattice=spacing,
        on_error=on_error,
        rows_declared=public_rows is not None,
        rows_per_person=rows_per_person,
        first_step=schedule[0][1],
        phases=len(schedule),
        ball_radius=float(radius),
        lipschitz=lipschitz,
        slack=SLACK,
        loss=loss.name,
        loss_parameter=loss.parameter,
        public_rows=known,
    )
    return Release(theta, certificate, tuple(trace))


def _after(callback: Callback, before: int) -> Callback:
    """A callback that adds `before` to its counts: every earlier phase reported its start as well."""
    return lambda iteration, norm: callback(before + iteration, norm)
