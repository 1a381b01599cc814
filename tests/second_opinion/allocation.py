"""A row in some of the steps of an epoch, drawn at random.

With the row's gradient 1 in every step, the ratio of the densities with it and without it is S/t, S = Y_1 + … + Y_t,
Y_i = e^{a·z_i − a²/2}, z_i ~ N(0, 1) without it. With it the z_i of its own step is N(a, 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.special as sp

from tests.second_opinion.case import Case
from tests.second_opinion.definition import (
    Array,
    Bracket,
    Definition,
    Known,
    Lattice,
    Product,
    log_excess,
    log_integral,
    log_sum,
)
from tests.second_opinion.gaussian import log_normal, shifted

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def _grid(low: float, high: float, pieces: int) -> tuple[Array, Array]:
    """Nodes and weights between low and high."""
    edges = np.linspace(low, high, pieces + 1)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + _NODES)).ravel(), (half * _WEIGHTS).ravel()


def _log_call(log_strike: Array, a: float) -> Array:
    """log E(Y − K)₊, K > 0."""
    with np.errstate(all="ignore"):
        upper = sp.log_ndtr(a / 2 - log_strike / a)
        lower = log_strike + sp.log_ndtr(-a / 2 - log_strike / a)
        return upper + np.log(-np.expm1(np.minimum(lower - upper, -1e-17)))


def _above(rest: Array, slope: Array, a: float) -> Array:
    """log E(slope·Y − rest)₊."""
    with np.errstate(all="ignore"):
        return np.where(rest > 0, np.log(slope) + _log_call(np.log(rest / slope), a), np.log(slope - rest))


def _below(rest: Array, slope: Array, a: float) -> Array:
    """log E(rest − slope·Y)₊: Y's put is the call on 1/Y under the other law."""
    with np.errstate(all="ignore"):
        return np.where(rest > 0, np.log(rest) + _log_call(np.log(slope / rest), a), -np.inf)


def two_steps(a: float) -> tuple[Known, Known]:
    """One of two steps: an integral over the first, the second in closed form."""

    def profile(removed: bool) -> Known:
        def at(epsilon: float) -> Bracket:
            scale = math.exp(epsilon if removed else -epsilon)
            kink = (math.log(2 * scale) + a * a / 2) / a

            def log_f(z: Array) -> Array:
                with np.errstate(over="ignore"):
                    rest = 2 * scale - np.exp(np.minimum(a * z - a * a / 2, 700))
                far = a * z - a * a / 2 > 700
                given = (_above if removed else _below)(rest, np.ones_like(rest), a)
                return log_normal(z) + np.where(far, (a * z - a * a / 2) if removed else -np.inf, given) - math.log(2)

            found = log_integral(log_f, (-1.0, 0.0, a, kink)) + (0.0 if removed else epsilon)
            return found, found

        return Known(at)

    return profile(True), profile(False)


def three_steps(a: float, selections: int) -> Known:
    """One or two of three steps, the row removed: two integrals on a grid, the third in closed form."""
    z, weight = _grid(-10.0, a * selections + 10.0, 60)
    first, second = np.meshgrid(np.exp(a * z - a * a / 2), np.exp(a * z - a * a / 2))
    log_weights = np.log(weight) + log_normal(z)
    log_both = log_weights[:, None] + log_weights

    def at(epsilon: float) -> Bracket:
        fixed, slope = (first + second, np.ones_like(first)) if selections == 1 else (first * second, first + second)
        found = float(log_sum(log_both + _above(3 * math.exp(epsilon) - fixed, slope, a))) - math.log(3)
        return found, found

    return Known(at)


