"""Factors of positive definite matrices of whole numbers: exact ones, and a test of definiteness that is never wrong.

Cholesky's algorithm in whole numbers leaves a remainder R = A − CCᵀ that is known exactly and, where a small multiple
of I is held back, diagonally dominant. Such a matrix is a sum of squares as it stands:

    R = Σ_{i<j} |R_ij| (e_i ± e_j)(e_i ± e_j)ᵀ + Σ_i (R_ii − Σ_{j≠i} |R_ij|) e_i e_iᵀ.

So w = Cξ + Σ √|R_ij| (e_i ± e_j) ζ_ij + Σ √(…) e_i ζ_i, ξ and ζ normal, has exactly the law N(0, A) (T40).
"""

from __future__ import annotations

from math import isqrt

import numpy as np

_SPARE_DIGITS = 48  # by which a solution by the factor is better than it has to be


class ExactFactor:
    """A·4^digits = CCᵀ + R, exactly, with C lower triangular and R diagonally dominant; A − least·I is semidefinite."""

    def __init__(self, matrix: np.ndarray, least: int) -> None:
        self.matrix, self.least = matrix, least
        d = len(matrix)
        largest = max(matrix.diagonal())
        root = isqrt(largest) + 1
        self.condition_digits = (d * largest // least + 1).bit_length()
        # C's entries are at most 2^digits·root, and no pivot vanishes: 4^digits·least is more than 4D times that
        self.digits = (4 * d * root // least + 1).bit_length() + _SPARE_DIGITS
        scaled = matrix * 4**self.digits
        held_back = scaled.copy()
        held_back[np.diag_indices(d)] -= d * 2**self.digits * root
        lower = _cholesky(held_back)
        if lower is None:
            raise ValueError(f"matrix must be at least {least!r} times the identity")
        self.lower, self.remainder = lower, scaled - lower @ lower.T

    def solved(self, target: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, int]:
        """Solve Ax = v, v being within `radius` of `target` in every entry; return x and the largest error, in norm."""
        x = self._nearly(target)
        residual = target - self.matrix @ x
        while True:
            better = x + self._nearly(residual)
            left = target - self.matrix @ better
            if 2 * max(np.abs(left)) >= max(np.abs(residual)):  # also where nothing is left
                break
            x, residual = better, left
        farthest = np.abs(residual) + radius
        return x, (isqrt(int(farthest @ farthest)) + 1) // self.least + 1

    def _nearly(self, target: np.ndarray) -> np.ndarray:
        """About A⁻¹·target, by both triangles."""
        lower, x = self.lower, target * 4**self.digits
        for j in range(len(x)):
            x[j] //= lower[j, j]
            x[j + 1 :] -= lower[j + 1 :, j] * x[j]
        for j in reversed(range(len(x))):
            x[j] //= lower[j, j]
            x[:j] -= lower[j, :j] * x[j]
        return x


def _cholesky(matrix: np.ndarray) -> np.ndarray | None:
    """C in whole numbers with CCᵀ near `matrix`; None where a pivot is not positive."""
    left, d = matrix.copy(), len(matrix)
    lower = np.zeros((d, d), dtype=object)
    for j in range(d):
        if left[j, j] <= 0:
            return None
        pivot = isqrt(left[j, j])
        column = (2 * left[j + 1 :, j] + pivot) // (2 * pivot)
        lower[j, j], lower[j + 1 :, j] = pivot, column
        left[j + 1 :, j + 1 :] -= np.multiply.outer(column, column)
    return lower


def least_eigenvalue(matrix: np.ndarray, margin: int) -> int:
    """The least eigenvalue of a semidefinite whole matrix, off by at most 2·margin; a multiple of the margin."""
    d, root = len(matrix), isqrt(max(matrix.diagonal()) + 2 * margin) + 1
    digits = (4 * d * root // margin + 1).bit_length()  # what rounding moves is then below margin/2
    scaled = matrix * 4**digits
    diagonal = np.diag_indices(d)

    def exceeds(multiple: int) -> bool:
        """False: the eigenvalue is below (multiple + ½)·margin. True: the eigenvalue is above (multiple − ½)·margin."""
        shifted = scaled.copy()
        shifted[diagonal] -= multiple * margin * 4**digits
        return _cholesky(shifted) is not None

    guess = max(round(float(np.linalg.eigvalsh(matrix.astype(np.float64))[0]) / margin), 0)
    low, high, step = guess - 1, guess + 1, 1
    while not exceeds(low):
        low, high, step = low - step, low, 2 * step
    while exceeds(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 2:
        middle = (low + high) // 2
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return (low + high) // 2 * margin
