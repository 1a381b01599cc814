"""Several rows of one person, and a row that is replaced: laws at both ends of a chain of data sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf

from tests.second_opinion.case import NEAR_ONE, ORDERS, Case
from tests.second_opinion.definition import Bracket, Definition, at_least
from tests.second_opinion.gaussian import shifted, wide
from tests.second_opinion.posterior import one_draw, shift_for
from tests.second_opinion.votes import Gaps, laplace
from tests.second_opinion.wishart import ADD_REMOVE, Swap, one_row

Curve = list[tuple[mpf, mpf]]
"""Vertices of a concave polygon from x = 0 to x = 1: the most that an attacker with false positive rate x finds."""


class Along(Definition):
    """k neighbours in a row, each (ε, δ)-DP: the attacker's polygon, applied k times, in many digits."""

    def __init__(self, epsilon: float, delta: float, links: int) -> None:
        with mp.workdps(100):
            e, d = mp.exp(mpf(epsilon)), mpf(delta)
            one = [(mpf(0), d), ((1 - d) / (1 + e), (d + e) / (1 + e)), (1 - d, mpf(1)), (mpf(1), mpf(1))]
            self.curve = one
            for _ in range(links - 1):
                self.curve = _after(self.curve, one)

    def log_delta(self, epsilon: float) -> Bracket:
        with mp.workdps(100):
            found = max(y - mp.exp(mpf(epsilon)) * x for x, y in self.curve)
            value = float(mp.log(found)) if found > 0 else -math.inf
        return value, value

    def renyi(self, alpha: float) -> Bracket:
        """Of the polygon's own pair: each edge is an outcome. Nothing is said of more."""
        steps = [(y2 - y1, x2 - x1) for (x1, y1), (x2, y2) in pairwise(self.curve)]
        with mp.workdps(100):
            if self.curve[0][1] > 0:
                return math.inf, math.inf
            steps = [(p, q) for p, q in steps if p > 0 and q > 0]
            if alpha == 1:
                found = sum(p * mp.log(p / q) for p, q in steps)
            else:
                s = mpf(alpha) - 1
                found = mp.log(sum(p ** (s + 1) / q**s for p, q in steps)) / s
            return float(found), math.inf


def _at(curve: Curve, x: mpf) -> mpf:
    for (x1, y1), (x2, y2) in pairwise(curve):
        if x <= x2:
            return y1 + (y2 - y1) * (x - x1) / (x2 - x1) if x2 > x1 else y2
    return mpf(1)


def _after(first: Curve, second: Curve) -> Curve:
    """second(first(x)): its vertices are those of the first, and where the first reaches one of the second."""
    places = {x for x, _ in first}
    for reached, _ in second:
        for (x1, y1), (x2, y2) in pairwise(first):
            if y1 < reached < y2:
                places.add(x1 + (x2 - x1) * (reached - y1) / (y2 - y1))
    return [(x, _at(second, _at(first, x))) for x in sorted(places)]


def _group(
    note: str, name: str, make: Callable[[Any], Any], sides: tuple[Definition, ...], size: float, **how: Any
) -> Case:
    given = {
        "epsilons": (0.0, 0.1 * size, size, 3 * size, 8 * size),
        "orders": (*NEAR_ONE, 2.0, 8.0),
        "looseness": None,
        "rdp_looseness": None,
    }
    return Case(name, note, make, sides, **{**given, **how})


def _promises(epsilon: float, delta: float, links: int) -> Case:
    return _group(
        f"{links} rows, ({epsilon:g}, {delta:g})",
        "group",
        lambda accounting: accounting.group(accounting.ApproximateDP(epsilon, delta), links),
        (Along(epsilon, delta, links),),
        epsilon,
        epsilons=(0.0, 0.3 * epsilon, epsilon, 0.5 * links * epsilon, 0.99 * links * epsilon, 2 * links * epsilon),
        orders=() if delta else (*NEAR_ONE, 2.0, 8.0),
        looseness=0.5,  # a polygon above a profile with corners
        resolved=1e-4,
    )


def _draws(h: float, d: float, rows: int) -> Case:
    shift = shift_for(h, d)
    return _group(
        f"{rows} rows, draw at {h:g} and {d:g}",
        "group",
        lambda accounting: accounting.group(accounting.PosteriorSampling(h, shift), rows),
        (at_least(one_draw(rows * h, rows * shift)),),
        rows * (d + h),
    )


