"""Moreau envelopes: any loss of this package made smooth, as close to the loss as wanted, with slopes in closed form.

The envelope of a convex f at the step t is f_t(u) = min over p of f(p) + (u − p)²/(2t), least at p = prox_{tf}(u), and
f_t'(u) = (u − p)/t is a slope of f at p. So f_t is convex, no steeper than f, and 1/t-smooth; for |f'| ≤ L

    f − L²t/2  ≤  f_t  ≤  f.

A row's loss f(xᵀw) has in w the envelope f_t(xᵀw) with t = ‖x‖²/β, again a generalised linear loss, of gradient L‖x‖ at
most and β-smooth in w (docs/theorems.md, T25). Bassily, Feldman, Talwar and Thakurta (2019), Section 4, minimise over
the ball instead and call the envelope 2L-Lipschitz; it is L-Lipschitz, which halves their noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from objpert_core._validation import FloatArray, like_input, positive, positive_array
from objpert_core.learning.problem.derived import DerivedLoss, of_rows
from objpert_core.learning.problem.losses import (
    HuberisedHingeLoss,
    HuberLoss,
    LogisticLoss,
    Loss,
    SquaredHingeLoss,
    SquaredLoss,
    Targets,
)
from objpert_core.learning.problem.nonsmooth import AbsoluteLoss, EpsilonInsensitiveLoss, HingeLoss, PinballLoss
from objpert_core.learning.problem.rows import Rows, row_radius

_LEAST_STEP, _LARGEST_STEP = 1e-150, 1e150  # products with scores are far from overflow
_LEAST_SHARE = 2.0**-20  # of the longest row's step: a shorter step would make the loss as good as not smooth
MOST_BENT = 1 / math.sqrt(_LEAST_SHARE)
"""No row's curvature times its norm is more than this many times that of the longest row."""

Step = FloatArray | float
Slopes = Callable[[Any, FloatArray, Targets, Step], FloatArray]
_SLOPES: dict[type[Loss], Slopes] = {
    HingeLoss: lambda _, u, y, t: -y * np.clip((1.0 - y * u) / t, 0.0, 1.0),
    AbsoluteLoss: lambda _, u, y, t: np.clip((u - y) / t, -1.0, 1.0),
    PinballLoss: lambda loss, u, y, t: np.clip((u - y) / t, -loss.quantile, 1.0 - loss.quantile),
    EpsilonInsensitiveLoss: lambda loss, u, y, t: np.sign(u - y) * np.clip((np.abs(u - y) - loss.width) / t, 0.0, 1.0),
    HuberLoss: lambda loss, u, y, t: np.clip((u - y) / (1.0 + t), -loss.threshold, loss.threshold),
    SquaredLoss: lambda _, u, y, t: (u - y) / (1.0 + t),
    SquaredHingeLoss: lambda _, u, y, t: -y * np.maximum(0.0, 1.0 - y * u) / (1.0 + t),
    HuberisedHingeLoss: lambda loss, u, y, t: -y * np.clip((1.0 + loss.width - y * u) / (2 * loss.width + t), 0.0, 1.0),
    LogisticLoss: lambda loss, u, y, t: -y * proximal_probability(y * u - loss.margin, t),
}
"""(u − prox_{tf}(u))/t of each loss, at the scores u, the targets y and the steps t."""


