"""What a session has released of its owner's tables, and what all of it costs together."""

from __future__ import annotations

from collections.abc import Sequence

from objpert_core.estimators.own_table import together
from objpert_core.learning import PrivacyCertificate
from pages.own.jobs import Made
from ui import sentences


def total(certificates: Sequence[PrivacyCertificate], delta: float) -> float:
    """The ε of all these releases together at `delta`; 0.0 where there is none."""
    return float(together(certificates).epsilon(delta)) if certificates else 0.0


def totals(releases: Sequence[Made], delta: float, known: Sequence[float] = ()) -> list[float]:
    """What all releases up to each one cost together; `known` are the first of these numbers."""
    certificates = [made.model.privacy_ for made in releases]
    return [*known, *(total(certificates[:end], delta) for end in range(len(known) + 1, len(releases) + 1))]


def rows(releases: Sequence[Made], spent: Sequence[float], delta: float) -> list[dict[str, str]]:
    """The releases as texts, each with what all up to it cost together."""
    return [
        {
            "Release": str(number),
            "Target": made.ask.schema.target.column,
            "Features": f"{len(made.names):,}",
            "ε": sentences.epsilon(made.model.privacy_.epsilon),
            "δ": sentences.delta(made.model.privacy_.delta),
            f"ε of all so far at δ = {sentences.delta(delta)}": sentences.epsilon(so_far),
            "Neighbours": made.model.privacy_.adjacency,  # the longest, and cut off first on a telephone
        }
        for number, (made, so_far) in enumerate(zip(releases, spent, strict=True), 1)
    ]
