"""The curvature and the squared gradients at a released θ̂, summed over rows on a lattice, with Gaussian noise.

What a row adds depends on that row and on θ̂ alone, to the last digit: a row x̃ is rounded towards zero to whole numbers
a of a lattice, and so is z = √w·a. Its zzᵀ is no longer than w·x̃x̃ᵀ may be, and sums of whole numbers are exact in any
order. So the releases are Gaussian mechanisms, and no rounding has to be paid for (docs/theorems.md, T14 and T50).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.special import expit

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.steps.curvature import IntervalNoise
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO, NoiseSource, with_noise
from objpert_core.learning.problem.rows import Rows, row_radius

_FINENESS = 2.0**16  # lattice points along a row of norm R, about
_BLOCK_ROWS = 2**12  # a row adds whole numbers below 2³⁴: sums of so many are exact in doubles
_MOST_ROWS = 2**28  # whose sums fit 64 bits
_SCORE_BITS = 34  # of θ̂'s largest entry times √D: a score is a sum of whole numbers below 2⁵³, exact in any order
_FAR = 10.0  # times the noise's length, which no noise of that kind has
_SHORTER = 1 - 2.0**-40  # times √w: more than all roundings of a row's norm, its weight and the noise's size


class Curvature(NamedTuple):
    """Released after a fit, shape (D, D) each: Σp(1 − p)x̃x̃ᵀ with noise, and Σ(p − y)²x̃x̃ᵀ with noise, or None."""

    hessian: FloatArray
    outer: FloatArray | None


def release_curvature(
    rows: Rows,
    summed: Callable[[WholeSums], IntArray],
    theta: FloatArray,
    noise: IntervalNoise,
    source: NoiseSource,
) -> Curvature:
    """Release the sums that `noise` asks for, at a θ that was released; `summed` gives them over rows and targets."""
    radius = row_radius(rows.constant)
    hessian, outer = curvature_noise(noise, radius)
    assert hessian is not None
    if rows.n_rows > _MOST_ROWS:
        raise ValueError(f"X must have at most {_MOST_ROWS} rows where intervals are released, got {rows.n_rows}")
    spacing = lattice_of_rows(radius, max(hessian, outer or 0.0))
    sums = summed(WholeSums(theta, spacing, squares=outer is not None))
    released = [
        _noisy(total, sigma, spacing**2, source)
        for total, sigma in zip(sums, (hessian, outer), strict=False)
        if sigma is not None
    ]
    return Curvature(released[0], released[1] if outer is not None else None)


def curvature_noise(noise: IntervalNoise | None, radius: float) -> tuple[float | None, float | None]:
    """The standard deviations of the noise on every isometric coordinate of both sums."""
    hessian, outer = (None, None) if noise is None else (noise.hessian_noise, noise.outer_noise)
    return hessian and hessian * radius**2 / 4, outer and outer * radius**2


def lattice_of_rows(radius: float, sigma: float) -> float:
    """The spacing h to which rows are rounded; sums lie on multiples of h², and σ fits 64 bits there."""
    return max(power_of_two(radius) / _FINENESS, power_of_two(math.sqrt(sigma / LARGEST_RATIO)) * 2)


def plausible(
    hessian: Any, outer: Any, dimension: int, noise: IntervalNoise | None, radius: float, rows: float | None
) -> bool:
    """Whether a fit may have released these sums: symmetric, on the lattice, not too long; no more can be told."""
    deviations = curvature_noise(noise, radius)
    spacing = lattice_of_rows(radius, max(sigma or 0.0 for sigma in deviations)) ** 2
    for total, sigma, most in zip((hessian, outer), deviations, (radius**2 / 4, radius**2), strict=True):
        if (total is None) is not (sigma is None):
            return False
        if total is None or sigma is None:
            continue
        shaped = isinstance(total, np.ndarray) and (total.dtype, total.shape) == (np.float64, (dimension, dimension))
        if not (shaped and np.array_equal(total, total.T) and not np.fmod(total, spacing).any()):
            return False
        noise_length = _FAR * sigma * dimension
        longest = math.inf if rows is None else rows * most
        if not (np.linalg.norm(total) <= longest + noise_length and np.trace(total) >= -noise_length):
            return False
    return True


@dataclass(frozen=True, eq=False)
class WholeSums:
    """Upper triangles of Σzzᵀ over some rows, in units of spacing², shape (1, D, D), or with `squares` (2, D, D)."""

    theta: FloatArray
    spacing: float
    squares: bool

    def __call__(self, rows: Rows, targets: FloatArray) -> IntArray:
        """The sums over these rows and their targets."""
        size = rows.dimension
        bits = _SCORE_BITS - math.ceil(math.log2(size) / 2)
        unit = power_of_two(float(np.abs(self.theta).max(initial=0.0)) or 1.0) * 2.0 ** (1 - bits)
        whole = np.rint(self.theta / unit)
        totals = np.zeros((1 + self.squares, size, size), np.int64)
        for start in range(0, rows.n_rows, _BLOCK_ROWS):
            part = slice(start, min(start + _BLOCK_ROWS, rows.n_rows))
            points = _points(rows, part, self.spacing)
            scores = (points @ whole) * (unit * self.spacing)
            roots = [np.sqrt(expit(scores) * expit(-scores))]
            if self.squares:
                roots.append(expit(-targets[part] * scores))
            for total, root in zip(totals, roots, strict=True):
                z = np.trunc(points * (root * _SHORTER)[:, None])
                total += dsyrk(1.0, z.T).astype(np.int64)
        return totals


def _points(rows: Rows, part: slice, spacing: float) -> FloatArray:
    """The lattice points of some rows, rounded towards zero, shape (m, D)."""
    block = rows.matrix[part]
    dense = block.toarray() if rows.sparse else block
    points = np.empty((part.stop - part.start, rows.dimension))
    np.multiply(dense, (rows.factors[part] / spacing)[:, None], out=points[:, : rows.n_features])
    if rows.constant:
        points[:, -1] = rows.constant / spacing
    return np.trunc(points, out=points)


def _noisy(total: IntArray, sigma: float, spacing: float, source: NoiseSource) -> FloatArray:
    """A symmetric matrix whose upper triangle is `total`, with noise; off the diagonal it is 1/√2 as wide."""
    size = len(total)
    above = np.triu_indices(size, 1)
    diagonal = with_noise(np.diagonal(total), source.rounded_normal(sigma / spacing, size))
    corner = with_noise(total[above], source.rounded_normal(sigma / math.sqrt(2) / spacing, len(above[0])))
    matrix = np.diag(diagonal * spacing)
    matrix[above] = corner * spacing
    return np.asarray(matrix + np.triu(matrix, 1).T, dtype=np.float64)
