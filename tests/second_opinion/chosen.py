"""The best of a random number of runs, for runs whose outputs stand in an order: an instance of private selection.

With f(x) = E[x^K] the winner is x with the density f′(P[a run does no better than x]) times that of one run, and with
probability f(0) nothing runs at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from tests.second_opinion.case import NEAR_ONE, Case
from tests.second_opinion.definition import Array, Bracket, Definition, Pair
from tests.second_opinion.gaussian import log_normal

LogSlope = Callable[[Array], Array]
"""log f′ from the logarithm of the probability to do better: f′(1 − e^x)."""


def poisson(mean: float) -> LogSlope:
    """f(x) = e^{−μ(1 − x)}."""
    return lambda log_better: math.log(mean) - mean * np.exp(log_better)


def negative_binomial(mean: float, eta: float) -> LogSlope:
    """f(x) = ((1 − (1 − γ)x)^{−η} − 1)/(γ^{−η} − 1), or log(1 − (1 − γ)x)/log γ at η = 0; γ by bisection."""
    low, high = -690.0, -1e-12
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if log_mean(eta, middle) < math.log(mean) else (middle, high)
    gamma = math.exp(low)
    return lambda log_better: (
        math.log(mean) + (1 + eta) * (math.log(gamma) - np.log(gamma + (1 - gamma) * np.exp(log_better)))
    )


def log_mean(eta: float, log_gamma: float) -> float:
    """log f′(1)."""
    missed = math.log(-math.expm1(log_gamma)) - log_gamma
    if eta == 0:
        return missed - math.log(-log_gamma)
    if eta > 0:
        return missed + math.log(eta) - math.log(-math.expm1(eta * log_gamma))
    return missed + math.log(-eta) - math.log(math.expm1(eta * log_gamma))


def best_of_normals(a: float, slope: LogSlope, sign: float) -> Definition:
    """Runs are N(a, 1) and N(0, 1); larger outputs are better, or smaller ones where `sign` is −1."""

    def log_winner(x: Array, mean: float) -> Array:
        return log_normal(x - mean) + slope(log_ndtr(-sign * (x - mean)))

    def loss(x: Array) -> Array:
        return a * (x - a / 2) + slope(log_ndtr(-sign * (x - a))) - slope(log_ndtr(-sign * x))

    points = tuple(np.unique([-6.0, -3.0, -1.0, 0.0, a / 2, a, a - 1, a - 3, a + 1, a + 3, a + 6]))
    return Pair(lambda x: log_winner(x, a), loss, points)


@dataclass(frozen=True, eq=False)
class BestAnswer(Definition):
    """Runs that tell one of three things, the best of them by a given order, ties by lot.

    A uniform lot beside every answer makes the winner's law one density over all answers and lots.
    """

    log_p: Array
    log_q: Array
    slope: LogSlope
    released: Pair = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        p, q = np.exp(self.log_p), np.exp(self.log_q)
        above = [np.append(np.cumsum(one[::-1])[::-1][1:], 0.0) for one in (p, q)]

        def parts(x: Array, law: Array, better: Array) -> Array:
            at = np.clip(np.floor(x).astype(int), 0, law.size - 1)
            lot = np.clip(x - at, 0.0, 1.0)
            with np.errstate(divide="ignore"):
                found = np.log(law[at]) + self.slope(np.log(better[at] + law[at] * (1 - lot)))
            return np.where((x < 0) | (x > law.size), -np.inf, found)

        def loss(x: Array) -> Array:
            with np.errstate(invalid="ignore"):
                found = parts(x, p, above[0]) - parts(x, q, above[1])
            return np.where((x < 0) | (x > p.size), 0.0, found)

        kinks = tuple(float(i) for i in range(p.size + 1))
        object.__setattr__(self, "released", Pair(lambda x: parts(x, p, above[0]), loss, kinks))

    def log_delta(self, epsilon: float) -> Bracket:
        return self.released.log_delta(epsilon)

    def renyi(self, alpha: float) -> Bracket:
        return self.released.renyi(alpha)


def law(mean: float, eta: float | None) -> LogSlope:
    """Poisson's where there is no η."""
    return poisson(mean) if eta is None else negative_binomial(mean, eta)


def _normals(sigma: float, mean: float, eta: float | None, slow: bool = False) -> Case:
    a, slope = 1 / sigma, law(mean, eta)
    sides = tuple(best_of_normals(sign * a, slope, side) for sign in (1.0, -1.0) for side in (1.0, -1.0))
    return Case(
        "PrivateSelection",
        f"Gaussian {sigma:g}, mean {mean:g}, eta {eta}",
        lambda accounting: accounting.PrivateSelection(accounting.Gaussian(sigma), mean, eta),
        sides,
        epsilons=(0.0, 0.1 * a, a, a * a / 2 + 3 * a, a * a + 8 * a, 3 * a * a + 30 * a),
        orders=(*NEAR_ONE, 1.5, 2.0, 8.0, 64.0),
        looseness=None,
        rdp_looseness=None,
        error=1e-8,
        slow=slow,
    )


def _answers(epsilon: float, mean: float, eta: float | None, slow: bool = False) -> Case:
    right, wrong = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    one, other = np.array([right, wrong]), np.array([wrong, right])
    slope = law(mean, eta)
    return Case(
        "PrivateSelection",
        f"a bit at {epsilon:g}, mean {mean:g}, eta {eta}",
        lambda accounting: accounting.PrivateSelection(accounting.ApproximateDP(epsilon, 0.0), mean, eta),
        (BestAnswer(one, other, slope), BestAnswer(other, one, slope)),
        epsilons=(0.0, 0.5 * epsilon, epsilon, 1.5 * epsilon, 2 * epsilon, 3 * epsilon),
        orders=(*NEAR_ONE, 1.5, 2.0, 8.0, 64.0, 1e3),
        looseness=None,
        rdp_looseness=None,
        error=1e-8,
        slow=slow,
    )


_QUICK = [(1.0, 15.4, None), (8.0, 0.01, None), (1.0, 10.0, 1.0), (3.0, 100.0, 0.0), (0.5, 30.0, -0.5)]
_WIDE = [
    (scale, mean, eta)
    for scale in (0.1, 1.0, 30.0, 600.0)
    for mean, eta in (
        (1e-6, None),
        (1.0, None),
        (1e4, None),
        (1.001, 1.0),
        (1e3, 1.0),
        (10.0, 0.0),
        (1e6, 0.0),
        (2.0, -0.9),
        (50.0, 8.0),
    )
]
CASES = (
    *(_normals(*key) for key in _QUICK),
    *(_answers(*key) for key in _QUICK),
    *(make(*key, slow=True) for key in _WIDE for make in (_normals, _answers)),
)