def _replaced_draw(h: float, d: float) -> Case:
    """Targets c and −c at one place, xᵀθ* = 0 without either: two normal laws of variance h/(1 + h)."""
    shift = shift_for(h, d)
    return _group(
        f"draw at {h:g} and {d:g}",
        "replace_one",
        lambda accounting: accounting.replace_one(accounting.PosteriorSampling(h, shift)),
        (at_least(shifted(2 * math.sqrt(shift * h / (1 + h)))),),
        2 * (d + h),
    )


def _bends(s: float, m: int, d: int, rows: int) -> Case:
    """So many copies of a row move as far as one that is so much longer."""
    k = (m - d - 1) / 2
    return _group(
        f"{rows} rows, s {s:g}, m {m}, d {d}",
        "group",
        lambda accounting: accounting.group(accounting.QuadraticPerturbation(1.0, m, d, s, adjacency=ADD_REMOVE), rows),
        tuple(at_least(side) for side in one_row(rows * s, k)),
        rows * s / math.sqrt(2 * k + 2),
        orders=(),
    )


def _replaced_bend(s: float, m: int, d: int) -> Case:
    k = (m - d - 1) / 2
    return _group(
        f"s {s:g}, m {m}, d {d}",
        "replace_one",
        lambda accounting: accounting.replace_one(accounting.QuadraticPerturbation(1.0, m, d, s, adjacency=ADD_REMOVE)),
        tuple(at_least(side) for side in (*one_row(s, k), Swap(s, k))),
        2 * s / math.sqrt(2 * k + 2),
        orders=(),
        error=1e-7,
    )


class Apart(Gaps):
    """Gaps that are several votes apart, on both sides of an even vote."""

    def __init__(self, epsilon: float, votes: int, gaps: int) -> None:
        super().__init__(laplace(epsilon), tuple(range(-votes, gaps)))
        self.votes = votes

    def pairs(self, gap: int) -> list[tuple[mpf, mpf]]:
        near, far = (self.lost(t) if t >= 0 else 1 - self.lost(-t) for t in (gap, gap + self.votes))
        return [(near, far), (far, near), (1 - near, 1 - far), (1 - far, 1 - near)]


def _votes(epsilon: float, votes: int) -> Case:
    return _group(
        f"{votes} voters, Laplace {epsilon:g}",
        "group",
        lambda accounting: accounting.group(accounting.LaplaceVote(epsilon), votes),
        (at_least(Apart(epsilon, votes, 60)),),
        epsilon,
        orders=(),  # along a chain the curve falls at large orders, where it is loose
        error=1e-8,
    )


def _normal(sigma: float, rows: int, name: str) -> Case:
    a = (2 if name == "replace_one" else rows) / sigma
    return Case(
        name,
        f"{rows} rows, Gaussian {sigma:g}",
        lambda accounting: (
            accounting.replace_one(accounting.Gaussian(sigma))
            if name == "replace_one"
            else accounting.group(accounting.Gaussian(sigma), rows)
        ),
        (shifted(a),),
        epsilons=wide(a),
        orders=ORDERS,
    )


def _objective(sigma: float, rows: int) -> Case:
    """λ ≥ 2σ²: one row is the Gaussian mechanism's pair, and rows may all point one way."""
    return Case(
        "group",
        f"{rows} rows, objective perturbation {sigma:g}",
        lambda accounting: accounting.group(accounting.ObjectivePerturbation(sigma, 2 * sigma**2), rows),
        (shifted(rows / sigma),),
        epsilons=wide(rows / sigma),
        orders=ORDERS,
    )


CASES = (
    *(_normal(sigma, rows, "group") for sigma, rows in ((0.02, 3), (9.0, 3), (1e4, 1000))),
    *(_normal(sigma, 1, "replace_one") for sigma in (0.02, 5.0, 1e4)),
    *(_objective(sigma, rows) for sigma, rows in ((0.5, 2), (20.0, 40))),
    *(_promises(*key) for key in ((0.5, 0.0, 2), (0.1, 0.0, 7), (1.0, 1e-6, 3), (0.02, 1e-3, 8), (8.0, 1e-9, 2))),
    *(_draws(*key) for key in ((0.02, 0.1, 2), (0.3, 1.0, 3), (1.618, 0.5, 2))),
    *(_replaced_draw(*key) for key in ((0.02, 0.1), (0.3, 1.0), (1.618, 3.0))),
    *(_bends(*key) for key in ((0.1, 40, 10, 2), (5.0, 105, 4, 3))),
    *(_replaced_bend(*key) for key in ((5.0, 105, 4),)),
    *(_votes(*key) for key in ((1.0, 2), (0.2, 5), (10.0, 2))),
)
