"""Classes counted before all else, and rows weighed by the noisy counts (docs/theorems.md, T48)."""

from __future__ import annotations

from typing import Any

from objpert_core.accounting.steps.class_counts import ClassCounts
from objpert_core.learning.steps.base import Taken


class ClassCountsTaken(Taken[ClassCounts], takes=ClassCounts):
    """See `Taken`; certificates say here what there is to say of weights."""

    fields = {"noise": "class_count_noise"}  # noqa: RUF012 - a table that nobody changes
    reads_rows = False

    def stated(self, step: ClassCounts) -> dict[str, Any]:
        """See `Taken.stated`."""
        return {**super().stated(step), "weighted": True}

    def contradiction(self, certificate: Any) -> str | None:
        """See `Taken.contradiction`."""
        if certificate.class_count_noise is None or certificate.weighted:
            return None
        return f"class_count_noise must be None where rows have no weights, got {certificate.class_count_noise!r}"

    def lines(self, certificate: Any) -> list[str]:
        """See `Taken.lines`."""
        if not certificate.weighted:
            return []
        counts, how = self.step_of(certificate), "each row's own"
        if counts is not None:
            how = f"by counts of the classes, noise on each {counts.noise:.6g}: part of the promise"
        return [f"  weights    at most 1, {how}"]
