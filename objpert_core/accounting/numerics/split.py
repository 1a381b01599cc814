"""The best split of ε between two mechanisms of which one has no privacy loss to add: min of δ₁(ε₁) + δ₂(ε₂)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from objpert_core._validation import FloatArray

LogProfile = Callable[[FloatArray], FloatArray]

_UNITS = np.arange(81.0) / 2
_APART = 2.0 ** -np.arange(60.0)
_FINER = np.linspace(0.0, 1.0, 33)
_ROUNDS = 7  # brackets shrink by 16 each: what is left is 4e-9 of a grid cell, whose square no longer counts


def difference_down(x: FloatArray, y: FloatArray | float) -> FloatArray:
    """x − y, rounded down: y plus the result does not exceed x."""
    difference = x - y
    back = x - difference  # Knuth's exact error of a difference
    error = (x - (difference + back)) + (back - y)
    return np.where(error < 0, np.nextafter(difference, -np.inf), difference)


def log_best_split(first: LogProfile, second: LogProfile, least: float, unit: float, epsilon: FloatArray) -> FloatArray:
    """log of the smallest δ₁(ε₁) + δ₂(ε₂) found over ε₁ + ε₂ = ε with ε₁ ≥ least and ε₂ ≥ 0; ≤ 0 and not rising in ε.

    Every split is a valid bound. δ₂ falls on the scale of the `unit`; where δ₁ falls faster, ε₂ is best near 0 or ε.
    """
    room = np.maximum(difference_down(epsilon, least), 0.0)

    def log_sum(share: FloatArray) -> FloatArray:
        """log(δ₁(ε − share) + δ₂(share)), for shares of shape (ε.size, k) in [0, room]."""
        left = np.maximum(difference_down(epsilon[:, None], share), least)
        return np.logaddexp(first(left), second(share))

    apart = room[:, None] * _APART
    units = np.broadcast_to(unit * _UNITS, (epsilon.size, _UNITS.size))
    share = np.concatenate((units, apart, room[:, None] - apart), axis=1)
    share = np.sort(np.clip(share, 0.0, room[:, None]), axis=1)
    result, rows = np.zeros_like(epsilon), np.arange(epsilon.size)
    for _ in range(1 + _ROUNDS):
        tried = log_sum(share)
        best = np.argmin(tried, axis=1)
        result = np.minimum(result, tried[rows, best])
        at = share[rows, best][:, None]  # one share may stand in the grid twice: its neighbours are others
        start = np.where(share < at, share, 0.0).max(axis=1, keepdims=True)
        end = np.where(share > at, share, room[:, None]).min(axis=1, keepdims=True)
        share = np.minimum(start + (end - start) * _FINER, end)
    result = np.where(epsilon >= least, result, 0.0)
    order = np.argsort(epsilon, kind="stable")
    result[order] = np.minimum.accumulate(result[order])
    return result
