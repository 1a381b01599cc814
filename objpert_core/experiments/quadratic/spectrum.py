"""The eigenvalues of W, drawn, beside the bounds α and β that the published theorem supposes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, check_fields, in_open_unit, nonnegative_integer, positive_integer
from objpert_core.accounting.quadratic.wishart_spectrum import largest_eigenvalue, smallest_eigenvalue
from objpert_core.learning.quadratic.wishart import wishart


@dataclass(frozen=True)
class Spectrum:
    """Draws of W ~ Wishart_d(m); a quarter of the promise's δ is for λ_min < α, a quarter for λ_max > β."""

    dimension: int
    degrees_of_freedom: int
    delta: float
    draws: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        positive_integer("dimension", self.dimension)
        if positive_integer("degrees_of_freedom", self.degrees_of_freedom) <= self.dimension:
            raise ValueError(
                f"degrees_of_freedom must be more than the dimension {self.dimension}, got {self.degrees_of_freedom!r}"
            )
        check_fields(self, in_open_unit, "delta")
        check_fields(self, positive_integer, "draws")
        check_fields(self, nonnegative_integer, "seed")

    @property
    def alpha(self) -> float:
        """α: λ_min is smaller with probability δ/4 at most, by Lemma D.4."""
        share = np.array([math.log(self.delta / 4)])
        return float(smallest_eigenvalue(self.dimension, self.degrees_of_freedom, share)[0])

    @property
    def beta(self) -> float:
        """β: λ_max is larger with probability δ/4 at most."""
        share = np.array([math.log(self.delta / 4)])
        return float(largest_eigenvalue(self.dimension, self.degrees_of_freedom, share)[0])

    def eigenvalues(self) -> FloatArray:
        """The eigenvalues of every draw, rising; shape (draws, d)."""
        generator = np.random.default_rng(self.seed)
        drawn = wishart(generator, self.dimension, self.degrees_of_freedom, self.draws)
        return np.asarray(np.linalg.eigvalsh(drawn))
