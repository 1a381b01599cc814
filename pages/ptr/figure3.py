"""Figure 3: the ε of a vote at equal error, and against the gap."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core.experiments.ptr.stored import Cost
from pages.ptr.controls import EQUAL, NARROW_GAP, WIDE_GAP
from pages.ptr.stored_view import PtrResults, at_most, promise_in_chart
from ui import sentences

VOTER = "one voter joins or leaves"


@dataclass(frozen=True)
class EqualError(PtrResults):
    """Figure 3b: who pays what for the same error."""

    wanted: float

    name = "ptr_voting"
    title = "Votes and their ε (Figure 3)"
    controls = {"wanted": EQUAL}
    experiment, column = "voting", "epsilon"
    labels = Cost.LABELS["b"]
    cells = {"panel": "b"}
    axes = ("ε of Laplace noise that errs as often", "ε at δ")

    def answer(self) -> str:
        means = self.means
        verdict = "pays" if means["passing"] < means["laplace"] else "does not pay"
        return (
            f"Asking {verdict} at equal error: asking costs ε = {at_most(means['passing'])}, Laplace noise "
            f"{at_most(means['laplace'])}, the optimal vote {at_most(means['optimal'])}."
        )

    def promise(self) -> str:
        return promise_in_chart(Cost.DELTA, VOTER)

    def note(self) -> str:
        return (
            f"Gap {Cost.GAP}. All methods err as often as Laplace noise of ε = {self.at:g}. The cost of asking "
            f"is the ε promised with a test that passes {100 * Cost.SURE:.0f} % of the time. The mean cost over runs "
            "is no promise. This mean decreases from ε = 0.3 to 0.4. From 0.4 on, ε at δ is mostly 0, and only the "
            "bound on the gap costs privacy."
        )


@dataclass(frozen=True)
class WideGap(PtrResults):
    """Figure 3a: ε against the gap, with noise of ε = 10."""

    wanted: int

    name = "ptr_voting"
    title = EqualError.title
    controls = {"wanted": WIDE_GAP}
    experiment, column = "voting", "gap"
    labels = Cost.LABELS["a"]
    cells = {"panel": "a", "epsilon": 10.0}
    axes = ("gap: votes ahead (secret)", "ε of the noise")
    log_x = log_y = False

    def answer(self) -> str:
        without, at_delta = (at_most(self.means[method]) for method in ("pure", "from-here"))
        return f"At a gap of {self.at:g} the noise has ε = {without} without slack δ, and {at_delta} with slack."

    def promise(self) -> str:
        noise = float(str(self.cells["epsilon"]))
        return sentences.promise(noise, Cost.DELTA, "each method’s own proof", adjacency=VOTER)

    def note(self) -> str:
        return (
            "Laplace noise. The printed curve is the formula of Theorem C.2. This formula lacks a summand ε, so the "
            "curve falls. The gap is secret, and so is ε at this gap."
        )


@dataclass(frozen=True)
class NarrowGap(WideGap):
    """The same with noise of ε = 0.3."""

    controls = {"wanted": NARROW_GAP}
    cells = {"panel": "a", "epsilon": 0.3}
