"""What pictures of people share, who are generated or those of Adult."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from objpert_core.experiments.intervals.shapes import CONSTANT
from pages.sure.controls import ADULT, SEED, SHAPES
from pages.sure.people import OF_ADULT, adult, columns_of
from ui.snippets import Verbatim, filled
from ui.view import View


class OfPeople(View):
    """A picture of people: others can be drawn, and the snippet draws the same people."""

    people: int
    shape: str

    @classmethod
    def beside(cls) -> None:
        SEED.again()

    @property
    def whose(self) -> str:
        """The people, for a sentence: "10,000 generated people, even columns"."""
        if self.shape == ADULT:
            data = adult()
            return f"{min(self.people, len(data.y_train)):,} people of {data.label}"
        return f"{self.people:,} generated people, {SHAPES[self.shape]}"

    def blanks(self) -> Mapping[str, Any]:
        own = {"columns": columns_of(self.shape), **super().blanks()}
        if self.shape == ADULT:
            own |= {"data": adult().name, "names": list(OF_ADULT)[: own["columns"]]}
        drawn = filled("sure", "adult" if self.shape == ADULT else "generated", own)
        return {**own, "constant": CONSTANT, "drawn": Verbatim(drawn.strip())}
