"""The Rényi curves over α of one fit, of the Gaussian mechanism with its noise and of DP-SGD."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core._validation import FloatArray
from pages.renyi import landmarks
from pages.renyi.controls import ALLOCATED, ALPHA_MAX, HOVER, NAMES, READ_DELTA, SHORT, SHOWN, Setting
from pages.renyi.promises import Promises
from ui import figures, page, sentences, style
from ui.bounds import ORDERS, at, renyi_curve
from ui.view import View, set_by

SIMILAR = 1.015  # closer than this is "about the same": rounding to the sliders makes 1 %
AMPLIFIED, UNAMPLIFIED = "amplified", "not amplified"
_OF = {"objective": ("σ", "λ", "β", "proof"), "dpsgd": ("noise multiplier", "q", "steps")}
_REASONS: Mapping[str, tuple[str, str]] = {  # more of it, less of it
    "σ": ("a wider tilt hides one person better", "a narrower tilt hides one person less"),
    "λ": ("one person’s curvature shows less", "one person’s curvature shows more"),
    "β": ("one person’s curvature may be larger", "one person’s curvature is smaller"),
    "noise multiplier": ("each step reveals less", "each step reveals more"),
    "q": ("the person is in more of the batches", "the person is in fewer of the batches"),
    "steps": ("more steps are paid for", "fewer steps are paid for"),
}


def curve(which: str, setting: Setting) -> FloatArray:
    """Rényi curve at `ORDERS`; inf where nothing is proved."""
    return renyi_curve(setting.mechanism(which))


def amplified(setting: Setting) -> FloatArray:
    """The Gaussian mechanism's straight curve with DP-SGD's own Kullback–Leibler divergence, at `ORDERS`."""
    return ORDERS * at(setting.run, "rdp", 1.0)


def unamplified(setting: Setting) -> FloatArray:
    """DP-SGD with every row in every batch, at `ORDERS`."""
    return curve("dpsgd", replace(setting, sample_rate=1.0))


class Curves(Setting, View, name="renyi", title="Rényi curves", snippet="curves"):
    """The curves of a setting up to an order, and ε read off at one δ."""

    allocated: bool = set_by(ALLOCATED, compare=False)
    delta: float = set_by(READ_DELTA, compare=False)
    alpha_max: float = set_by(ALPHA_MAX, compare=False)
    axis: str = set_by(SHOWN, compare=False)

    answers_in_alt = False

    @property
    def crossings(self) -> tuple[landmarks.Crossing, ...]:
        """Where the curves of the fit and of DP-SGD cross."""
        return landmarks.crossings(self.fit, self.run)

    @property
    def leap(self) -> landmarks.Transition | None:
        """Where DP-SGD's curve leaps."""
        return landmarks.transition(self.run)

    @property
    def proved(self) -> tuple[float, float]:
        """ε at δ by privacy loss distributions, of the fit and of DP-SGD."""
        return self.epsilon_at("objective", self.delta)[1], self.epsilon_at("dpsgd", self.delta)[1]

    def answer(self) -> str:
        (fit, run), place = self.proved, f"At δ = {sentences.delta(self.delta)}"
        if math.isinf(fit) and math.isinf(run):
            return f"{place} no finite ε is proved for either mechanism."
        if math.isinf(fit):
            return f"{place} nothing is proved for the fit, and ε = {sentences.epsilon(run)} for DP-SGD."
        if math.isinf(run):
            return f"{place} no finite ε is proved for DP-SGD, and ε = {sentences.epsilon(fit)} for one fit."
        a, b = sentences.epsilon(fit), sentences.epsilon(run)
        both = f"both ε = {a}" if a == b else f"ε = {a} and {b}"
        if max(fit, run) <= SIMILAR * min(fit, run):
            return f"{place} one fit and DP-SGD cost about the same: {both}."
        if fit < run:
            return f"{place} one fit is more private than DP-SGD: ε = {a} against {b}."
        return f"{place} DP-SGD is more private than one fit: ε = {b} against {a}."

    def promise(self) -> str:
        fit, run = map(sentences.epsilon, self.proved)
        return (
            f"Worst case over all people and data: ε = {fit} (fit), {run} (DP-SGD), slack δ = "
            f"{sentences.delta(self.delta)}; {sentences.ADJACENCY}; accounted by privacy loss distributions."
        )

    def moved(self, before: Self | None) -> str:
        """Why nothing is proved about the fit; or what was changed, what that did to ε, and why."""
        if why := self.fit.explain():
            return why
        if before is None or not (changes := sentences.changed(before, self, self.named)):
            return ""
        courses = [
            sentences.course(f"ε of {'the fit' if which == 'objective' else 'DP-SGD'}", old, new)
            for (which, names), old, new in zip(_OF.items(), before.proved, self.proved, strict=True)
            if any(name in names for name, *_ in changes)
        ]
        shift, (name, old, new) = sentences.shift(changes), changes[0]
        if len(changes) > 1 or name not in _REASONS:
            return f"{shift}: {', '.join(courses)}." if len(changes) <= 2 else f"{', '.join(courses)}."
        reason = _REASONS[name][new < old]
        return f"{shift}: {courses[0]}: {'the change does not matter here' if 'stays' in courses[0] else reason}."

    def shows(self) -> str:
        leap = (
            f" DP-SGD’s curve leaves its amplified line at α = {landmarks.order(self.leap.start)}." if self.leap else ""
        )
        return (
            "Rényi divergence ε against order α, both logarithmic, for objective perturbation, the Gaussian mechanism "
            f"with the same noise and DP-SGD: {landmarks.crossings_told(self.crossings)}.{leap}"
        )

    def svg_title(self) -> str:
        return f"Rényi curves of one fit and of DP-SGD, {self}"

    def note(self) -> str:
        rare = landmarks.rare(landmarks.turns(self.fit, self.run), self.crossings)
        return f"{landmarks.transition_told(self.leap, self.sample_rate)} {rare}"

    def table(self) -> list[dict[str, str]]:
        rows = []
        for which, name in self.names(self.allocated).items():
            renyi, exact = self.epsilon_at(which, self.delta)
            rows.append(
                {
                    "Mechanism": name,
                    f"ε at δ = {sentences.delta(self.delta)}, Rényi": sentences.proved(renyi),
                    "privacy loss distribution": sentences.proved(exact),
                    "Rényi / distribution": sentences.ratio(renyi / exact if exact > 0 else math.nan),
                    "Even odds become at most": sentences.odds(exact),
                }
            )
        return rows

    def numbers(self) -> dict[str, Any]:
        """One column for α, one for each curve, and the two lines DP-SGD moves between."""
        columns = {"alpha": ORDERS} | {f"rdp_{which}": curve(which, self) for which in NAMES}
        return columns | {"dpsgd_amplified": amplified(self), "dpsgd_unamplified": unamplified(self)}

    def blanks(self) -> dict[str, Any]:
        whole = {"steps": round(self.steps), "epoch": self.per_epoch, "epochs": self.epochs}
        smoothness = self.smoothness if self.bound == "glm" else None
        return {**super().blanks(), **whole, "bound": self.bound, "smoothness": smoothness}

    def code(self) -> str:
        code = super().code().replace(", smoothness=None", "")
        return code if "allocation" in self.names(self.allocated) else re.sub(r' +"allocation": .*\n', "", code)

    def scaled(self, values: FloatArray, setting: Setting, alpha: FloatArray = ORDERS) -> FloatArray:
        """A curve as it is drawn: itself, or over the Gaussian mechanism's with the noise of the setting's fit."""
        return values if self.axis == SHOWN.default else values / setting.mechanism("gaussian").rdp(alpha)

    def chart(self, before: Setting | None, *, height: int = 400) -> Any:
        relative, visible = self.axis != SHOWN.default, self.alpha_max >= ORDERS
        x = ORDERS[visible]

        def drawn(which: str, setting: Setting) -> FloatArray:
            return self.scaled(curve(which, setting), setting)[visible]

        shown = [figures.finite(drawn(which, self)) for which in NAMES]
        bottom, top = figures.decades(*shown)
        if relative:
            bottom, top = min(0.5, bottom) if np.nanmin(shown) < 0.5 else 0.5, 20.0
        traces = []
        for name, line, dash in ((AMPLIFIED, amplified(self), "dot"), (UNAMPLIFIED, unamplified(self), "dash")):
            look = {"color": figures.ROLES["guide"].color, "width": 1.5, "dash": dash}
            values = self.scaled(line, self)[visible]
            traces.append(figures.series(name, x, values, "guide", line=look, hoverinfo="skip"))
        leap = self.leap
        marks = [("crossing", crossing.alpha, crossing.height, "x") for crossing in self.crossings]
        if leap and leap.start <= self.alpha_max:
            foot = float(self.scaled(np.array([leap.height]), self, np.array([leap.start]))[0])
            traces.append(figures.guide((leap.start, leap.start), (foot, top)))  # below it, the crossing's name is read
            marks.append(("leap", leap.start, leap.height, "diamond"))

        def role(which: str, setting: Setting) -> str:
            return setting.role(which)

        traces = figures.curves(SHORT, x, drawn, self, before, between=traces, role=role, hover=HOVER)
        for name, alpha, epsilon, symbol in marks:
            if alpha <= self.alpha_max:
                y = self.scaled(np.array([epsilon]), self, np.array([alpha]))
                traces.append(_mark(f"{name}, α = {landmarks.order(alpha)}", alpha, float(y[0]), symbol))
        xaxis = figures.axis("Rényi order α", (1.0, self.alpha_max), log=True, hoverformat=".4g")
        yaxis = figures.axis("ε(α) / Gaussian’s" if relative else "Rényi divergence ε(α)", (bottom, top), log=True)
        return figures.figure(traces, xaxis, yaxis, height=height)

    def evidence(self, picture: page.Picture) -> None:
        rows = self.table()
        page.table(rows, alt=f"ε at δ = {sentences.delta(self.delta)} of the mechanisms, accounted both ways")
        page.evidence(picture, shown=rows, name=self.name)

    def below(self, before: Self | None) -> None:
        """The second chart, with random allocation on request; then the lines of Python, which are about both."""
        st.header("What the curves promise: ε at every δ", anchor=False)
        now = replace(self, allocated=ALLOCATED.show())
        Promises(now, now.delta, now.allocated).show()
        page.reproduce(now.code(), name=self.name)

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        super().show(left, ghost=ghost)
        if style.embedded():
            page.keep(ALLOCATED)


def _mark(name: str, x: float, y: float, symbol: str) -> dict[str, Any]:
    """A mark that says by itself what it is."""
    look = {"symbol": symbol, "size": 13, "color": figures.ROLES["guide"].color}
    mark = figures.series(name, [x], [y], "guide", mode="markers+text", marker=look, hoverinfo="skip", showlegend=False)
    return mark | {"text": [name], "textposition": "bottom right" if symbol == "x" else "top left"}
