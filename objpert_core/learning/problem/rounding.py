"""How far a computed gradient can be from the exact one: an error bound that is computed along with the gradient.

An operation is right up to a factor 1 ± u, u = 2⁻⁵³, and a sum of k products, in whatever order, is off by at most
γ(k)·Σ|terms|, γ(k) = k·u/(1 − k·u) (Higham 2002, Section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.codes import CarefulCodes, CodedRows
from objpert_core.learning.problem.fine import FineRows, fine, part_size, score_error, summands_of_rows, two_sum
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.objective import LossPart, PerturbedObjective
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.problem.streamed import StreamedObjective

UNIT = 2.0**-53
_BLOCK = 1024  # rows summed at once: the error grows with this and with the number of blocks, not with that of rows


def gamma(operations: int) -> float:
    """γ(k) = k·u/(1 − k·u), the largest relative error of k roundings, itself rounded up."""
    return operations * UNIT / (1 - (operations + 2) * UNIT)


def gradient_norm_bound(objective: PerturbedObjective, theta: FloatArray) -> float:
    """Bound ‖∇J(θ)‖ from above, rounding included, at exactly these θ, rows, b and Λ; `inf` if it is not finite.

    docs/theorems.md, T15. With s_i the computed slope of row i, the slopes are off by Σ at most

        β·(γ(D + 4)·R·‖θ‖ + 8u·(1 + c + min(|score| + |target|, 1 + c + L/β))) + 16u·|s_i|,

    c the size of the loss's parameter and L its largest slope, and the sum by γ(rows of a block + blocks + 4)·R·Σ|s_i|.
    Of an envelope each row has its own β and norm. The minimum keeps a row with an enormous target from making a fit
    fail, and so from betraying its presence. A `fine` objective has a far closer bound where rows are many or wide.
    """
    if isinstance(objective.rows, FineRows):
        with np.errstate(all="ignore"):  # what is not finite is found at the end
            return fine_norm_bound(objective, theta)
    return gradient_norm_bounds([objective], theta[None])[0]


def gradient_norm_bounds(
    objectives: Sequence[PerturbedObjective | StreamedObjective], thetas: FloatArray
) -> list[float]:
    """Bound the gradients of objectives that differ by b and Λ alone, each at its own θ, in one pass over the rows."""
    return [look.bound for look in looks([*map(_careful, objectives)], thetas, _BLOCK, _gradients_and_sizes)]


def _careful(objective: Any) -> Any:
    """The same objective, whose rows, where they are codes, bring fewer roundings."""
    if isinstance(objective, StreamedObjective):
        return replace(objective, each=lambda work: objective.each(partial(_carefully, work)))
    coded = isinstance(objective.rows, CodedRows)
    return replace(objective, rows=CarefulCodes(objective.rows)) if coded else objective


def _carefully(work: Callable[[PerturbedObjective], Any], losses: PerturbedObjective) -> Any:
    return work(_careful(losses))


@dataclass(frozen=True, eq=False)
class Look:
    """What one pass over the rows has found at θ: the gradient, and a bound on the exact gradient's norm."""

    objective: PerturbedObjective | StreamedObjective
    theta: FloatArray
    gradient: FloatArray
    bound: float


def gradients_and_limits(thetas: FloatArray, own: float, radius: float, part: LossPart) -> FloatArray:
    """As `_gradients_and_sizes`, with the largest that a row can bring; no bound where slopes or digits have none."""
    steep, count = part.loss.smoothness, part.rows.n_rows
    off, largest = largest_slope(part.loss, own)
    sums = np.empty((len(thetas), part.rows.dimension + 2))
    sums[:, :-2] = part.combine(part.slopes(thetas))
    sums[:, -2] = off + steep * gamma(part.rows.dimension + 4) * radius * np.linalg.norm(thetas, axis=1)
    sums[:, -2] *= count * radius
    sums[:, -1] = count * largest if part.rows.in_doubles else math.inf
    return sums


def looks(
    objectives: Sequence[PerturbedObjective | StreamedObjective],
    thetas: FloatArray,
    size: int,
    of_part: Callable[[FloatArray, float, float, LossPart], FloatArray] = gradients_and_limits,
) -> list[Look]:
    """As `gradient_norm_bounds`, by parts of `size` rows; `of_part` makes, for each point, the gradient of its losses,
    what errors of its slopes add to it, and the sum of the slopes' sizes."""
    rows, loss = objectives[0].rows, objectives[0].loss
    thetas = thetas.copy()
    thetas.setflags(write=False)
    radius, lengths = row_radius(rows.constant), np.linalg.norm(thetas, axis=1)
    term = partial(of_part, thetas, 1 + abs(loss.parameter or 0.0), radius)
    total, additions = objectives[0].summed(term, size, points=len(thetas))
    sums = np.zeros((len(thetas), rows.dimension + 2)) + total
    totals, (slope_error, slopes) = sums[:, :-2], sums[:, -2:].T
    errors = slope_error + radius * (16 * UNIT + gamma(additions + 4)) * slopes
    found = []
    for objective, theta, length, total, error in zip(objectives, thetas, lengths, totals, errors, strict=True):
        tilt = objective.tilt_smoothness * float(length) * math.sqrt(rows.dimension)
        tilt += float(np.linalg.norm(objective.linear))
        gradient = total + objective.tilt(theta)
        off_by = float(error) + gamma(rows.dimension + 4) * tilt
        bound = float(np.linalg.norm(gradient)) + off_by
        bound *= 1 + gamma(rows.dimension + additions + 16)  # the bound's own roundings
        found.append(Look(objective, theta, gradient, bound if math.isfinite(bound) else math.inf))
    return found


