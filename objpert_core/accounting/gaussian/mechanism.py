"""The Gaussian mechanism."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from objpert_core._validation import FloatArray, check_fields, positive, within
from objpert_core.accounting.gaussian.gdp import mu_of_law
from objpert_core.accounting.laws.base import GaussianLoss, Steps
from objpert_core.accounting.laws.simple import HalfNormalLaw
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism, check_adjacency
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.search import smallest_epsilon
from objpert_core.accounting.numerics.tail import log_tail_of_gaussian


@dataclass(frozen=True)
class NoiseOnValue(Mechanism):
    """Noise of scale σ on a value of bounded L2 sensitivity; the value may be anything, and so may the adjacency."""

    LARGEST_RATIO: ClassVar[float] = 1e300  # of σ to the sensitivity, either way, that doubles can account for

    sigma: float
    sensitivity: float
    adjacency: str = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, positive, "sigma", "sensitivity")
        within("sigma/sensitivity", self.sigma / self.sensitivity, 1 / self.LARGEST_RATIO, self.LARGEST_RATIO)
        check_adjacency(self)

    @property
    def a(self) -> float:
        """Sensitivity over σ, the only number that the privacy depends on."""
        return self.sensitivity / self.sigma


class GaussianLosses(Mechanism):
    """A mechanism whose privacy loss is that of the Gaussian mechanism at the ratio `a`."""

    @property
    @abstractmethod
    def a(self) -> float:
        """Sensitivity over σ."""

    @property
    def gaussian_ratio(self) -> float:
        """`a`."""
        return self.a

    def losses(self, direction: str = "remove") -> Steps:
        """One Gaussian loss, the same in both directions."""
        return ((GaussianLoss(self.a), 1),)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return gauss.log_profile(epsilon, self.a)


class GaussianNoise(NoiseOnValue, GaussianLosses):
    """N(0, σ²) noise in every coordinate of a value: what `Gaussian` and `OutputPerturbation` share."""

    @property
    def lower_bound(self) -> Mechanism:
        """The mechanism itself, which is exact."""
        return self

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        return smallest_epsilon(self._log_delta, log_delta, guess=gauss.epsilon_at_tail(log_delta, self.a))

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return gauss.rdp(alpha, self.a)

    def _log_tail(self, epsilon: FloatArray) -> FloatArray:
        return log_tail_of_gaussian(epsilon, self.a)


@dataclass(frozen=True)
class Gaussian(GaussianNoise):
    """The Gaussian mechanism: a value of bounded L2 sensitivity plus N(0, σ²) noise in every coordinate.

    Exact: Balle and Wang (2018), Theorem 8, for the profile; Redberg et al. (2023), Theorem B.1, for Rényi.

    Parameters
    ----------
    sigma : float > 0
        Standard deviation of the noise, in the units of the released value.
    sensitivity : float > 0
        L2 sensitivity under `adjacency`.
    adjacency : {"add/remove one row", "replace one row"}

    Examples
    --------
    >>> round(Gaussian(sigma=1.0).delta(1.0), 10)
    0.1269367375
    """

    sensitivity: float = 1.0


@dataclass(frozen=True)
class OutputPerturbation(GaussianNoise):
    """Output perturbation: solve without noise, then add N(0, σ² I) to the solution.

    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1, with Gaussian noise. Its privacy is the Gaussian mechanism's.

    Parameters
    ----------
    sigma : float > 0
        Standard deviation of the noise on each coefficient.
    sensitivity : float > 0
        How far the solution moves at most between neighbours, in the L2 norm. For a λ-strongly convex objective whose
        gradient has norm τ or less where the solver stops, and rows with gradients of norm R or less, the sensitivity
        is (R + 2τ)/λ when a row is added or removed and (2R + 2τ)/λ when one is replaced
        (`objpert_core.learning.output_perturbation.output_sensitivity`).
    adjacency : {"add/remove one row", "replace one row"}

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian
    >>> fit = OutputPerturbation(sigma=0.5, sensitivity=0.2, adjacency="replace one row")
    >>> fit.epsilon(1e-5) == Gaussian(0.5, 0.2).epsilon(1e-5)
    True
    """


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
