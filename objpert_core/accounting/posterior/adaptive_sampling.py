"""One posterior draw whose precision follows two released statistics, accounted for as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, logsumexp

from objpert_core._validation import FloatArray, at_least, between, check_fields, in_open_unit, or_zero
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism, check_adjacency
from objpert_core.accounting.mechanisms.chain import Chained
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI, log_1m_exp
from objpert_core.accounting.posterior import profile as posterior
from objpert_core.accounting.posterior.mechanism import PosteriorSampling
from objpert_core.accounting.selection.mechanism import PrivateSelection

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_SLACK = 1e-9  # of 1 + |log δ|: above what the quadrature is off by
_ROWS = 64  # of ε at a time


@dataclass(frozen=True)
class AdaptiveSampling(Mechanism):
    """A posterior draw for ridge regression whose γ is chosen by two noisy statistics of the data.

    Released are λ̃, a noisy λ_min(XᵀX), then Δ̃, a noisy bound on log(‖Y‖ + ‖θ*‖), and then one draw from N(θ*, (γΛ)⁻¹)
    with Λ = XᵀX + λI. The regularisation λ may depend on λ̃, as long as h = 1/(λ + λ̃) <= `leverage`; γ is
    d²(1 + h)²/(h·e^{2Δ̃}) with d = `separation`. Both statistics are shifted to the safe side by tσ and their
    sensitivity, where P[N(0, 1) > t] = failure/2. ‖Y‖ is the public bound on a target's size, Y in T39.
    docs/theorems.md, T39: δ(ε) = failure + E_z s(ε − μ²/2 − μz), where μ² is the sum of the squares of the two μ, and s
    the profile of the draw at h₀, made symmetric. The best of K runs: T11. A row that is replaced: two links of a chain
    (T17).

    Parameters
    ----------
    eigenvalue_mu : float > 0
        Sensitivity over noise of λ̃; the sensitivity is 1, for rows of norm at most 1.
    norm_mu : float > 0
        Sensitivity over noise of log(‖Y‖ + ‖θ*‖); the sensitivity is log(1 + 1/(λ + λ̃)).
    leverage : float from 1e-100 to 1.618
        h₀, the largest h.
    separation : float from 0 to 1e50
        d: as h falls to 0, the draw is as private as a Gaussian mechanism of this sensitivity over noise.
    failure : float strictly between 0 and 1
        How likely a statistic is on the unsafe side.
    mean_runs : float >= 1
        1: a single run. Else the best of K runs is released, but not K, which is geometric with this mean.
    adjacency : {"add/remove one row", "replace one row"}

    Examples
    --------
    >>> AdaptiveSampling(0.05, 0.05, 0.03, 0.15, 1e-9, mean_runs=20.0).epsilon(1e-6) < 1.6
    True
    """

    eigenvalue_mu: float
    norm_mu: float
    leverage: float
    separation: float
    failure: float
    mean_runs: float = 1.0
    adjacency: str = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        check_adjacency(self)
        check_fields(self, between(1e-6, 100.0), "eigenvalue_mu", "norm_mu")
        check_fields(self, between(1e-100, posterior.LARGEST_LEVERAGE), "leverage")
        check_fields(self, or_zero(between(1e-40, 1e40)), "separation")
        if not self.separation**2 * (1 + self.leverage) ** 2 / self.leverage < 1e100:
            raise ValueError(
                f"separation must have a square of less than 1e100 times the leverage, got {self.separation!r}"
            )
        check_fields(self, in_open_unit, "failure")
        check_fields(self, lambda name, value: at_least(name, value, 1), "mean_runs")

    @property
    def statistics_mu(self) -> float:
        """μ of the two statistics together."""
        return math.hypot(self.eigenvalue_mu, self.norm_mu)

    @property
    def draw(self) -> PosteriorSampling:
        """The draw at h₀, the least private one."""
        h = self.leverage
        return PosteriorSampling(h, self.separation**2 * (1 + h) ** 2 / h * (1 + 1e-14))

    @property
    def single(self) -> AdaptiveSampling:
        """A single run of the mechanism."""
        return replace(self, mean_runs=1.0)

    @cached_property
    def links(self) -> Chained | None:
        """Remove a row, then add one: two links of a single run for `ADD_REMOVE`; None for `ADD_REMOVE` itself."""
        if self.adjacency == ADD_REMOVE:
            return None
        return Chained(replace(self.single, adjacency=ADD_REMOVE), 2, adjacency=self.adjacency)

    @property
    def has_rdp(self) -> bool:
        """False: with probability `failure` nothing is promised."""
        return False

    def no_rdp(self) -> str:
        return (
            "AdaptiveSampling has no Rényi curve: a statistic on the unsafe side, however seldom, leaves no bound on it"
        )

    def no_losses(self) -> str:
        return "AdaptiveSampling has no privacy loss distribution; use delta or epsilon"

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.full(alpha.shape, np.inf)

    @cached_property
    def _selected(self) -> PrivateSelection:
        return PrivateSelection(self.single, self.mean_runs, eta=1)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        if self.mean_runs > 1:
            return np.minimum(self._selected._log_delta(epsilon), 0.0)
        return self._of_one(epsilon) if self.links is None else self.links._log_delta(epsilon)

    @np.errstate(all="ignore")
    def _of_one(self, epsilon: FloatArray) -> FloatArray:
        result = np.empty(epsilon.shape)
        for start in range(0, epsilon.size, _ROWS):
            part = slice(start, start + _ROWS)
            result[part] = self._integrated(epsilon[part])
        result = result + _SLACK * (1 - np.maximum(result, -1e300))
        return np.minimum(np.logaddexp(result, math.log(self.failure)), 0.0)

    def _integrated(self, epsilon: FloatArray) -> FloatArray:
        """log E_z s(ε − μ²/2 − μz): by panels that meet where the argument of s is 0, tails bounded from above."""
        mu = self.statistics_mu
        kink = (epsilon[:, None] - mu**2 / 2) / mu  # s has a corner at 0
        low, high = _PANEL_ENDS[0], _PANEL_ENDS[-1]
        near = kink + (self.separation + self.leverage) / mu * _NEAR
        ends = np.concatenate([_PANEL_ENDS + np.zeros((epsilon.size, 1)), np.clip(near, low, high)], axis=1)
        ends = np.sort(ends, axis=1)
        half = np.diff(ends, axis=1) / 2
        middle = (ends[:, :-1] + ends[:, 1:]) / 2
        z = (middle[:, :, None] + half[:, :, None] * _NODES).reshape(epsilon.size, -1)
        with np.errstate(divide="ignore"):
            log_weight = np.log((half[:, :, None] * _WEIGHTS).reshape(epsilon.size, -1))
        at = epsilon[:, None] - mu**2 / 2 - mu * z
        terms = log_weight - z**2 / 2 - LOG_SQRT_2PI + self._symmetric(at)
        inside = logsumexp(terms, axis=1)
        below = float(log_ndtr(low)) + self._symmetric(epsilon - mu**2 / 2 - mu * low)  # s falls as z does
        return np.logaddexp(np.logaddexp(inside, below), float(log_ndtr(-high)))

    def _symmetric(self, epsilon: FloatArray) -> FloatArray:
        """log s: the profile at ε >= 0, and 1 − e^ε + e^ε·s(−ε) below."""
        one = self.draw
        size = np.abs(epsilon)
        found = posterior.log_delta_added(size.ravel(), one.leverage, one.shift).reshape(epsilon.shape)
        negative = np.logaddexp(log_1m_exp(np.minimum(epsilon, 0.0)), np.minimum(epsilon, 0.0) + found)
        return np.where(epsilon < 0, np.minimum(negative, 0.0), found)


_NEAR = np.concatenate([-(2.0 ** np.arange(4, -3, -1)), [0.0], 2.0 ** np.arange(-2, 5)])
_PANEL_ENDS = np.concatenate([np.linspace(-12.0, 12.0, 20), np.linspace(12.0, 39.0, 10)[1:]])
