"""Figure 1: the test error of private linear regressions against ε."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from objpert_core.experiments.ptr.stored import Error
from pages.ptr.controls import EVERY, STORED, TABLE
from pages.ptr.stored_view import PtrResults, promise, written
from ui.stored_view import Curve

ASIDE = frozenset({"output", "balanced", "ada-split", "ptr-split", "zero"})
"""The methods that are drawn only where all are asked for."""


@dataclass(frozen=True)
class Regressions(PtrResults):
    """Every method on one table at one ε."""

    data: str
    wanted: float
    every: bool

    name = "ptr_regression"
    title = "Private regressions (Figure 1)"
    controls = {"data": TABLE, "wanted": STORED, "every": EVERY}
    aside = (EVERY,)
    experiment, column = "regression", "epsilon"
    labels = Error.LABELS
    axes = ("privacy budget ε", "mean squared test error")
    snippet = "means_free"

    @property
    def cells(self) -> Mapping[str, object]:
        return {"dataset": self.data}

    def stored(self) -> bool:
        return super().stored() and bool(self.curves)

    def shown(self) -> list[Curve]:
        return [curve for curve in self.curves if self.every or curve.method not in ASIDE]

    def answer(self) -> str:
        """Name the private method with the lowest mean beside the public rows alone; no winner within intervals."""
        intervals = self.intervals
        public, alone = self.labels["judges"], intervals["judges"]
        private = [method for method in intervals if method not in Error.UNPAID]
        first = min(private, key=lambda method: intervals[method].mean)
        best, least = self.labels[first], intervals[first]
        if alone.high < least.low:
            return f"{public} wins: error {written(alone.mean)}; lowest private error: {best}, {written(least.mean)}."
        if least.high >= alone.low:
            unbeaten = f"No private method visibly beats {_inside(public)}, {written(alone.mean)}"
            return f"{unbeaten}; {best} has {written(least.mean)}."
        sole = all(least.high < intervals[method].low for method in private if method != first)
        verdict = "errs least" if sole else "has the lowest mean"
        beside = f"{_inside(public)} has {written(alone.mean)}"
        return f"At ε = {self.at:g} {best} {verdict}, {written(least.mean)}; {beside}."

    def promise(self) -> str:
        return promise(self.at, Error.DELTA)

    def note(self) -> str:
        """Return what was learnt, and how often there was no answer."""
        refused = self.results.interval("refused", dataset=self.data, method="ptr-split", epsilon=self.at)
        shy = (
            f" OPS-PTR with shares gives no answer (⊥) in {100 * refused.mean:.0f} % of its runs."
            if refused and refused.mean > 0
            else ""
        )
        return (
            f"{Error.TABLES[self.data]}, mean squared test error, 95 % intervals. The validation rows, 10 % of all "
            f"rows, count as public.{shy}"
        )


def _inside(label: str) -> str:
    """A label within a sentence."""
    return label[0].lower() + label[1:]
