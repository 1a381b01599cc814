"""Algorithm 1 of Redberg, Koskela and Wang (2023): objective perturbation with an approximate minimiser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Protocol, Required, Unpack, runtime_checkable

from objpert_core._validation import FloatArray, choice, in_open_unit, nonnegative, positive, positive_integer
from objpert_core.accounting import Mechanism
from objpert_core.accounting.mechanisms.base import NormalSource, Perturbation
from objpert_core.accounting.mechanisms.bounds import ACCOUNTANTS
from objpert_core.learning.certificate import PrivacyCertificate, proved_epsilon
from objpert_core.learning.draws import Draws
from objpert_core.learning.fit import Seed, SharedOptions
from objpert_core.learning.problem.envelopes import MoreauEnvelope, envelope_steps, widest_envelope
from objpert_core.learning.problem.losses import LOGISTIC, LOSSES, ClippedLoss, Loss
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.release import Release


@runtime_checkable
class PerturbsObjective(Protocol):
    """A mechanism that perturbs an objective and allows for a solver that stops early, as `ApproximateMinima` does."""

    tau: float
    """The gradient norm that the solver has to reach."""
    sigma_out: float
    """Standard deviation of the noise on every coefficient."""

    def perturbation(self, source: NormalSource, dimension: int, /) -> Perturbation:
        """Draw what is added to the objective."""


class PerturbOptions(SharedOptions, total=False):
    """Keyword arguments of `perturb_and_solve`, which says what they mean."""

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


def perturb_and_solve(
    X: Any,
    targets: FloatArray,
    mechanism: Mechanism,
    *,
    random_state: Seed = None,
    **options: Unpack[PerturbOptions],
) -> Release[Any]:
    """Fit a private linear model by Algorithm 1: perturb the objective once, solve it, perturb the solution.

    Parameters
    ----------
    X, targets
        As in `Fit`.
    mechanism : ApproximateMinima, or another that perturbs the objective
        It supplies the linear and the quadratic term, τ and σ_out, and bounds on one row's gradient and Hessian, which
        must hold for these rows.
    delta : float
        The δ at which the certificate states ε.
    loss : Loss
        Logistic regression unless told otherwise. Its bounds need not hold for `targets` of any size: clipping, or
        the loss itself, bounds every row's gradient.
    clip : float > 0, optional
        Clipping threshold C on the norm of every row's gradient; needed where the loss's slope is unbounded.
    epsilon : float, optional
        An ε the mechanism is known to satisfy at `delta`, for example the one it was calibrated to; computed from
        the mechanism if left out.
    accountant : {"profile", "rdp"}
        How ε is computed, and what the certificate says of it.
    public_rows : int, optional
        The number of rows, if the mechanism was chosen by it; the certificate then says that it is treated as public.
    rows_declared : bool, default=False
        Whether that number was declared before the data were looked at. Otherwise it was read off them, and the
        certificate promises less (`objpert_core.learning.certificate.adjacency_words`).
    rows_per_person : int >= 1
        How many rows of one person the promise shall cover together; `mechanism` is about one row.
    radius : float > 0, optional
        M: minimise over the ball ‖θ‖ ≤ M, which costs no privacy. The release lies there but for the output noise,
        which is added after that.
    envelope : float > 0, optional
        β: replace every row's loss by its Moreau envelope of this smoothness in θ (`envelope_steps`), which is no
        steeper. `mechanism` must be told of gradients up to the loss's slope times R and a smoothness from β on. The
        loss may then have corners (`NON_SMOOTH_LOSSES`). The bound "logistic" does not cover an envelope.
    **options
        `row_norm`, `intercept_scaling`, `solver`, `max_iter`, `random_state`, `callback` and `on_error`, as in `Fit`.

    Returns
    -------
    Release
        With the kind of certificate that the mechanism's family registered.

    Raises
    ------
    ConvergenceError
        If the solver does not reach τ; nothing is released (see `Fit.release`).
    ValueError
        If an argument is out of range, X and targets differ in length, X holds NaN, inf or no rows, the loss is not
        one that a certificate can name (`LOSSES`; with an envelope `EVERY_LOSS`), the mechanism does not perturb an
        objective, its bounds do not cover the loss on rows of this norm, or its family has no balls or envelopes.

    Notes
    -----
    Redberg, Koskela and Wang (2023), Algorithm 1 and Theorem 4.1; the default bound is the tight logistic bound
    (docs/theorems.md, T1). For the logistic loss a row's gradient has norm at most R = √(1 + s²) without clipping.

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
    (release,) = perturb_and_solve_draws(X, targets, mechanism, [random_state], **options)
    return release


