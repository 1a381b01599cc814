"""Rényi curves and DP-SGD (Figure 5 of Redberg et al. 2023): one fit against thousands of noisy steps."""

from collections.abc import Sequence
from dataclasses import astuple, replace

import streamlit as st

from pages.renyi import controls
from pages.renyi.controls import ALPHA_MAX, BETA, BOUND, FIGURE_5, GHOST, MATCH_EPSILON, READ_DELTA, Setting, rounds
from pages.renyi.curves import Curves
from pages.renyi.landmarks import order, transition
from ui import page, parameters
from ui.controls import Preset
from ui.view import Pictures, View


class Renyi(Pictures):
    """One picture, with a button that moves its controls."""

    def panel(self, presets: Sequence[Preset]) -> type[View]:
        for control in controls.IN_SIGHT:
            control.show()
        button = st.container()
        with page.tools(self.controls, presets, name=self.page):
            BOUND.show()
            BETA.show(disabled=BOUND.value() != BOUND.default)
            for control in controls.IN_VIEW:
                control.show()
        with button:
            controls.match_button()
        return Curves


PICTURES = Renyi("renyi", {"curves": Curves}, ghost=GHOST, linked=controls.LINKED)


def preset(name: str, setting: Setting, hint: str, *, epsilon: float = 1.0) -> Preset:
    values = parameters.in_order(tuple(controls.SETTING.values()), setting)
    return Preset(name, values | {READ_DELTA: 1e-5, MATCH_EPSILON: epsilon, ALPHA_MAX: 1e4}, hint)


MORE_ROUNDS = rounds(1000, noise=5.0, lam=20.0)
TIGHT = replace(FIGURE_5, proof="our theorem")
ADULT = controls.matched(replace(FIGURE_5, sample_rate=controls.ADULT_RATE, steps=controls.ADULT_STEPS), 1.0, 1e-5)
EARLY = controls.matched(replace(FIGURE_5, steps=1000.0), 2.0, 1e-5)
PRESETS = (
    preset("Figure 5", FIGURE_5, "Rarer events: one fit wins. n² steps at q = 1/n, n = 100; σ = 2.5, β = 1, λ = 20."),
    preset("Ten times the rows", MORE_ROUNDS, "A million steps at q = 1/1000; σ = 5 for both, β = 1, λ = 20."),
    preset("Our theorem: no price", TIGHT, "Figure 5 with our theorem: one person’s curvature costs nothing."),
    preset("Adult at ε = 1", ADULT, "DP-SGD on Adult: batches of 256, 60 epochs; both matched at ε = 1, δ = 10⁻⁵."),
    preset(
        "Little noise, early leap",
        EARLY,
        "1,000 steps at q = 1/100, both matched at ε = 2, δ = 10⁻⁵: little noise means an early phase transition.",
        epsilon=2.0,
    ),
)


def revealed() -> None:
    before, after = (Curves(*astuple(rounds(n, noise=5.0, lam=20.0))) for n in (100, 1000))
    page.show(page.Picture(after.chart(before, height=420), after.alt()), key="renyi_try_chart")
    leaps = " to ".join(order(leap.start) for leap in (transition(before.run), transition(after.run)) if leap)
    st.markdown(
        "For small α only steps·q² matters, and steps·q² is 1 for every n here. The leap comes when a batch that "
        "certainly has the person outweighs its rarity q, at about α = 2σ² log(1/q). Beyond the leap nothing is "
        "amplified, and the number of steps counts in full. So protection against very rare events gets worse with n, "
        "while protection against common events stays. "
        f"Here the leap moves from α = {leaps}; the faint lines show n = 100."
    )


page.begin("renyi", "Objective perturbation pays once, for one fit. DP-SGD pays a little in each of many steps.")
st.fragment(PICTURES.explore)(PRESETS)
page.predict(page.Prediction.of("renyi", revealed), key="renyi__try")
page.about("renyi")
