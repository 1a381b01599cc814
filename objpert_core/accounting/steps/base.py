"""What is released beside a fit, as public numbers: how much noise, and what that costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE


@dataclass(frozen=True)
class Step(ABC):
    """Noisy sums released beside a fit and paid for by the same promise; its fields are public numbers alone."""

    name: ClassVar[str]
    after: ClassVar[bool] = False

    @abstractmethod
    def mechanisms(self, adjacency: str = ADD_REMOVE, rows_per_person: int = 1) -> tuple[Gaussian, ...]:
        """The releases in their order, about so many rows of one person; none where nothing is released."""


Kind = TypeVar("Kind", bound=Step)


def noisy_sums(adjacency: str, *sums: tuple[float | None, float]) -> tuple[Gaussian, ...]:
    """The releases of sums from pairs of noise and sensitivity; a sum without noise is left out."""
    return tuple(Gaussian(noise, moved, adjacency=adjacency) for noise, moved in sums if noise is not None)


def asked(*steps: Step | None) -> tuple[Step, ...]:
    """The steps that release something, those after the fit last; `ValueError` for two of one kind."""
    given = [step for step in steps if step is not None]
    if wrong := [step for step in given if not isinstance(step, Step)]:
        raise ValueError(f"steps must be steps such as a Standardisation, got {wrong[0]!r}")
    found = sorted((step for step in given if step.mechanisms()), key=lambda step: step.after)
    if len({step.name for step in found}) < len(found):
        raise ValueError(f"steps must be of different kinds, got {found!r}")
    return tuple(found)
