"""What every method for the population risk goes by: public numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from objpert_core._validation import check_fields, in_open_unit, positive, positive_integer
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian


@dataclass(frozen=True)
class Sizes:
    """n rows, d parameters, (ε, δ) where one row is replaced, a ball of radius M, and an L-Lipschitz loss."""

    n: int
    d: int
    epsilon: float
    delta: float
    radius: float = 1.0
    lipschitz: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, positive_integer, "n", "d")
        check_fields(self, positive, "epsilon")
        check_fields(self, in_open_unit, "delta")
        check_fields(self, positive, "radius", "lipschitz")

    def claimed(self, strict: bool = True) -> Self:
        """These sizes; if `strict`, `ValueError` where Bassily et al. (2019) claim nothing: for ε > 1 or δ > 1/n²."""
        if strict and self.epsilon > 1:
            raise ValueError(f"epsilon must be at most 1 for what is published, got {self.epsilon!r}")
        if strict and self.delta > (1 + 1e-12) / self.n**2:
            raise ValueError(
                f"delta must be at most 1/n² = {1 / self.n**2:g} for what is published, got {self.delta!r}"
            )
        return self

    @property
    def numbers(self) -> tuple[int, int, float, float, float, float]:
        """n, d, ε, δ, M and L."""
        return self.n, self.d, self.epsilon, self.delta, self.radius, self.lipschitz

    @property
    def noise(self) -> float:
        """σ_G, the Gaussian mechanism's noise at sensitivity 1."""
        return calibrate_gaussian(self.epsilon, self.delta).sigma

    @property
    def a(self) -> float:
        """A = √(d log(1/δ))/(εn)."""
        return math.sqrt(self.d * math.log(1 / self.delta)) / (self.epsilon * self.n)
