"""From points of a Rényi curve to (ε, δ), as arrays.

For every order α > 1 with Rényi divergence ρ(α) (Canonne, Kamath and Steinke 2020, Proposition 12; Balle et al. 2020):

    δ(ε) ≤ e^{(α−1)(ρ − ε)}/α · (1 − 1/α)^{α−1},     ε(δ) ≤ ρ + log(1 − 1/α) − (log δ + log α)/(α − 1),

and, at ε = 0 and any α ≥ 1, δ ≤ √(1 − e^{−ρ}) (Bretagnolle and Huber 1979, as D_1 ≤ D_α).
"""

from __future__ import annotations

import numpy as np

from objpert_core._validation import FloatArray

# log(α − 1) runs over this range first, and on if the best order is at its edge
LOG_ORDERS = np.log(10.0) * np.arange(-9.0, 17.01, 0.125)


def log_delta_at(order: FloatArray, rdp: FloatArray, epsilon: FloatArray) -> FloatArray:
    """log of the bound on δ at α = 1 + order > 1."""
    alpha = 1 + order
    with np.errstate(invalid="ignore"):
        exponent = np.where(np.isfinite(rdp), order * (rdp - epsilon), np.inf)
    return exponent - np.log(alpha) - order * np.log1p(1 / order)


def epsilon_at(order: FloatArray, rdp: FloatArray, log_delta: FloatArray) -> FloatArray:
    """The bound on ε at α = 1 + order > 1, possibly negative."""
    return rdp - np.log1p(1 / order) - (log_delta + np.log1p(order)) / order


def log_total_variation(rdp: FloatArray) -> FloatArray:
    """log of the bound on δ at ε = 0."""
    with np.errstate(divide="ignore"):
        return 0.5 * np.log(-np.expm1(-rdp))
