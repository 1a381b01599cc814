"""What is promised about a fit: ε and δ, about whom, by which accountant, and what else the promise pays for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from objpert_core._validation import choice, in_open_unit, nonnegative, positive_integer
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism
from objpert_core.accounting.objective.bounds import ACCOUNTANTS
from objpert_core.accounting.objective.composed import (
    Calibrated,
    calibrate_remaining,
    composed_fit,
    remaining_epsilon,
)
from objpert_core.accounting.steps.base import Kind, Step, asked

ROUNDING = 1e-12
"""Relative slack for a δ that is computed again from an ε that was found by a search."""


@dataclass(frozen=True)
class Terms:
    """A promise that a fit, the steps beside it, and further fits of the same rows keep together.
    `epsilon` is None for what the mechanism has, `adjacency` is in the mechanisms' words, `public_rows` the number of
    rows where something was chosen by that number, and `rest_weight` how long a row is in all fits but one. Steps that
    release nothing are left out, and those after the fit come last.

    >>> from objpert_core.accounting import Standardisation, calibrate_gaussian
    >>> terms = Terms(1.0, 1e-5, steps=(Standardisation(12.0, None),), fits=3)
    >>> fit = terms.calibrate(lambda left: calibrate_gaussian(left, 1e-5))
    >>> terms.proved(fit), round(fit.sigma, 3)
    (1.0, 6.799)
    """

    epsilon: float | None
    delta: float
    adjacency: str = ADD_REMOVE
    rows_per_person: int = 1
    accountant: str = "profile"
    public_rows: int | None = None
    rows_declared: bool = False
    steps: tuple[Step, ...] = ()
    fits: int = 1
    rest_weight: float = 1.0

    def __post_init__(self) -> None:
        in_open_unit("delta", self.delta)
        choice("accountant", self.accountant, ACCOUNTANTS)
        object.__setattr__(self, "delta", float(self.delta))
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", nonnegative("epsilon", self.epsilon))
        object.__setattr__(self, "rows_per_person", positive_integer("rows_per_person", self.rows_per_person))
        object.__setattr__(self, "steps", asked(*self.steps))

    def step(self, kind: type[Kind]) -> Kind | None:
        """The step of this kind, if there is one."""
        return next((step for step in self.steps if isinstance(step, kind)), None)

    def beside(self, rows_per_person: int = 1) -> tuple[Gaussian, ...]:
        """The releases beside the fit, in the order of the steps, about so many rows of one person."""
        return tuple(part for step in self.steps for part in step.mechanisms(self.adjacency, rows_per_person))

    def whole(self, mechanism: Mechanism) -> Mechanism:
        """What everything together is; `mechanism` is that of one fit, about one row."""
        return composed_fit(mechanism, self.beside(), accountant=self.accountant, **self._fits)

    def proved(self, mechanism: Mechanism) -> float:
        """The ε that a certificate may state at `delta`: the promised one, else the whole's own; `ValueError` if the
        whole does not keep it.
        """
        return _proved(self, mechanism)

    @property
    def left(self) -> float:
        """What is left of ε for one fit, as if every fit were a Gaussian mechanism; see `remaining_epsilon`."""
        return remaining_epsilon(self._promised, self.delta, self.beside(), **self._fits)

    def calibrate(self, make: Callable[[float], Calibrated]) -> Calibrated:
        """`make` at the largest ε for one fit that leaves the whole within the promise; see `calibrate_remaining`."""
        beside = self.beside()
        return calibrate_remaining(self._promised, self.delta, make, beside, accountant=self.accountant, **self._fits)

    @property
    def _fits(self) -> dict[str, Any]:
        """What functions of compositions ask for about the fits, and about whom."""
        return {"copies": self.fits, "rest_weight": self.rest_weight, "rows_per_person": self.rows_per_person}

    @property
    def _promised(self) -> float:
        if self.epsilon is None:
            raise ValueError("epsilon must be a number where noise is calibrated, got None")
        return self.epsilon


@lru_cache(maxsize=4096)
def _proved(terms: Terms, mechanism: Mechanism) -> float:
    whole, epsilon, delta = terms.whole(mechanism), terms.epsilon, terms.delta
    if epsilon is not None and whole.delta(epsilon) <= delta * (1 + ROUNDING):
        return epsilon
    proved = whole.epsilon(delta)
    if math.isinf(proved):
        raise ValueError(f"mechanism must be private at delta = {delta:g}; {mechanism.explain() or 'it is not'}")
    if epsilon is not None:
        raise ValueError(f"epsilon must be at least {proved!r}, the mechanism's ε at {delta=}, got {epsilon!r}")
    return float(proved)
