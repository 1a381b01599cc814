"""The mean excess training loss that quadratic objective perturbation costs: Cortild and Cartis (2026), and sharper."""

from __future__ import annotations

import math

from scipy.special import gammaln

from objpert_core._validation import boolean, nonnegative, positive, positive_integer


def exact_excess_bound(
    scale: float, degrees_of_freedom: int, distance: float, anchor_error: float = 0.0, tolerance: float = 0.0
) -> float:
    """Bound on the mean excess of J at the minimiser of J + σ²/2·(θ − θ̃)ᵀW(θ − θ̃): mσ²(D + η)²/2 + τ.

    Of the sum over all rows, in the units of J. Corollary 3.4 of Cortild and Cartis (2026) at η = τ = 0. The perturbed
    objective at its least value is at most the one at the minimiser of J, and nowhere below J. A number out of range
    raises a `ValueError`.

    Parameters
    ----------
    scale, degrees_of_freedom : float > 0, and int >= 1
        σ² and m; the mean of W is m times the identity.
    distance, anchor_error : float >= 0
        D and η, how far the minimiser of J and the anchor θ̃ are from θ*.
    tolerance : float >= 0
        τ, by which the perturbed objective may exceed its least value.

    Examples
    --------
    >>> exact_excess_bound(scale=0.5, degrees_of_freedom=24, distance=1.0)
    6.0
    """
    moved = nonnegative("distance", distance) + nonnegative("anchor_error", anchor_error)
    size = positive("scale", scale) * positive_integer("degrees_of_freedom", degrees_of_freedom)
    return size * moved**2 / 2 + nonnegative("tolerance", tolerance)


def inexact_excess_bound(
    scale: float,
    degrees_of_freedom: int,
    distance: float,
    *,
    rows: int,
    dimension: int,
    sigma_out: float,
    smoothness: float = 1.0,
    subgradient: float = 1.0,
    anchor_error: float = 0.0,
    tolerance: float = 0.0,
    sharpened: bool = False,
) -> float:
    """Bound on the mean excess of J where normal noise σ̃ is added to a minimiser that is not exact.

    Theorem 3.3 of Cortild and Cartis (2026): ndLσ̃²/2 + G√d·σ̃ + τ + mσ²(D² + η²). The mean of ‖N(0, I)‖ is
    √2·Γ((d + 1)/2)/Γ(d/2). A number out of range raises a `ValueError`.

    Parameters
    ----------
    scale, degrees_of_freedom, distance, anchor_error, tolerance
        As in `exact_excess_bound`.
    rows, dimension, sigma_out : int >= 1, and float >= 0
        n, d and σ̃.
    smoothness, subgradient : float > 0, and >= 0
        L of one row's loss, and G, the largest norm of a subgradient of the regulariser.
    sharpened : bool
        Whether (D + η)²/2 takes the place of D² + η², and the mean length of the noise that of √d·σ̃.

    Examples
    --------
    >>> printed = inexact_excess_bound(1.0, 24, 1.0, rows=10, dimension=12, sigma_out=0.1)
    >>> sharp = inexact_excess_bound(1.0, 24, 1.0, rows=10, dimension=12, sigma_out=0.1, sharpened=True)
    >>> round(printed, 4), round(sharp, 4)
    (24.9464, 12.9393)
    """
    n, d = positive_integer("rows", rows), positive_integer("dimension", dimension)
    sigma, slope = nonnegative("sigma_out", sigma_out), nonnegative("subgradient", subgradient)
    curved = n * d * positive("smoothness", smoothness) * sigma**2 / 2
    exact = exact_excess_bound(scale, degrees_of_freedom, distance, anchor_error, tolerance)
    if boolean("sharpened", sharpened):
        mean_length = math.sqrt(2) * math.exp(float(gammaln((d + 1) / 2) - gammaln(d / 2)))
        return curved + slope * sigma * mean_length + exact
    return (
        curved + slope * math.sqrt(d) * sigma + tolerance + scale * degrees_of_freedom * (distance**2 + anchor_error**2)
    )
