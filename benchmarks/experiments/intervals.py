"""How often intervals for private coefficients cover, and how wide they are; `coverage` in the core explains methods.

Also for a linear regression from noisy sufficient statistics, the sums that AdaSSP releases. Rows have norm at most 1
and targets lie in [−1, 1]. Σxxᵀ, Σxy and Σy² are released, each with a third of μ²; θ̂ solves the noisy normal
equations, with eigenvalues repaired as those of a curvature are, and no λ:

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

from benchmarks.experiments.experiment import Experiment, Makers
from objpert_core._validation import FloatArray
from objpert_core.accounting import calibrate_gaussian
from objpert_core.experiments.intervals.coverage import BLOCK, CORNERS, DELTA, GRID, SHARE, Coverage, Z, ten
from objpert_core.experiments.intervals.shapes import drawn
from objpert_core.experiments.intervals.stored import FAMILY
from objpert_core.learning.intervals.estimates import repaired_eigenvalues

METHODS = ("public", "interval", "sandwich", "naive", "lifted", "bootstrap", "wang2019")
SEEDS = tuple(range(5))
CORNER_SEEDS = tuple(range(20))
KINDS = ("interval", "sandwich", "wang2019")
"""Methods with a fit of their own."""
SHARES_AT = (
    ("even", 10_000, 10, 1.0), ("even", 2_000, 5, 1.0), ("correlated", 4_000, 10, 1.0), ("skewed", 10_000, 10, 1.0),
    ("rare", 10_000, 10, 1.0), ("collinear", 10_000, 5, 1.0), ("bent", 5_000, 5, 0.5),
)  # fmt: skip
"""Where shares are compared; 0.15 was chosen on the first `CHOSEN_ON`."""
CHOSEN_ON = 4
SHARES = (0.03, 0.06, 0.1, 0.15, 0.22, 0.3, 0.4)
SUMS_AT = (
    ("even", 1_000, 2, 1.0), ("even", 10_000, 2, 0.1), ("even", 10_000, 10, 1.0), ("even", 10_000, 10, 8.0),
    ("even", 100_000, 10, 0.3), ("correlated", 10_000, 10, 1.0), ("skewed", 10_000, 5, 1.0),
)  # fmt: skip


def by_share(shape: str, n: int, d: int, epsilon: float, seed: int) -> Iterator[Coverage]:
    """Intervals for which the curvature takes this or that share of μ²."""
    return coverage(shape, n, d, epsilon, seed, kinds=tuple(f"{SHARE}{share:g}" for share in SHARES))


def coverage(
    shape: str, n: int, d: int, epsilon: float, seed: int, block: int = BLOCK, *, kinds: tuple[str, ...] = KINDS
) -> Iterator[Coverage]:
    """All methods on `block` data sets; the rows are the same for ten of them at a time, labels and noise are not."""
    generator = np.random.default_rng([seed, n, d, round(1000 * epsilon), sum(map(ord, shape))])
    covered: dict[str, list[Any]] = {}
    widths: dict[str, list[FloatArray]] = {}
    for _ in range(max(1, block // 10)):
        X, chances, theta = drawn(shape, n, d, generator)
        for method, one in ten(kinds, X, chances, theta, epsilon, generator).items():
            covered.setdefault(method, []).append(((one.low <= theta) & (theta <= one.high))[:, :d])
            widths.setdefault(method, []).append(one.widths[:, :d])
    public = np.concatenate(widths["public"])
    for method, hits in covered.items():
        each = np.concatenate(hits).mean(axis=0)
        width = float(np.median(np.concatenate(widths[method]) / public))
        yield Coverage(shape, n, d, epsilon, method, seed, float(each.mean()), float(each.min()), width)


# --- a linear regression from noisy sums -------------------------------------------------------------------------

SUM_METHODS = ("public", "statistics", "naive")
_SIZE, _DEVIATION = 0.6, 0.15
_LEAST = 1e-4  # of the variance of the targets about the line


def from_sums(shape: str, n: int, d: int, epsilon: float, seed: int) -> Iterator[Coverage]:
    """All methods on `BLOCK` data sets; the rows are the same for ten of them at a time."""
    generator = np.random.default_rng([seed, n, d, round(1000 * epsilon), sum(map(ord, shape)), 1])
    noise = calibrate_gaussian(epsilon, DELTA).sigma * math.sqrt(3)
    hits: dict[str, list[FloatArray]] = {method: [] for method in SUM_METHODS}
    widths: dict[str, list[FloatArray]] = {method: [] for method in SUM_METHODS}
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
    for method in SUM_METHODS:
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


_CELL = ("shape", "n", "d", "epsilon", "seed")
_COVERED = tuple((*cell, seed) for cell in CORNERS for seed in CORNER_SEEDS)
_COVERED += tuple((*cell, seed) for cell in GRID for seed in SEEDS)
MAKERS = Makers(
    FAMILY,
    "how often intervals for private coefficients cover, and how wide they are",
    {
        "coverage": Experiment(
            Coverage,
            "the share of coefficients that intervals of 95 % cover, by methods and shapes of data",
            _COVERED,
            coverage,
            by=_CELL,
        ),
        "share": Experiment(
            Coverage,
            "the same by the share of the squared ratio of sensitivity to noise that the curvature takes",
            tuple((*cell, seed) for cell in SHARES_AT for seed in range(2)),
            by_share,
            by=_CELL,
        ),
        "regression": Experiment(
            Coverage,
            "the share of a linear regression's coefficients that intervals from noisy sums cover",
            tuple((*cell, seed) for cell in SUMS_AT for seed in SEEDS),
            from_sums,
            by=_CELL,
        ),
    },
)
