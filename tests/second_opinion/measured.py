"""A mechanism beside its second opinion: the points at which both are asked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.second_opinion.case import Case

ROUNDING = 1e-11
"""What a logarithm of δ may be off by, relative to its size, for doubles' sake."""


@dataclass(frozen=True)
class Point:
    """One answer of a mechanism: `ours` as a logarithm, the opinion's ends as logarithms."""

    what: str
    at: float
    least: float
    most: float
    ours: float
    allowed: float
    looseness: float | None

    @property
    def below(self) -> float:
        """The logarithm of ours ÷ the least that is true: must not be negative."""
        return _difference(self.ours, self.least)

    @property
    def above(self) -> float:
        """The logarithm of ours ÷ the most that is true; NaN where looseness is not asked for."""
        return math.nan if self.looseness is None else _difference(self.ours, self.most)

    @property
    def unsafe(self) -> bool:
        """Whether the mechanism promises more than is true."""
        return not self.below >= -self.allowed

    @property
    def loose(self) -> bool:
        """Whether the mechanism promises less than was said to be within reach."""
        return self.looseness is not None and not self.above <= math.log1p(self.looseness) + self.allowed

    def __str__(self) -> str:
        ends = f"{math.exp(self.least):.12g}" + (f" to {math.exp(self.most):.12g}" if self.most > self.least else "")
        return f"{self.what}({self.at!r}): ours e^{self.ours:.12g} = {_exp(self.ours):.12g}, second opinion {ends}"


def _exp(log: float) -> float:
    return math.exp(log) if log < 709 else math.inf


def _difference(ours: float, other: float) -> float:
    return 0.0 if ours == other else ours - other


def points(case: Case, mechanism: Any) -> Iterator[Point]:
    """δ at every ε and the Rényi divergence at every order of the case."""
    deltas = log_delta(mechanism, np.array(case.epsilons)) if case.epsilons else ()
    for epsilon, ours in zip(case.epsilons, deltas, strict=True):
        ends = [direction.log_delta(epsilon) for direction in case.directions]
        least, most = max(end[0] for end in ends), max(end[1] for end in ends)
        resolved = most > math.log(case.resolved)
        allowed = case.error + ROUNDING * abs(least if math.isfinite(least) else 0.0)
        yield Point("delta", epsilon, least, most, float(ours), allowed, case.looseness if resolved else None)
    curve = mechanism.rdp(np.array(case.orders)) if case.orders else ()
    for alpha, bound in zip(case.orders, curve, strict=True):
        ends = [direction.renyi(alpha) for direction in case.directions]
        least, most = _log(max(end[0] for end in ends)), _log(max(end[1] for end in ends))
        yield Point("rdp", alpha, least, most, _log(float(bound)), case.error + ROUNDING, case.rdp_looseness)


def log_delta(mechanism: Any, epsilons: Any) -> Any:
    """log δ, of a distribution of losses too."""
    if hasattr(mechanism, "log_delta"):
        return mechanism.log_delta(epsilons)
    with np.errstate(divide="ignore"):
        return np.log(mechanism.delta(epsilons))


def _log(value: float) -> float:
    if math.isnan(value):
        raise ArithmeticError("a divergence is not a number")
    return math.log(value) if value > 0 else -math.inf
