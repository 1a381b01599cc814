"""Noisy gradient descent as a private fit: rows of enforced norm, a plan that is accounted for, and a certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, choice, in_open_unit, nonnegative, positive
from objpert_core.accounting.terms import Terms
from objpert_core.learning.certificates.base import ON_ERROR
from objpert_core.learning.dp_sgd.training import sum_spacing
from objpert_core.learning.population.certificate import NoisySGDCertificate
from objpert_core.learning.population.noisy_sgd import StepCallback, descend
from objpert_core.learning.population.schedules import DescentPlan
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS
from objpert_core.learning.problem.objective import check_targets
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.sampling import Streams
from objpert_core.learning.screening import judged


def descend_and_certify(
    X: Any,
    targets: FloatArray,
    loss: Loss,
    plan: DescentPlan,
    *,
    epsilon: float,
    delta: float,
    row_norm: str = "normalize",
    intercept_scaling: float = 0.0,
    random_state: Any = None,
    rows_declared: bool = False,
    on_error: str = "raise",
    callback: StepCallback | None = None,
) -> Release[NoisySGDCertificate]:
    """Fit a private linear model in a ball by noisy gradient descent; arguments as in `Fit`, `Streams` and `descend`.
    The loss has a bounded slope.
    """
    positive("epsilon", epsilon), in_open_unit("delta", delta)
    spent = accounted_epsilon(plan, epsilon, delta)
    if type(loss) not in EVERY_LOSS.values():
        raise ValueError(f"loss must be one of {', '.join(map(repr, EVERY_LOSS))}, got {loss!r}")
    constant = nonnegative("intercept_scaling", intercept_scaling)
    steepest = loss.lipschitz * row_radius(constant)
    if not plan.lipschitz >= steepest:
        raise ValueError(f"lipschitz must be at least {steepest!r} for the loss {loss.name!r}, got {plan.lipschitz!r}")
    if plan.envelope is None and math.isinf(loss.smoothness):
        raise ValueError(f"envelope must be a number > 0 for the loss {loss.name!r}, which has corners, got None")
    given = X.shape[0]
    if plan.of_fixed_size and given != plan.rows:
        raise ValueError(
            f"public_rows must be the number of rows, {given}, where batches are drawn {plan.sampling}, "
            f"got {plan.rows!r}"
        )
    releases, slots = choice("on_error", on_error, ON_ERROR) == "release", None
    if releases and targets.shape == (given,):
        X, keep = judged(X, targets, loss)
        slots = np.where(keep, np.cumsum(keep) - 1, -1)
        X, targets = X[keep], targets[keep]
    rows = Rows(X, row_norm, constant)
    check_targets(targets, rows.n_rows, loss, least=0 if releases else 1)
    streams = Streams(random_state)
    theta = descend(rows, targets, loss, plan, streams, slots=slots, callback=callback)
    certificate = NoisySGDCertificate.from_mechanism(
        plan.mechanism,
        epsilon=spent,
        delta=float(delta),
        accountant="profile",
        row_norm=row_norm,
        intercept_scaling=constant,
        **streams.provenance,
        lattice=sum_spacing(plan.lipschitz, rows.dimension),
        on_error=on_error,
        rows_declared=rows_declared,
        schedule=plan.schedule,
        sampling=plan.sampling,
        batch_size=float(plan.batch_size),
        step_size=plan.step_size,
        ball_radius=plan.radius,
        lipschitz=plan.lipschitz,
        loss=loss.name,
        loss_parameter=loss.parameter,
        envelope=plan.envelope,
        public_rows=plan.rows,
    )
    return Release(theta, certificate, ())


def accounted_epsilon(plan: DescentPlan, epsilon: float, delta: float) -> float:
    """Find the ε that a certificate may state: the target of a plan that was made for it, else the accountant's."""
    if plan.schedule == "tight":
        return Terms(epsilon, delta).proved(plan.mechanism)
    spent = Terms(None, delta).proved(plan.mechanism)
    if spent > epsilon:
        raise ValueError(
            f"epsilon must be at least {spent:.6g} for the published noise, which is what {plan.steps} batches drawn "
            f"{plan.sampling} cost at delta = {delta:g}, got {epsilon!r}"
        )
    return spent
