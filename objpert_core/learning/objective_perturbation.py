"""Algorithm 1 of Redberg, Koskela and Wang (2023): objective perturbation with an approximate minimiser."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np

from objpert_core._validation import choice, in_open_unit, nonnegative, positive
from objpert_core.accounting import ApproximateMinima, via_rdp
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.certificate import ROUNDING, ObjectivePerturbationCertificate, PrivacyCertificate, covers
from objpert_core.learning.noise import noise_source
from objpert_core.learning.problem.losses import LOGISTIC, LOSSES, ClippedLoss, FloatArray, Loss, MarginLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.solvers import Callback, SolverResult, solve

ACCOUNTANTS = ("profile", "rdp")
_SMALLEST_NORM = 1e-150  # a zero row without a constant: its gradient is 0, whatever its slope


Certificate = TypeVar("Certificate", bound=PrivacyCertificate)


@dataclass(frozen=True)
class Release(Generic[Certificate]):
    """What one private fit gives.

    Attributes
    ----------
    theta : ndarray, shape (D,)
        The private parameters, output noise added. With an intercept the last one still has to be multiplied by
        `intercept_scaling`. This is what may be published.
    certificate : PrivacyCertificate
        What publishing it costs.
    gradient_norms : tuple of float
        The solver's trace. Depends on the data: outside the guarantee.
    """

    theta: FloatArray
    certificate: Certificate
    gradient_norms: tuple[float, ...]


def perturb_and_solve(
    X: Any,
    targets: FloatArray,
    mechanism: ApproximateMinima,
    *,
    delta: float,
    loss: Loss = LOGISTIC,
    clip: float | None = None,
    epsilon: float | None = None,
    accountant: str = "profile",
    public_rows: int | None = None,
    row_norm: str = "normalize",
    intercept_scaling: float = 0.3,
    solver: str = "newton",
    max_iter: int = 1000,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
    callback: Callback | None = None,
) -> Release[ObjectivePerturbationCertificate]:
    """A private linear model by Algorithm 1: perturb the objective once, solve it, perturb the solution.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix, shape (n, d)
        Rows are rescaled or clipped to norm 1 here, whatever they were.
    targets : ndarray, shape (n,)
        −1.0 or +1.0 for a `MarginLoss`; any finite numbers for a `ResidualLoss`.
    mechanism : ApproximateMinima
        σ, λ, τ and σ_out, and bounds on one row's gradient and Hessian, which must hold for these rows.
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
    row_norm : {"normalize", "clip"}
        See `Rows`. A zero row stays zero: it speaks through the constant only.
    intercept_scaling : float
        The constant s appended to every row; 0 for no intercept.
    solver, max_iter, callback
        See `solve`.
    random_state : None, int, RandomState or Generator
        See `noise_source`.

    Returns
    -------
    Release

    Raises
    ------
    ConvergenceError
        If the solver does not reach τ. Nothing is released and no other noise is tried: choosing the noise by
        whether the solver likes it would void the proof.
    ValueError
        If an argument is out of range, X and targets differ in length, X holds NaN, inf or no rows, the loss is not
        one that a certificate can name (`LOSSES`), or the mechanism's bounds do not cover it on rows of this norm.

    Notes
    -----
    Redberg, Koskela and Wang (2023), Algorithm 1 and Theorem 4.1; the default bound is the tight logistic bound
    (README, theorem). For the logistic loss the norm of a row's gradient is at most R = √(1 + s²) without clipping.

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
    if not isinstance(mechanism, ApproximateMinima):
        raise ValueError(
            f"mechanism must be an ApproximateMinima (no solver is exact: tau and sigma_out count), got {mechanism!r}"
        )
    in_open_unit("delta", delta)
    choice("accountant", accountant, ACCOUNTANTS)
    constant = nonnegative("intercept_scaling", intercept_scaling)
    if epsilon is not None:
        epsilon = nonnegative("epsilon", epsilon)
    epsilon = _proved_epsilon(mechanism, epsilon, float(delta), accountant)
    source = noise_source(random_state)
    if clip is not None:
        clip = positive("clip", clip)
    if isinstance(loss, ClippedLoss):
        raise ValueError(f"loss must not be clipped, got {loss!r}: give loss={loss.loss!r} and its threshold as clip=")
    if type(loss) not in LOSSES.values():
        raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))}, got {loss!r}")
    rows = Rows(X, row_norm, constant)
    check_targets(targets, rows.n_rows, loss)
    _check_coverage(mechanism, rows, loss, clip)

    objective = mechanism.objective
    bounded = loss if clip is None else ClippedLoss(loss, clip / rows.norms().clip(_SMALLEST_NORM))
    noise = objective.sigma * source.standard_normal(rows.dimension)
    perturbed = PerturbedObjective(rows, targets, objective.lam, noise, bounded)
    result = solve(perturbed, tau=mechanism.tau, solver=solver, max_iter=max_iter, callback=callback)
    if not result.converged:
        raise ConvergenceError(not_converged(result, mechanism.tau, max_iter))
    certificate = ObjectivePerturbationCertificate(
        mechanism=type(mechanism).__name__,
        epsilon=epsilon,
        delta=float(delta),
        adjacency=mechanism.adjacency,
        bound=objective.bound,
        loss=loss.name,
        loss_parameter=loss.parameter,
        clip=clip,
        public_rows=public_rows,
        accountant=accountant,
        sigma=objective.sigma,
        lam=objective.lam,
        tau=mechanism.tau,
        sigma_out=mechanism.sigma_out,
        lipschitz=objective.lipschitz,
        smoothness=objective.smoothness,
        dimension=objective.dimension,
        row_norm=row_norm,
        intercept_scaling=constant,
        noise_source=source.origin,
        reproducible=source.reproducible,
        gradient_norm=result.gradient_norm,
        n_iter=result.iterations,
    )
    theta = result.theta + mechanism.sigma_out * source.standard_normal(rows.dimension)
    return Release(theta, certificate, result.gradient_norms)