@dataclass(frozen=True, eq=False)
class Steps(Definition):
    """One of t steps: S on a lattice, to both sides."""

    t: int
    a: float
    removed: bool

    @cached_property
    def _sums(self) -> tuple[Lattice, Lattice]:
        parts = []
        for mean, count in ((self.a * self.removed, 1), (0.0, self.t - 1)):
            z, weight = _grid(mean - 9.0, mean + 9.0, 4000)
            parts.append((weight * np.exp(log_normal(z - mean)), np.exp(self.a * z - self.a**2 / 2), count))
        return Lattice.of(parts, up=False), Lattice.of(parts, up=True)

    def log_delta(self, epsilon: float) -> Bracket:
        found = []
        for sums in self._sums:
            log_mean = np.log(np.maximum(sums.points, 1e-300) / self.t)
            excess = log_excess(epsilon, log_mean if self.removed else -log_mean)
            found.append(float((sums.masses * np.exp(excess)).sum()) + sums.above * self.removed)
        least, most = min(found), max(found)
        return math.log(max(least - 1e-12, 1e-300)), math.log(most + 1e-12)

    def renyi(self, alpha: float) -> Bracket:
        """Whole orders: E[S^α] from the exponential series of Y's moments."""
        if not self.removed or alpha != round(alpha) or not 2 <= alpha <= 64:
            return 0.0, math.inf
        n = np.arange(int(alpha) + 1)
        log_series = n * (n - 1) * self.a**2 / 2 - sp.gammaln(n + 1)
        log_power = np.where(n == 0, 0.0, -np.inf)
        for _ in range(self.t):
            log_power = np.array([log_sum(log_power[: i + 1] + log_series[i::-1]) for i in n])
        found = log_power[-1] + sp.gammaln(alpha + 1) - alpha * math.log(self.t)
        return float(found) / (alpha - 1), math.inf

    def atoms(self) -> tuple[Array, Array]:
        if self.t != 2:
            raise NotImplementedError
        first, weight = _grid(self.a * self.removed - 10.0, self.a * self.removed + 10.0, 40)
        second, other = _grid(-10.0, 10.0, 40)
        mass = np.multiply.outer(
            weight * np.exp(log_normal(first - self.a * self.removed)), other * np.exp(log_normal(second))
        )
        loss = np.logaddexp.outer(self.a * first, self.a * second) - self.a**2 / 2 - math.log(2)
        return mass.ravel(), (loss if self.removed else -loss).ravel()


def _case(given: tuple[Any, ...], definitions: tuple[Definition, ...], **other: Any) -> Case:
    s, steps, selections, epochs = given
    return Case(
        "RandomAllocation",
        f"noise {s:g}, {selections} of {steps} steps, {epochs} epochs",
        lambda accounting: accounting.RandomAllocation(*given),
        definitions,
        **{"epsilons": (0.0, 0.01, 0.1, 0.5, 1.0, 2.0), "orders": (2.0, 3.0, 8.0, 64.0), "looseness": 1e-2}
        | {"rdp_looseness": None, "resolved": 1e-9, "error": 1e-6}
        | other,
    )


def _all() -> Iterator[Case]:
    for s in (0.3, 1.0, 5.0):
        a = 1 / s
        yield _case((s, 1, 1, 1), (shifted(a),), orders=(1.0, 2.0, 1e4), rdp_looseness=1e-8)
        yield _case(
            (s, 2, 1, 1), two_steps(a), epsilons=(0.0, 0.1, 1.0, 3.0, 6.0), looseness=0.02 + 0.1 * (s < 1), slow=s != 1
        )
        yield _case((s, 3, 1, 1), (three_steps(a, 1),), looseness=None, slow=True)
        yield _case((s, 3, 2, 1), (three_steps(a, 2),), looseness=None, slow=True)
    for s, t in ((1.0, 5), (2.0, 8), (2.0, 20), (2.0, 100), (10.0, 10), (5.0, 1000)):
        yield _case((s, t, 1, 1), (Steps(t, 1 / s, True), Steps(t, 1 / s, False)), slow=t != 20)
    for s, epochs in ((1.0, 2), (3.0, 10)):
        definitions = tuple(Product(((Steps(2, 1 / s, removed), epochs),)) for removed in (True, False))
        yield _case((s, 2, 1, epochs), definitions, slow=True)


CASES = tuple(_all())
