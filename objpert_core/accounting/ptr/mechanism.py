"""Propose, test, release: what a release behind a private test of the data costs.

A mechanism M may be private enough on some data sets only. A private test asks whether ε(X) <= ε at X. Where the test
passes, M answers; where it does not, nothing does, or a mechanism that is private enough everywhere.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from objpert_core._validation import (
    FloatArray,
    alpha_array,
    boolean,
    choice,
    delta_array,
    epsilon_array,
    like_input,
    nonnegative,
    rate,
)
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism, check_adjacency

COVERS = ("both", "added")
"""Of which neighbours ε(X) speaks: all of them, or those with a row more."""
_LARGEST_EPSILON = 700.0  # e^ε is a double
_UP = 1 + 2.0**-50  # more than a few operations in doubles are off, relatively


class _OnePair(Mechanism):
    """A mechanism of which no more is known than that it is (ε, δ)-DP for one pair (ε, δ)."""

    @property
    @abstractmethod
    def guarantee(self) -> tuple[float, float]:
        """The pair (ε, δ)."""

    def _delta(self, epsilon: FloatArray) -> FloatArray:
        most, certain = self.guarantee
        rest = -np.expm1(np.minimum(epsilon - most, 0.0)) / (1 + math.exp(-most))
        return np.where(epsilon >= most, certain, np.minimum(certain + (1 - certain) * rest * _UP, 1.0))

    def delta(self, epsilon: Any) -> Any:
        """Privacy profile: exactly the pair's δ from its ε on."""
        eps = epsilon_array(epsilon)
        return like_input(epsilon, self._delta(eps))

    def epsilon(self, delta: Any) -> Any:
        """Inverse of the profile: exactly the pair's ε at its δ."""
        target = delta_array(delta)
        return like_input(delta, self._smallest(target))

    def _smallest(self, target: FloatArray) -> FloatArray:
        """1 − e^{ε − most} is (target − δ)(1 + e^−most)/(1 − δ); what rounds is taken off ε on the safe side."""
        most, certain = self.guarantee
        rest = (target - certain) / (1 - certain) * (1 + math.exp(-most)) / _UP
        with np.errstate(divide="ignore"):
            found = most + np.log1p(-np.minimum(rest, 1.0))
        found = np.where(found > 0, found, 0.0)
        step = 2.0**-52 * (1 + most)
        while (low := (target >= certain) & (found < most) & (self._delta(found) > target)).any():
            found, step = np.where(low, np.minimum(found + step, most), found), 2 * step
        return np.where(target >= certain, found, np.inf)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(self._delta(epsilon))

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        return self._smallest(np.exp(log_delta))

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        most, certain = self.guarantee
        if certain > 0:
            return np.full(alpha.shape, np.inf)
        order = np.where(alpha > 1, alpha - 1, 1.0)
        near = np.minimum(alpha * most, 1.0)  # where e^{(α−1)ε} and its logarithm would cancel
        small = np.log1p(-np.expm1(-np.minimum(order * most, 1.0)) * np.expm1(near) / (1 + math.exp(most))) / order
        large = most + np.log1p(np.expm1(-2 * order * most) / (1 + math.exp(most))) / order
        curve = np.where(alpha * most < 1, small, large)
        curve = np.where(alpha > 1, curve, most * math.tanh(most / 2))
        return np.minimum(curve * (1 + 2.0**-44), most)

    @property
    def has_rdp(self) -> bool:
        """Whether δ is 0; otherwise the Rényi curve is infinite."""
        return self.guarantee[1] == 0

    def no_rdp(self) -> str:
        return (
            f"{type(self).__name__} gives everything away with probability δ = {self.guarantee[1]:g}, as far as is "
            "known, so its Rényi divergence is infinite at every order; use delta and epsilon"
        )

    def _rho(self) -> float:
        most, certain = self.guarantee
        return most * math.tanh(most / 2) * (1 + 2.0**-44) if certain == 0 else math.inf

    def losses(self, direction: str = "remove") -> Steps:
        """Three losses: ε, −ε and, with probability δ, ∞; the fourth, −∞, has no mass. The same both ways."""
        most, certain = self.guarantee
        loss = np.array([most, -most])
        log_masses = np.log1p(-certain) - np.logaddexp(0.0, -loss)
        with np.errstate(divide="ignore"):
            return ((DiscreteLoss(loss, log_masses, float(np.log(certain))), 1),)


