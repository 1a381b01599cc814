"""What the page's two pictures share: the fit, its neighbours and its proofs."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

import objpert_core.accounting as acc
from pages.bounds.controls import ADDED, MECHANISM, NEIGHBOURS, READ_DELTA, REPLACED, ROWS, SEVERAL
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
class Setting(proofs.Setting):
    """A setting, and which data sets count as neighbours."""

    rows: int = 1  # how many rows of one person are added or removed together
    replaced: bool = False  # whether one row is replaced instead

    def __str__(self) -> str:
        return super().__str__() + ("" if self.usual else f", {self.neighbours}")

    @property
    def usual(self) -> bool:
        """Whether one row is added or removed, which is what the theorems are about."""
        return self.rows == 1 and not self.replaced

    @property
    def neighbours(self) -> str:
        """How neighbouring data sets differ, as on the control."""
        if self.replaced:
            return REPLACED
        return ADDED if self.rows == 1 else f"add or remove {sentences.count(self.rows, 'row')} of one person"

    @property
    def one(self) -> proofs.Setting:
        """The same noise where one row is added or removed."""
        return Setting(self.sigma, self.lam, self.smoothness, self.lipschitz)

    def mechanism(self, name: str) -> acc.Mechanism:
        """The mechanism under one of `PROOFS`, about these neighbours."""
        return _about(super().mechanism(name), self.rows, self.replaced)


@lru_cache(maxsize=2000)  # what a chain of neighbours has computed is kept with it
def _about(mechanism: acc.Mechanism, rows: int, replaced: bool) -> acc.Mechanism:
    return acc.replace_one(mechanism) if replaced else acc.group(mechanism, rows)


@lru_cache(maxsize=2000)
def covers(mechanism: acc.Mechanism) -> tuple[float, float]:
    """μ of Gaussian differential privacy and ρ of zero-concentrated differential privacy; inf where none is known."""
    return mechanism.mu(), mechanism.rho()


def setting_of(sigma: float, lam: float, smoothness: float, lipschitz: float, choice: str, rows: int) -> Setting:
    """What the controls say; `rows` counts only where several rows were chosen."""
    return Setting(sigma, lam, smoothness, lipschitz, rows if choice == SEVERAL else 1, choice == REPLACED)


def columns(at: Setting, readings: list[proofs.Reading]) -> list[dict[str, str]]:
    """μ and ρ of every bound, as cells of the table."""
    pairs = [covers(at.mechanism(reading.bound)) for reading in readings]
    return [{"μ (GDP)": text(mu), "ρ (zCDP)": text(rho)} for mu, rho in pairs]


def text(value: float) -> str:
    """μ or ρ rounded up; 0.2²/2 is a little more than 0.02 in doubles, and shown as 0.02."""
    return sentences.proved(value * (1 - 1e-14))


@dataclass(frozen=True)
class Proofs(View):
    """Every proof about one fit; the ghost is another fit, read in the same way."""

    setting: Setting
    delta: float = READ_DELTA.default
    shown: tuple[str, ...] = USUAL

    answers_in_alt = False
    snippet_note = "These lines print the table’s numbers before the page rounds them to the safe side."

    @classmethod
    def now(cls) -> Self:
        values = {name: control.value() for name, control in (*cls.controls.items(), *cls.switches.items())}
        setting = setting_of(*(values.pop(name) for name in FIT))
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

    def moved(self, before: Self | None) -> str:
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
