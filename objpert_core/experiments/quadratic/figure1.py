"""Figure 1 of Cortild and Cartis (2026): the least bound on the excess risk over (ε, δ), by three proofs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from objpert_core._validation import choice
from objpert_core.accounting import calibrate_quadratic_perturbation, optimal_published_bound
from objpert_core.experiments.results import Row
from objpert_core.theory.quadratic import exact_excess_bound

DIMENSION, ROWS, ERROR = 12, 10, 1e-3
WITHOUT_DATA = 1.0
"""The most that returning θ* may lose: G·D."""
EPSILONS = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)
DELTAS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
PANELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"exact": ("published", "sharpened", "tight"), "inexact": ("published", "sharpened")}
)
"""The proofs that cover each panel: the exact theorem needs an anchor without error."""
PROOFS: Mapping[str, str] = MappingProxyType(
    {"published": "as published", "sharpened": "sharpened", "tight": "exact theorem"}
)
"""The proofs, by their keys."""


@dataclass(frozen=True)
class Cell(Row):
    """The least bound at one (ε, δ) on the expected excess risk (a sum over the rows), and the m that attains it."""

    VALUE = "value"

    panel: str
    proof: str
    epsilon: float
    delta: float
    value: float
    degrees_of_freedom: int


def cell(panel: str, proof: str, epsilon: float, delta: float) -> Cell:
    """The least bound by one of a panel's proofs."""
    choice("proof", proof, PANELS[choice("panel", panel, tuple(PANELS))])
    if proof == "tight":
        found = calibrate_quadratic_perturbation(epsilon, delta, DIMENSION)
        m = found.degrees_of_freedom
        return Cell(panel, proof, epsilon, delta, exact_excess_bound(found.scale, m, distance=1.0), m)
    error = ERROR if panel == "inexact" else 0.0
    value, m = optimal_published_bound(
        epsilon, delta, DIMENSION, rows=ROWS, tolerance=error, anchor_error=error, bound=proof
    )
    return Cell(panel, proof, epsilon, delta, value, m)