@dataclass(frozen=True, init=False)
class ApproximateDP(_OnePair):
    """The worst of all mechanisms that are (ε, δ)-DP, for one of which no more is known.

    Kairouz, Oh and Viswanath (2015), "The composition theorem for differential privacy": every (ε, δ)-DP mechanism is a
    post-processing of this one, so compositions of it are optimal. Its Rényi curve is infinite unless δ = 0; then the
    mechanism is ε·tanh(ε/2)-zCDP.

    ε, from 0 to 700, and δ, in [0, 1), are not both 0; δ = 0 means pure differential privacy. They are kept as
    `promised_epsilon` and `promised_delta`, as `epsilon` and `delta` are the methods that every mechanism has.

    >>> from objpert_core.accounting import repeat
    >>> round(repeat(ApproximateDP(0.5, 1e-6), 20).epsilon(1e-4), 2)  # not 10
    8.97
    """

    promised_epsilon: float
    promised_delta: float
    adjacency: str = ADD_REMOVE

    def __init__(self, epsilon: float, delta: float, *, adjacency: str = ADD_REMOVE) -> None:
        most, certain = _share("epsilon", epsilon), _probability("delta", delta)
        if most == certain == 0:
            raise ValueError("epsilon and delta must not both be 0, got 0 and 0")
        _set(self, promised_epsilon=most, promised_delta=certain, adjacency=adjacency)
        check_adjacency(self)

    def __repr__(self) -> str:
        return (
            f"ApproximateDP(epsilon={self.promised_epsilon!r}, delta={self.promised_delta!r}, "
            f"adjacency={self.adjacency!r})"
        )

    @property
    def guarantee(self) -> tuple[float, float]:
        """The pair (ε, δ)."""
        return self.promised_epsilon, self.promised_delta


