"""Noisy gradient descent in a ball as a private fit: noisy sums of batches, projected steps, the mean of the places.

The privacy lies in the noisy sums (`learning.dp_sgd.training`); projecting and averaging are post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, IntArray, choice, in_open_unit, nonnegative, positive
from objpert_core.accounting.terms import Terms
from objpert_core.learning.certificates.base import ON_ERROR
from objpert_core.learning.dp_sgd.training import Gradients, NoisySums, StepCallback, sum_spacing
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.population.certificate import NoisySGDCertificate
from objpert_core.learning.population.schedules import DescentPlan
from objpert_core.learning.problem.derived import of_rows
from objpert_core.learning.problem.envelopes import MOST_BENT, MoreauEnvelope, envelope_steps
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS
from objpert_core.learning.problem.objective import check_targets
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.sampling import Streams, poisson_batches, uniform_choices
from objpert_core.learning.screening import judged

_BATCHES, _NOISE = 0, 1  # names of streams


class LossGradients(Gradients):
    """Gradients of any loss whose slope is bounded, summed over a batch; the loss may have a constant for each row."""

    def __init__(self, rows: Rows, targets: FloatArray, loss: Loss) -> None:
        super().__init__(rows, targets, math.inf)
        self._own_targets, self._loss = targets, loss

    def slopes_at(self, part: IntArray, scores: FloatArray) -> FloatArray:
        """See `Gradients.slopes_at`; G = 1."""
        loss = self._loss
        if isinstance(loss, MoreauEnvelope):
            loss = MoreauEnvelope(loss.loss, of_rows(loss.step, part))
        return loss.derivatives(scores[:, 0], self._own_targets[part])[0][:, None]


def smoothed(loss: Loss, rows: Rows, envelope: float | None) -> Loss:
    """`loss`, or its Moreau envelope that is `envelope`-smooth in θ on these rows."""
    return loss if envelope is None else MoreauEnvelope(loss, envelope_steps(rows, envelope))


def public_curvature(loss: Loss, envelope: float | None, radius: float) -> tuple[float, float]:
    """The loss's curvature, and the size of what scores are compared with; no row may decide either."""
    own = abs(loss.parameter or 0.0)
    if envelope is None:
        return loss.smoothness, 1.0 + own
    return envelope / radius**2, 1.0 + own * MOST_BENT


def batches(
    plan: DescentPlan, source: NoiseSource, *, slots: IntArray | None = None, n_rows: int | None = None
) -> Iterator[IntArray]:
    """Draw the rows of every step as the plan says; with replacement, a row may occur several times."""
    if not plan.of_fixed_size:
        there_are = plan.rows if n_rows is None else n_rows
        yield from poisson_batches(source, there_are, plan.sample_rate, plan.steps)
        return
    size = int(plan.batch_size)
    for _ in range(plan.steps):
        drawn = (
            uniform_choices(source, plan.rows, size)
            if plan.sampling == "with replacement"
            else different_choices(source, plan.rows, size)
        )
        if slots is not None:
            drawn = slots[drawn]
            drawn = drawn[drawn >= 0]
        yield drawn


def different_choices(source: NoiseSource, options: int, size: int) -> IntArray:
    """Draw `size` different numbers from 0 … options − 1, every set equally likely."""
    if 2 * size > options:
        left_out = np.zeros(options, dtype=bool)
        if size < options:
            left_out[different_choices(source, options, options - size)] = True
        return np.flatnonzero(~left_out)
    taken = np.zeros(options, dtype=bool)
    count = 0
    while count < size:
        for one in uniform_choices(source, options, size - count):  # one by one: each has to be new when it comes
            count += not taken[one]
            taken[one] = True
    return np.flatnonzero(taken)


def descend(
    rows: Rows,
    targets: FloatArray,
    loss: Loss,
    plan: DescentPlan,
    streams: Streams,
    *,
    slots: IntArray | None = None,
    callback: StepCallback | None = None,
) -> FloatArray:
    """Noisy gradient descent from 0, projected onto the ball after every step; the mean of the places visited."""
    gradients = LossGradients(rows, targets, smoothed(loss, rows, plan.envelope))
    smoothness, margin = public_curvature(loss, plan.envelope, row_radius(rows.constant))
    noise = NoisySums(
        rows,
        plan.lipschitz,
        plan.noise_multiplier,
        plan.rows,
        [streams.stream(_NOISE)],
        n_rows=rows.n_rows if slots is None else len(slots),  # those given: how many are of use is private
        margin=margin,
        smoothness=smoothness,
        slope=loss.lipschitz,
    )
    weights = np.zeros((rows.dimension, 1))
    visited = np.zeros(rows.dimension)
    first = plan.schedule == "bassily2019"
    drawn = batches(plan, streams.stream(_BATCHES), slots=slots, n_rows=rows.n_rows)
    for step, batch in enumerate(drawn):
        if first:
            visited += weights[:, 0]
        total = gradients.total(batch, weights)
        noise.add(total, weights, step, plan.steps)
        total /= plan.batch_size
        weights -= plan.step_size * total
        weights *= shrink_into(weights, plan.radius)
        if not first:
            visited += weights[:, 0]
        if callback is not None:
            callback(step + 1, float(np.linalg.norm(total)))
    return visited / plan.steps


def shrink_into(theta: FloatArray, radius: float) -> float:
    """The factor that brings θ into the ball: 1 inside it, and 0 where ‖θ‖ is too large for doubles."""
    norm: Any = np.linalg.norm(theta)
    if norm <= radius:
        return 1.0
    return float(radius / norm) if np.isfinite(norm) else 0.0


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
    """Fit a private linear model in a ball by noisy descent; arguments as in `Fit`, `Streams` and `descend`."""
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
        rows_per_person=plan.rows_per_person,
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
        return Terms(epsilon, delta, plan.adjacency, plan.rows_per_person).proved(plan.mechanism)
    spent = Terms(None, delta).proved(plan.mechanism)
    if spent > epsilon:
        raise ValueError(
            f"epsilon must be at least {spent:.6g} for the published noise, which is what {plan.steps} batches drawn "
            f"{plan.sampling} cost at delta = {delta:g}, got {epsilon!r}"
        )
    return spent
