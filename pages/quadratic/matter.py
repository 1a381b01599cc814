"""Where data matter: what the exact theorem saves against the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core.experiments.quadratic.stored import Excess
from pages.quadratic.controls import STORED_ROWS
from pages.quadratic.numbers import AGREEING, times
from pages.quadratic.stored_view import EACH, Against
from ui import sentences


@dataclass(frozen=True)
class Matter(Against):
    """Every method at one number of rows."""

    rows: int

    name = "quadratic_matter"
    title = "Where data matter"
    controls = {"rows": STORED_ROWS}
    experiment, column = "matter", "n"
    labels = Excess.LABELS
    axes = ("rows n", "excess risk")
    what = ("Excess risk", "the number of rows")

    @property
    def at(self) -> int:
        return self.rows

    def answer(self) -> str:
        exact, published, anchor = (self.mean(name, n=self.rows) for name in ("exact", "published", "anchor"))
        return (
            f"At n = {self.rows:,} the published theorem loses {times(published / exact)} times as much as the exact "
            f"theorem, the anchor {times(anchor / exact)} times."
        )

    def promise(self) -> str:
        return sentences.promise(Excess.EPSILON, Excess.DELTA, EACH, adjacency=AGREEING)

    def note(self) -> str:
        return (
            "d = 20, m = 40, unit rows, weight of the regulariser ω = n/50, the anchor is θ*, ten draws, 95 % "
            "intervals."
        )
