"""What a Rényi curve alone says of δ: the least of what its orders say, over all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from tests.second_opinion.case import ORDERS, Case
from tests.second_opinion.definition import Array, Bracket, Definition, at_least
from tests.second_opinion.gaussian import shifted, wide
from tests.second_opinion.one_pair import repeated, worst

_SCAN = np.linspace(math.log(1e-9), math.log(1e15), 1500)


@dataclass(frozen=True, eq=False)
class ByOrders(Definition):
    """A curve ρ(α). E[e^{s·loss}] = e^{sρ} under P, and (1 − e^{ε − x})₊ ≤ C·e^{sx} with C = (s/α)^s·e^{−sε}/α.

    At ε = 0 the total variation is at most √(1 − e^{−ρ(1)}) (Bretagnolle and Huber 1979).
    """

    curve: Callable[[float], float]

    def renyi(self, alpha: float) -> Bracket:
        found = self.curve(alpha)
        return found, found

    def log_delta(self, epsilon: float) -> Bracket:
        def of(log_s: float) -> float:
            s = math.exp(log_s)
            rho = self.curve(1 + s)
            return s * (rho - epsilon) - math.log1p(s) - s * math.log1p(1 / s) if rho < math.inf else math.inf

        values = np.array([of(x) for x in _SCAN])
        at = int(np.argmin(values))
        near = (_SCAN[max(at - 1, 0)], _SCAN[min(at + 1, _SCAN.size - 1)])
        best = minimize_scalar(of, bounds=near, method="bounded", options={"xatol": 1e-10})
        distance = math.log(-math.expm1(-self.curve(1.0))) / 2 if self.curve(1.0) > 0 else -math.inf
        found = min(float(best.fun), float(values[at]), distance, 0.0)
        return found, found


def of_normal(a: float) -> ByOrders:
    """Normal noise, a = sensitivity/σ."""
    return ByOrders(lambda alpha: a * a * alpha / 2)


def largest_delta(alpha: float, rho: float, epsilon: float) -> float:
    """The largest δ that two laws on two outcomes reach whose divergence of order α is ρ: a search over both."""
    s, best = alpha - 1, 0.0

    def moment(p: Array, q: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.exp(alpha * np.log(p) - s * np.log(q)) + np.exp(alpha * np.log1p(-p) - s * np.log1p(-q))

    q = np.concatenate([np.geomspace(1e-30, 0.5, 4000), 1 - np.geomspace(1e-9, 0.5, 500)])
    low, high = q.copy(), np.ones(q.shape)
    for _ in range(80):
        middle = (low + high) / 2
        fits = moment(middle, q) <= math.exp(s * rho)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    best = float((low - math.exp(epsilon) * q).max())
    return max(best, 0.0)


def _of_noise(name: str, sigma: float, *others: Definition) -> Case:
    """What is known of Gaussian noise by its curve alone."""
    a = 1 / sigma
    return Case(
        name,
        f"Gaussian {sigma:g}",
        lambda accounting: getattr(accounting, name)(accounting.Gaussian(sigma)),
        (of_normal(a), *others),
        epsilons=wide(a)[1:] if a > 10 else wide(a),
        orders=ORDERS,
        looseness=1e-6,
        error=1e-8,
    )


def _normal(sigma: float) -> Case:
    return _of_noise("via_rdp", sigma, shifted(1 / sigma))


def _concentrated(sigma: float) -> Case:
    """What is ε-DP has ρ = ε²/2 (Bun and Steinke 2016)."""
    return _of_noise("Concentrated", sigma, at_least(shifted(1 / sigma)), at_least(worst(1 / sigma, 0.0)))


def _bits(epsilon: float, count: int) -> Case:
    one = repeated(epsilon, 0.0, count)
    return Case(
        "ViaRDP",
        f"{count} bits at {epsilon:g}",
        lambda accounting: accounting.ViaRDP(accounting.repeat(accounting.ApproximateDP(epsilon, 0.0), count)),
        (ByOrders(lambda alpha: one.renyi(alpha)[0]), one),
        epsilons=tuple(share * epsilon * count**0.5 for share in (0.0, 0.1, 0.5, 0.9)),
        orders=(1.0, 1.01, 2.0, 64.0),
        resolved=1e-12,
        looseness=1e-4,
        rdp_looseness=1e-6,
        error=1e-6,
        slow=count > 1 or epsilon > 1,
    )


def _table(sigma: float) -> Case:
    a = 1 / sigma
    return Case(
        "tabulated",
        f"Gaussian {sigma:g}",
        lambda accounting: accounting.tabulated(accounting.Gaussian(sigma)),
        (shifted(a),),
        epsilons=(0.0, 0.1 * a, a, 3 * a, a * a / 2, a * a / 2 + 6 * a),
        orders=ORDERS,
        looseness=0.05 if a < 30 else None,  # its table of δ ends at ε = 500
        rdp_looseness=0.01,
        resolved=1e-12,
    )


def _table_of_draws() -> Case:
    from tests.second_opinion.posterior import one_draw

    return Case(
        "Tabulated",
        "a posterior draw with a pole",
        lambda accounting: accounting.Tabulated(accounting.PosteriorSampling(0.3, 2.0)),
        (one_draw(0.3, 2.0),),
        epsilons=(0.0, 0.1, 1.0, 4.0),
        orders=(1.0, 1.001, 2.0, 4.0, 4.3),
        looseness=0.05,
        rdp_looseness=0.2,
    )


CASES = (
    *(_normal(sigma) for sigma in (0.02, 0.5, 5.0, 1e4)),
    *(_concentrated(sigma) for sigma in (0.02, 1.0, 100.0)),
    *(_bits(*key) for key in ((0.5, 1), (3.0, 1), (0.1, 30))),
    *(_table(sigma) for sigma in (0.02, 0.5, 5.0, 1e4)),
    _table_of_draws(),
)
