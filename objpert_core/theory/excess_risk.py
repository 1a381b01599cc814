"""How much training loss objective perturbation costs at most on average: Theorem H.1, corrected.

Write L(θ) for the sum of the n losses, without regularisation and noise, and fix any θ₀ that does not depend on the
noise: the minimiser of L where there is one. Every loss is convex with gradients of norm at most `lipschitz`, so
‖∇L‖ ≤ G = n·lipschitz. Algorithm 1's θ̃ before output noise satisfies, with V = √(dσ² + λ²‖θ₀‖²) + τ,

    E L(θ̃) − L(θ₀)  ≤  V²/(4λ)  if V ≤ 2G,   else  G(V − G)/λ.

Output noise N(0, σ_out²) adds at most n·min(lipschitz·√d·σ_out, smoothness·d·σ_out²/2). The proof, and why what the
paper prints (Redberg et al. 2023, Theorem H.1; `published_excess_risk_bound`) is loose, are docs/theorems.md, T13.
"""

from __future__ import annotations

import math

from objpert_core._validation import nonnegative, positive, positive_integer
from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation


def excess_risk_bound(
    mechanism: ObjectivePerturbation | ApproximateMinima, rows: int, dimension: int, comparator_norm: float
) -> float:
    """Upper bound on the mean excess training loss E L(θ̃) − L(θ₀), summed over the rows.

    In units of the loss (nats for the logistic loss); divide by `rows` for the mean loss. Redberg, Koskela and Wang
    (2023), Theorem H.1, corrected: docs/theorems.md, T13. Never above `published_excess_risk_bound`.

    `mechanism` is an `ObjectivePerturbation` or an `ApproximateMinima`, whose `lipschitz` and `smoothness` bound one
    row's gradient and Hessian; `dimension` is the length of θ, and `comparator_norm` ‖θ₀‖₂ >= 0 of the model compared
    with, usually the one without privacy.

    >>> mechanism = ObjectivePerturbation(sigma=5.0, lam=1.0)
    >>> excess_risk_bound(mechanism, rows=10_000, dimension=100, comparator_norm=20.0)
    725.0
    >>> published_excess_risk_bound(mechanism, rows=10_000, dimension=100, comparator_norm=20.0)
    3126450.0
    """
    n, d, norm = _checked(rows, dimension, comparator_norm)
    objective, tau, sigma_out = _parts(mechanism)
    reach = math.hypot(math.sqrt(d) * objective.sigma, objective.lam * norm) + tau  # V
    steepest = n * objective.lipschitz  # G
    if reach <= 2 * steepest:
        inner = reach * reach / (4 * objective.lam)
    else:
        inner = steepest * (reach - steepest) / objective.lam
    by_lipschitz = objective.lipschitz * math.sqrt(d) * sigma_out
    return inner + n * min(by_lipschitz, objective.smoothness * d * sigma_out**2 / 2)


def published_excess_risk_bound(
    mechanism: ObjectivePerturbation | ApproximateMinima, rows: int, dimension: int, comparator_norm: float
) -> float:
    """Theorem H.1 as printed: valid, but loose by a factor of about nβ/λ; for comparison only.

    nL(τ/λ + √d·σ_out) + (nβ‖X‖² + λ)dσ²/(2λ²) + λ‖θ*‖²/2, where β‖X‖² is the mechanism's `smoothness` and θ₀ a
    minimiser θ*; arguments and errors as in `excess_risk_bound`.
    """
    n, d, norm = _checked(rows, dimension, comparator_norm)
    objective, tau, sigma_out = _parts(mechanism)
    stopping = n * objective.lipschitz * (tau / objective.lam + math.sqrt(d) * sigma_out)
    noise = (n * objective.smoothness + objective.lam) * d * (objective.sigma / objective.lam) ** 2 / 2
    return stopping + noise + objective.lam / 2 * norm**2


def best_regularisation(sigma: float, dimension: int, comparator_norm: float) -> float:
    """The λ = √d·σ/‖θ₀‖ at which V²/(4λ) is least for a given σ, privacy left aside.

    Where privacy asks for more λ, regularisation costs more than noise does. `ValueError` unless all are positive.

    >>> best_regularisation(5.0, 100, 20.0)
    2.5
    """
    noise = math.sqrt(positive_integer("dimension", dimension)) * positive("sigma", sigma)
    return noise / positive("comparator_norm", comparator_norm)


def _checked(rows: int, dimension: int, comparator_norm: float) -> tuple[int, int, float]:
    return (
        positive_integer("rows", rows),
        positive_integer("dimension", dimension),
        nonnegative("comparator_norm", comparator_norm),
    )


def _parts(mechanism: ObjectivePerturbation | ApproximateMinima) -> tuple[ObjectivePerturbation, float, float]:
    """The objective, τ and σ_out; the last two are 0 where the minimiser is exact."""
    if isinstance(mechanism, ApproximateMinima):
        return mechanism.objective, mechanism.tau, mechanism.sigma_out
    if isinstance(mechanism, ObjectivePerturbation):
        return mechanism, 0.0, 0.0
    raise ValueError(f"mechanism must be an ObjectivePerturbation or an ApproximateMinima, got {mechanism!r}")
