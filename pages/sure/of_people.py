"""What pictures of generated people share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from objpert_core.experiments.intervals.shapes import CONSTANT
from pages.sure.controls import SEED
from ui.view import View


class OfPeople(View):
    """A picture of generated people: others can be drawn, and the snippet draws the same people."""

    @classmethod
    def beside(cls) -> None:
        SEED.again()

    def blanks(self) -> Mapping[str, Any]:
        return {**super().blanks(), "constant": CONSTANT}
