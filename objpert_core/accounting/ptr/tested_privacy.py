"""The Rényi curve of a mechanism behind a private test: a theorem of Redberg, Zhu and Wang (2023), corrected."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, alpha_array, like_input, rate

Curve = Callable[[FloatArray], FloatArray]
"""A Rényi curve: from orders to divergences, inf where there is none."""

_STEPS = np.log(10.0) * np.arange(-4.0, 8.01, 0.0625)  # log(α' − α) to begin with
_FINER = np.linspace(-1, 1, 17)
_ROUNDS = 3
_UP = 1 + 2.0**-40


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
    return min(max(right, wrong), cost + most) * _UP  # at worst the test and the mechanism, one after the other
