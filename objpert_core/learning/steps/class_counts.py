"""Rows weighed by their classes, whose sizes come from noisy counts (docs/theorems.md, T48)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.steps.class_counts import ClassCounts, balanced_weights
from objpert_core.learning.problem.derived import members_of, weights_by_class
from objpert_core.learning.steps.base import Outcome, PublicRows, Some, Statistic, Taken


@dataclass(frozen=True, eq=False)
class ClassWeights(Outcome):
    """What the rows of each class weigh, shape (K,)."""

    shares: FloatArray

    def published(self) -> dict[str, Any]:
        return {"class_weights_": self.shares}

    def weights(self, targets: FloatArray) -> FloatArray:
        return weights_by_class(targets, self.shares)


class ClassCountsTaken(Taken[ClassCounts], takes=ClassCounts):
    """Counts of the classes, in the order of the classes."""

    fields = {"noise": "class_count_noise"}  # noqa: RUF012 - a table that nobody changes
    reads_rows = False

    def released(self, step: ClassCounts, public: PublicRows) -> Generator[Statistic, FloatArray, ClassWeights]:
        counts = yield Statistic(members, ((step.noise, public.classes),))
        return ClassWeights(balanced_weights(counts, step.noise))

    def stated(self, step: ClassCounts) -> dict[str, Any]:
        return {**super().stated(step), "weighted": True}

    def contradiction(self, certificate: Any) -> str | None:
        if certificate.class_count_noise is None or certificate.weighted:
            return None
        return f"class_count_noise must be None where rows have no weights, got {certificate.class_count_noise!r}"

    def lines(self, certificate: Any) -> list[str]:
        if not certificate.weighted:
            return []
        counts, how = self.step_of(certificate), "each row's own"
        if counts is not None:
            how = f"by counts of the classes, noise on each {counts.noise:.6g}: part of the promise"
        return [f"  weights    at most 1, {how}"]


def members(some: Some) -> IntArray:
    """How many rows each class has, shape (K,)."""
    return members_of(some.targets).sum(axis=1)
