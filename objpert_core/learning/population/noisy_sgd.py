"""Noisy gradient descent in a ball: noisy sums of batches, steps that are projected, and the mean of where it was.

What is private about it are the noisy sums (`learning.dp_sgd.training`); projecting and averaging only follow.
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
from objpert_core.learning.problem.envelopes import MOST_BENT, MoreauEnvelope, envelope_steps
from objpert_core.learning.problem.losses import Loss, of_rows
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.sampling import Streams, poisson_batches, uniform_choices

StepCallback = Callable[[int, float], None]

_BATCHES, _NOISE = 0, 1  # names of streams


class LossGradients(Gradients):
    """Gradients of any loss whose slope is bounded, summed over a batch.

    Parameters
    ----------
    rows : Rows
    targets : ndarray, shape (n,)
    loss : Loss
        It may have a constant for each row, as an envelope has.

    Examples
    --------
    >>> from objpert_core.learning.problem.nonsmooth import HingeLoss
    >>> gradients = LossGradients(Rows(np.array([[1.0], [-0.5]]), "clip"), np.array([1.0, 1.0]), HingeLoss())
    >>> gradients.total(np.array([0, 0, 1]), np.zeros((1, 1))).round(12).tolist()
    [[-1.5]]
    """

    def __init__(self, rows: Rows, targets: FloatArray, loss: Loss) -> None:
        super().__init__(rows, targets, math.inf)
        self._own_targets, self._loss = targets, loss

    def slopes_at(self, part: IntArray, scores: FloatArray) -> FloatArray:
        """f' of the rows `part` at `scores`, shape (rows, 1)."""
        loss = self._loss
        if isinstance(loss, MoreauEnvelope):
            loss = MoreauEnvelope(loss.loss, of_rows(loss.step, part))
        return loss.derivatives(scores[:, 0], self._own_targets[part])[0][:, None]


def smoothed(loss: Loss, rows: Rows, envelope: float | None) -> Loss:
    """`loss`, or its Moreau envelope that is `envelope`-smooth in θ on these rows."""
    return loss if envelope is None else MoreauEnvelope(loss, envelope_steps(rows, envelope))


def public_curvature(loss: Loss, envelope: float | None, radius: float) -> tuple[float, float]:
    """What `NoisySums` is told of the loss: its curvature, and the size of the constants that scores are compared with.

    No row may decide the noise, so neither of them is read off the rows. The envelope of a row x has the curvature
    β/‖x‖² in its score, and a score is off in proportion to ‖x‖, as is what it does to the gradient: together as with
    β/R² and rows of the largest norm R. The loss's own constant is rounded whatever the row, and a row's curvature
    times its norm is at most 2¹⁰·β/R (`envelope_steps`).

    Parameters
    ----------
    loss : Loss
    envelope : float or None
        β, in θ.
    radius : float > 0
        R.

    Returns
    -------
    smoothness, margin : float

    Examples
    --------
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
    """Draw the rows of every step as the plan says.

    Parameters
    ----------
    plan : DescentPlan
    source : NoiseSource
    slots : ndarray of int, shape (n,), optional
        Where each of the plan's n rows stands among those that can be used, −1 where it cannot; all can, if left out.
    n_rows : int, optional
        The rows that can be used, where each joins a batch on its own.

    Yields
    ------
    ndarray of int
        Row numbers, one several times where the plan draws with replacement.

    Examples
    --------
    >>> from objpert_core.learning.noise import noise_source
    >>> plan = DescentPlan("tight", "without replacement", 5, 2, 3, 1.0, 0.1, 1.0, 1.0)
    >>> [len(set(batch.tolist())) for batch in batches(plan, noise_source(0))]
    [2, 2, 2]
    """
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
    """Draw `size` different numbers from 0 … options − 1, every set equally likely.

    Numbers are drawn until there are as many different ones; of more than half, those left out are drawn instead.

    Parameters
    ----------
    source : NoiseSource
    options, size : int
        size ≤ options.

    Examples
    --------
    >>> from objpert_core.learning.noise import noise_source
    >>> sorted(different_choices(noise_source(0), 3, 3).tolist())
    [0, 1, 2]
    """
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
    """Noisy gradient descent from 0, projected onto the ball after every step; the mean of the places it visits.

    Parameters
    ----------
    rows : Rows
    targets : ndarray, shape (n,)
    loss : Loss
        With slopes of at most `plan.lipschitz` over the rows' norm.
    plan : DescentPlan
    streams : Streams
        Where batches and noise come from.
    slots : ndarray of int, optional
        As for `batches`.
    callback : callable, optional
        ``callback(step, gradient_norm)`` after every step, with the norm of the noisy mean gradient. An exception
        raised in it stops the descent and is passed on.

    Returns
    -------
    ndarray, shape (D,)
        As private as `plan.mechanism`, with ‖θ‖ ≤ M but for rounding. Published: the mean of w₀ … w_{T−1}; tight: of
        w₁ … w_T.

    Raises
    ------
    ValueError
        If there are more than twice as many rows as the plan has (or 2¹⁷).

    Notes
    -----
    Bassily, Feldman, Talwar and Thakurta (2019), Algorithm 1; the noisy sums are those of docs/theorems.md, T29.

    Examples
    --------
    >>> from objpert_core.learning.problem.losses import LOGISTIC
    >>> plan = DescentPlan("tight", "full batch", 2, 2, 50, 1e-3, 0.5, 0.25, 1.0)
    >>> rows = Rows(np.array([[1.0], [-1.0]]), "clip")
    >>> descend(rows, np.array([1.0, -1.0]), LOGISTIC, plan, Streams(0)).round(2).tolist()
    [0.25]
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
    """By what θ is multiplied to lie in the ball: 1 where it does; 0 where it is so large that no double tells.

    Examples
    --------
    >>> shrink_into(np.array([3.0, 4.0]), 2.5), shrink_into(np.array([0.1]), 1.0)
    (0.5, 1.0)
    """
    norm: Any = np.linalg.norm(theta)
    if norm <= radius:
        return 1.0
    return float(radius / norm) if np.isfinite(norm) else 0.0
