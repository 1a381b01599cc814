"""The Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core._validation import FloatArray, positive
from objpert_core.accounting.laws.base import GaussianLoss, Steps
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.numerics import gaussian


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """The Gaussian mechanism: a value of bounded L2 sensitivity plus N(0, σ²) noise in every coordinate.

    Parameters
    ----------
    sigma : float > 0
        Standard deviation of the noise, in the units of the released value.
    sensitivity : float > 0
        L2 sensitivity under add/remove of one row.

    Notes
    -----
    Exact: Balle and Wang (2018), Theorem 8, for the profile; Redberg et al. (2023), Theorem B.1, for Rényi.

    Examples
    --------
    >>> round(Gaussian(sigma=1.0).delta(1.0), 10)
    0.1269367375
    """

    sigma: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    @property
    def _a(self) -> float:
        return self.sensitivity / self.sigma

    def losses(self, direction: str = "remove") -> Steps:
        """One Gaussian loss, the same in both directions."""
        return ((GaussianLoss(self._a), 1),)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return gaussian.log_profile(epsilon, self._a)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return gaussian.rdp(alpha, self._a)