@dataclass(frozen=True, eq=False)
class MoreauEnvelope(DerivedLoss):
    """f_t(u) = min over p of f(p) + (u − p)²/(2t): the loss with its corners rounded.

    Slopes are cut off at ±L whatever was computed, so privacy never depends on an iteration's end. To clip, clip the
    envelope: the envelope of the clipped loss is the clipped envelope.

    `step`, t, is from 1e-150 to 1e150, in units of score² per unit of loss: one for all rows, or an array of one for
    each (`envelope_steps`).

    >>> envelope = MoreauEnvelope(AbsoluteLoss(), 1.0)  # of |r| it is Huber's loss
    >>> envelope.value(np.array([0.5, 3.0]), 0.0).tolist(), envelope.smoothness
    ([0.125, 2.5], 1.0)
    """

    step: Step

    def __post_init__(self) -> None:
        if type(self.loss) not in _SLOPES:
            names = ", ".join(kind.__name__ for kind in _SLOPES)
            raise ValueError(f"loss must be one of {names}, got {self.loss!r}")
        step = positive_array("step", self.step)
        if not np.all((step >= _LEAST_STEP) & (step <= _LARGEST_STEP)):
            raise ValueError(f"step must be from {_LEAST_STEP:g} to {_LARGEST_STEP:g}, got {self.step!r}")
        object.__setattr__(self, "step", like_input(self.step, step))

    @property
    def name(self) -> str:  # type: ignore[override]
        """The loss's name, marked as rounded: a theorem about the loss itself need not cover the envelope."""
        return f"envelope of {self.loss.name}"

    @property
    def smoothness(self) -> float:
        """The largest of `smoothness_of_rows`."""
        return float(np.max(self.smoothness_of_rows, initial=0.0))

    @property
    def smoothness_of_rows(self) -> Step:
        """1/(1/β + t) for each step; 1/t for a loss with corners."""
        return 1.0 / (1.0 / self.loss.smoothness + self.step)

    @property
    def bias(self) -> float:
        """L²t/2 for the largest step: the envelope is below the loss by no more."""
        return float(self.loss.lipschitz**2 * np.max(self.step, initial=0.0) / 2)

    def part(self, where: slice) -> MoreauEnvelope:
        return MoreauEnvelope(self.loss, of_rows(self.step, where))

    def proximal_point(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        """prox_{tf}(u), elementwise."""
        return scores - self.step * self._slopes(scores, targets)

    def value(self, scores: FloatArray, targets: Targets = 1.0) -> FloatArray:
        slopes = self._slopes(scores, targets)
        return self.loss.value(scores - self.step * slopes, targets) + self.step * slopes**2 / 2

    def derivatives(self, scores: FloatArray, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """f_t' and f_t'', elementwise: f'' = c at the proximal point makes f_t'' = c/(1 + tc)."""
        slopes = self._slopes(scores, targets)
        return slopes, self._curvature(scores, slopes, targets)

    def kinks(self, slope: FloatArray | float, targets: Targets = 1.0) -> tuple[FloatArray, FloatArray]:
        """The loss's own kinks, moved outwards by t times the slope: prox_{tf} takes the new kinks to the old."""
        low, high = self.loss.kinks(slope, targets)
        moved = self.step * np.minimum(slope, np.finfo(np.float64).max / _LARGEST_STEP)  # no 0·inf, no inf − inf
        return np.where(np.isneginf(low), low, low - moved), np.where(np.isposinf(high), high, high + moved)

    def _slopes(self, scores: FloatArray, targets: Targets) -> FloatArray:
        with np.errstate(over="ignore"):  # an infinite quotient is cut off like any other
            slopes = _SLOPES[type(self.loss)](self.loss, scores, targets, self.step)
        return np.clip(slopes, -self.lipschitz, self.lipschitz)

    def _curvature(self, scores: FloatArray, slopes: FloatArray, targets: Targets) -> FloatArray:
        if isinstance(self.loss, LogisticLoss):
            wrong = np.abs(slopes)
            inner = wrong * expit(targets * (scores - self.step * slopes) - self.loss.margin)
            return inner / (1.0 + self.step * inner)
        # All others have pieces with f'' = 0, and others (or corners) with the largest curvature there is: there the
        # slope lies strictly between those at the ends.
        low, high = _slopes_at_the_ends(self.loss, targets)
        inside = (slopes > low) & (slopes < high)
        if isinstance(self.loss, EpsilonInsensitiveLoss) and self.loss.width > 0:
            inside &= slopes != 0
        return np.where(inside, self.smoothness_of_rows, 0.0)


def _slopes_at_the_ends(loss: Loss, targets: Targets) -> tuple[FloatArray | float, FloatArray | float]:
    if isinstance(loss, PinballLoss):
        return -loss.quantile, 1.0 - loss.quantile
    if loss.monotone:
        falls = np.asarray(targets) > 0
        return np.where(falls, -loss.lipschitz, 0.0), np.where(falls, 0.0, loss.lipschitz)
    return -loss.lipschitz, loss.lipschitz


def widest_envelope(loss: Loss, smoothness: float, radius: float) -> MoreauEnvelope:
    """Envelope of the longest possible row: in θ no row's is steeper, or has more curvature."""
    return MoreauEnvelope(loss, positive("radius", radius) ** 2 / positive("smoothness", smoothness) * (1 + 2.0**-50))


_SURE = 1e-9  # of the root z: one step more squares it
_MOST_STEPS = 400  # halvings of the bracket included, for scores up to 1e100


def proximal_probability(ahead: FloatArray, step: Step) -> FloatArray:
    """Solve log(s/(1 − s)) + a + t·s = 0 for s in (0, 1), right to 11 units in the last place: the slope at prox."""
    a, t = np.broadcast_arrays(np.clip(np.asarray(ahead, dtype=np.float64), -1e300, 1e300), np.asarray(step))
    rise = np.log1p(t)
    low, high = np.maximum(-a - t, -np.maximum(a, 0.0) - rise), -a
    z = np.clip(_guess(a, t), low, high)
    residual = z + a + t * expit(z)
    halved = np.ones(z.shape, dtype=bool)
    for _ in range(_MOST_STEPS):
        change = residual / (1.0 + t * expit(z) * expit(-z))
        low, high = np.where(residual < 0, z, low), np.where(residual > 0, z, high)
        sure = _SURE + 1e-15 * np.abs(z)
        done = (np.abs(change) <= sure) | (high - low <= sure)
        if done.all():
            break
        newton = z - change
        good = halved & (newton > low) & (newton < high)
        moved = np.where(good, newton, low + (high - low) / 2)
        z = np.where(done, z, moved)
        before, residual = residual, z + a + t * expit(z)
        halved = np.abs(residual) <= np.abs(before) / 2
    wrong, right = expit(z), expit(-z)
    residual = (z + a) + t * wrong
    return np.clip(wrong - wrong * right * residual / (1.0 + t * wrong * right), 0.0, 1.0)


def _guess(a: FloatArray, t: FloatArray) -> FloatArray:
    """Where Newton's method starts: t·expit(z) is about Lambert's W(t·e^{−a}) for a ≥ 0, expit(z) about −a/t below."""
    log_x = np.log(t) - a
    q = np.logaddexp(0.0, log_x)  # log(1 + x), and W(x) is about this (Winitzki)
    lambert = q * (1.0 - np.log1p(q) / (2.0 + q))
    share = np.clip(-a / t, 1e-300, 1.0 - 1e-16)
    return np.where(a >= -1.0, -a - lambert, np.log(share) - np.log1p(-share))


def envelope_steps(rows: Rows, smoothness: float) -> FloatArray:
    """Find the step t of every row with which its envelope is `smoothness`-smooth in θ: t = ‖x̃ᵢ‖²/β, shape (n,).

    No step is less than 2⁻²⁰·R²/β, R = √(1 + s²). Each depends on its row and on public numbers only.

    >>> envelope_steps(Rows(np.array([[0.5], [8.0], [0.0]]), "clip"), 2.0).round(9).tolist()
    [0.125, 0.5, 4.77e-07]
    """
    squares = np.maximum(rows.norms() ** 2, _LEAST_SHARE * row_radius(rows.constant) ** 2)
    return squares / positive("smoothness", smoothness)