def _gradients_and_sizes(thetas: FloatArray, own: float, radius: float, part: LossPart) -> FloatArray:
    """Σ of the gradients, of what their slopes are off, each times its row's norm, and of the slopes' sizes."""
    steep = part.loss.smoothness_of_rows
    norms = radius if np.ndim(steep) == 0 else part.rows.norms()
    if isinstance(part.rows, CarefulCodes):
        scores, errors = part.rows.scores(thetas)
    else:
        lengths = np.linalg.norm(thetas, axis=1)[:, None]
        scores, errors = part.rows.margins(thetas), gamma(part.rows.dimension + 4) * norms * lengths
    found = part.loss.slopes(scores, part.targets)
    with np.errstate(over="ignore"):
        far = np.minimum(np.abs(scores) + np.abs(part.targets), own + part.loss.lipschitz / steep)
    off = 8 * UNIT * (own + far) + errors
    sizes = (steep * norms * off).sum(axis=1), np.abs(found).sum(axis=1)
    return np.column_stack([part.combine(found), *sizes])


def largest_slope(loss: Loss, own: float) -> tuple[float, float]:
    """What a slope is off by at most, at the score as computed, and the largest that a computed slope can be."""
    off = 8 * UNIT * (2 * loss.smoothness * own + loss.lipschitz)
    return off, loss.lipschitz * (1 + 16 * UNIT) + off


def own_constant(loss: Loss) -> float:
    """The largest size of what a loss compares a score, or a residual, with."""
    return float(loss.takes_margins) + abs(loss.parameter or 0.0)


def fine_norm_bound(objective: PerturbedObjective | StreamedObjective, theta: FloatArray) -> float:
    """As `gradient_norm_bound`, by scores of twice a double's digits and sums of short blocks: slopes are off by
    βᵢ·(score_error + 16u·(c + min(|score| + |target|, c + Lᵢ/βᵢ))) + 16u·|sᵢ| at most, c larger by 1 for a margin's
    loss."""
    rows, loss, length = objective.rows, objective.loss, float(np.linalg.norm(theta))
    dimension = rows.dimension
    fixed = score_error(dimension, row_radius(rows.constant), length * (1 + gamma(dimension + 4)))
    look = partial(_fine_sums, theta, fixed, own_constant(loss), loss.takes_margins)
    blocks = [look(objective)] if isinstance(objective, PerturbedObjective) else objective.each(look)
    total, lost, slope_error, pulls, parts = _joined(blocks, dimension)
    tilt = objective.tilt_smoothness * length * (1.0 if np.ndim(objective.lam) == 0 else math.sqrt(dimension))
    tilt += float(np.linalg.norm(objective.linear))
    turns = 8 if np.ndim(objective.lam) == 0 else dimension + 8
    off_by = (
        slope_error
        + (16 * UNIT + gamma(summands_of_rows(rows.n_rows))) * pulls
        + gamma(8) * pulls
        + gamma(turns) * tilt
    )
    norm = float(np.linalg.norm(total + (lost + objective.tilt(theta))))
    bound = (norm + off_by) * (1 + gamma(dimension + part_size(dimension) + parts + 64))  # the bound's own roundings
    return bound if math.isfinite(bound) else math.inf


class _FineSums(NamedTuple):
    """Σ of the gradients of some rows and what rounding took off; bounds on what slopes are off; parts looked at."""

    total: FloatArray
    lost: FloatArray
    slope_error: float
    pulls: float
    parts: int


def _fine_sums(theta: FloatArray, fixed: float, own: float, margins: bool, objective: PerturbedObjective) -> _FineSums:
    careful = objective if isinstance(objective.rows, FineRows) else fine(objective)
    return _joined(
        (_fine_sums_of(theta, fixed, own, margins, part) for part in careful.parts(part_size(careful.dimension))),
        careful.dimension,
    )


def _fine_sums_of(theta: FloatArray, fixed: float, own: float, margins: bool, part: LossPart) -> _FineSums:
    assert isinstance(part.rows, FineRows)
    high, low = part.rows.score_pairs(theta)
    targets = part.targets
    if not margins:  # a residual keeps its digits where score and target have the same
        residual, rest = two_sum(high, -targets)
        high, targets = residual + (rest + low), np.zeros(len(high))
    slopes, norms = part.loss.slopes(high, targets), part.rows.norms()
    steep = part.loss.smoothness_of_rows
    far = np.minimum(np.abs(high) + np.abs(targets), own + part.loss.lipschitz_of_rows / steep)
    slope_error = float((steep * norms * (fixed + 16 * UNIT * (own + far))).sum())
    total = part.combine(slopes)
    return _FineSums(total, np.zeros_like(total), slope_error, float((np.abs(slopes) * norms).sum()), 1)


def _joined(sums: Iterable[_FineSums], dimension: int) -> _FineSums:
    """What rounding takes off is carried along, of the parts of a block and of the blocks."""
    total, lost, slope_error, pulls, parts = np.zeros(dimension), np.zeros(dimension), 0.0, 0.0, 0
    for one in sums:
        total, rounded = two_sum(total, one.total)
        lost += rounded + one.lost
        slope_error += one.slope_error
        pulls += one.pulls
        parts += one.parts
    return _FineSums(total, lost, slope_error, pulls, parts)
