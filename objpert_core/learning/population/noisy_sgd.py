"""Noisy gradient descent in a ball: noisy sums of batches, projected steps, and the mean of the places visited.

The privacy lies in the noisy sums (`learning.dp_sgd.training`); projecting and averaging are post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.learning.dp_sgd.training import Gradients, NoisySums
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.population.schedules import DescentPlan
from objpert_core.learning.problem.derived import of_rows
from objpert_core.learning.problem.envelopes import MOST_BENT, MoreauEnvelope, envelope_steps
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.sampling import Streams, poisson_batches, uniform_choices

StepCallback = Callable[[int, float], None]

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
    """What `NoisySums` is told of the loss: its curvature, and the size of the constants that scores are compared with.
    No row may decide the noise, so neither number is read off the rows.

    >>> from objpert_core.learning.problem.nonsmooth import AbsoluteLoss, EpsilonInsensitiveLoss
    >>> public_curvature(AbsoluteLoss(), 8.0, 2.0), public_curvature(EpsilonInsensitiveLoss(0.5), 8.0, 2.0)
    ((2.0, 1.0), (2.0, 513.0))
    """
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
    """Noisy gradient descent from 0, projected onto the ball after every step; the mean of the places visited. The
    loss's slopes are at most `plan.lipschitz` over the rows' norm. The result is as private as `plan.mechanism`, with
    ‖θ‖ ≤ M but for rounding.
    """
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
    """The factor that brings θ into the ball: 1 inside it, and 0 where ‖θ‖ is too large for doubles.

    >>> shrink_into(np.array([3.0, 4.0]), 2.5), shrink_into(np.array([0.1]), 1.0)
    (0.5, 1.0)
    """
    norm: Any = np.linalg.norm(theta)
    if norm <= radius:
        return 1.0
    return float(radius / norm) if np.isfinite(norm) else 0.0
