"""Gaussian noise on a value, its absolute size alone, and what is as private as that."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from mpmath import mp, mpf

from tests.second_opinion.case import EPSILONS, Case
from tests.second_opinion.definition import Array, Definition, Pair

REPLACE = "replace one row"
_LOG_ROOT = math.log(2 * math.pi) / 2


def log_normal(x: Array) -> Array:
    """log of the density of N(0, 1)."""
    return -(x**2) / 2 - _LOG_ROOT


def shifted(a: float) -> Pair:
    """N(a, 1) against N(0, 1), at x = a + v: the loss is a·v + a²/2. Both orders of the two are alike."""
    return Pair(log_normal, lambda v: a * (v + a / 2), (-a - 1, -a, -a / 2, 0.0, 1.0))


def exact_log_delta(epsilon: float, a: float) -> float:
    """log δ of N(a, 1) against N(0, 1), however small, ε of either sign (Balle and Wang 2018, Theorem 8)."""
    with mp.workdps(100):
        e, a = mpf(epsilon), mpf(a)
        return float(mp.log(mp.ncdf(a / 2 - e / a) - mp.exp(e) * mp.ncdf(-a / 2 - e / a)))


def wide(a: float) -> tuple[float, ...]:
    """ε from 0 to where the Gaussian mechanism's δ is about 1e-300."""
    return (*EPSILONS, a * a / 2, 2 * a, a * a / 2 + 10 * a, a * a / 2 + 36.5 * a)


def _noise(mechanism: str, sigma: float, sensitivity: float, definition: Definition) -> Case:
    return Case(
        mechanism,
        f"sigma {sigma:g}, sensitivity {sensitivity:g}",
        lambda accounting: getattr(accounting, mechanism)(sigma, sensitivity),
        (definition,),
        epsilons=wide(sensitivity / sigma),
    )


def half_normal(a: float) -> Pair:
    """a²/2 + |N(0, a²)|."""
    return Pair(log_normal, lambda v: a * a / 2 + a * np.abs(v), (-1.0, 0.0, a, 1.0), whole=False)


def _all() -> Iterator[Case]:
    for sigma, sensitivity in ((0.02, 1.0), (0.12, 1.0), (0.7, 1.0), (3.0, 1.0), (100.0, 1.0), (1e4, 1.0), (5.0, 1e3)):
        a = sensitivity / sigma
        yield _noise("Gaussian", sigma, sensitivity, shifted(a))
        yield _noise("OutputPerturbation", sigma, sensitivity, shifted(a))
        yield _noise("HalfNormal", sigma, sensitivity, half_normal(a))


def _side_by_side(mechanism: str, sigma: float, other: float, kind: str, definition: Definition) -> Case:
    """Two releases about different rows: whichever of them a row is in."""

    def make(accounting: Any) -> Any:
        both = (accounting.Gaussian(sigma), getattr(accounting, kind)(other))
        return accounting.parallel(*both) if mechanism == "parallel" else accounting.Parallel(both)

    note = f"sigma {sigma:g} beside {kind} {other:g}"
    return Case(mechanism, note, make, (shifted(1 / sigma), definition), epsilons=wide(1 / min(sigma, other))[:-1])


CASES = (
    *_all(),
    _side_by_side("parallel", 2.0, 3.0, "Gaussian", shifted(1 / 3)),
    _side_by_side("parallel", 8.0, 0.7, "Gaussian", shifted(1 / 0.7)),
    _side_by_side("Parallel", 1.0, 1.5, "HalfNormal", half_normal(1 / 1.5)),
)
