"""DP-SGD: a number of steps of the Poisson-subsampled Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, positive, positive_integer, rate
from objpert_core.accounting.laws.base import GaussianLoss, Steps, SubsampledLoss
from objpert_core.accounting.mechanisms.composition import ByConvolution
from objpert_core.accounting.numerics.subsampled import step_rdp


@dataclass(frozen=True)
class DPSGD(ByConvolution):
    """DP-SGD: in each step every row joins the batch with probability `sample_rate`, and the sum of the clipped
    gradients is released with Gaussian noise.

    Parameters
    ----------
    noise_multiplier : float > 0
        Standard deviation of the noise divided by the clipping norm (the L2 sensitivity of one row).
    sample_rate : float in (0, 1]
        Probability q with which Poisson sampling takes a row into a batch.
    steps : int >= 1

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Rényi: Mironov, Talwar and Zhang (2019), at every real order. Privacy loss distributions: both directions of
    add/remove are composed, and the larger δ is reported.

    Examples
    --------
    >>> round(float(DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=1).rdp(2)), 12)
    0.000171813422
    """

    noise_multiplier: float
    sample_rate: float
    steps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_multiplier", positive("noise_multiplier", self.noise_multiplier))
        object.__setattr__(self, "sample_rate", rate("sample_rate", self.sample_rate))
        object.__setattr__(self, "steps", positive_integer("steps", self.steps))

    def losses(self, direction: str = "remove") -> Steps:
        """The steps' losses: for removal of a row, or for its addition."""
        a = 1 / self.noise_multiplier
        step = GaussianLoss(a) if self.sample_rate == 1 else SubsampledLoss(a, self.sample_rate, direction)
        return ((step, self.steps),)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self.steps * np.maximum(step_rdp(alpha, self.sample_rate, self.noise_multiplier), 0.0)
