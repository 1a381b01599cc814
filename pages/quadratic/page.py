"""Quadratic objective perturbation (Cortild and Cartis 2026): what a random curvature hides, and what it does not."""

import streamlit as st

from pages.quadratic.bowls import Bowls
from pages.quadratic.controls import GHOST
from pages.quadratic.heat import Heat
from pages.quadratic.labels import Labels
from pages.quadratic.profile import Profile
from pages.quadratic.spectrum import Spectrum
from pages.quadratic.stored_view import Kappa, Matter, Regressions
from ui import page
from ui.controls import Choice
from ui.view import Pictures, View

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
VIEW = Choice("quadratic_view", "Picture", "bowls", tuple(VIEWS), lambda view: VIEWS[view].title)
PICTURES = Pictures("quadratic", VIEWS, VIEW, GHOST)


page.begin("quadratic", "A tilt adds a random slope to the objective, a bend adds a random curvature.")
st.fragment(PICTURES.explore)(PICTURES.presets)
page.see_also("bounds", "what a tilt costs")
page.predict(page.Prediction.of("quadratic"), key="quadratic__try")
page.about("quadratic")
