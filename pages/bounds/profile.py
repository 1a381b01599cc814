"""The privacy profile: δ against ε under each bound, read at one δ and at one ε."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import pandas as pd

from pages.bounds.controls import COVERS, EPS_MAX, FLOOR, PROFILE, READ_DELTA, READ_EPSILON, SPECIAL
from pages.bounds.picture import FIT, Proofs, columns
from ui import bounds as proofs
from ui import figures, parameters, sentences, why


@dataclass(frozen=True)
class Profile(Proofs, name="bounds", title=PROFILE, snippet="profile"):
    """δ against ε."""

    epsilon: float = READ_EPSILON.default
    eps_max: float = EPS_MAX.default
    floor: float = FLOOR.default
    covers: bool = COVERS.default

    controls = {**FIT, "delta": READ_DELTA, "epsilon": READ_EPSILON}
    switches = {"eps_max": EPS_MAX, "floor": FLOOR, **SPECIAL, "covers": COVERS}

    def framed(self) -> Self:
        end = parameters.followed(EPS_MAX, self.eps_max, proofs.epsilon_at("logistic", self.setting, self.delta))
        lowest = max((floor for floor in FLOOR.options if floor <= self.delta / 10), default=FLOOR.options[0])
        return replace(self, eps_max=end, floor=min(self.floor, lowest) if self.floor == FLOOR.default else self.floor)

    @classmethod
    def beside_axes(cls) -> None:
        now = cls.now()
        parameters.fit_axis(EPS_MAX, proofs.epsilon_at("logistic", now.setting, now.delta))

    @cached_property
    def readings(self) -> Mapping[str, proofs.Reading]:
        readings = proofs.readings(self.setting, self.shown, self.delta, self.epsilon)
        return {reading.bound: reading for reading in readings}

    def published(self, setting: proofs.Setting) -> tuple[float, str]:
        """The smallest ε that a curve of the published theorems proves, inf where none does, and which it is."""
        return min((proofs.epsilon_at(bound, setting, self.delta), bound) for bound in reversed(proofs.PUBLISHED))

    def answer(self) -> str:
        setting = self.setting
        tight = proofs.epsilon_at("logistic", setting, self.delta)
        published, which = self.published(setting.logistic)  # one sentence is about one loss
        if math.isinf(tight):
            return "No bound proves a finite ε with this setting."
        start = f"One logistic fit costs ε = {sentences.epsilon(tight)} (odds {sentences.odds(tight)})"
        if setting.replaced:
            return f"{start} when one row is replaced."
        if not setting.usual:
            return f"{start} for somebody with {sentences.count(setting.rows, 'row')}."
        if math.isinf(published):
            return f"{start}; the theorems of 2012 and 2023 guarantee nothing."
        if published <= tight * (1 + sentences.EXACT):
            return f"{start}; {proofs.called(which)} guarantees the same."
        return f"{start}; {proofs.called(which)} can only guarantee ε = {sentences.epsilon(published)}."

    def moved(self, before: Self | None) -> str:
        return why.reread_or("bounds", self.setting, self.delta, super().moved(before))

    def caption(self) -> str:
        setting = self.setting
        tight, lower = self.readings["logistic"].epsilon, self.readings["lower"].epsilon
        if not setting.usual:
            one = proofs.epsilon_at("logistic", setting.one, self.delta)
            more = against_one(tight, one, lower)
        else:
            more = limits(tight, lower, proofs.gaussian_from(setting))
        if not setting.usual or setting != setting.logistic:  # else the answer has said it
            more = f"{more} {guarantees(*self.published(setting), setting.smoothness)}".lstrip()
        return f"{sentences.bet(tight, self.delta)} {more}"

    def table(self) -> Sequence[Mapping[str, str]]:
        readings = list(self.readings.values())
        rows = proofs.table_rows(readings, self.delta, self.epsilon)
        covers = columns(self.setting, readings) if self.covers else [{}] * len(rows)
        return [row | more for row, more in zip(rows, covers, strict=True)]

    def numbers(self) -> pd.DataFrame:
        return proofs.frame(self.setting, self.shown, self.eps_max).assign(neighbours=self.setting.neighbours)

    def svg_title(self) -> str:
        return f"Privacy profile of objective perturbation, {self.setting}"

    def shows(self) -> str:
        epsilons = {proofs.NAMES[bound]: reading.epsilon for bound, reading in self.readings.items()}
        return sentences.bounds_alt(epsilons, self.delta) + self.whose()

    def chart(self, before: Self | None) -> figures.Figure:
        level = figures.guide((0, self.eps_max), (self.delta, self.delta))
        return self.curves(before, level, figures.guide((self.epsilon, self.epsilon), (self.floor, 2.0)))

    def curves(self, before: Self | None, *guides: dict[str, Any], height: int = 480) -> figures.Figure:
        """The bounds' curves over guides."""
        ghost = before.setting if before else None
        x, names = proofs.grid(self.eps_max), {bound: proofs.NAMES[bound] for bound in self.shown}
        curve = partial(proofs.curve, eps_max=self.eps_max)
        traces = figures.curves(names, x, curve, self.setting, ghost, between=guides, hover="δ ≈ %{y:.3g}")
        xaxis = figures.axis("privacy budget ε", (0.0, self.eps_max), hoverformat=".3g")
        yaxis = figures.axis("slack δ", (self.floor, 2.0), log=True)
        return figures.figure(traces, xaxis, yaxis, height=height)


def limits(tight: float, lower: float, from_epsilon: float) -> str:
    """How much less any proof could show, from ε of the tight and of the Gaussian lower bound."""
    if lower <= 0 or math.isinf(tight):
        return ""
    if tight <= lower * (1 + sentences.EXACT):
        return sentences.exactly_gaussian(from_epsilon)
    above = "less than a thousandth" if tight < 1.001 * lower else f"{sentences.percent(tight / lower - 1, up=True)}"
    return (
        f"Our theorem’s ε is {above} above the Gaussian mechanism’s ε = {sentences.number(lower)}, the least possible."
    )


def guarantees(published: float, which: str, smoothness: float) -> str:
    """What the best of the published theorems proves, whose curves are drawn for the page's β = `smoothness`."""
    if math.isinf(published):
        return f"For β = {sentences.number(smoothness)} the theorems of 2012 and 2023 guarantee nothing."
    name = proofs.called(which)
    return f"For β = {sentences.number(smoothness)} {name} guarantees ε = {sentences.epsilon(published)}."


def against_one(tight: float, one: float, lower: float) -> str:
    """What one row more or less costs, and what no proof can be below for these neighbours."""
    if math.isinf(tight):
        return ""
    start = f"Adding or removing one row costs ε = {sentences.epsilon(one)}."
    if lower > 0 and tight <= lower * (1 + sentences.EXACT):
        start += " No proof can show less."
    elif lower > 0:
        start += f" No proof can show less than ε = {sentences.number(lower)} here."
    return start
