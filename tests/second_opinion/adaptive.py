"""A posterior draw behind two noisy statistics, put together by a mean over the statistics' loss."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.special import erfc

from tests.second_opinion.case import Case
from tests.second_opinion.composed import draws
from tests.second_opinion.definition import Array, Bracket, Known, at_least
from tests.second_opinion.gaussian import log_normal
from tests.second_opinion.objective import with_noise

_GRID = np.linspace(-14, 36, 50001)


def _draw(epsilon: Array, h: float, shift: float) -> Array:
    """δ at ε ≥ 0 of u ~ N(√ρ, h) against mean and variance over 1 + h: |u| > c is where the loss exceeds ε."""
    c = np.sqrt(2 * epsilon + math.log1p(h) + shift / (1 + h))

    def outside(mean: float, variance: float) -> Array:
        root = math.sqrt(2 * variance)
        return (erfc((c - mean) / root) + erfc((c + mean) / root)) / 2

    root = math.sqrt(shift)
    return np.fmax(outside(root, h) - np.exp(np.fmin(epsilon, 700)) * outside(root / (1 + h), h / (1 + h)), 0)


def proved(mus: tuple[float, float], h: float, d: float, failure: float) -> Known:
    """δ′ and the mean of the draw's profile at ε less the statistics' loss, mirrored where that is negative."""
    mu, shift = math.hypot(*mus), d * d * (1 + h) ** 2 / h

    def log_delta(epsilon: float) -> Bracket:
        left = epsilon - mu * mu / 2 - mu * _GRID
        inside = _draw(np.abs(left), h, shift)
        symmetric = np.where(left < 0, -np.expm1(np.fmin(left, 0)) + np.exp(np.fmin(left, 0)) * inside, inside)
        total = failure + float((np.exp(log_normal(_GRID)) * symmetric).sum() * (_GRID[1] - _GRID[0]))
        return -math.inf, math.log(min(total, 1.0))

    return Known(log_delta)


def linked(one: Known, links: int) -> Known:
    """The best of T17's splits on a grid, once for each further link of a chain."""

    @cache
    def delta(epsilon: float, length: int) -> float:
        if length == 1:
            size = math.exp(one.log_delta(abs(epsilon))[1])
            return size if epsilon >= 0 else -math.expm1(epsilon) + math.exp(epsilon) * size
        splits = epsilon * np.linspace(1 / length - 0.1, 1 / length + 0.1, 9) + np.array([0.0])
        return min(delta(float(t), 1) + math.exp(t) * delta(float(epsilon - t), length - 1) for t in splits)

    return Known(lambda epsilon: (-math.inf, math.log(min(delta(epsilon, links), 1.0))))


def reached(mus: tuple[float, float], h: float, d: float) -> Known:
    """Statistics that move as far as they may and then the draw at its worst, with failures left out."""
    return at_least(with_noise(draws(h, d * d * (1 + h) ** 2 / h)[0], math.hypot(*mus), 1e-10))


def _case(mus: tuple[float, float], h: float, d: float, failure: float, runs: float = 1.0) -> Case:
    size = math.hypot(*mus, d)
    return Case(
        "AdaptiveSampling",
        f"mu {mus}, leverage {h:g}, separation {d:g}, failure {failure:g}, runs {runs:g}",
        lambda accounting: accounting.AdaptiveSampling(*mus, h, d, failure, runs),
        (reached(mus, h, d), *(() if runs > 1 else (proved(mus, h, d, failure),))),
        epsilons=(0.0, 0.1 * size, size, 3 * size, 6 * size),
        orders=(),
        looseness=1e-4 if runs == 1 else None,
        resolved=1e-12,
        error=1e-7,
    )


def _replaced(mus: tuple[float, float], h: float, d: float, failure: float, rows: int) -> Case:
    size = 2 * rows * math.hypot(*mus, d)
    return Case(
        "group",
        f"{rows} rows replaced, a draw of mu {mus}, leverage {h:g}, separation {d:g}, failure {failure:g}",
        lambda accounting: accounting.group(
            accounting.AdaptiveSampling(*mus, h, d, failure, adjacency="replace one row"), rows
        ),
        (reached(mus, h, d), linked(proved(mus, h, d, failure), 2 * rows)),
        epsilons=(0.1 * size, size, 3 * size),
        orders=(),
        looseness=0.05,
        resolved=1e-12,
        error=1e-7,
    )


CASES = (
    _replaced((0.05, 0.05), 0.03, 0.15, 1e-7, 1),
    _replaced((0.1, 0.05), 0.05, 0.3, 1e-6, 1),
    _replaced((0.05, 0.05), 0.03, 0.15, 1e-9, 2),
    _case((0.05, 0.05), 0.03, 0.15, 1e-7),
    _case((0.01, 3.0), 1.618, 1.0, 1e-9),
    _case((1.0, 0.5), 0.2, 5.0, 1e-300),
    _case((1.0, 0.5), 1.0, 0.0, 1e-6),
    _case((20.0, 30.0), 0.1, 10.0, 1e-6),
    _case((0.05, 0.05), 0.03, 0.15, 1e-9, runs=20.0),
)
