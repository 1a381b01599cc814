"""Posterior draws behind statistics where each part has its own share of (ε, δ): valid, and as printed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from objpert_core.accounting import (
    PrivateSelection,
    ProposeTestRelease,
    calibrate_gaussian,
    posterior_precision,
    published_posterior_precision,
)
from objpert_core.accounting.posterior.profile import LARGEST_LEVERAGE
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.adaptive import ChooseLam, Run, one_run
from objpert_core.learning.posterior.statistics import Statistics
from objpert_core.learning.posterior.sums import RegressionSums

_UP = 1 + 2.0**-45  # more than a few operations in doubles are off, relatively


@dataclass(frozen=True)
class Shares:
    """Who gets what of (ε, δ) in one run: the draw, both statistics, failures; `published` ones are not valid."""

    release_epsilon: float
    release_delta: float
    test_epsilon: float
    test_delta: float
    failure: float
    statistics: Statistics
    published: bool = False

    @classmethod
    def valid(cls, epsilon: float, delta: float, statistics: float, draw: float) -> Shares:
        """Half of ε for the draw and a quarter for each statistic; of δ the given parts, the rest for failures."""
        noise = calibrate_gaussian(epsilon / 4, delta * statistics / 2).sigma
        failure = delta * (1 - statistics - draw)
        own = Statistics.failing(1 / noise, 1 / noise, failure)
        return cls(epsilon / 2, delta * draw, epsilon / 2, delta * statistics, failure, own)

    @classmethod
    def as_printed(cls, epsilon: float, delta: float) -> Shares:
        """Algorithm 8 of Redberg, Zhu and Wang (2023), whose noise and whose γ do not keep (ε, δ)."""
        mu = epsilon / 4 / math.sqrt(math.log(6 / delta))
        own = Statistics(mu, mu, math.sqrt(2 * math.log(2 / delta)), shifted=False)
        return cls(epsilon / 2, delta / 3, epsilon / 2, delta / 3, delta / 3, own, published=True)

    def mechanism(self, runs: float) -> ProposeTestRelease | PrivateSelection:
        """What one run is, or the best of a random number of runs with this mean."""
        parts = (self.release_epsilon, self.release_delta, self.test_epsilon, self.test_delta, self.failure)
        return by_shares(parts, shifted=self.statistics.shifted, mean_runs=runs)

    def run(
        self, sums: RegressionSums, choose: ChooseLam, source: NoiseSource, *, fallback: bool = False
    ) -> Run | None:
        """One run; None where no γ keeps the draw's share. `fallback` then raises λ, by the released λ̃ alone."""
        least = least_sum(self.release_epsilon, self.release_delta)

        def raised(released: float) -> float:
            lam = choose(released)
            leverage = _UP / (lam + released)
            with np.errstate(under="ignore"):
                enough = leverage <= LARGEST_LEVERAGE and self._precision(leverage, 1.0) > 0
            return lam if enough else max(lam, least - released)

        return one_run(sums, self.statistics, raised if fallback else choose, self._precision, source)

    def _precision(self, leverage: float, slope: float) -> float:
        rule = published_posterior_precision if self.published else posterior_precision
        return rule(self.release_epsilon, self.release_delta, leverage, slope)


def by_shares(
    parts: tuple[float, float, float, float, float], *, shifted: bool, mean_runs: float
) -> ProposeTestRelease | PrivateSelection:
    """A draw behind statistics, with `parts` ε and δ of the draw, ε and δ of the statistics, and the failures'."""
    base = ProposeTestRelease(*parts, "added", shifted, uniform=True)
    return base if mean_runs == 1 else PrivateSelection(base, mean_runs, 1)


def least_sum(epsilon: float, delta: float) -> float:
    """The least λ + λ̃ to aim for: (1 + log(2/δ))/ε, by the (ε, δ) of the draw."""
    return max((1 + math.log(2 / delta)) / epsilon, 1 / LARGEST_LEVERAGE) * _UP * _UP
