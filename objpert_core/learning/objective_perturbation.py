"""Algorithm 1 of Redberg, Koskela and Wang (2023): objective perturbation with an approximate minimiser."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Required, Unpack, runtime_checkable

from objpert_core._validation import FloatArray, positive
from objpert_core.accounting import ApproximateMinima, Mechanism
from objpert_core.accounting.mechanisms.perturbation import NormalSource, Perturbation
from objpert_core.accounting.steps.base import Step
from objpert_core.accounting.terms import Terms
from objpert_core.learning.allowance import Allowance
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.draws import Draws, refuse_steps
from objpert_core.learning.fit import Noise, Problem, Seed, SharedOptions
from objpert_core.learning.problem.derived import ClippedLoss, RestWeighted
from objpert_core.learning.problem.envelopes import MoreauEnvelope, envelope_steps, widest_envelope
from objpert_core.learning.problem.losses import LOGISTIC, LOSSES, LogisticLoss, Loss
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.steps.base import kind_of
from objpert_core.learning.steps.ranges import Ranges


@runtime_checkable
class PerturbsObjective(Protocol):
    """A mechanism that perturbs an objective and allows for a solver that stops early, as `ApproximateMinima` does."""

    adjacency: str
    tau: float
    """The gradient norm that the solver has to reach."""
    sigma_out: float
    """Standard deviation of the noise on every coefficient."""

    def perturbation(self, source: NormalSource, dimension: int, /) -> Perturbation:
        """Draw what is added to the objective."""


class PerturbOptions(SharedOptions, total=False):
    """Keyword arguments of `perturb_and_solve`."""

    delta: Required[float]
    loss: Loss
    clip: float | None
    epsilon: float | None
    accountant: str
    public_rows: int | None
    rows_declared: bool
    rows_per_person: int
    radius: float | None
    envelope: float | None
    steps: Sequence[Step]
    rest_weight: float
    ranges: Ranges | None


def perturb_and_solve(
    X: Any,
    targets: FloatArray,
    mechanism: Mechanism,
    *,
    random_state: Seed = None,
    **options: Unpack[PerturbOptions],
) -> Release[Any]:
    """Fit a private linear model by Algorithm 1: perturb the objective once, solve it, perturb the solution.

    Redberg, Koskela and Wang (2023), Algorithm 1 and Theorem 4.1; the default bound is our theorem, "logistic"
    (docs/theorems.md, T1).

    Parameters
    ----------
    X, targets
        As in `Fit`. With targets of shape (K, n), one +1.0 in every column at most, K models are fitted under one
        certificate, each of one class against all others; `theta` then has shape (K, D), and `mechanism` is that of one
        fit, for rows of full length. All fits learn from the same mapped rows (docs/theorems.md, T46).
    mechanism : ApproximateMinima, or another that perturbs the objective
        The mechanism supplies the linear and the quadratic term, τ and σ_out, and bounds on one row's gradient and
        Hessian, which must hold for these rows.
    delta : float
        The δ at which the certificate states ε.
    loss : Loss
        Logistic regression unless told otherwise.
    clip : float > 0, optional
        Clipping threshold C on the norm of every row's gradient; needed where the loss's slope is unbounded.
    epsilon : float, optional
        An ε the mechanism is known to satisfy at `delta`; computed from the mechanism if left out.
    accountant : {"profile", "rdp"}
        How ε is computed, and what the certificate says of it.
    public_rows : int, optional
        The number of rows, if the mechanism was chosen by that number, which is then treated as public.
    rows_declared : bool, default=False
        Whether that number was declared before the data were looked at. Otherwise the certificate promises less:
        privacy among data sets of this one size.
    rows_per_person : int >= 1
        How many rows of one person the promise is to cover together; `mechanism` is about one row.
    radius : float > 0, optional
        M: minimise over the ball ‖θ‖ ≤ M, which costs no privacy; the output noise comes on top.
    envelope : float > 0, optional
        β: replace every row's loss by its Moreau envelope of this smoothness in θ (`envelope_steps`). `mechanism` must
        be told of gradients up to the loss's slope times R and a smoothness from β on. The loss may then have corners
        (`NON_SMOOTH_LOSSES`). The bound "logistic" does not cover an envelope.
    steps : sequence of Step
        What is released beside the fit, in this order: a `ClassCounts` weighs rows by their classes, a `RangeNoise`
        cuts columns to private ranges (docs/theorems.md, T47), a `Standardisation` centres and scales rows, an
        `IntervalNoise` releases the curvature at θ. `epsilon` is what all satisfy together with the fit
        (`calibrate_remaining`). Where a step reads the number of rows it is `public_rows`, or X's own, which is then
        public.
    ranges : Ranges, optional
        Public ranges of the columns, to which they are cut and which are mapped to [−1, 1].
    **options
        `row_norm`, `intercept_scaling`, `solver`, `max_iter`, `random_state`, `callback` and `on_error`, as in `Fit`.

    Raises
    ------
    ConvergenceError
        Before the fit, if τ is less than rounding might leave for so many rows and parameters; in the fit, if the
        solver does not reach τ. Nothing is released (see `Fit.release`).
    ValueError
        If a certificate cannot name what was asked for, or the mechanism's bounds do not cover the loss on rows of this
        norm.

    Examples
    --------
    >>> from objpert_core.accounting import calibrate_objective_perturbation
    >>> mechanism = calibrate_objective_perturbation(1.0, 1e-5, lipschitz=1.0, tau=1e-6)
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 500, axis=0)
    >>> targets = np.repeat([1.0, -1.0], 500)
    >>> release = perturb_and_solve(X, targets, mechanism, delta=1e-5, epsilon=1.0, intercept_scaling=0.0)
    >>> bool(release.theta[0] > 0 > release.theta[1])
    True
    """
    problem, terms = described(X, targets, mechanism, **options)
    (release,) = perturb_and_solve_draws(problem, terms, mechanism, [random_state])
    return release


def described(
    X: Any,
    targets: FloatArray,
    mechanism: Mechanism,
    *,
    delta: float,
    loss: Loss = LOGISTIC,
    clip: float | None = None,
    epsilon: float | None = None,
    accountant: str = "profile",
    public_rows: int | None = None,
    rows_declared: bool = False,
    rows_per_person: int = 1,
    radius: float | None = None,
    envelope: float | None = None,
    steps: Sequence[Step] = (),
    rest_weight: float = 1.0,
    ranges: Ranges | None = None,
    **solving: Unpack[SharedOptions],
) -> tuple[Problem, Terms]:
    """What `perturb_and_solve` is to minimise, and what it promises."""
    adjacency = _perturbs_objective(mechanism).adjacency
    terms = Terms(
        epsilon,
        delta,
        adjacency,
        rows_per_person,
        accountant,
        public_rows,
        rows_declared,
        tuple(steps),
        rest_weight=rest_weight,
    )
    return Problem(X, targets, loss, clip, radius, envelope, solving, declared=ranges), terms


@dataclass(frozen=True)
class _LossOn:
    """The loss on the rows that are learned from, which may differ from the rows given."""

    loss: Loss
    envelope: float | None
    clip: float | None
    rest_weight: float

    def __call__(self, learned: Rows) -> Loss:
        if self.rest_weight != 1.0:
            return RestWeighted(_logistic(self.loss).margin, self.rest_weight)
        own = self.loss if self.envelope is None else MoreauEnvelope(self.loss, envelope_steps(learned, self.envelope))
        return own if self.clip is None else ClippedLoss(own, learned.slopes_of_norm(self.clip))


def perturb_and_solve_draws(
    problem: Problem, terms: Terms, mechanism: Mechanism, random_states: Sequence[Seed]
) -> list[Release[Any]]:
    """Make several fits that differ by noise and map alone, as `perturb_and_solve`; if one fails, none is released."""
    released, kind = _perturbs_objective(mechanism), PrivacyCertificate.kind_for(mechanism)
    refuse_steps(problem, terms, kind)
    terms = _with_fits_counted(problem, terms)
    epsilon = terms.proved(mechanism)
    loss, clip = problem.loss, None if problem.clip is None else positive("clip", problem.clip)
    if isinstance(loss, ClippedLoss):
        raise ValueError(f"loss must not be clipped, got {loss!r}: give loss={loss.loss!r} and its threshold as clip=")
    losses = LOSSES if problem.envelope is None else EVERY_LOSS
    if type(loss) not in losses.values():
        raise ValueError(f"loss must be one of {', '.join(map(repr, losses))}, got {loss!r}")
    named = _named(kind, radius=("ball_radius", problem.radius), envelope=("envelope", problem.envelope))
    given = problem.X.shape[0]
    if terms.public_rows is None and any(kind_of(step).reads_rows for step in terms.steps):
        terms = replace(terms, public_rows=given, rows_declared=False)
    draws = Draws(problem, terms, random_states)
    rows, longest = draws.rows, row_radius(draws.rows.constant)
    dimension = draws.features + (rows.constant > 0)
    promised = loss if problem.envelope is None else widest_envelope(loss, named["envelope"], longest)

    if reason := kind.uncovered(mechanism, promised, clip, longest, dimension):
        raise ValueError(
            f"mechanism's {reason} (loss {promised.name!r}, {draws.features} features of norm 1 and the constant "
            f"{rows.constant:g})"
        )
    gradient = promised.lipschitz * longest
    known = problem.declared_rows or (terms.public_rows if terms.rows_declared else None) or given
    _refuse_small_tau(mechanism, known, dimension, longest, promised, min(gradient, clip or gradient), named)
    noise = Noise(
        released.perturbation,
        released.tau,
        released.sigma_out,
        named.get("ball_radius"),
    )
    return draws.release(
        mechanism,
        noise,
        _LossOn(loss, named.get("envelope"), clip, terms.rest_weight),
        **named,
        **({"weighted": True} if problem.weighs else {}),
        epsilon=epsilon,
        loss=loss.name,
        loss_parameter=loss.parameter,
        clip=clip,
    )


def _with_fits_counted(problem: Problem, terms: Terms) -> Terms:
    """The terms of as many fits as the problem has; `rest_weight` counts where there are several."""
    if not problem.of_classes:
        if terms.rest_weight != 1.0:
            raise ValueError(f"rest_weight must be 1.0 for targets of shape (n,), got {terms.rest_weight!r}")
        return terms
    weight = RestWeighted(_logistic(problem.loss).margin, terms.rest_weight).weight
    fits = len(problem.targets)
    if not fits:
        raise ValueError(f"targets must have shape (K, n) with K >= 1, got {problem.targets.shape}")
    return replace(terms, fits=fits, rest_weight=weight if fits > 1 else 1.0)


def _refuse_small_tau(
    mechanism: Mechanism,
    n_rows: int,
    dimension: int,
    longest: float,
    loss: Loss,
    gradient: float,
    named: Mapping[str, float],
) -> None:
    """`ConvergenceError` where rounding could make the fit fail; of other mechanisms only the fit can tell."""
    if isinstance(mechanism, ApproximateMinima):
        Allowance(
            n_rows=n_rows,
            dimension=dimension,
            longest=longest,
            loss=loss,
            gradient=gradient,
            lam=mechanism.objective.lam,
            noise=mechanism.objective.sigma,
            ball=named.get("ball_radius", math.inf),
        ).refuse(mechanism.tau)


def _logistic(loss: Loss) -> LogisticLoss:
    if type(loss) is not LogisticLoss:
        raise ValueError(f"loss must be a LogisticLoss, got {loss!r}")
    return loss


def _named(kind: type[PrivacyCertificate], **asked: tuple[str, float | None]) -> dict[str, float]:
    """The fields in which a certificate of this kind says what was `asked`; `ValueError` where it has no such field."""
    has = {item.name for item in fields(kind)}
    given = {name: (field, value) for name, (field, value) in asked.items() if value is not None}
    for name, (field, value) in given.items():
        positive(name, value)
        if field not in has:
            raise ValueError(f"{name} must be None for a {kind.__name__}, which cannot name it, got {value!r}")
    return {field: positive(name, value) for name, (field, value) in given.items()}


def _perturbs_objective(mechanism: Mechanism) -> PerturbsObjective:
    """`mechanism`, if it perturbs an objective and there is a certificate for it; `ValueError` otherwise."""
    named = type(mechanism).__name__ in PrivacyCertificate.MECHANISMS
    if getattr(mechanism, "perturbs_objective", False) and named and isinstance(mechanism, PerturbsObjective):
        return mechanism
    raise ValueError(
        "mechanism must be an ApproximateMinima, or another that perturbs the objective and has tau and sigma_out (no "
        f"solver is exact) and a certificate, got {mechanism!r}"
    )
