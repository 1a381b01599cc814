"""A budget split between one noisy statistic and the Gaussian noise that follows it: what GLM and PCA have in common.

The statistic is released with normal noise, and lowered until it is above the truth with probability `failure` at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from objpert_core._validation import in_open_unit, positive
from objpert_core.accounting import calibrate_gaussian

FAILURE = 0.1
"""Of δ: what the statistic's lower bound may fail by."""


@dataclass(frozen=True)
class Asked:
    """How a budget is spent: μ of the statistic (0: nothing is asked), μ of the release, how often the bound fails."""

    test_mu: float
    release_mu: float
    failure: float

    def below(self, statistic: float, sensitivity: float, generator: np.random.Generator) -> float:
        """A private number, above `statistic` with probability `failure`; one row moves it by `sensitivity`."""
        sigma = positive("sensitivity", sensitivity) / self.test_mu
        return statistic + sigma * (float(generator.standard_normal()) + float(ndtri(self.failure)))


def split(epsilon: float, delta: float, share: float) -> Asked:
    """Give the statistic a share of μ², and the rest to what follows."""
    in_open_unit("share", share)
    failure = FAILURE * in_open_unit("delta", delta)
    mu = 1 / calibrate_gaussian(epsilon, delta - failure).sigma
    return Asked(mu * math.sqrt(share), mu * math.sqrt(1 - share), failure)


def whole(epsilon: float, delta: float) -> float:
    """μ where nothing is asked."""
    return 1 / calibrate_gaussian(epsilon, delta).sigma
