"""What every method for the population risk goes by: public numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

from objpert_core._validation import check_fields, choice, in_open_unit, positive, positive_integer
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES, REPLACE_ONE


@dataclass(frozen=True)
class Sizes:
    """n rows, d parameters, (ε, δ) and about whom, a ball of radius M, and an L-Lipschitz loss."""

    n: int
    d: int
    epsilon: float
    delta: float
    radius: float = 1.0
    lipschitz: float = 1.0
    adjacency: str = field(default=REPLACE_ONE, kw_only=True)
    rows_per_person: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, positive_integer, "n", "d", "rows_per_person")
        choice("adjacency", self.adjacency, ADJACENCIES)
        check_fields(self, positive, "epsilon")
        check_fields(self, in_open_unit, "delta")
        check_fields(self, positive, "radius", "lipschitz")

    def claimed(self, strict: bool = True) -> Self:
        """These sizes; `ValueError` where Bassily et al. (2019) claim nothing: but for one row that is replaced and, if
        `strict`, for ε > 1 or δ > 1/n²."""
        if (self.adjacency, self.rows_per_person) != (REPLACE_ONE, 1):
            raise ValueError(
                f"adjacency must be {REPLACE_ONE!r} and rows_per_person 1 for what is published, got "
                f"{self.adjacency!r} and {self.rows_per_person!r}"
            )
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
    def swing(self) -> int:
        """How many times its own length a row moves a sum: a row that is replaced may turn round."""
        return 1 if self.adjacency == ADD_REMOVE else 2

    @property
    def noise(self) -> float:
        """σ_G, the Gaussian mechanism's noise where each row of a person counts 1."""
        return self.rows_per_person * calibrate_gaussian(self.epsilon, self.delta).sigma

    @property
    def a(self) -> float:
        """A = √(d log(1/δ))/(εn)."""
        return math.sqrt(self.d * math.log(1 / self.delta)) / (self.epsilon * self.n)
