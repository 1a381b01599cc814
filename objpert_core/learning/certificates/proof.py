"""What a certificate's promise rests on: the accountant, and the theorem that covers the loss."""

from __future__ import annotations

from typing import Protocol

from objpert_core.accounting import Mechanism, via_rdp
from objpert_core.accounting.objective.bounds import BOUND_REGISTRY, Parameters
from objpert_core.learning.problem.losses import Loss


def by_accountant(mechanism: Mechanism, accountant: str) -> Mechanism:
    """See `PrivacyCertificate.accounted`."""
    return via_rdp(mechanism) if accountant == "rdp" else mechanism


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
