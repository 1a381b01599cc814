"""What every picture of the page "Population risk" has: what is learnt from how much, and names of the methods."""

import math
from functools import cached_property
from typing import Any, Self

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.experiments.population import stored
from objpert_core.experiments.population.methods import POPULATIONS, RADII, Setting
from pages.population.controls import BOUNDS, EPSILON, EVERY, GHOST, LOSS, RADIUS, ROWS, SIZE
from ui import sentences
from ui.controls import Control, Toggle, previous
from ui.stored_view import StoredView, nearest
from ui.view import View, set_by

TIGHT = "objective-tight"
LEARNT = {"logistic": "logistic regression", "absolute": "the absolute loss", "hard": "the linear loss"}
LEGEND = {
    "sgd": "SGD, published",
    "objective": "Objective, published",
    "gd": "Gradient descent",
    "phased": "Phased ERM",
    "objective-bound": "Objective, bound’s Λ",
    "objective-least": "Objective, least Λ",
    "objective-tight": "Objective, ours",
    "no-privacy": "Without privacy",
    "zero": "θ = 0",
}
"""What legends and axes call the methods: two stand in a row on a telephone."""
REPLACED = "one row replaced"


class Learning(View):
    """What is learnt, from how many rows, with what promise; a `radius` of 0 is the standard one."""

    n: int = set_by(ROWS)
    epsilon: float = set_by(EPSILON)
    d: int = set_by(SIZE)
    loss: str = set_by(LOSS)
    radius: float = set_by(RADIUS, aside=True)

    named = {"n": "n", "epsilon": "ε", "d": "d", "ball": "M"}

    @classmethod
    def in_view(cls, ghost: Toggle | None) -> tuple[Control, ...]:
        return BOUNDS, EVERY, GHOST

    @classmethod
    def idle(cls, control: Control) -> bool:
        return control in cls.in_view(GHOST) and control not in super().in_view(GHOST)

    @cached_property
    def setting(self) -> Setting:
        """What is asked for."""
        return Setting(self.loss, self.n, self.d, self.epsilon, self.ball)

    @property
    def ball(self) -> float:
        """M."""
        return self.radius or RADII[self.loss]

    @property
    def shown(self) -> Setting:
        """What the picture is of."""
        return self.setting

    def setting_before(self) -> Setting | None:
        """The setting before, whichever picture it was asked for in."""
        return previous("population", self.setting)

    def before(self) -> Self | None:
        """Remember this setting; the picture does not show the one before."""
        self.setting_before()
        return None

    def blanks(self) -> dict[str, Any]:
        shown = self.shown
        return {
            "population": shown.population,
            "rows": shown.n,
            "dimension": shown.d,
            "epsilon": shown.epsilon,
            "delta": shown.delta,
            "radius": shown.radius,
            "method": TIGHT,
        }

    def promise(self) -> str:
        """The promise of all methods but those that are as published."""
        accountant = "privacy profiles, except for the two published methods"
        return sentences.promise(self.shown.epsilon, self.shown.delta, accountant, adjacency=REPLACED)

    def note(self) -> str:
        return f"{self.line()}."

    def line(self) -> str:
        """What is learnt, and from what."""
        shown = self.shown
        text = f"{POPULATIONS[shown.population]}, n = {shown.n:,}, d = {shown.d:,}, M = {shown.radius:g}"
        return sentences.unbroken(text)


class StoredLearning(StoredView, Learning):
    """A picture of stored risks, at the stored setting next to the one asked for."""

    load = staticmethod(stored.load)
    named = {}

    @property
    def experiment(self) -> str:  # type: ignore[override]
        return self.loss

    @cached_property
    def shown(self) -> Setting:
        """The stored setting next to the one asked for."""
        d = int(nearest(self.results.dimensions, self.d))
        return Setting(self.loss, self.n, d, nearest(self.results.epsilons, self.epsilon))

    def not_stored(self) -> str:
        """What is shown instead of what was asked for; empty where that is stored."""
        pairs = (
            ("d", self.d, self.shown.d),
            ("ε", self.epsilon, self.shown.epsilon),
            ("M", self.ball, self.shown.radius),
        )
        asked = [f"{name} = {wanted:g}" for name, wanted, shown in pairs if wanted != shown]
        given = [f"{name} = {shown:g}" for name, wanted, shown in pairs if wanted != shown]
        return f"Not stored for {sentences.listing(asked)}; shown: {sentences.listing(given)}." if asked else ""

    def missing(self) -> str:
        return (
            f"This picture needs stored results, and there are none for {LEARNT[self.loss]} yet. "
            "“Methods side by side” draws rows now."
        )

    def made(self) -> str:
        return made_by(self.results)

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        """Say first what is shown instead, also on a slide."""
        if self.stored() and (note := self.not_stored()):
            st.info(note, icon=":material/info:")
        super().show(left, ghost=ghost)


def made_by(results: stored.ExcessRisks) -> str:
    """How the stored results were made."""
    session = results.results.sessions[-1] if results.results.sessions else {}
    return (
        f"Stored results of `{session.get('command', 'unknown')}`, commit {session.get('commit', 'unknown')}, "
        f"{session.get('versions', 'versions unknown')}. Seeds follow from setting and trial."
    )


def role(name: str) -> str:
    """A method's look."""
    return {"no-privacy": "non-private"}.get(name, f"risk-{name}")


def risk(value: float) -> str:
    """A risk to three digits."""
    return sentences.number(value, 3) if value >= 1e-3 else sentences.scientific(value)


def proved(value: float) -> str:
    """What is proved to be the most, rounded up."""
    return sentences.number(value, 3, up=True)


def pair(mean: float, half: float) -> str:
    """A mean and half its interval, with one power of ten for both: '(4.9 ± 0.8)×10⁻⁴'."""
    if half < 1e-6 * abs(mean):
        return risk(mean)
    if abs(mean) >= 1e-3:
        return f"{sentences.number(mean, 3)} ± {sentences.number(half, 1)}"
    power = math.floor(math.log10(max(abs(mean), half)))
    scaled = f"({sentences.minus(f'{mean / 10**power:.2f}')} ± {half / 10**power:.2f})"
    return f"{scaled}×{sentences.scientific(10.0**power)}"