@dataclass(frozen=True, init=False)
class ProposeTestRelease(_OnePair):
    """A mechanism behind a private test: the test and what it lets through, as one release.

    With (ε, δ) of what the test lets through, (ε̂, δ̂) of the test and δ' of its failing, the whole is (ε + ε̂, δ*)-DP,
    its `guarantee`, where δ* = δ̂ + max(δ, δ_F + c·δ') behind a test and δ* = δ̂ + δ + c·δ' behind a released bound. c
    is 1, or e^ε̂ where ε(X) covers added rows only and the test is not shifted. Which of mechanism and fallback has
    answered may be told. Redberg, Zhu and Wang (2023), Theorems 4.3, 4.7 and B.4, with what they leave out;
    docs/theorems.md, T36. `ValueError` if δ* is not below 1, a name is none of those below, or choices exclude each
    other.

    Parameters
    ----------
    epsilon, delta : float from 0 to 700, and in [0, 1)
        What may be released at X wherever ε(X) <= ε, ε(X) being the mechanism's ε at δ. Kept as `release_epsilon` and
        `release_delta`; `epsilon` and `delta` are the methods that every mechanism has.
    test_epsilon, test_delta : float from 0 to 700, and in [0, 1)
        (ε̂, δ̂): what the test costs, or the release of the bound.
    failure : float in [0, 1)
        δ': where ε(X) > ε, the test passes with this probability at most. Of a released bound: the parameter that the
        bound chooses is not private enough at X with this probability at most, whatever X.
    covers : {"both", "added"}
        "both": ε(X) covers X against every neighbour X', the divergence of M(X) from M(X') being enough. "added": it
        covers X against X with a row more, and there both divergences.
    shifted : bool
        For "added": δ' bounds the failure at X with a row more as well. A test is shifted if its statistic has been
        moved by its sensitivity, on top of what δ' asks for.
    uniform : bool
        Whether a released bound chooses the parameter (Algorithm 5), instead of a test that lets pass or does not.
    fallback_delta : float in [0, 1)
        δ_F: what runs where the test does not pass is (ε, δ_F)-DP on all data. 0 if nothing does.
    adjacency : {"add/remove one row", "replace one row"}
        `covers` = "added" needs "add/remove one row".

    Examples
    --------
    >>> ProposeTestRelease(0.5, 1e-6, 0.25, 0.0, 1e-6).guarantee
    (0.75, 1e-06)
    """

    release_epsilon: float
    release_delta: float
    test_epsilon: float
    test_delta: float
    failure: float
    covers: str
    shifted: bool
    uniform: bool
    fallback_delta: float
    adjacency: str = ADD_REMOVE

    def __init__(
        self,
        epsilon: float,
        delta: float,
        test_epsilon: float,
        test_delta: float,
        failure: float,
        covers: str = "both",
        shifted: bool = False,
        *,
        uniform: bool = False,
        fallback_delta: float = 0.0,
        adjacency: str = ADD_REMOVE,
    ) -> None:
        _set(
            self,
            release_epsilon=_share("epsilon", epsilon),
            release_delta=_probability("delta", delta),
            test_epsilon=_share("test_epsilon", test_epsilon),
            test_delta=_probability("test_delta", test_delta),
            failure=_probability("failure", failure),
            covers=choice("covers", covers, COVERS),
            shifted=boolean("shifted", shifted),
            uniform=boolean("uniform", uniform),
            fallback_delta=_probability("fallback_delta", fallback_delta),
            adjacency=adjacency,
        )
        check_adjacency(self)
        if self.covers == "added" and self.adjacency != ADD_REMOVE:
            raise ValueError(f"adjacency must be {ADD_REMOVE!r} for covers = 'added', got {self.adjacency!r}")
        if self.uniform and self.fallback_delta > 0:
            raise ValueError(
                f"fallback_delta must be 0 behind a released bound, which always answers, got {self.fallback_delta!r}"
            )
        total, certain = self.guarantee
        _share("epsilon + test_epsilon", total)
        _probability("delta of the whole", certain)
        if total == certain == 0:
            raise ValueError("epsilon, test_epsilon and the probabilities must not all be 0")

    def __repr__(self) -> str:
        own = {item.name.removeprefix("release_"): getattr(self, item.name) for item in fields(self)}
        return f"ProposeTestRelease({', '.join(f'{name}={value!r}' for name, value in own.items())})"

    @property
    def guarantee(self) -> tuple[float, float]:
        """The pair (ε, δ) of the whole, rounded up."""
        odds = math.exp(self.test_epsilon) * _UP if self.covers == "added" and not self.shifted else 1.0
        failed = odds * self.failure * _UP if odds > 1 else self.failure
        if self.uniform:
            return _sum_up(self.release_epsilon, self.test_epsilon), _sum_up(
                self.test_delta, _sum_up(self.release_delta, failed)
            )
        worst = max(self.release_delta, _sum_up(self.fallback_delta, failed))
        return _sum_up(self.release_epsilon, self.test_epsilon), _sum_up(self.test_delta, worst)


def _share(name: str, value: Any) -> float:
    """A finite ε >= 0 whose e^ε is a double."""
    share = nonnegative(name, value)
    if share > _LARGEST_EPSILON:
        raise ValueError(f"{name} must be a number from 0 to {_LARGEST_EPSILON:g}, got {value!r}")
    return share


def _probability(name: str, value: Any) -> float:
    """A probability that is not 1."""
    chance = nonnegative(name, value)
    if chance >= 1:
        raise ValueError(f"{name} must be a number >= 0 and below 1, got {value!r}")
    return chance


def _set(mechanism: Mechanism, **values: Any) -> None:
    """Set the fields of a frozen mechanism: its methods are called `epsilon` and `delta`, so its fields cannot be."""
    for name, value in values.items():
        object.__setattr__(mechanism, name, value)


def _sum_up(first: float, second: float) -> float:
    """The sum of two doubles >= 0, rounded up; exact where the sum is a double."""
    total = first + second
    missing = min(first, second) - (total - max(first, second))  # exact (Dekker 1971)
    return math.nextafter(total, math.inf) if missing > 0 else total