def perturb_and_solve_draws(
    X: Any,
    targets: FloatArray,
    mechanism: Mechanism,
    random_states: Sequence[Seed],
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
    **options: Unpack[SharedOptions],
) -> list[Release[Any]]:
    """Make several private fits that differ by their noise alone; what they can share is done once (`Draws`).

    Parameters
    ----------
    X, targets, mechanism
        As in `perturb_and_solve`.
    random_states : sequence
        One `random_state` for each fit.
    delta, loss, clip, epsilon, accountant, public_rows, rows_declared, rows_per_person, radius, envelope, **options
        As in `perturb_and_solve`, but for `random_state`.

    Returns
    -------
    list of Release
        Each costs what a fit by itself costs, and their costs add up.

    Raises
    ------
    ConvergenceError
        If one of the fits does not reach τ: none is released.
    ValueError
        As from `perturb_and_solve`.

    Examples
    --------
    >>> from objpert_core.accounting import calibrate_objective_perturbation
    >>> mechanism = calibrate_objective_perturbation(1.0, 1e-5, lipschitz=1.0, tau=1e-6)
    >>> X, targets = np.repeat([[1.0, 0.0], [0.0, 1.0]], 500, axis=0), np.repeat([1.0, -1.0], 500)
    >>> both = perturb_and_solve_draws(X, targets, mechanism, [0, 1], delta=1e-5, intercept_scaling=0.0)
    >>> [bool(release.theta[0] > 0 > release.theta[1]) for release in both]
    [True, True]
    """
    released = _perturbs_objective(mechanism)
    in_open_unit("delta", delta)
    choice("accountant", accountant, ACCOUNTANTS)
    epsilon = None if epsilon is None else nonnegative("epsilon", epsilon)
    people = positive_integer("rows_per_person", rows_per_person)
    epsilon = proved_epsilon(mechanism, epsilon, float(delta), accountant, people)
    clip = None if clip is None else positive("clip", clip)
    if isinstance(loss, ClippedLoss):
        raise ValueError(f"loss must not be clipped, got {loss!r}: give loss={loss.loss!r} and its threshold as clip=")
    known = LOSSES if envelope is None else EVERY_LOSS
    if type(loss) not in known.values():
        raise ValueError(f"loss must be one of {', '.join(map(repr, known))}, got {loss!r}")
    kind = PrivacyCertificate.kind_for(mechanism)
    named = _named(kind, radius=("ball_radius", radius), envelope=("envelope", envelope))
    draws = Draws(X, targets, loss, random_states, **options)
    rows, longest = draws.rows, row_radius(draws.rows.constant)
    promised, taken = loss, loss
    if envelope is not None:
        promised = widest_envelope(loss, named["envelope"], longest)
        taken = MoreauEnvelope(loss, envelope_steps(rows, named["envelope"]))
    if reason := kind.uncovered(mechanism, promised, clip, longest, rows.dimension):
        raise ValueError(
            f"mechanism's {reason} (loss {promised.name!r}, {rows.n_features} features of norm 1 and the constant "
            f"{rows.constant:g})"
        )
    return draws.release(
        mechanism,
        lambda source: released.perturbation(source, rows.dimension),
        taken if clip is None else ClippedLoss(taken, rows.slopes_of_norm(clip)),
        stop_at=released.tau,
        output_noise=released.sigma_out,
        radius=named.get("ball_radius"),
        **named,
        epsilon=epsilon,
        delta=float(delta),
        accountant=accountant,
        loss=loss.name,
        loss_parameter=loss.parameter,
        clip=clip,
        public_rows=public_rows,
        rows_declared=None if public_rows is None else rows_declared,
        rows_per_person=people,
    )


def _named(kind: type[PrivacyCertificate], **asked: tuple[str, float | None]) -> dict[str, float]:
    """The fields in which a certificate of this kind says what was asked for; `ValueError` where it has no such field.

    An argument's name stands before the field's name and the value.
    """
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
