"""The curvature and the squared gradients at a released θ̂, summed over rows on a lattice, with Gaussian noise.

What a row adds depends on that row and on θ̂ alone, to the last digit: a row x̃ is rounded towards zero to whole numbers
a of a lattice, and so is z = √w·a. Its zzᵀ is no longer than w·x̃x̃ᵀ may be, and sums of whole numbers are exact in any
order. So the releases are Gaussian mechanisms, and no rounding has to be paid for (docs/theorems.md, T14 and T50).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.special import expit

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.steps.curvature import IntervalNoise
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO
from objpert_core.learning.problem.losses import LOGISTIC, LogisticLoss
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.steps.base import Outcome, PublicRows, Published, Some, Statistic, Taken

_FINENESS = 2.0**16  # lattice points along a row of norm R, about
_BLOCK_ROWS = 2**12  # a row adds whole numbers below 2³⁴: sums of so many are exact in doubles
_MOST_ROWS = 2**28  # whose sums fit 64 bits
_SCORE_BITS = 34  # of θ̂'s largest entry times √D: a score is a sum of whole numbers below 2⁵³, exact in any order
_FAR = 10.0  # times the noise's length, which no noise of that kind has
_SHORTER = 1 - 2.0**-40  # times √w: more than all roundings of a row's norm, its weight and the noise's size


@dataclass(frozen=True, eq=False)
class Curvature(Outcome):
    """Released after a fit, shape (D, D) each: Σp(1 − p)x̃x̃ᵀ with noise, and Σ(p − y)²x̃x̃ᵀ with noise, or None."""

    hessian: FloatArray
    outer: FloatArray | None

    def published(self) -> dict[str, Any]:
        return {"hessian_": self.hessian, "outer_": self.outer}


class CurvatureTaken(Taken[IntervalNoise], takes=IntervalNoise):
    """Both sums at the released θ, of symmetric matrices, whose entries off the diagonal have noise 1/√2 as wide."""

    fields = {name: name for name in ("hessian_noise", "outer_noise")}  # noqa: RUF012 - a table that nobody changes
    fingerprinted = ("hessian_", "outer_")
    place = 2

    def released(self, step: IntervalNoise, public: PublicRows) -> Generator[Statistic, FloatArray, Curvature]:
        radius, theta = row_radius(public.constant), public.theta
        assert theta is not None
        sigmas = [sigma for sigma in curvature_noise(step, radius) if sigma is not None]
        spacing, size = lattice_of_rows(radius, max(sigmas)), len(theta)
        noise = [part for sigma in sigmas for part in ((sigma, size), (sigma / math.sqrt(2), size * (size - 1) // 2))]
        found = yield Statistic(WholeSums(theta, spacing, len(sigmas) > 1), tuple(noise), spacing**2)
        hessian, *outer = (_symmetric(half, size) for half in np.split(found, len(sigmas)))
        return Curvature(hessian, outer[0] if outer else None)

    def refused(self, step: IntervalNoise, problem: Any, facts: Mapping[str, Any]) -> str | None:
        """See `Taken.refused`; as `contradiction`, before the fit."""
        plain = problem.loss == LOGISTIC and (problem.clip, problem.radius, problem.envelope) == (None, None, None)
        if plain and not (problem.of_classes or {"weighted", "center_noise"} & set(facts)):
            return None
        return (
            "intervals must be False but for logistic regression of two classes without margin, ball, weights or "
            f"centred rows, got {step!r}"
        )

    def contradiction(self, certificate: Any) -> str | None:
        """See `Taken.contradiction`; the sums are those of plain logistic regression on rows as they are given."""
        hessian, outer = (getattr(certificate, name, None) for name in self.fields)
        if hessian is None:
            return None if outer is None else "outer_noise must be None where hessian_noise is"
        plain = certificate.loss == LogisticLoss.name and not (certificate.loss_parameter or certificate.weighted)
        others = ("clip", "ball_radius", "envelope", "center_noise", "scale_noise")
        left_out = all(getattr(certificate, name) is None for name in others)
        if not (plain and left_out and certificate.fits == 1) or certificate.public_rows is None:
            return f"hessian_noise must be None but for plain logistic regression, got {hessian!r}"
        return None

    def lines(self, certificate: Any) -> list[str]:
        if (step := self.step_of(certificate)) is None or step.hessian_noise is None:
            return []
        longest = certificate.radius**2
        outer = "" if step.outer_noise is None else f", on Σ(p − y)²xxᵀ {step.outer_noise * longest:.6g}"
        noise = step.hessian_noise * longest / 4
        return [f"  intervals  curvature at θ, noise on Σp(1 − p)xxᵀ {noise:.6g}{outer}: part of the promise"]

    def by_rows(self, certificate: Any) -> list[str]:
        return [] if self.step_of(certificate) is None else ["intervals"]

    def covered(self, certificate: Any) -> list[str]:
        words = "the curvature at the coefficients, with noise", "the squared gradients there, with noise"
        noises = [getattr(certificate, name, None) for name in self.fields]
        return [line for line, noise in zip(words, noises, strict=True) if noise is not None]

    def plausible(self, certificate: Any, published: Published, features: int) -> bool:
        noise = self.step_of(certificate)
        size = features + (certificate.intercept_scaling > 0)
        hessian, outer = (published[name] for name in self.fingerprinted)
        return plausible(hessian, outer, size, noise, certificate.radius, certificate.most_rows)


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
    """Σzzᵀ over some rows, in units of spacing²: its diagonal, then what is above; with `squares` of both sums."""

    theta: FloatArray
    spacing: float
    squares: bool

    def __call__(self, some: Some) -> IntArray:
        rows, size = some.rows, some.rows.dimension
        if rows.n_rows > _MOST_ROWS:
            raise ValueError(f"X must have at most {_MOST_ROWS} rows where intervals are released, got {rows.n_rows}")
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
                roots.append(expit(-some.targets[part] * scores))
            for total, root in zip(totals, roots, strict=True):
                z = np.trunc(points * (root * _SHORTER)[:, None])
                total += dsyrk(1.0, z.T).astype(np.int64)
        above = np.triu_indices(size, 1)
        return np.concatenate([half for total in totals for half in (np.diagonal(total), total[above])])


def _points(rows: Rows, part: slice, spacing: float) -> FloatArray:
    """The lattice points of some rows, rounded towards zero, shape (m, D)."""
    block = rows.matrix[part]
    dense = block.toarray() if rows.sparse else block
    points = np.empty((part.stop - part.start, rows.dimension))
    np.multiply(dense, (rows.factors[part] / spacing)[:, None], out=points[:, : rows.n_features])
    if rows.constant:
        points[:, -1] = rows.constant / spacing
    return np.trunc(points, out=points)


def _symmetric(entries: FloatArray, size: int) -> FloatArray:
    """The matrix with this diagonal and, row after row, these entries above it."""
    matrix = np.diag(entries[:size])
    matrix[np.triu_indices(size, 1)] = entries[size:]
    return np.asarray(matrix + np.triu(matrix, 1).T, dtype=np.float64)
