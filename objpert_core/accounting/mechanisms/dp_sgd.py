"""DP-SGD: a number of steps of the Poisson-subsampled Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from objpert_core._validation import FloatArray, check_fields, positive, positive_integer, rate
from objpert_core.accounting.laws.base import GaussianLoss, Steps, SubsampledLoss
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, check_adjacency
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
    adjacency : str
        `ADD_REMOVE`; there is no proof for `REPLACE_ONE` here yet.

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
    adjacency: str = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, positive, "noise_multiplier")
        check_fields(self, rate, "sample_rate")
        check_fields(self, positive_integer, "steps")
        check_adjacency(self, proved=(ADD_REMOVE,))

    def losses(self, direction: str = "remove") -> Steps:
        """The steps' losses: for removal of a row, or for its addition."""
        a = 1 / self.noise_multiplier
        step = GaussianLoss(a) if self.sample_rate == 1 else SubsampledLoss(a, self.sample_rate, direction)
        return ((step, self.steps),)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self.steps * np.maximum(step_rdp(alpha, self.sample_rate, self.noise_multiplier), 0.0)
