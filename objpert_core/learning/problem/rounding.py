"""How far a computed gradient can be from the exact one: an error bound that is computed along with the gradient.

The rules of rounding: a floating-point operation is right up to a factor 1 ± u, u = 2⁻⁵³, and a sum of k products, in
whatever order and with whatever fused operations, is off by at most γ(k)·Σ|terms|, γ(k) = k·u/(1 − k·u) (Higham 2002,
Section 3.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from objpert_core._validation import FloatArray
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

    c being the size of the loss's parameter and L its largest slope. The sum over the rows is off by γ(rows of a block
    + blocks + 4)·R·Σ|s_i|. Where β differs from row to row (an envelope's), each row has its own, and its own norm
    instead of R. A `fine` objective takes some times as long and has a far closer bound where rows are many or wide.

    The minimum keeps a row with an enormous target from making a fit fail, and so from betraying its presence. Where a
    score is so far from the target that the difference is rounded by more, the slope is at its end, rounded or not.
    """
    if isinstance(objective.rows, FineRows):
        with np.errstate(all="ignore"):  # what is not finite is found at the end
            return fine_norm_bound(objective, theta)
    return gradient_norm_bounds([objective], theta[None])[0]


def gradient_norm_bounds(
    objectives: Sequence[PerturbedObjective | StreamedObjective], thetas: FloatArray
) -> list[float]:
    """Bound the gradients of objectives that differ by b and Λ alone, each at its own θ, in one pass over the rows."""
    rows, loss = objectives[0].rows, objectives[0].loss
    radius, lengths = row_radius(rows.constant), np.linalg.norm(thetas, axis=1)
    own = 1 + abs(loss.parameter or 0.0)

    def term(part: LossPart) -> FloatArray:
        """Σ of the gradients, of what their slopes are off, each times its row's norm, and of the slopes' sizes."""
        scores = part.rows.margins(thetas)
        found = part.loss.slopes(scores, part.targets)
        steep = part.loss.smoothness_of_rows
        norms = radius if np.ndim(steep) == 0 else part.rows.norms()
        with np.errstate(over="ignore"):
            far = np.minimum(np.abs(scores) + np.abs(part.targets), own + part.loss.lipschitz / steep)
        off = 8 * UNIT * (own + far) + gamma(rows.dimension + 4) * norms * lengths[:, None]
        sizes = (steep * norms * off).sum(axis=1), np.abs(found).sum(axis=1)
        return np.column_stack([part.combine(found), *sizes])

    total, additions = objectives[0].summed(term, _BLOCK)
    sums = np.zeros((len(thetas), rows.dimension + 2)) + total
    totals, (slope_error, slopes) = sums[:, :-2], sums[:, -2:].T
    size = min(_BLOCK, rows.n_rows)
    errors = slope_error + radius * (16 * UNIT + gamma(size + additions + 4)) * slopes
    bounds = []
    for objective, theta, length, total, error in zip(objectives, thetas, lengths, totals, errors, strict=True):
        tilt = objective.tilt_smoothness * float(length) * math.sqrt(rows.dimension)
        tilt += float(np.linalg.norm(objective.linear))
        norm = float(np.linalg.norm(total + objective.tilt(theta)))
        off_by = float(error) + gamma(rows.dimension + 4) * tilt
        bound = (norm + off_by) * (1 + gamma(rows.dimension + size + additions + 16))  # the bound's own roundings
        bounds.append(bound if math.isfinite(bound) else math.inf)
    return bounds


def own_constant(loss: Loss) -> float:
    """What a score, or a residual, is compared with by a loss, at most.

    >>> from objpert_core.learning.problem.losses import LogisticLoss, SquaredLoss
    >>> own_constant(LogisticLoss(1.5)), own_constant(SquaredLoss())
    (2.5, 0.0)
    """
    return float(loss.takes_margins) + abs(loss.parameter or 0.0)


def fine_norm_bound(objective: PerturbedObjective | StreamedObjective, theta: FloatArray) -> float:
    """As `gradient_norm_bound`, by scores of twice a double's digits and sums of short blocks.

    The slope of row i is taken at a score that is off by 2u of itself, or of its residual, and by `score_error`. So the
    slope is off by βᵢ·(score_error + 16u·(c + min(|score| + |target|, c + Lᵢ/βᵢ))) + 16u·|sᵢ| at most. c is the size of
    the loss's parameter; a loss of the margin has a 1 of its own, and c is larger by this 1.
    """
    rows, loss, length = objective.rows, objective.loss, float(np.linalg.norm(theta))
    dimension, count = rows.dimension, 0
    own, margins = own_constant(loss), loss.takes_margins
    fixed = score_error(dimension, row_radius(rows.constant), length * (1 + gamma(dimension + 4)))
    total, lost = np.zeros(dimension), np.zeros(dimension)
    slope_error = pulls = 0.0
    for part in _fine_parts(objective):
        assert isinstance(part.rows, FineRows)
        count += 1
        high, low = part.rows.score_pairs(theta)
        targets = part.targets
        if not margins:  # a residual keeps its digits where score and target have the same
            residual, rest = two_sum(high, -targets)
            high, targets = residual + (rest + low), np.zeros(len(high))
        slopes, norms = part.loss.slopes(high, targets), part.rows.norms()
        steep = part.loss.smoothness_of_rows
        far = np.minimum(np.abs(high) + np.abs(targets), own + part.loss.lipschitz_of_rows / steep)
        slope_error += float((steep * norms * (fixed + 16 * UNIT * (own + far))).sum())
        pulls += float((np.abs(slopes) * norms).sum())
        total, rounded = two_sum(total, part.combine(slopes))
        lost += rounded
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
    bound = (norm + off_by) * (1 + gamma(dimension + part_size(dimension) + count + 64))  # the bound's own roundings
    return bound if math.isfinite(bound) else math.inf


def _fine_parts(objective: PerturbedObjective | StreamedObjective) -> Iterator[LossPart]:
    if isinstance(objective, PerturbedObjective):
        yield from objective.parts(part_size(objective.dimension))
        return
    for block in objective.objectives():
        yield from fine(block).parts(part_size(block.dimension))