Curve = Callable[[FloatArray], FloatArray]
"""A Rényi curve: from orders to divergences, inf where there is none."""

_STEPS = np.log(10.0) * np.arange(-4.0, 8.01, 0.0625)  # log(α' − α) to begin with
_FINER = np.linspace(-1, 1, 17)
_ROUNDS = 3
_CURVE_UP = 1 + 2.0**-40  # more than the curves and the logarithms round, relatively


def tested_rdp(alpha: Any, test: Curve, budget: Curve, worst: Curve, failure: float) -> Any:
    """Rényi curve of a release behind a private test, all parts of which are known by Rényi curves.

    docs/theorems.md, T37: with s = α − 1 and any α' > α, e^{s·rdp(α)} is at most the larger of e^{s(ε̂(α) + ε(α))} and

        e^{s·ε̂(α)} + δ'^{(α' − α)/(α' − 1)}·e^{s(ε̂(α') + ε̃(α))}.

    Every α' gives a valid bound; the least of some hundred is taken. Theorem B.5 of Redberg, Zhu and Wang (2023) has
    ε̂(α) + log(δ'·e^{sε̃(α)} + (1 − δ')·e^{sε(α)})/s instead. The theorem holds for a test that is ε̂-DP, but not for
    one with a bounded Rényi divergence only: a test that passes with probability 1e-6 on X and 1.89e-12 next to it is
    within ε̂(2) = 1; with ε̃ = 10 and ε = 0 the divergence of order 2 is 9.36, the theorem says 1.02. The result, of
    the shape of `alpha`, is rounded up; `math.inf` where nothing is proved. `ValueError` if an α is not a finite number
    > 1, or `failure` is outside of (0, 1].

    Parameters
    ----------
    alpha : float or array of finite floats > 1
    test : callable
        ε̂(α), the Rényi curve of the test; from a 1-d array of orders to an array of the same shape.
    budget : callable
        ε(α): the mechanism's divergence at order α is at most this on every data set X that the test is right to let
        pass, against every neighbour. It is tested at the orders asked for.
    worst : callable
        ε̃(α): the mechanism's Rényi curve over all data sets.
    failure : float in (0, 1]
        δ': any other X passes with this probability at most.

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian
    >>> one = tested_rdp(2.0, Gaussian(4.0).rdp, Gaussian(5.0).rdp, Gaussian(1.0).rdp, 1e-9)
    >>> round(one, 6)  # 2·½·(1/16 + 1/25): at this order the failures do not matter
    0.1025
    """
    orders = alpha_array(alpha)
    if np.any(orders <= 1):
        raise ValueError(f"alpha must be a number > 1, or an array of them, got {alpha!r}")
    missed = rate("failure", failure)
    flat = orders.ravel()
    found = [_at(order, test, budget, worst, missed) for order in flat]
    return like_input(alpha, np.array(found, dtype=float).reshape(orders.shape))


def _at(alpha: float, test: Curve, budget: Curve, worst: Curve, failure: float) -> float:
    order, own = alpha - 1, np.array([alpha])
    cost, most = float(test(own)[0]), float(worst(own)[0])
    right = cost + float(budget(own)[0])
    if not math.isfinite(cost + most):
        return math.inf
    steps, best = _STEPS, math.inf
    for _ in range(1 + _ROUNDS):
        ahead = np.exp(steps)
        share = ahead / (ahead + order)  # (α' − α)/(α' − 1)
        with np.errstate(all="ignore"):  # at orders where a curve overflows it bounds nothing
            passes = share * math.log(failure) * (1 - 2.0**-50) + order * (np.asarray(test(alpha + ahead)) + most)
        passes = np.where(np.isnan(passes), np.inf, passes)
        at = int(np.argmin(passes))
        best = min(best, float(passes[at]))
        steps = steps[at] + (steps[1] - steps[0]) * _FINER
    wrong = float(np.logaddexp(order * cost, best)) / order
    return min(max(right, wrong), cost + most) * _CURVE_UP  # at worst the test and the mechanism, one after the other
