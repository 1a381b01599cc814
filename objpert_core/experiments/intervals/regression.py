"""Intervals for a linear regression from noisy sufficient statistics, the sums that AdaSSP releases.

Rows have norm at most 1 and targets lie in [−1, 1]. Σxxᵀ, Σxy and Σy² are released, each with a third of μ²; θ̂ solves
the noisy normal equations, with eigenvalues repaired as those of a curvature are, and no λ:

    θ̂ − θ ≈ H⁻¹(Σxu + e − Eθ),     Cov θ̂ ≈ H⁻¹(σ_u²H + s²I + (s²/2)(‖θ‖²I + θθᵀ))H⁻¹,

with σ_u² = Σ(y − xᵀθ)²/n from the same sums.

public      ordinary least squares, without privacy
statistics  the above
naive       the same θ̂, forgetting the noise
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting import calibrate_gaussian
from objpert_core.experiments.intervals.coverage import BLOCK, DELTA, Coverage, Z
from objpert_core.experiments.intervals.shapes import drawn
from objpert_core.learning.intervals.estimates import repaired_eigenvalues

GRID = (
    ("even", 1_000, 2, 1.0), ("even", 10_000, 2, 0.1), ("even", 10_000, 10, 1.0), ("even", 10_000, 10, 8.0),
    ("even", 100_000, 10, 0.3), ("correlated", 10_000, 10, 1.0), ("skewed", 10_000, 5, 1.0),
)  # fmt: skip
SEEDS = tuple(range(5))
PIECES = tuple((*cell, seed) for cell in GRID for seed in SEEDS)
METHODS = ("public", "statistics", "naive")
_SIZE, _DEVIATION = 0.6, 0.15
_LEAST = 1e-4  # of the variance of the targets about the line


def coverage(shape: str, n: int, d: int, epsilon: float, seed: int) -> Iterator[Coverage]:
    """All methods on `BLOCK` data sets; the rows are the same for ten of them at a time."""
    generator = np.random.default_rng([seed, n, d, round(1000 * epsilon), sum(map(ord, shape)), 1])
    noise = calibrate_gaussian(epsilon, DELTA).sigma * math.sqrt(3)
    hits: dict[str, list[FloatArray]] = {method: [] for method in METHODS}
    widths: dict[str, list[FloatArray]] = {method: [] for method in METHODS}
    for start in range(BLOCK):
        if start % 10 == 0:
            X = drawn(shape, n, d, generator).rows[:, :d]
            theta = np.array([(-1.0) ** column * (1 + column % 3) for column in range(d)])
            theta *= _SIZE / np.linalg.norm(theta)
            gram = X.T @ X
        y = np.clip(X @ theta + _DEVIATION * generator.standard_normal(n), -1.0, 1.0)
        for method, (estimate, errors) in _fitted(gram, X.T @ y, float(y @ y), n, noise, generator).items():
            hits[method].append((np.abs(estimate - theta) <= Z * errors).astype(float))
            widths[method].append(errors)
    for method in METHODS:
        each = np.mean(hits[method], axis=0)
        width = float(np.median(np.array(widths[method]) / np.array(widths["public"])))
        yield Coverage(shape, n, d, epsilon, method, seed, float(each.mean()), float(each.min()), width)


def _fitted(
    gram: FloatArray, moments: FloatArray, squares: float, n: int, noise: float, generator: np.random.Generator
) -> dict[str, Any]:
    """Estimate and errors of every method, shape (d,) each."""
    exact = np.linalg.solve(gram, moments)
    variance = float(squares - moments @ exact) / n
    found: dict[str, Any] = {"public": (exact, np.sqrt(variance * np.diagonal(np.linalg.inv(gram))))}
    size = len(gram)
    drawn_matrix = generator.standard_normal((size, size))
    noisy = gram + noise * (drawn_matrix + drawn_matrix.T) / 2
    sums, total = moments + noise * generator.standard_normal(size), squares + noise * generator.standard_normal()
    values, vectors = np.linalg.eigh(noisy)
    repaired = repaired_eigenvalues(values, noise)
    inverse, hessian = (vectors / repaired) @ vectors.T, (vectors * repaired) @ vectors.T
    theta = inverse @ sums
    variance = max(_LEAST, float(total - 2 * theta @ sums + theta @ hessian @ theta) / n)
    added = noise**2 * ((1 + theta @ theta / 2) * np.eye(size) + np.outer(theta, theta) / 2)
    covariance = inverse @ (variance * hessian + added) @ inverse
    found["statistics"] = theta, np.sqrt(np.diagonal(covariance))
    found["naive"] = theta, np.sqrt(variance * np.diagonal(inverse))
    return found
