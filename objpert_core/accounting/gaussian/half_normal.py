"""Half-normal noise: what the published bound leaves of objective perturbation without curvature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from objpert_core._validation import FloatArray
from objpert_core.accounting.gaussian.gdp import mu_of_law
from objpert_core.accounting.gaussian.mechanism import Gaussian, NoiseOnValue
from objpert_core.accounting.laws.simple import HalfNormalLaw
from objpert_core.accounting.mechanisms.base import Mechanism


@dataclass(frozen=True)
class HalfNormal(NoiseOnValue):
    """A value of bounded sensitivity plus half-normal noise |N(0, σ²)|, by its privacy loss a²/2 + |N(0, a²)|.

    What Theorems 3.1 and 3.2 of Redberg et al. (2023) leave of objective perturbation as λ → ∞ (their Figure 4,
    "half-normal"): what it costs more than Gaussian noise is the price of not knowing the sign of a gradient. `sigma`
    and `sensitivity` are > 0 and in the units of the value; the latter is the L2 sensitivity under `adjacency`.

    >>> from objpert_core.accounting import ObjectivePerturbation
    >>> limit = ObjectivePerturbation(sigma=5, lam=1e12, bound="glm")
    >>> round(HalfNormal(sigma=5).rdp(2), 9) == round(limit.rdp(2), 9)
    True
    """

    LARGEST_RATIO: ClassVar[float] = 1e100  # its law needs squares

    sensitivity: float = 1.0

    @cached_property
    def law(self) -> HalfNormalLaw:
        """The law of the mechanism's privacy loss."""
        return HalfNormalLaw(self.a, 0.0)

    @property
    def gaussian(self) -> Gaussian:
        """The Gaussian mechanism with the same noise and sensitivity."""
        return Gaussian(self.sigma, self.sensitivity, adjacency=self.adjacency)

    @property
    def lower_bound(self) -> Mechanism:
        """`gaussian`: the half-normal law is above it."""
        return self.gaussian

    def _mu(self) -> float:
        return mu_of_law(self.law)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return self.law.log_profile(epsilon)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self.law.rdp(alpha - 1)
