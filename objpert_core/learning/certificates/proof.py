"""What a certificate's promise rests on: the ε that a mechanism keeps, and the theorem that covers the loss."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Protocol

from objpert_core.accounting import Gaussian, Mechanism, composed_fit, via_rdp
from objpert_core.accounting.mechanisms.bounds import BOUND_REGISTRY, Parameters
from objpert_core.learning.problem.losses import Loss

ROUNDING = 1e-12  # relative slack for δ recomputed from an ε that was found by a search


def by_accountant(mechanism: Mechanism, accountant: str) -> Mechanism:
    """See `PrivacyCertificate.accounted`."""
    return via_rdp(mechanism) if accountant == "rdp" else mechanism


@lru_cache(maxsize=4096)
def proved_epsilon(
    mechanism: Mechanism,
    epsilon: float | None,
    delta: float,
    accountant: str = "profile",
    rows_per_person: int = 1,
    before: tuple[Gaussian, ...] = (),
    fits: int = 1,
    rest_weight: float = 1.0,
) -> float:
    """Find the ε that a certificate may state at `delta`: `epsilon`, or the mechanism's own where `epsilon` is None.

    `ValueError` if the mechanism, which is about one row, does not keep `epsilon` together with what else the
    certificate covers: `before`, `fits` and `rest_weight`, as `composed_fit` takes them, and `rows_per_person`.
    """
    accounted = composed_fit(
        mechanism,
        before,
        copies=fits,
        rest_weight=rest_weight,
        rows_per_person=rows_per_person,
        accountant=accountant,
    )
    if epsilon is not None and accounted.delta(epsilon) <= delta * (1 + ROUNDING):
        return epsilon
    proved = accounted.epsilon(delta)
    if math.isinf(proved):
        raise ValueError(f"mechanism must be private at delta = {delta:g}; {mechanism.explain() or 'it is not'}")
    if epsilon is not None:
        raise ValueError(f"epsilon must be at least {proved!r}, what the mechanism has at {delta=}, got {epsilon!r}")
    return float(proved)


class Bounded(Parameters, Protocol):
    """What `covers` reads: a theorem, and what the theorem is told of one row."""

    @property
    def bound(self) -> str:
        """The theorem's key in `BOUND_REGISTRY`."""


def covers(
    promised: Bounded, loss: Loss, clip: float | None, radius: float, dimension: int | None = None
) -> str | None:
    """Say why the proof does not cover `loss`, clipped at `clip`, on rows of norm `radius`; None if the proof does.

    >>> from objpert_core.accounting import ObjectivePerturbation
    >>> from objpert_core.learning.problem.losses import LogisticLoss
    >>> covers(ObjectivePerturbation(5.0, 2.0), LogisticLoss(), None, 1.5)
    'lipschitz must be at least 1.5, got 1.0'
    """
    if clip is not None and not clip > 0:
        return f"clip must be None or a number > 0, got {clip!r}"
    theorem = BOUND_REGISTRY[promised.bound]
    if reason := theorem.uncovered(loss):
        return reason
    gradient = loss.lipschitz * radius
    if clip is not None and not theorem.needs_whole_radius:
        gradient = min(gradient, clip)
    for name, value, needed in (
        ("lipschitz", promised.lipschitz, gradient),
        ("smoothness", promised.smoothness, loss.smoothness * radius**2),
        ("dimension", promised.dimension, dimension),
    ):
        if value is not None and needed is not None and not value >= needed:
            return f"{name} must be at least {needed!r}, got {value!r}"
    return None
