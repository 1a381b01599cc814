"""Bounds (Figure 1 of Redberg et al. 2023): one fit under every bound, as its profile or as an attacker's errors."""

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from pages.bounds import controls, picture
from pages.bounds.controls import ADDED, REPLACED, SEVERAL
from pages.bounds.errors import Errors
from pages.bounds.profile import Profile
from ui import page, parameters
from ui.bounds import Setting
from ui.controls import Preset
from ui.view import Pictures, View


class Together(Pictures):
    """Two pictures with the same controls: those that do not move the picture are disabled."""

    def panel(self, presets: Sequence[Preset]) -> type[View]:
        sigma, lam, *others = controls.MECHANISM
        sigma.show()
        lam.show()
        view = self.views[controls.SHOW.show()]
        own = (*view.controls.values(), *view.switches.values(), controls.GHOST)
        read, other = controls.READ_DELTA, controls.READ_RATE
        read, other = (other, read) if view is Errors else (read, other)
        read.show()
        several = controls.NEIGHBOURS.show() == SEVERAL
        if several:
            controls.ROWS.show()
        with page.tools(self.controls, presets, name="bounds"):
            for control in (*others, other, controls.READ_EPSILON, *self.switches):
                control.show(disabled=control not in own)
            with suppress(ValueError):  # which the picture says
                view.beside_axes()
        if not several:
            page.keep(controls.ROWS)
        return view


PICTURES = Together("bounds", {view.title: view for view in (Profile, Errors)}, controls.SHOW, controls.GHOST)


def preset(
    name: str,
    setting: Setting,
    hint: str,
    *,
    epsilon: float = 0.5,
    view: float = 2.0,
    whose: str = ADDED,
    rows: int = 2,
) -> Preset:
    at = {
        controls.READ_DELTA: 1e-5,
        controls.READ_EPSILON: epsilon,
        controls.EPS_MAX: view,
        controls.FLOOR: 1e-10,
        controls.NEIGHBOURS: whose,
        controls.ROWS: rows,
    }
    return Preset(name, parameters.in_order(controls.MECHANISM, setting) | at, hint)


PRESETS = (
    preset(
        "Figure 1, left", controls.FIGURE_1_LEFT, "Four proofs, a lower bound, one fit: σ = 5, β = 1, λ = 20, L = 1."
    ),
    preset("Figure 1, right", controls.FIGURE_1_RIGHT, "Smaller λ, wider gap: σ = 10, β = 1, λ = 5, L = 1."),
    preset(
        "Silent proofs",
        controls.BELOW_BETA,
        "Logistic loss on rows of norm 2 (β = 1), with λ = 0.9 below β. The 2023 theorem proves nothing; our "
        "theorem still holds.",
        epsilon=1.0,
        view=5.0,
    ),
    preset(
        "Our theorem at ε = 1",
        controls.OURS,
        "What the package picks for the logistic loss on rows of norm 1 at ε = 1, δ = 10⁻⁵.",
        epsilon=1.0,
    ),
    preset(
        "2023 theorem at ε = 1",
        controls.RECIPE,
        "What the paper’s recipe picks for the same promise: more noise and a larger λ.",
        epsilon=1.0,
    ),
    preset(
        "Replacing costs double",
        controls.FIGURE_1_LEFT,
        "Figure 1, left, where neighbours differ in the content of a row: twice the distance.",
        epsilon=1.0,
        view=3.0,
        whose=REPLACED,
    ),
    preset(
        "Four rows of one person",
        controls.OURS,
        "Noise for ε = 1 and one row. What does this noise promise somebody who has four rows?",
        epsilon=3.0,
        view=10.0,
        whose=SEVERAL,
        rows=4,
    ),
)


def revealed() -> None:
    silent = Profile(picture.Setting(**vars(controls.BELOW_BETA)), eps_max=5.0)
    page.show(page.Picture(silent.curves(None, height=380), silent.shows()), key="bounds_try_chart")


page.begin(
    "bounds",
    "A fit adds random noise to its objective. The curves are proofs about the same fit, and a lower bound for all "
    "of them.",
)
st.fragment(PICTURES.explore)(PRESETS)
page.predict(page.Prediction.of("bounds", revealed), key="bounds__try")
page.about("bounds")
