"""What the page's two pictures share: the fit, its neighbours and its proofs."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from pages.bounds import neighbours
from pages.bounds.controls import MECHANISM, NEIGHBOURS, READ_DELTA, ROWS
from ui import bounds as proofs
from ui import sentences, why
from ui.controls import previous
from ui.snippets import Verbatim
from ui.view import View

FIT = dict(
    zip(("sigma", "lam", "smoothness", "lipschitz", "whose", "rows"), (*MECHANISM, NEIGHBOURS, ROWS), strict=True)
)
USUAL = tuple(bound for bound in proofs.NAMES if bound not in proofs.SPECIAL)
CHANGED = {**why.NAMES, "neighbours": "neighbours:"}


@dataclass(frozen=True)
class Proofs(View):
    """Every proof about one fit; the ghost is another fit, read in the same way."""

    setting: neighbours.Setting
    delta: float = READ_DELTA.default
    shown: tuple[str, ...] = USUAL

    answers_in_alt = False
    snippet_note = "These lines print the table’s numbers before the page rounds them to the safe side."

    @classmethod
    def now(cls) -> Self:
        values = {name: control.value() for name, control in (*cls.controls.items(), *cls.switches.items())}
        setting = neighbours.setting(*(values.pop(name) for name in FIT))
        shown = tuple(bound for bound in proofs.NAMES if values.pop(bound, True))
        return cls(setting, shown=shown, **values).framed()

    def framed(self) -> Self:
        """With axes on which it is seen."""
        return self

    def before(self) -> Self | None:
        setting = previous("bounds", self.setting)
        return None if setting is None else replace(self, setting=setting)

    @cached_property
    @abstractmethod
    def readings(self) -> Mapping[str, Any]:
        """What each proof says."""

    @abstractmethod
    def caption(self) -> str:
        """What the other proofs say."""

    def promise(self) -> str:
        tight = proofs.epsilon_at("logistic", self.setting, self.delta)
        return sentences.promise(tight, self.delta, sentences.TIGHT, adjacency=self.setting.neighbours)

    def moved(self, before: Proofs | None) -> str:
        return why.moved(before.setting if before else None, self.setting, self.delta, names=CHANGED)

    def whose(self) -> str:
        """Which data sets are neighbours, where that is not the usual."""
        return "" if self.setting.usual else f" Neighbouring data sets: {self.setting.neighbours}."

    def remarks(self) -> list[str]:
        silent = proofs.reasons(self.readings.values())
        return ["  \n".join(f"**{who}.** {reason}" for who, reason in silent)] if silent else []

    def note(self) -> str:
        setting, own = self.setting, self.setting.logistic_smoothness
        if math.isclose(setting.smoothness, own):
            return self.caption()
        return f"{self.caption()} {sentences.logistic_curve(setting.smoothness, own, setting.lipschitz)}"

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), **vars(self.setting), "curves": Verbatim(self._curves())}

    def _curves(self) -> str:
        """The dictionary of every proof about the fit, smallest bound first."""
        setting = self.setting
        about = "acc.replace_one({})" if setting.replaced else f"acc.group({{}}, {setting.rows})"
        about = "{}" if setting.usual else about
        made = {"lower": f"acc.Gaussian(sigma={setting.sigma!r}, sensitivity={setting.lipschitz!r})"}
        for key, proof in proofs.PROOFS.items():
            if proof.bound is not None:
                bound = f'bound("{proof.bound}")'
                made[key] = f"acc.via_rdp({bound})" if proof.accountant == "rdp" else bound
        lines = (f'    "{key}": {about.format(mechanism)},\n' for key, mechanism in reversed(made.items()))
        return f"{{\n{''.join(lines)}}}"
