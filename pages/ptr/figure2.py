"""Figure 2: what the labels of many teachers cost, by analyses of their votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from objpert_core.experiments.ptr.stored import Price
from pages.ptr.controls import COUNTED, DIGITS, SOURCE
from pages.ptr.stored_view import PtrResults, at_most, promise_in_chart


@dataclass(frozen=True)
class Labels(PtrResults):
    """Every analysis of one source of votes at one σ."""

    source: str
    wanted: float

    name = "ptr_pate"
    title = "What teachers’ labels cost (Figure 2)"
    controls = {"source": SOURCE, "wanted": COUNTED}
    experiment, column = "pate", "sigma"
    labels = Price.LABELS
    axes = ("noise σ on each count", "ε of all labels")

    @property
    def cells(self) -> Mapping[str, object]:
        return {"source": self.source}

    def answer(self) -> str:
        means = self.means
        verdict = "pays" if means["distance-tight"] < means["exact"] else "does not pay"
        return (
            f"Asking {verdict} at σ = {self.at:g}: the distance test costs ε = {at_most(means['distance-tight'])}, "
            f"smooth sensitivity ε = {at_most(means['smooth'])}, any votes ε = {at_most(means['exact'])}."
        )

    def promise(self) -> str:
        return promise_in_chart(Price.DELTA, "one teacher replaced, with all its votes")

    def note(self) -> str:
        right = self.results.values("right", source=self.source, sigma=self.at, method="exact")[0]
        return (
            f"{Price.SOURCES[self.source]}, {Price.QUERIES} rows, {100 * right:.0f} % of labels right. The budget "
            f"of each test is the best one for these votes, and this choice is not paid for. Smooth sensitivity is our "
            f"corrected form of the paper’s Algorithm 4."
        )


@dataclass(frozen=True)
class DigitsLabels(Labels):
    """The same where the votes are on digits, for which another σ is stored."""

    controls = {"source": SOURCE, "wanted": DIGITS}
