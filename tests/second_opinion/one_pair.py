"""Mechanisms of which one pair (ε, δ) is all that is known, and a release behind a private test.

The worst (ε, δ)-DP mechanism tells everything with probability δ, and else answers one question, rightly with odds e^ε
(Kairouz, Oh and Viswanath 2015).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import gammaln

from tests.second_opinion.case import ORDERS, Case
from tests.second_opinion.definition import Array, Definition, Known, Table, at_least


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


@dataclass(frozen=True, eq=False)
class Answers(Table):
    """A table whose losses are known to more digits than the difference of two logarithms has."""

    exact: Array

    @cached_property
    def _losses(self) -> Array:
        return self.exact


def worst(epsilon: float, delta: float) -> Table:
    """Told in P's favour, a wrong answer, a right one, told in Q's; the other order is the mirror image."""
    right, wrong, rest = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon)), math.log1p(-delta)
    log_p = np.array([_log(delta), rest + right, rest + wrong, -math.inf])
    return Answers(log_p, log_p[::-1].copy(), np.array([math.inf if delta else 0.0, epsilon, -epsilon, -math.inf]))


def repeated(epsilon: float, delta: float, count: int) -> Table:
    """So many of them: how often the answer is right is binomial, and nothing may be told in either's favour."""
    right, wrong = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    i = np.arange(count + 1.0)
    choices = gammaln(count + 1) - gammaln(i + 1) - gammaln(count - i + 1) + count * math.log1p(-delta)
    told = _log(-math.expm1(count * math.log1p(-delta)))
    p = choices + i * right + (count - i) * wrong
    losses = np.array([*(2 * i - count) * epsilon, math.inf if delta else 0.0, -math.inf])
    return Answers(np.array([*p, told, -math.inf]), np.array([*p[::-1], -math.inf, told]), losses)


def _promise(epsilon: float, delta: float, name: str, **where: float) -> Case:
    return Case(
        name,
        ", ".join(f"{key} {value:g}" for key, value in {"epsilon": epsilon, "delta": delta, **where}.items()),
        lambda accounting: accounting.ApproximateDP(epsilon, delta),
        (worst(epsilon, delta),),
        epsilons=(0.0, 0.01 * epsilon, 0.9 * epsilon, math.nextafter(epsilon, 0), epsilon, epsilon + 1),
        orders=() if delta or epsilon < 1e-9 else ORDERS,
        rdp_looseness=1e-9,
    )


def behind_a_test(
    epsilon: float, delta: float, test: tuple[float, float], failure: float, covers: str, uniform: bool, fallback: float
) -> tuple[Definition, ...]:
    """What the theorem promises, as the worst such pair; and data sets with tests that reach a part of δ.

    First a data set that is good: the test passes as often as its own pair lets it, and what passes is the worst pair.
    Then one that is not: the test passes with probability δ′, and what passes tells everything. Where only added rows
    are covered, the neighbour with a row more passes e^ε̂·δ′ + δ̂ of the time, and that order counts.
    """
    test_epsilon, test_delta = test
    lost = failure * (math.exp(test_epsilon) if covers == "added" else 1.0)
    certain = test_delta + (delta + lost if uniform else max(delta, fallback + lost))
    whole = worst(epsilon + test_epsilon, certain)
    bound = Known(lambda at: (-math.inf, whole.log_delta(at)[1]), whole.renyi)
    q = (1 - test_delta) / (1 + math.exp(test_epsilon))
    passed, inner = np.array([math.exp(test_epsilon) * q + test_delta, q]), worst(epsilon, delta)
    good = Table(
        np.append(_log(passed[0]) + inner.log_p, _log(1 - passed[0])),
        np.append(_log(passed[1]) + inner.log_q, _log(1 - passed[1])),
    )
    told = failure
    if covers == "added":
        told = min(math.exp(test_epsilon) * failure + test_delta, 1.0)
    bad = Table(
        np.array([_log(told), math.log1p(-told), -math.inf]), np.array([-math.inf, math.log1p(-failure), _log(failure)])
    )
    found: list[Definition] = [bound, *(at_least(one) for one in (good, bad))]
    return tuple(found)


def _tested(
    release: tuple[float, float],
    test: tuple[float, float],
    failure: float,
    covers: str,
    uniform: bool = False,
    fallback: float = 0.0,
) -> Case:
    total = release[0] + test[0]
    return Case(
        "ProposeTestRelease",
        f"{release} behind {test}, failing {failure:g}, {covers}" + ", uniform" * uniform + f", fallback {fallback:g}",
        lambda accounting: accounting.ProposeTestRelease(
            *release, *test, failure, covers, uniform=uniform, fallback_delta=fallback
        ),
        behind_a_test(*release, test, failure, covers, uniform, fallback),
        epsilons=(0.0, 0.5 * total, total * (1 + 1e-9), total + 3),
        orders=() if max(release[1], test[1], failure, fallback) else ORDERS,
        error=1e-7,
    )


CASES = (
    *(_promise(e, d, "ApproximateDP") for e, d in product((1e-12, 0.02, 1.0, 30.0, 700.0), (0.0, 1e-300, 1e-6, 0.5))),
    _promise(0.0, 1e-300, "ApproximateDP"),
    *(
        Case(
            "repeat",
            f"{count} times ({e}, {d:g})",
            lambda accounting, e=e, d=d, count=count: accounting.repeat(accounting.ApproximateDP(e, d), count),
            (repeated(e, d, count),),
            epsilons=(0.0, 0.3 * e, e * count**0.5, 3 * e * count**0.5),
            orders=() if d else ORDERS,
            looseness=1e-2,
            rdp_looseness=1e-6,
            resolved=1e-9,
            slow=count > 100,
        )
        for e, d, count in ((0.5, 1e-6, 20), (0.02, 0.0, 1000), (3.0, 1e-9, 7), (0.01, 1e-5, 300))
    ),
    *(
        _tested((e, d), (te, td), f, covers)
        for (e, d), (te, td), f, covers in product(
            ((0.5, 1e-6), (0.02, 0.0), (20.0, 1e-300)), ((0.25, 0.0), (1.0, 1e-7)), (0.0, 1e-6), ("both", "added")
        )
    ),
    _tested((0.5, 1e-6), (0.25, 1e-9), 1e-7, "both", uniform=True),
    _tested((0.5, 1e-6), (0.25, 1e-9), 1e-7, "added", uniform=True),
    _tested((0.5, 1e-6), (0.25, 1e-9), 1e-7, "added", fallback=1e-6),
)
