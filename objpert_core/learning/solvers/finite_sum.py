"""SAG and SVRG: steps along estimates of the gradient made from a few rows at a time.

J is a finite sum: every row carries its loss and the n-th part of λ/2 ‖θ‖² + bᵀθ (Redberg, Koskela and Wang 2023, F.2).
Rows are taken in fixed consecutive batches, drawn with replacement by a fixed seed. After every n evaluations the exact
gradient is computed, for n more: Theorem F.1's check, an iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.solvers.progress import CountedPart, CountedProblem, Progress

_SMALLEST_BATCH, _LARGEST_BATCH = 4, 256
_PATIENCE = 50  # checks without a smaller gradient, after which rounding, not the method, sets the limit
_SETBACK = 20  # such checks, or a norm of _WORSE times the smallest: the steps are too long
_WORSE = 1e3


def batch_size(problem: CountedProblem) -> int:
    """How many rows a step takes: 4 λ/β, but 4 to 256."""
    free = 4 * problem.strong_convexity / problem.row_smoothness if problem.row_smoothness > 0 else _LARGEST_BATCH
    return round(min(max(free, _SMALLEST_BATCH), _LARGEST_BATCH))


class _Batches:
    """The problem's rows in batches drawn at random, and the length of a step."""

    def __init__(self, problem: CountedProblem) -> None:
        self.tilt = problem.tilt
        self.tilt_smoothness = problem.tilt_smoothness
        self.parts: list[CountedPart] = problem.parts(batch_size(problem))
        self.curvature = max(part.smoothness() for part in self.parts)
        self._random = np.random.default_rng(0)

    def draw(self) -> list[int]:
        """Batches for one pass, n evaluations on average."""
        return self._random.integers(len(self.parts), size=len(self.parts)).tolist()

    def step(self, known: int) -> float:
        """1/L for the sum of `known` batches and their shares of the tilt."""
        return 1.0 / (known * self.curvature + self.tilt_smoothness * known / len(self.parts))


def sag(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """Stochastic average gradient (Schmidt, Le Roux and Bach 2017): renew a batch's slopes, step by the sum."""
    return _passes(problem, theta, progress, _Table)


def svrg(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """Stochastic variance-reduced gradient (Johnson and Zhang 2013, option I): the exact one at an anchor."""
    return _passes(problem, theta, progress, _Anchor)


class _Table:
    """SAG's estimate: the slopes that each row had when it was last seen."""

    def __init__(self, problem: CountedProblem, batches: _Batches) -> None:
        self._problem, self._batches = problem, batches
        self.shorten = 1.0
        self.reset()

    def reset(self) -> None:
        """Forget every slope, after steps that led astray."""
        self._table = np.zeros(self._problem.n_rows)
        self._total = np.zeros(self._problem.dimension)
        self._seen: set[int] = set()

    def anchor(self, slopes: FloatArray, total: FloatArray) -> None:
        """Add the table up anew, which removes the rounding in its sum."""
        self._total = self._problem.combine(self._table)

    def run(self, theta: FloatArray) -> FloatArray:
        """One pass: as many steps as there are batches."""
        parts, total = self._batches.parts, self._total
        for index in self._batches.draw():
            part = parts[index]
            slopes = part.slopes(theta)
            total += part.combine(slopes - self._table[part.where])
            self._table[part.where] = slopes
            self._seen.add(index)
            known = len(self._seen)
            step = self.shorten * self._batches.step(known)
            theta = theta - step * (total + known / len(parts) * self._batches.tilt(theta))
        return theta


class _Anchor:
    """SVRG's estimate: the gradient at the last check, plus the change of one batch since then times their number."""

    def __init__(self, problem: CountedProblem, batches: _Batches) -> None:
        self._batches = batches
        self.shorten = 1.0

    def reset(self) -> None:
        """Nothing to forget: the next anchor replaces everything."""

    def anchor(self, slopes: FloatArray, total: FloatArray) -> None:
        """Take the exact slopes, and Σ slopeᵢ x̃ᵢ, at the point where the next pass starts."""
        self._slopes, self._total = slopes, total

    def run(self, theta: FloatArray) -> FloatArray:
        parts, step = self._batches.parts, self.shorten * self._batches.step(len(self._batches.parts))
        for index in self._batches.draw():
            part = parts[index]
            change = part.combine(part.slopes(theta) - self._slopes[part.where])
            theta = theta - step * (self._total + len(parts) * change + self._batches.tilt(theta))
        return theta


def _passes(
    problem: CountedProblem, theta: FloatArray, progress: Progress, method: type[_Table] | type[_Anchor]
) -> FloatArray:
    """Passes and exact checks in turn, until `progress` is over."""
    exact = _exact(problem, theta)
    progress.report(exact.norm)
    if progress.over:
        return theta
    batches = _Batches(problem)
    estimate = method(problem, batches)
    best, best_norm = theta, exact.norm
    while not progress.over and not progress.idle(_PATIENCE):
        estimate.anchor(exact.slopes, exact.total)
        theta = estimate.run(theta)
        exact = _exact(problem, theta)
        progress.report(exact.norm)
        if exact.norm < best_norm:
            best, best_norm = theta, exact.norm
        elif not exact.norm <= _WORSE * best_norm or progress.idle(_SETBACK):  # not ≤: NaN too
            estimate.shorten /= 2
            estimate.reset()
            theta, exact = best, _exact(problem, best)
    return best


@dataclass(frozen=True)
class _Exact:
    """The gradient at a point: every row's slope, Σ slopeᵢ x̃ᵢ, and the norm with the tilt."""

    slopes: FloatArray
    total: FloatArray
    norm: float


def _exact(problem: CountedProblem, theta: FloatArray) -> _Exact:
    slopes = problem.slopes(theta)
    total = problem.combine(slopes)
    return _Exact(slopes, total, float(np.linalg.norm(total + problem.tilt(theta))))
