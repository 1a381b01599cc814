"""One draw from N(θ*, s²Λ⁻¹), rounded to a lattice as if it were known with all its digits.

θ = Λ⁻¹(X̃ᵀỹ + s·w), w ~ N(0, Λ), has that law. w is a sum of normal numbers with exact weights (`ExactFactor`), each in
a known cell. The system is solved in whole numbers, ‖θ − θ̂‖ ≤ ‖v − Λθ̂‖/λ, and a lattice point is released only if all
numbers within that bound are rounded to it; else the normal numbers get more digits (docs/theorems.md, T40).
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor, isqrt, sqrt

import numpy as np

from objpert_core._validation import FloatArray, integer_up_to, positive
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import NoiseSource, with_noise
from objpert_core.learning.normal_digits import FIRST_DIGITS, NormalDigits
from objpert_core.learning.posterior.factor import ExactFactor
from objpert_core.learning.posterior.sums import RegressionSums
from objpert_core.learning.quadratic.certificate import row_smoothness

_FINENESS = 2.0**12
_ROWS = 2.0**20
_DECIMALS = 50  # of a logarithm, which the decimal module rounds correctly


def posterior_spacing(scale: float, lam: float) -> float:
    """The lattice of a draw of scale s: 2⁻¹² of its least deviation for up to 2²⁰ rows; any would be private."""
    return power_of_two(scale / sqrt(lam + _ROWS)) / _FINENESS


class Ridge:
    """The ridge problem ½‖ỹ − X̃θ‖² + λ/2·‖θ‖² in whole numbers, with the factor of its Λ = X̃ᵀX̃ + λI."""

    def __init__(self, sums: RegressionSums, lam: float) -> None:
        ridge = max(ceil(Fraction(positive("lam", lam)) / Fraction(sums.unit) ** 2), 1)
        matrix = sums.gram.copy()
        matrix[np.diag_indices(sums.dimension)] += ridge
        self.sums, self.factor = sums, ExactFactor(matrix, ridge)

    def log_slope(self) -> Fraction:
        """log(1 + R‖θ*‖/‖Y‖) of the solution θ* = Λ⁻¹X̃ᵀỹ, R² = `row_smoothness`, off by less than 2⁻⁴⁹."""
        sums, factor = self.sums, self.factor
        scale = Fraction(sqrt(row_smoothness(sums.constant))) * Fraction(sums.step) / Fraction(sums.target_bound)
        digits = 80 + 2 * factor.condition_digits
        while True:
            unit = 2**digits / Fraction(sums.unit)  # of θ*/step, in units of 2^−digits
            target = np.array([floor(unit * entry) for entry in sums.moment], dtype=object)
            x, error = factor.solved(target, np.ones(sums.dimension, dtype=object))
            if (error + 1) * scale < 2 ** (digits - 50):  # 1 for the root, which is rounded down
                break
            digits *= 2
        slope = 1 + Fraction(isqrt(int(x @ x)), 2**digits) * scale
        with localcontext(prec=_DECIMALS):
            return Fraction((Decimal(slope.numerator) / Decimal(slope.denominator)).ln())


class PosteriorDraw:
    """θ ~ N(θ*, s²Λ⁻¹), Λ = X̃ᵀX̃ + λI, its digits drawn as they are asked for: posterior sampling with γ = 1/s²."""

    def __init__(self, source: NoiseSource, ridge: Ridge, scale: float, digits: int = FIRST_DIGITS) -> None:
        first = integer_up_to("digits", digits, 52)
        self._source, self._scale = source, Fraction(positive("scale", scale))
        self._sums, self._factor = ridge.sums, ridge.factor
        d = ridge.sums.dimension
        self._pairs = np.tril_indices(d, -1)
        cells = source.rounded_normal(2.0**first, d + d + len(self._pairs[0]))
        self._normals = NormalDigits(cells, first)
        self.refinements = 0

    def rounded(self, spacing: float) -> FloatArray:
        """Round every entry of θ to the nearest multiple of `spacing`, a power of two, with no rounding in doubt."""
        while True:
            x, error, digits = self._enclosed(spacing)
            half = 1 << digits - 1
            points = [int(one) - error + half >> digits for one in x]
            if points == [int(one) + error + half >> digits for one in x]:
                return np.array([float(point) for point in points]) * spacing
            self.refine()

    def interval(self, spacing: float) -> tuple[list[Fraction], list[Fraction]]:
        """Bounds that the entries of θ, in units of `spacing`, surely lie between, by all digits drawn so far."""
        x, error, digits = self._enclosed(spacing)
        return [Fraction(int(one) - error, 2**digits) for one in x], [
            Fraction(int(one) + error, 2**digits) for one in x
        ]

    def _enclosed(self, spacing: float) -> tuple[np.ndarray, int, int]:
        """θ in units of `spacing`·2^−digits, the largest error, and the digits."""
        factor, sums, h = self._factor, self._sums, Fraction(spacing)
        unit = Fraction(sums.unit)
        digits = self._normals.digits + 2 * factor.condition_digits
        noise, off = self._noise()
        # Λ·(θ/h) = (step·X̃ᵀỹ + s·w)/(unit·h), X̃ᵀỹ and w in whole numbers
        of_data = Fraction(sums.step) / (unit * h) * 2**digits
        of_noise = self._scale / (unit * h * 2 ** (factor.digits + self._normals.digits + 1)) * 2**digits
        common = of_data.denominator * of_noise.denominator
        data, own = of_data.numerator * of_noise.denominator, of_noise.numerator * of_data.denominator
        x, error = factor.solved(with_noise(data * sums.moment, own * noise) // common, own * off // common + 2)
        return x, error, digits

    def _noise(self) -> tuple[np.ndarray, np.ndarray]:
        """w in units of 2^−(digits of the factor + digits of the normal numbers + 1), and the largest error."""
        factor, d = self._factor, len(self._factor.lower)
        normals, digits = self._normals.middles(), self._normals.digits + 1
        first, own, mixed = normals[:d], normals[d : 2 * d], normals[2 * d :]
        below = factor.remainder[self._pairs]
        alone = factor.remainder.diagonal() - (np.abs(factor.remainder).sum(axis=1) - factor.remainder.diagonal())
        w = factor.lower @ first
        off = np.abs(factor.lower).sum(axis=1)
        roots = [isqrt(int(value) << 2 * digits) for value in alone]
        w += [root * normal >> digits for root, normal in zip(roots, own, strict=True)]
        off += [_off(root, normal, digits) for root, normal in zip(roots, own, strict=True)]
        for i, j, entry, normal in zip(*self._pairs, below, mixed, strict=True):
            root = isqrt(abs(int(entry)) << 2 * digits)
            moved, wrong = root * normal >> digits, _off(root, normal, digits)
            w[i] += moved
            w[j] += moved if entry > 0 else -moved
            off[i], off[j] = off[i] + wrong, off[j] + wrong
        return w, off

    def refine(self) -> None:
        """Draw at least 64 more digits of every normal number."""
        self._normals.refine(self._source.read)
        self.refinements += 1


def _off(root: int, normal: int, digits: int) -> int:
    """The largest error of root·normal where the true root is up to 1 more, and the normal number up to 1 off."""
    return (root + abs(normal) + 1 >> digits) + 2
