"""Private selection: what choosing the best of a random number of runs costs.

The base mechanism Q is run K times on the same rows, K drawn from a known law, and the best output in some total order
(a score that is part of the output) is released. Ties are broken at random, so the law of an output with its tie
breaker has no atoms. With f(x) = E[x^K] and G(y) the probability that one run does better than y, the released output
has the density f'(1 − G(y)) times that of one run (Papernot and Steinke 2022, "Hyperparameter tuning with Rényi
differential privacy"). Everything below bounds a divergence between two such densities; P, Q are the laws of one run
on two neighbouring data sets, G and H its probabilities of doing better, ρ(α) its Rényi curve, δ(ε) its profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from objpert_core._validation import (
    FloatArray,
    above,
    at_least,
    check_fields,
    count_array,
    delta_array,
    in_open_unit,
    like_input,
    nonnegative_integer,
    positive,
    rate,
)
from objpert_core.accounting.mechanisms.base import Mechanism, Wrapper, a_mechanism, with_rdp
from objpert_core.accounting.mechanisms.renyi import ViaRDP
from objpert_core.accounting.numerics.renyi import LOG_ORDERS
from objpert_core.accounting.selection import run_counts
from objpert_core.accounting.selection.one_run import OneRun, drift

_NO_PLD = (
    "no pair of distributions is known that dominates private selection, so it has no privacy loss distribution; "
    "use delta, epsilon or rdp (Rényi curves of independent releases add up)"
)
_REFINE = 33
_ROUNDS = 3
_MARGIN = 1e-12  # of ε: above the rounding of the two conversions, so that δ(ε(δ)) <= δ
_MOST_RUNS = 10**15


def _least(objective: Callable[[FloatArray], FloatArray], grid: FloatArray = LOG_ORDERS) -> tuple[float, float]:
    """(α, value) where `objective` is smallest over α = 1 + e^x, x about `grid`; every value used is a valid bound."""
    width, best = grid[-1] - grid[-2], (1 + math.exp(grid[0]), math.inf)
    for _ in range(1 + _ROUNDS):
        alpha = 1 + np.exp(grid)
        values = objective(alpha)
        at = int(values.argmin())
        if values[at] < best[1]:
            best = float(alpha[at]), float(values[at])
        grid, width = grid[at] + width * np.linspace(-1, 1, _REFINE), width * 2 / (_REFINE - 1)
    return best


@dataclass(frozen=True)
class PrivateSelection(Wrapper):
    """The best of K runs of a mechanism, K random and not released: hyperparameter tuning, accounted for.

    Poisson, for every α > 1, with μ = E[K], s = α − 1 and δ̂ = δ(ε̂) at ε̂ = log(1 + 1/s):

        rdp(α) <= log(1 + μ·e^{sμδ̂}·(e^{sρ(α)} − 1))/s.

    This sharpens ρ(α) + μδ̂ + log(μ)/s of Papernot and Steinke (2022), Theorem 6, which it never exceeds for μ >= 1 and
    which proves nothing for μ < 1.

    Truncated negative binomial, for all α, λ > 1 (Theorem 2 there, with a second choice for its middle term):

        rdp(α) <= ρ(α) + (1 + η)·min{(1 − 1/λ)ρ(λ) + log(1/γ)/λ, ε₁} + log(E[K])/s,
        δ(ε₂ + (1 + η)ε₁) <= E[K]·δ(ε₂) for every ε₂ >= 0,

    with ε₁ the least solution of δ(ε₁) <= (e^{ε₁} − 1)·γ/(1 − γ). `delta` and `epsilon` are the smaller of the last
    line and the Rényi curve's; `via_rdp(selection)` is the Rényi curve's alone. The proofs are docs/theorems.md, T11. A
    larger order's divergence bounds a smaller order's, and the curves above may fall: `rdp(α)` is the least of their
    value at α and of their dips at larger orders. `ValueError` if no γ that is a double gives this mean;
    `NotImplementedError` if `base` has no Rényi curve ("kifer2012") and K is Poisson, or no profile either.

    Parameters
    ----------
    base : Mechanism
        One run; all candidates satisfy its bounds. For a Poisson K it needs a Rényi curve, else a profile is enough.
    mean_runs : float E[K] > 0 (>= 1 if `eta` is given)
    eta : float > −1, optional
        None: K ~ Poisson(mean_runs), and K = 0 releases a fixed default. Otherwise the truncated negative binomial
        law on K >= 1 with that shape: 1 is geometric, 0 logarithmic; `.gamma` is its other parameter.

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian
    >>> tuned = PrivateSelection(Gaussian(8.0), mean_runs=poisson_mean(10, 0.9))
    >>> Gaussian(8.0).epsilon(1e-5) < tuned.epsilon(1e-5) < 1.12
    True
    """

    base: Mechanism
    mean_runs: float
    eta: float | None = None

    def __post_init__(self) -> None:
        if self.eta is None or not a_mechanism("base", self.base).has_profile:
            with_rdp(a_mechanism("base", self.base))
        if self.eta is None:
            check_fields(self, positive, "mean_runs")
        else:
            check_fields(self, lambda name, value: above(name, value, -1), "eta")
            check_fields(self, lambda name, value: at_least(name, value, 1), "mean_runs")
            if math.log(self.mean_runs) > run_counts.largest_log_mean(self.eta):
                most = math.exp(run_counts.largest_log_mean(self.eta))
                raise ValueError(f"mean_runs must be below {most:.4g} for eta = {self.eta:g}, got {self.mean_runs!r}")

    @classmethod
    def negative_binomial(cls, base: Mechanism, eta: float, gamma: float) -> PrivateSelection:
        """The truncated negative binomial law by its own parameters, not its mean; errors as in `PrivateSelection`.

        `gamma` in (0, 1] is the chance that a law with η = 1 stops after a run; a smaller γ means more runs.

        >>> from objpert_core.accounting import Gaussian
        >>> round(PrivateSelection.negative_binomial(Gaussian(8.0), eta=1, gamma=0.05).mean_runs, 9)
        20.0
        """
        shape, chance = above("eta", eta, -1), rate("gamma", gamma)
        selection = cls(base, max(1.0, math.exp(run_counts.log_mean(shape, chance))), shape)
        selection.__dict__["gamma"] = chance
        return selection

    @cached_property
    def gamma(self) -> float | None:
        """γ of the truncated negative binomial law, rounded down (K a little larger); None for Poisson."""
        return None if self.eta is None else run_counts.gamma_for(self.eta, math.log(self.mean_runs))

    @property
    def _law(self) -> tuple[float, float]:
        assert self.eta is not None
        assert self.gamma is not None
        return self.eta, self.gamma

    @property
    def _log_mean_runs(self) -> float:
        """log E[K], and at least that of the law with `gamma`."""
        log_mean = math.log(self.mean_runs)
        return log_mean if self.eta is None else max(log_mean, run_counts.log_mean(*self._law))

    def pmf(self, k: Any) -> Any:
        """Probability that there are k runs, for a whole number k >= 0 or an array; `ValueError` for other k."""
        runs = count_array(k)
        if self.eta is None:
            return like_input(k, run_counts.poisson_pmf(runs, self.mean_runs))
        return like_input(k, run_counts.negative_binomial_pmf(runs, *self._law))

    @cached_property
    def _one_run(self) -> OneRun:
        return OneRun(self.base, self._log_mean_runs)

    @cached_property
    def _drift(self) -> float:
        """(1 + η)·ε₁: how far the chance of being the best of K runs moves between neighbouring data sets."""
        eta, gamma = self._law
        return (1 + eta) * drift(self._one_run.log_delta, gamma)

    @cached_property
    def _overhead(self) -> float:
        """The term of Theorem 2 that does not depend on α."""
        eta, gamma = self._law
        cost = -math.log(gamma)
        middle = _least(lambda order: (1 - 1 / order) * self.base._rdp(order) + cost / order)[1]
        return min((1 + eta) * min(middle, cost), self._drift)

    def _at_order(self, alpha: FloatArray) -> FloatArray:
        """The theorem's bound at every α on its own."""
        order, curve = alpha - 1, self.base._rdp(alpha)
        proper = np.where(order > 0, order, 1.0)
        if self.eta is not None:
            return np.where(order > 0, curve + self._overhead + self._log_mean_runs / proper, np.inf)
        log_delta = self._one_run.log_delta(np.log1p(1 / proper))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            scaled = proper * curve
            moment = scaled + np.log(-np.expm1(-scaled)) + proper * self.mean_runs * np.exp(log_delta)
        moment = np.where(np.isfinite(curve), moment + self._log_mean_runs, np.inf)
        at_one = self.mean_runs * np.where(order > 0, 0.0, curve)
        return np.where(order > 0, np.logaddexp(0.0, moment) / proper, at_one)

    @cached_property
    def _dips(self) -> tuple[tuple[float, float], ...]:
        """(α, rdp) wherever the curve stops falling, which happens once or twice."""
        grid = LOG_ORDERS[::2]
        values = self._at_order(1 + np.exp(grid))
        padded = np.concatenate(([np.inf], values, [np.inf]))
        lowest = np.flatnonzero((values < padded[:-2]) & (values <= padded[2:]))
        return tuple(_least(self._at_order, grid[max(at - 1, 0) : at + 2]) for at in lowest)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        if not self.has_rdp:
            return np.full(alpha.shape, np.inf)
        curve = self._at_order(alpha)
        for order, value in self._dips:
            curve = np.where(alpha <= order, np.minimum(curve, value), curve)
        return curve

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        log_delta = ViaRDP(self)._log_delta(epsilon) if self.has_rdp else np.zeros(epsilon.shape)
        if self.eta is None or self._drift == math.inf:
            return log_delta
        left = epsilon - self._drift
        by_profile = self._log_mean_runs + self._one_run.log_delta_far(np.maximum(left, 0.0))
        return np.where(left >= 0, np.minimum(log_delta, by_profile), log_delta)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        known = self.has_rdp
        epsilon = ViaRDP(self)._epsilon(log_delta) * (1 + _MARGIN) if known else np.full(log_delta.shape, np.inf)
        if self.eta is None or self._drift == math.inf:
            return epsilon
        one = self._one_run.epsilon_far(log_delta - self._log_mean_runs - 1e-15 * (1 - log_delta))
        by_profile = one + self._drift
        while np.any(np.isfinite(one) & (by_profile - self._drift < one)):
            by_profile = np.nextafter(by_profile, np.inf)
        return np.minimum(epsilon, by_profile)

    def no_losses(self) -> str:
        return _NO_PLD


