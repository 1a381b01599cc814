"""Quadratic objective perturbation (Cortild and Cartis 2026): what a random curvature hides, and what it does not."""

from typing import Any

import streamlit as st

from pages.quadratic.bowls import Bowls
from pages.quadratic.controls import EVERY, GAUSSIAN, GHOST, SEED
from pages.quadratic.heat import Heat
from pages.quadratic.kappa import Kappa
from pages.quadratic.labels import Labels
from pages.quadratic.matter import Matter
from pages.quadratic.profile import Profile
from pages.quadratic.regressions import Regressions
from pages.quadratic.spectrum import Spectrum
from ui import controls as c
from ui import page
from ui.view import View

VIEWS: dict[str, type[View]] = {
    "bowls": Bowls,
    "spectrum": Spectrum,
    "profile": Profile,
    "kappa": Kappa,
    "matter": Matter,
    "regression": Regressions,
    "labels": Labels,
    "heat": Heat,
}
VIEW = c.Choice("quadratic_view", "Picture", "bowls", tuple(VIEWS), lambda view: VIEWS[view].title)
SWITCHES = {GAUSSIAN: ("profile",), EVERY: ("kappa",), GHOST: ("bowls", "spectrum", "profile", "labels")}
MOVED = tuple(dict.fromkeys(control for view in VIEWS.values() for control in view.controls.values()))
CONTROLS = (VIEW, *MOVED, *SWITCHES)


def preset(name: str, hint: str, view: str, **values: Any) -> c.Preset:
    controls = {control.key.removeprefix("quadratic_"): control for control in CONTROLS}
    first = {control: control.default for control in CONTROLS if control is not GHOST}
    return c.Preset(name, first | {VIEW: view} | {controls[key]: value for key, value in values.items()}, hint)


PRESETS = (
    preset("Every bound is above 1", "Figure 1, left: the least bound on the risk, exact solver.", "heat", delta=1e-4),
    preset("An inexact solver", "Figure 1, right: the same for τ = η = 0.001.", "heat", delta=1e-4, panel="inexact"),
    preset(
        "The anchor does as well",
        "Figure 2: the risk against the box, ε = 0.5, δ = 0.01.",
        "kappa",
        epsilon=0.5,
        delta=1e-2,
    ),
    preset("Where data matter", "n = 100,000: here noise that is too large costs something.", "matter"),
    preset(
        "δ has a floor",
        "The calibrated bend beside the Gaussian mechanism of the same (ε, δ).",
        "profile",
        by="exact",
        gaussian=True,
    ),
    preset("Two records disagree", "One label is off: the bend’s promise breaks.", "labels", n=1000),
)


def panel() -> str:
    """The controls of one picture; the others keep their place in the address."""
    name = page.choose(VIEW)
    view = VIEWS[name]
    own = tuple(view.controls.values())
    for control in own:
        if control not in view.aside:
            control.show()
    if SEED in own:
        st.button("Draw again", key="quadratic_again", icon=":material/casino:", on_click=another)
    live = [switch for switch, views in SWITCHES.items() if name in views]
    hidden = [*(control for control in own if control in view.aside), *live]
    with page.tools(CONTROLS, PRESETS, name="quadratic"):
        for control in hidden:
            control.show()
        if not hidden:
            st.caption("This picture has all its controls in sight.")
    if unseen := [control for control in (*MOVED, *SWITCHES) if control not in (*own, *live)]:
        page.keep(*unseen)
    return name


def another() -> None:
    """Move on to the next seed."""
    st.session_state[SEED.key] = SEED.stored((SEED.value() + 1) % (SEED.high + 1))


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="quadratic")
    left, right = page.columns()
    with right, page.errors():
        name = panel()
    with page.errors():
        VIEWS[name].now().show(left, ghost=GHOST.value())


page.begin(
    "quadratic",
    "A tilt adds a random slope to the objective. A bend adds a random curvature around an anchor θ* that suits every "
    "record.",
)
explore()
page.see_also("bounds", "what a tilt costs")
page.predict(page.Prediction.of("quadratic"), key="quadratic__try")
page.about("quadratic")
