"""A mechanism for data sets several rows apart, from its bound for one row: a chain of neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from objpert_core._validation import FloatArray, check_fields, like_input, positive_integer, unit_array
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.laws.base import GaussianLoss, Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism, Wrapper, check_adjacency
from objpert_core.accounting.numerics import chain
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.renyi import LOG_ORDERS


@lru_cache(maxsize=64)
def _table(base: Mechanism) -> tuple[FloatArray, FloatArray]:
    """Points of the profile of `base`, asked for once, by whichever chain: each may cost a quadrature."""
    return chain.profile_points(base._log_delta)


class Split(NamedTuple):
    """How ε is shared by the links of a chain; see `numerics.chain.log_delta_of_split`."""

    ends: FloatArray
    corner: float


@dataclass(frozen=True)
class Chained(Wrapper):
    """`base` for data sets `length` neighbours apart, one row after the other, by the best split found
    (docs/theorems.md, T18). `adjacency` is what the whole chain means.
    """

    base: Mechanism
    length: int
    adjacency: str = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, positive_integer, "length")
        check_adjacency(self)

    @property
    def has_profile(self) -> bool:
        return self.base.has_profile

    @property
    def own_profile(self) -> bool:
        return self.base.own_profile

    @property
    def quick_profile(self) -> bool:
        """Only where the profile is the Gaussian mechanism's; elsewhere it is a search for the best split."""
        return self.gaussian_ratio is not None

    @property
    def gaussian_ratio(self) -> float | None:
        """`length` times the base's."""
        one = self.base.gaussian_ratio
        return None if one is None else self.length * one

    @property
    def lower_bound(self) -> Mechanism | None:
        """The Gaussian mechanism of `length` times the sensitivity: rows may all point one way."""
        one = self.base.lower_bound
        if not isinstance(one, Gaussian):
            return None
        return Gaussian(one.sigma, self.length * one.sensitivity, adjacency=self.adjacency)

    def no_profile(self) -> str:
        return self.base.no_profile()

    def no_losses(self) -> str:
        return self.base.no_losses()

    @cached_property
    def _one(self) -> tuple[FloatArray, FloatArray]:
        return chain.polygon_of_points(*_table(self.base))

    @cached_property
    def _polygon(self) -> tuple[FloatArray, FloatArray]:
        return chain.iterated(*self._one, self.length)

    @cached_property
    def _loss(self) -> DiscreteLoss:
        return DiscreteLoss(*chain.atoms(*self._polygon))

    def losses(self, direction: str = "remove") -> Steps | None:
        """The Gaussian loss, or the discretised symmetric pair of the profile; None where `base` has no losses."""
        if (a := self.gaussian_ratio) is not None:
            return ((GaussianLoss(a), 1),)
        return None if not self.has_profile or self.base.losses(direction) is None else ((self._loss, 1),)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        if (a := self.gaussian_ratio) is not None:
            return gauss.log_profile(epsilon, a)
        if not self.has_profile:
            raise NotImplementedError(self.no_profile())
        tried = [self._loss.log_profile(epsilon), self.log_delta_of_split(self.best_split(epsilon))]
        near = self.base.lower_bound
        for a in (0.0, near.gaussian_ratio if near is not None else None):  # equal parts, and the Gaussian mechanism's
            if a is not None:
                ends = chain.gaussian_ends(a, epsilon, self.length)
                tried.append(chain.log_delta_of_split(self.base._log_delta, ends))
        return chain.never_rising(epsilon, np.min(tried, axis=0))

    def best_split(self, epsilon: FloatArray) -> Split:
        """The split over the links that is best on the polygon, for a 1-d array of ε."""
        return Split(
            chain.ends_of_best_splits(*self._one, *self._polygon, epsilon, self.length), chain.corner_of(*self._one)
        )

    def log_delta_of_split(self, split: Split) -> FloatArray:
        """log δ by this split alone, maybe another chain's: no less than `log_delta` at the ε where the split ends."""
        return chain.log_delta_of_split(self.base._log_delta, *split)

    def tradeoff(self, false_positive_rate: Any) -> Any:
        """The base's trade-off function, applied once a row: see `Mechanism.tradeoff`, and Dong, Roth and Su (2022)."""
        if self.gaussian_ratio is not None or not self.has_profile:
            return super().tradeoff(false_positive_rate)
        rates = unit_array(false_positive_rate, "false_positive_rate")
        missed = chain.false_negative_rates(*self._polygon, rates.ravel())
        if self.length == 2:  # above the polygon by a ten-thousandth or so
            reached = np.minimum(np.nextafter(1 - self.base.tradeoff(rates.ravel()), 2.0), 1.0)
            missed = np.maximum(missed, self.base.tradeoff(reached))
        return like_input(false_positive_rate, missed.reshape(rates.shape))

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        if (a := self.gaussian_ratio) is not None:
            return gauss.rdp(alpha, a)
        if not self.has_rdp:
            raise NotImplementedError(self.no_rdp())
        orders, least = self._dips
        beyond = np.append(least, np.inf)[np.searchsorted(orders, alpha)]
        curve = np.minimum(self._along(alpha, self.length), beyond)
        rising = np.argsort(-alpha, kind="stable")
        curve[rising] = np.minimum.accumulate(curve[rising])
        return np.fmin(curve, alpha * self.rho() if np.isfinite(self.mu()) else np.inf)

    @cached_property
    def _dips(self) -> tuple[FloatArray, FloatArray]:
        """Orders and, at each, the least bound there and beyond: divergences rise in the order, the bound need not."""
        orders = 1 + np.exp(LOG_ORDERS)
        return orders, np.minimum.accumulate(self._along(orders, self.length)[::-1])[::-1]

    def _along(self, alpha: FloatArray, length: int) -> FloatArray:
        """D_α ≤ (1 + n/m)/(1 + n·s/(m·α))·D_β(m links) + D_γ(n links), with s = α − 1, β = α + n·s/m, γ = α·(m + n)/n.
        The weak triangle inequality at p = β/α, which loses nothing for Gaussian curves."""
        if length == 1:
            return self.base._rdp(alpha)
        m = length // 2
        n = length - m
        s = alpha - 1
        share = (1 + n / m) / (1 + n * s / (m * alpha))
        with np.errstate(over="ignore", invalid="ignore"):
            total = share * self._along(alpha + n * s / m, m) + self._along(alpha * (length / n), n)
        return np.where(np.isnan(total), np.inf, total) * (1 + 1e-14)

    def _mu(self) -> float:
        return self.length * self.base.mu()

    def _rho(self) -> float:
        return self.length**2 * self.base.rho()
