"""Votes with noise: what the winner says, by the chance of every answer at every gap.

A gap of t votes becomes t ± 1 where a voter joins or leaves. Whoever changes its mind moves a difference by 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from mpmath import mp, mpf

from tests.second_opinion.case import ORDERS, Case
from tests.second_opinion.definition import Bracket, Definition
from tests.second_opinion.gaussian import shifted, wide


class Gaps(Definition):
    """Two answers, of which the second has chance `lost(t)` at a gap of t: the worst of all pairs of neighbouring gaps."""

    def __init__(self, lost: Callable[[int], mpf], gaps: tuple[int, ...]) -> None:
        self.lost, self.gaps = lost, gaps

    @cached_property
    def chances(self) -> list[tuple[mpf, mpf]]:
        """(P, Q) of every answer, for all neighbours and both orders."""
        found = []
        with mp.workdps(360):
            for gap in self.gaps:
                near, far = self.lost(gap), self.lost(gap + 1)
                found += [(near, far), (far, near), (1 - near, 1 - far), (1 - far, 1 - near)]
        return found

    def log_delta(self, epsilon: float) -> Bracket:
        """With two answers δ is that of one of them, at ε ≥ 0."""
        with mp.workdps(360):
            odds = mp.exp(epsilon)
            found = max(p - odds * q for p, q in self.chances)
            value = float(mp.log(found)) if found > 0 else -math.inf
        return value, value

    def renyi(self, alpha: float) -> Bracket:
        """Pairs of answers stand beside each other in `chances`: i and i + 2 are the two answers of one comparison."""
        with mp.workdps(360):
            total = mpf(0)
            for at in range(0, len(self.chances), 4):
                for order in (0, 1):
                    pairs = [self.chances[at + order], self.chances[at + 2 + order]]
                    if any(q == 0 < p for p, q in pairs):
                        return math.inf, math.inf
                    if alpha == 1:
                        found = sum(p * mp.log(p / q) for p, q in pairs if p)
                    else:
                        s = mpf(alpha) - 1
                        found = mp.log(sum(p ** (s + 1) / q**s for p, q in pairs if p)) / s
                    total = max(total, found)
            return float(total), float(total)


def laplace(epsilon: float) -> Callable[[int], mpf]:
    """P[X − Y > t] for Laplace noise of scale 1/ε: ∫ from t of (ε/4)(1 + εz)·e^{−εz} dz."""

    def lost(gap: int) -> mpf:
        x = mpf(epsilon) * gap
        return mp.exp(-x) * (2 + x) / 4

    return lost


def optimal(epsilon: float, delta: float) -> Callable[[int], mpf]:
    """By induction on the gap: as seldom as (ε, δ) allows, from even odds on."""
    with mp.workdps(360):
        table = [mpf(1) / 2]
        while table[-1] > 0:
            table.append(max(mpf(0), mp.exp(-mpf(epsilon)) * (table[-1] - mpf(delta))))
    return lambda gap: table[gap] if gap < len(table) else mpf(0)


def _sampled(most: int) -> tuple[int, ...]:
    return tuple(sorted({*range(min(most, 1500)), *(int(gap) for gap in np.geomspace(1, most, 100))}))


def _laplace(epsilon: float) -> Case:
    return Case(
        "LaplaceVote",
        f"epsilon {epsilon:g}",
        lambda accounting: accounting.LaplaceVote(epsilon),
        (Gaps(laplace(epsilon), _sampled(int(700 / epsilon) + 2)),),
        epsilons=(0.0, 0.1 * epsilon, 0.5 * epsilon, 0.9 * epsilon, 0.99 * epsilon, epsilon, 2 * epsilon),
        orders=ORDERS,
        looseness=1e-3,
        rdp_looseness=None,
        resolved=max(1e-290, 1e-11),
        error=1e-9,
    )


def _optimal(epsilon: float, delta: float) -> Case:
    end = int(math.log1p(math.expm1(epsilon) / (2 * delta)) / epsilon) + 3
    return Case(
        "OptimalVote",
        f"epsilon {epsilon:g}, delta {delta:g}",
        lambda accounting: accounting.OptimalVote(epsilon, delta),
        (Gaps(optimal(epsilon, delta), tuple(range(end))),),
        epsilons=(
            0.0,
            0.1 * epsilon,
            0.9 * epsilon,
            0.999 * epsilon,
            epsilon,
            1.001 * epsilon,
            2 * epsilon,
            5 * epsilon,
        ),
        orders=(),
        looseness=1e-6,
        resolved=1e-300,
        error=1e-9,
    )


def _noisy_winner(sigma: float) -> Case:
    a = math.sqrt(2) / sigma
    return Case(
        "GNMax",
        f"sigma {sigma:g}",
        lambda accounting: accounting.GNMax(sigma),
        (shifted(a),),
        epsilons=wide(a),
        orders=ORDERS,
        looseness=1e-8 + 3e-14 * (a + 40 * a),
    )


CASES = (
    *(_laplace(epsilon) for epsilon in (1e-6, 0.01, 0.1, 1.0, 10.0, 300.0)),
    *(
        _optimal(*key)
        for key in (
            (0.1, 1e-5),
            (1.0, 1e-300),
            (10.0, 0.3),
            (300.0, 1e-6),
            (0.01, 1e-9),
            (0.5, 0.4),
            (2.0, 0.05),
            (1e-3, 0.01),
        )
    ),
    *(_noisy_winner(sigma) for sigma in (1e-3, 0.02, 1.0, 40.0, 1e6)),
)
