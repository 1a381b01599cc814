"""Asking the data first: how long the largest γ and a distance to trouble take, next to plain implementations.

    python -m benchmarks.ptr

One thread; processor time, the median of seven runs after one that warms up, our caches emptied before each. The plain
γ is scipy's `brentq` over the divergence of two normal laws by its `quad`; the plain distance tries every number of
changed votes in turn and adds Theorem D.11 up row by row. `ratio` is their time over ours in the same run, `error` the
relative difference of the results. Goals: γ in under 1 ms, a distance for 200 rows in under 50 ms.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfc
from threadpoolctl import threadpool_limits

from benchmarks.shared import commit, milliseconds
from objpert_core.accounting import GNMax, posterior_precision
from objpert_core.experiments.ptr.pate import votes

PRECISIONS = ((0.1, 1e-6, 1e-3), (0.5, 1e-6, 0.01), (1.0, 1e-6, 0.03), (5.0, 1e-6, 0.1), (10.0, 1e-5, 0.3))
"""(ε, δ, leverage)."""
DISTANCES = (("high", 20.0, 40.0, 0.016), ("mid", 20.0, 30.0, 0.05), ("low", 10.0, 6.0, 5.0))
"""(votes, σ, α, budget)."""


def plain_precision(epsilon: float, delta: float, leverage: float) -> float:
    """γ by a root of the quadrature of (p − e^ε·q)₊, where p has the larger variance."""

    h, wide, narrow = leverage, math.sqrt(leverage), math.sqrt(leverage / (1 + leverage))
    places = np.linspace(-12.0, 12.0, 13) * wide

    def excess(log_rho: float) -> float:
        first = math.exp(log_rho / 2)
        second = first / (1 + h)

        def integrand(x: float) -> float:
            q = math.exp(epsilon - (((x - second) / narrow) ** 2) / 2) / narrow
            return max(math.exp(-(((x - first) / wide) ** 2) / 2) / wide - q, 0.0)

        parts = zip(first + places[:-1], first + places[1:], strict=True)
        total = sum(quad(integrand, *part, epsabs=delta * 1e-7)[0] for part in parts)
        return math.log(max(total / math.sqrt(2 * math.pi), 1e-300) / delta)

    return math.exp(brentq(excess, -20.0, 10.0, xtol=1e-9))


def plain_distance(counts: Any, sigma: float, alpha: float, budget: float) -> float:
    """How many votes must change, by trying 0, 1, 2, … and adding up row by row."""
    ordered = -np.sort(-np.asarray(counts), axis=1)
    gaps = ordered[:, :1] - ordered[:, 1:]
    for changes in range(int(gaps.max()) + 2):
        total = 0.0
        for row in gaps:
            moved = row - changes
            moved[0] -= changes  # the winner to the second
            total += plain_rdp(moved, sigma, alpha)
        if total > budget:
            return float(changes)
    return math.inf


def plain_rdp(gaps: Any, sigma: float, alpha: float) -> float:
    """Theorem D.11 for one row."""
    worst = alpha / sigma**2
    q = float(erfc(gaps / (2 * sigma)).sum()) / 2
    if gaps.min() <= 0 or not 0 < q < 1:
        return worst
    second = sigma * math.sqrt(math.log(1 / q))
    first = second + 1
    e1, e2 = first / sigma**2, second / sigma**2
    if first < alpha or second <= 1 or q * math.exp(e2) >= 1:
        return worst
    if math.log(q) > (second - 1) * e2 - second * math.log(first / (first - 1) * second / (second - 1)):
        return worst
    stays = (1 - q) / (1 - (q * math.exp(e2)) ** (1 - 1 / second))
    leaves = math.exp(e1) / q ** (1 / (first - 1))
    return min(math.log((1 - q) * stays ** (alpha - 1) + q * leaves ** (alpha - 1)) / (alpha - 1), worst)


def _row(what: str, ours: Callable[[], float], theirs: Callable[[], float], runs: int) -> str:
    value, other = ours(), theirs()
    own, peer = milliseconds(ours), milliseconds(theirs, runs)
    return f"| {what} | {value:.6g} | {own:.3f} | {peer:.1f} | {peer / own:.0f} | {abs(value / other - 1):.1e} |"


def main() -> None:
    print(f"commit {commit()}, python {sys.version.split()[0]}, one thread, milliseconds\n")
    print("| what | result | ours | plain | ratio | error |")
    print("|---" * 6 + "|")
    with threadpool_limits(1):
        for case in PRECISIONS:
            epsilon, delta, leverage = case
            print(
                _row(
                    f"γ at ε = {epsilon:g}, δ = {delta:g}, h = {leverage:g}",
                    lambda c=case: posterior_precision(*c),
                    lambda c=case: plain_precision(*c),
                    1,
                ),
                flush=True,
            )
        for source, sigma, alpha, budget in DISTANCES:
            counts, told = votes(source)[0], (alpha, budget)
            print(
                _row(
                    f"D of 200 rows, {source}, σ = {sigma:g}, α = {alpha:g}, budget {budget:g}",
                    lambda c=counts, s=sigma, t=told: GNMax(s).distance(c, *t),
                    lambda c=counts, s=sigma, t=told: plain_distance(c, s, *t),
                    1,
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
