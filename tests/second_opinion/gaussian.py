"""Gaussian noise on a value, its absolute size alone, and what is as private as that."""

from __future__ import annotations

import math

from tests.second_opinion.case import EPSILONS, ORDERS, Case
from tests.second_opinion.definition import Array, Pair

_LOG_ROOT = math.log(2 * math.pi) / 2


def log_normal(x: Array) -> Array:
    """log of the density of N(0, 1)."""
    return -(x**2) / 2 - _LOG_ROOT


def shifted(a: float) -> Pair:
    """N(a, 1) against N(0, 1), at x = a + v: the loss is a·v + a²/2. Both orders of the two are alike."""
    return Pair(log_normal, lambda v: a * (v + a / 2), (-a - 1, -a, -a / 2, 0.0, 1.0))


def wide(a: float) -> tuple[float, ...]:
    """ε from 0 to where the Gaussian mechanism's δ is about 1e-300."""
    return (*EPSILONS, a * a / 2, 2 * a, a * a / 2 + 10 * a, a * a / 2 + 36.5 * a)


def _gaussian(sigma: float, sensitivity: float) -> Case:
    a = sensitivity / sigma
    return Case(
        "Gaussian",
        f"sigma {sigma:g}, sensitivity {sensitivity:g}",
        lambda accounting: accounting.Gaussian(sigma, sensitivity),
        (shifted(a),),
        epsilons=wide(a),
        orders=ORDERS,
    )


CASES = (*(_gaussian(sigma, 1.0) for sigma in (0.02, 0.12, 0.7, 3.0, 100.0, 1e4)), _gaussian(5.0, 1e3))