@lru_cache(maxsize=4096)
def _proved_epsilon(mechanism: ApproximateMinima, epsilon: float | None, delta: float, accountant: str) -> float:
    """`epsilon` if the mechanism keeps it at `delta`; the mechanism's own where None is given."""
    accounted = via_rdp(mechanism) if accountant == "rdp" else mechanism
    if epsilon is not None and accounted.delta(epsilon) <= delta * (1 + ROUNDING):
        return epsilon
    proved = accounted.epsilon(delta)
    if math.isinf(proved):
        raise ValueError(f"mechanism must be private at delta = {delta:g}; {mechanism.explain() or 'it is not'}")
    if epsilon is not None:
        raise ValueError(f"epsilon must be at least {proved!r}, what the mechanism has at {delta=}, got {epsilon!r}")
    return float(proved)


def _check_coverage(mechanism: ApproximateMinima, rows: Rows, loss: Loss, clip: float | None) -> None:
    """The mechanism's bounds on one row's gradient and Hessian must hold for this loss on these rows."""
    if reason := covers(mechanism.objective, loss, clip, row_radius(rows.constant), rows.dimension):
        raise ValueError(
            f"mechanism's {reason} (loss {loss.name!r}, {rows.n_features} features of norm 1 and the constant "
            f"{rows.constant:g})"
        )


def check_targets(targets: FloatArray, n_rows: int, loss: Loss) -> None:
    """`ValueError` unless there is one target for each of n ≥ 1 rows, and `loss` is defined for it."""
    if n_rows < 1:
        raise ValueError("X must have at least one row, got 0")
    if targets.shape != (n_rows,):
        raise ValueError(f"targets must be one number for each of X's {n_rows} rows, got shape {targets.shape}")
    if isinstance(loss, MarginLoss) and not (np.abs(targets) == 1.0).all():
        raise ValueError(f"targets must be -1.0 or 1.0, got {targets[np.abs(targets) != 1.0][0]!r}")
    if not np.isfinite(targets).all():
        raise ValueError(f"targets must be finite numbers, got {targets[~np.isfinite(targets)][0]!r}")


def not_converged(result: SolverResult, tau: float, max_iter: int) -> str:
    """The message of a `ConvergenceError`: where the solver stopped, and what might help."""
    if result.exhausted:
        advice = f"raise max_iter above {max_iter} or try another solver"
    else:
        advice = "tau is too small for these data in double precision"
    return (
        f"solver {result.solver!r} reached gradient norm {result.gradient_norm:.3g} in {result.iterations} iterations, "
        f"but the privacy proof needs tau = {tau:g}; nothing was released ({advice})"
    )
