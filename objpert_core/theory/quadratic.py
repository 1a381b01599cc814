"""The mean excess training loss that quadratic objective perturbation costs: Cortild and Cartis (2026), and sharper."""

from __future__ import annotations

from objpert_core._validation import nonnegative, positive, positive_integer


def exact_excess_bound(
    scale: float, degrees_of_freedom: int, distance: float, anchor_error: float = 0.0, tolerance: float = 0.0
) -> float:
    """Bound on the mean excess of J at the minimiser of J + σ²/2·(θ − θ̃)ᵀW(θ − θ̃): mσ²(D + η)²/2 + τ.

    Of the sum over all rows, in the units of J. Corollary 3.4 of Cortild and Cartis (2026) at η = τ = 0. σ² = `scale` >
    0 and m = `degrees_of_freedom` >= 1; D and η, >= 0, are how far the minimiser of J and the anchor θ̃ are from θ*,
    and τ >= 0 by how much the perturbed objective may exceed its least value.

    >>> exact_excess_bound(scale=0.5, degrees_of_freedom=24, distance=1.0)
    6.0
    """
    moved = nonnegative("distance", distance) + nonnegative("anchor_error", anchor_error)
    size = positive("scale", scale) * positive_integer("degrees_of_freedom", degrees_of_freedom)
    return size * moved**2 / 2 + nonnegative("tolerance", tolerance)