def liu_talwar_epsilon(base: Mechanism, delta: Any, mean_runs: float) -> Any:
    """ε at δ of the best of K runs, K geometric, by densities alone: no Rényi curve is needed or used.

    The scheme of Liu and Talwar (2019), "Private selection from private candidates", Section 3. They prove 3ε for a
    base that is (ε, 0)-DP; with the whole profile δ(·) of the base, the same argument gives

        ε(δ) + 2ε₁  at  E[K]·δ,   for any ε₁ with δ(ε₁) <= (e^{ε₁} − 1)/(E[K] − 1),

    which is at most 3ε if δ(ε) = 0, and avoids what their statement for (ε, δ) gives away. The proof is
    docs/theorems.md, T11: this is η = 1. The result has the shape of `delta`; `math.inf` where nothing is proved.

    `base` is one run, with a privacy profile, and `mean_runs` >= 1 is E[K] = 1/γ: after every run, stop with
    probability γ and release the best so far.

    >>> from objpert_core.accounting import Gaussian
    >>> round(liu_talwar_epsilon(Gaussian(8.0), 1e-5, mean_runs=15.4), 2)
    0.78
    """
    a_mechanism("base", base)
    target = delta_array(delta)
    mean = at_least("mean_runs", mean_runs, 1)
    run = OneRun(base, math.log(mean))
    epsilon = run.epsilon_far(np.log(target.ravel()) - math.log(mean)) + 2 * drift(run.log_delta, 1 / mean)
    return like_input(delta, epsilon.reshape(target.shape))


def poisson_mean(more_than: int, probability: float) -> float:
    """The mean μ of a Poisson K with Pr[K > more_than] = probability.

    Pr[K > s] is the regularised lower incomplete gamma function P(s + 1, μ). Redberg et al. (2023), Section 5, have 0.9
    for more than 10 runs. `ValueError` unless `more_than` is a whole number >= 0 and the probability strictly between 0
    and 1.

    >>> round(poisson_mean(10, 0.9), 1)
    15.4
    """
    runs, chance = nonnegative_integer("more_than", more_than), in_open_unit("probability", probability)
    if runs > _MOST_RUNS:
        raise ValueError(f"more_than must be a whole number from 0 to 10**15, got {runs!r}")
    return float(gammaincinv(runs + 1, chance))
