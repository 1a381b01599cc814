"""AdaSSP's release: X̃ᵀX̃, X̃ᵀỹ and λ_min(X̃ᵀX̃) with normal noise on lattices, and their ridge solution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import NoiseSource, with_noise
from objpert_core.learning.posterior.statistics import Statistics
from objpert_core.learning.posterior.sums import RegressionSums
from objpert_core.learning.quadratic.certificate import row_smoothness

_FINENESS = 2.0**-21
_ROOM = 1 + 2.0**-20
_FAILURE = 0.05  # of the noise on the Gram matrix being larger than the ridge makes up for


def moved_sums(adjacency: str) -> tuple[float, float, float]:
    """How far one row moves X̃ᵀX̃, X̃ᵀỹ and λ_min(X̃ᵀX̃), in units of what one row gives (docs/theorems.md, T40)."""
    return (1.0, 1.0, 1.0) if adjacency == ADD_REMOVE else (math.sqrt(2.0) * (1 + 2.0**-52), 2.0, 1.0)


@dataclass(frozen=True)
class SumNoise:
    """Standard deviations of the noise on the three sums, in units of what one row moves each by at most."""

    gram: float
    moment: float
    eigenvalue: float
    margin: float = 0.0
    """By how much λ_min is taken for smaller than it seems; post-processing."""

    def mechanism(self, adjacency: str) -> Gaussian:
        """What the three sums together are about one row: Gaussian mechanisms add up in squares."""
        noises = (self.gram, self.moment, self.eigenvalue)
        ratios = (most / noise for most, noise in zip(moved_sums(adjacency), noises, strict=True))
        return Gaussian(1.0, math.hypot(*ratios), adjacency=adjacency)


@dataclass(frozen=True, eq=False)
class NoisySums:
    """What AdaSSP releases: X̃ᵀX̃ with symmetric normal noise, X̃ᵀỹ with normal noise, and λ̃ >= 0."""

    gram: FloatArray
    moment: FloatArray
    eigenvalue: float
    noise: float
    spacing: float

    def solution(self) -> FloatArray:
        """θ of the noisy normal equations with as much ridge as λ̃ leaves wanting; post-processing."""
        d = len(self.moment)
        ridge = max(self.noise * math.sqrt(d * math.log(2 * d * d / _FAILURE)) - self.eigenvalue, 0.0)
        return np.asarray(np.linalg.lstsq(self.gram + ridge * np.eye(d), self.moment, rcond=None)[0])


def sums_spacing(sensitivity: float, entries: int) -> float:
    """The lattice that m sums are rounded to before they get noise: 2⁻²¹ of their joint L2 sensitivity, over √m."""
    return power_of_two(sensitivity / math.sqrt(entries)) * _FINENESS


def noisy_sums(sums: RegressionSums, noise: SumNoise, source: NoiseSource) -> NoisySums:
    """Add noise to X̃ᵀX̃, X̃ᵀỹ and λ_min(X̃ᵀX̃), on lattices: wider by the 2⁻²⁰ that rounding may add (T14)."""
    d, square = sums.dimension, row_smoothness(sums.constant)
    rows, columns = np.tril_indices(d)
    gram = np.empty((d, d))
    entries, spacing = _noisy(sums.gram[rows, columns], Fraction(sums.unit) ** 2, square, noise.gram, source)
    gram[rows, columns] = gram[columns, rows] = entries
    step = Fraction(sums.unit) * Fraction(sums.step)
    largest = math.sqrt(square) * (1 + 2.0**-52) * sums.target_bound
    moment, _ = _noisy(sums.moment, step, largest, noise.moment, source)
    released = Statistics(1 / noise.eigenvalue, 1.0, noise.margin / noise.eigenvalue, shifted=False)
    eigenvalue = square * released.least_eigenvalue(sums, source)
    return NoisySums(gram, moment, eigenvalue, square * noise.gram, spacing)


def _noisy(
    whole: np.ndarray, unit: Fraction, sensitivity: float, noise: float, source: NoiseSource
) -> tuple[FloatArray, float]:
    """Whole numbers of `unit`, on a lattice with noise, and the lattice's spacing."""
    spacing = sums_spacing(sensitivity, len(whole))
    ratio = unit / Fraction(spacing)
    drawn = source.rounded_normal(noise * sensitivity * _ROOM / spacing, len(whole))
    points = with_noise(np.array([round(ratio * one) for one in whole], dtype=object), drawn)
    return np.array([float(point) for point in points]) * spacing, spacing
