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
    """Two answers, of which the second has chance `lost(t)` at a gap of t: the worst of neighbouring gaps."""

    def __init__(self, lost: Callable[[int], mpf], gaps: tuple[int, ...], digits: int = 60) -> None:
        self.lost, self.gaps, self.digits = lost, gaps, digits

    def pairs(self, gap: int) -> list[tuple[mpf, mpf]]:
        """(P, Q) of both answers in both orders, one voter more or less; pairs i and i + 2 are one comparison's."""
        near, far = self.lost(gap), self.lost(gap + 1)
        return [(near, far), (far, near), (1 - near, 1 - far), (1 - far, 1 - near)]

    @cached_property
    def chances(self) -> list[tuple[mpf, mpf]]:
        """`pairs` of all gaps."""
        with mp.workdps(self.digits):
            return [pair for gap in self.gaps for pair in self.pairs(gap)]

    def log_delta(self, epsilon: float) -> Bracket:
        """With two answers δ is that of one of them, at ε ≥ 0. Between listed gaps it is looked for twice."""
        with mp.workdps(self.digits):
            odds = mp.exp(epsilon)
            values = [p - odds * q for p, q in self.chances]
            found = max(values)
            at, gaps = values.index(found) // 4, self.gaps
            for _ in range(2):
                low, high = gaps[max(at - 1, 0)], gaps[min(at + 1, len(gaps) - 1)]
                gaps = tuple(sorted({int(gap) for gap in np.linspace(low, high, 40)}))
                inner = [max(p - odds * q for p, q in self.pairs(gap)) for gap in gaps] if gaps else [found]
                at = inner.index(max(inner))
                found = max(found, inner[at])
            value = float(mp.log(found)) if found > 0 else -math.inf
        return value, value

    def renyi(self, alpha: float) -> Bracket:
        """The largest of all comparisons, at the gaps that are listed."""
        with mp.workdps(self.digits):
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
    return tuple(sorted({*range(min(most, 60)), *(int(gap) for gap in np.geomspace(1, most, 80))}))


def _laplace(epsilon: float) -> Case:
    return Case(
        "LaplaceVote",
        f"epsilon {epsilon:g}",
        lambda accounting: accounting.LaplaceVote(epsilon),
        (Gaps(laplace(epsilon), _sampled(int(700 / epsilon) + 2)),),
        epsilons=(0.0, 0.1 * epsilon, 0.5 * epsilon, 0.9 * epsilon, 0.99 * epsilon, epsilon, 2 * epsilon),
        orders=ORDERS,
        looseness=1e-3 if epsilon < 1e-3 else 1e-6,
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
        (Gaps(optimal(epsilon, delta), tuple(range(end)), 360),),
        epsilons=tuple(share * epsilon for share in (0.0, 0.1, 0.9, 0.999, 1.0, 1.001, 2.0, 5.0)),
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


_PROMISES = [
    (0.1, 1e-5),
    (1.0, 1e-300),
    (10.0, 0.3),
    (300.0, 1e-6),
    (0.01, 1e-9),
    (0.5, 0.4),
    (2.0, 0.05),
    (1e-3, 0.01),
]

CASES = (
    *(_laplace(epsilon) for epsilon in (1e-6, 0.01, 0.1, 1.0, 10.0, 300.0)),
    *(_optimal(*key) for key in _PROMISES),
    *(_noisy_winner(sigma) for sigma in (1e-3, 0.02, 1.0, 40.0, 1e6)),
)
