"""DP-SGD: a number of steps of the Poisson-subsampled Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_ndtr, logsumexp

from objpert_core._validation import FloatArray, between, check_fields, positive_integer, rate
from objpert_core.accounting.dp_sgd import batches
from objpert_core.accounting.dp_sgd.subsampled import step_rdp
from objpert_core.accounting.gaussian import gdp
from objpert_core.accounting.laws.base import GaussianLoss, MixedLoss, PrivacyLoss, Steps, SubsampledLoss
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, REPLACE_ONE, Mechanism, check_adjacency
from objpert_core.accounting.mechanisms.composition import ByConvolution
from objpert_core.accounting.mechanisms.event_forms import EventMaker
from objpert_core.accounting.mechanisms.renyi import ViaRDP
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI
from objpert_core.accounting.numerics.mixture import (
    log_binomial_weights,
    log_ratio,
    log_ratio_slope,
    log_tilt,
    mixture_rdp,
)

_SPAN = 72.0  # standard deviations beyond the outermost means that are tabulated
_PER_UNIT = 64


@dataclass(frozen=True)
class MixtureLoss(MixedLoss):
    """log dP/dQ between P = Σ w_j·N(j·a, 1) with binomial weights w and Q, its mirror image or N(0, 1)."""

    a: float  # 1/noise multiplier
    q: float  # sampling rate
    size: int  # number of rows k that one person has
    replace: bool  # Q is P's mirror image; otherwise N(0, 1)
    direction: str = field(default="remove")  # log dP/dQ under P; "add": log dQ/dP under Q; one loss with `replace`

    @cached_property
    def _log_weights(self) -> FloatArray:
        return log_binomial_weights(self.size, self.q)

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """(u, log dP/dQ at u), ascending."""
        low = -_SPAN - (self.size * self.a if self.replace else 0.0)
        high = _SPAN + self.size * self.a
        u = np.linspace(low, high, int(_PER_UNIT * (high - low)) + 1)
        return u, np.maximum.accumulate(log_ratio(self._log_weights, self.a, u, self.replace))

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicHermiteSpline  # slow to import

        u, known = self._table
        rising = np.concatenate(([True], np.diff(known) > 1e-15 * np.maximum(np.abs(known[1:]), 1e-300)))
        slope = log_ratio_slope(self._log_weights, self.a, u[rising], self.replace)
        return CubicHermiteSpline(known[rising], u[rising], 1 / np.maximum(slope, 1e-300))

    def _inverse(self, ratio: FloatArray) -> FloatArray:
        """u near log dP/dQ = ratio; −inf at and below its least value, that is far below every u that matters."""
        u, known = self._table
        cell = np.clip(np.searchsorted(known, ratio) - 1, 0, u.size - 2)
        guess = np.clip(self._spline(np.clip(ratio, known[0], known[-1])), u[cell], u[cell + 1])
        return np.where(ratio <= known[0], -np.inf, np.where(ratio > known[-1], u[-1], guess))

    def _log_ratio(self, u: FloatArray) -> FloatArray:
        return log_ratio(self._log_weights, self.a, u, self.replace)

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        normal = -0.5 * v * v - LOG_SQRT_2PI
        if self.direction == "add":
            return normal
        return normal + (log_tilt(self._log_weights, self.a, v) if self.replace else omega)

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        if self.direction == "add":
            return float(log_ndtr(low)), float(log_ndtr(-high))
        means = self.a * np.arange(self.size + 1)
        below = logsumexp(self._log_weights + log_ndtr(low - means))
        above = logsumexp(self._log_weights + log_ndtr(means - high))
        return float(below), float(above)

    def reach(self, nats: float) -> tuple[float, float]:
        width = float(np.sqrt(2 * nats))
        if self.direction == "add":
            return -width, width
        means = self.a * np.arange(self.size + 1)
        return -width, float(np.max(means + np.sqrt(2 * np.maximum(nats + self._log_weights, 1.0))))


@dataclass(frozen=True)
class DPSGD(ByConvolution):
    """DP-SGD: rows join a step's batch with probability `sample_rate`; the sum of clipped gradients gets normal noise.

    Rényi: Mironov, Talwar and Zhang (2019), at every real order. Privacy loss distributions: both directions of
    add/remove are composed, and the larger δ is reported. For rows that are replaced, and for several rows of one
    person, the pair of one step is exact: clipped gradients that point one way before and the other way after attain it
    (docs/theorems.md, T19; Ganesh 2024 for several rows added or removed).

    Parameters
    ----------
    noise_multiplier : float from 1e-100 to 1e100
        Standard deviation of the noise divided by the clipping norm (the L2 sensitivity of one row).
    sample_rate : float in (0, 1]
        Probability q with which Poisson sampling takes a row into a batch.
    steps : int >= 1
    adjacency : {"add/remove one row", "replace one row"}
    group_size : int >= 1
        Number of rows k of one person, all of which are added, removed or replaced together; see `group`.

    Examples
    --------
    >>> added = DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=1)
    >>> replaced = DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=1, adjacency="replace one row")
    >>> added.epsilon(1e-5) < replaced.epsilon(1e-5)
    True
    """

    noise_multiplier: float
    sample_rate: float
    steps: int
    adjacency: str = field(default=ADD_REMOVE, kw_only=True)
    group_size: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, between(1e-100, 1e100), "noise_multiplier")
        check_fields(self, rate, "sample_rate")
        check_fields(self, positive_integer, "steps", "group_size")
        check_adjacency(self)

    @property
    def _replaced(self) -> bool:
        return self.adjacency == REPLACE_ONE

    @property
    def _farthest(self) -> float:
        """How many standard deviations of the noise the rows of one person can move a step's sum."""
        return self.group_size * (2 if self._replaced else 1) / self.noise_multiplier

    @property
    def gaussian_ratio(self) -> float | None:
        """Full batches are the Gaussian mechanism."""
        return self._farthest * math.sqrt(self.steps) if self.sample_rate == 1 else None

    def losses(self, direction: str = "remove") -> Steps:
        """The steps' losses: for removal of rows, for their addition, or for a replacement, which is symmetric."""
        a = 1 / self.noise_multiplier
        step: PrivacyLoss
        if self.sample_rate == 1:
            step = GaussianLoss(self._farthest)
        elif self.group_size == 1 and not self._replaced:
            step = SubsampledLoss(a, self.sample_rate, direction)
        else:
            one = "remove" if self._replaced else direction  # a replacement is symmetric
            step = MixtureLoss(a, self.sample_rate, self.group_size, self._replaced, one)
        return ((step, self.steps),)

    def _alone(self) -> Mechanism | None:
        """One step, where a formula answers: one row that is added or removed."""
        formula = self.steps == self.group_size == 1 and not self._replaced and self.sample_rate < 1
        return _OneStep(self) if formula else None

    def _rest(self) -> Mechanism:
        return _HardlyEverDrawn(self)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        if self.group_size == 1 and not self._replaced:
            return self.steps * np.maximum(step_rdp(alpha, self.sample_rate, self.noise_multiplier), 0.0)
        if self.sample_rate == 1:
            return self.steps * gauss.rdp(alpha, self._farthest)
        weights = log_binomial_weights(self.group_size, self.sample_rate)
        return self.steps * mixture_rdp(alpha, weights, 1 / self.noise_multiplier, self._replaced)

    @property
    def only_replaced(self) -> bool:
        """A sampled Gaussian costs something else where rows are replaced."""
        return self._replaced and self.sample_rate < 1

    def no_event(self) -> str:
        return "dp_accounting has no event for several rows that are replaced; use to_pld()"

    def _dp_event(self, make: EventMaker) -> Any:
        if self.gaussian_ratio is not None or (self._replaced and self.group_size > 1):
            return super()._dp_event(make)
        if self.group_size == 1:
            one = make.events.GaussianDpEvent(self.noise_multiplier)
            return make.events.SelfComposedDpEvent(make.events.PoissonSampledDpEvent(self.sample_rate, one), self.steps)
        weights = np.exp(log_binomial_weights(self.group_size, self.sample_rate))
        weights = weights / weights.sum()
        moves = [float(j) for j in range(self.group_size + 1)]
        step = make.events.MixtureOfGaussiansDpEvent(
            self.noise_multiplier, moves, [float(weight) for weight in weights]
        )
        return make.events.SelfComposedDpEvent(step, self.steps)

    def _mu(self) -> float:
        if self.sample_rate == 1:
            return super()._mu()
        root = math.sqrt(self.steps) * (1 + 2.0**-51)
        if not self._replaced:  # T20: sampling amplifies no μ, as the batches may all hold the rows
            return self._farthest * root
        weights = log_binomial_weights(self.group_size, self.sample_rate)
        return root * gdp.mu_of_mirrored_mixture(weights, 1 / self.noise_multiplier)


@dataclass(frozen=True)
class _OneStep(Mechanism):
    """A single step: δ(ε) = q·δ_G(log(1 + (e^ε − 1)/q)), as for a row that is removed (docs/theorems.md, T19)."""

    base: DPSGD

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return batches.log_profile(self.base.sample_rate, np.zeros(1), 1 / self.base.noise_multiplier, epsilon)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self.base._rdp(alpha)


@dataclass(frozen=True)
class _HardlyEverDrawn(ViaRDP):
    """What answers where no grid is fine enough: the Rényi curve, and how likely it is that any batch has the rows."""

    base: DPSGD

    @property
    def _log_ever(self) -> float:
        if self.base.sample_rate == 1:
            return 0.0
        never = self.base.steps * self.base.group_size * math.log1p(-self.base.sample_rate)
        return math.log(-math.expm1(never)) * (1 - 1e-15)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return np.minimum(super()._log_delta(epsilon), self._log_ever)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        return np.where(log_delta >= self._log_ever, 0.0, super()._epsilon(log_delta))
