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
preset = PICTURES.preset

PRESETS = (
    preset("Every bound is above 1", "Figure 1, left: the least bound on the risk, exact solver.", "heat", delta=1e-4),
    preset(
        "An inexact solver",
        "Figure 1, right: the same bound where solver and anchor are off by τ = η = 0.001.",
        "heat",
        delta=1e-4,
        panel="inexact",
    ),
    preset(
        "The anchor does as well",
        "Figure 2: the risk against the box, ε = 0.5, δ = 0.01.",
        "kappa",
        epsilon=0.5,
        delta=1e-2,
    ),
    preset("Where data matter", "At n = 100,000 a proof that asks for too much noise costs accuracy.", "matter"),
    preset(
        "δ has a floor",
        "The calibrated bend next to the Gaussian mechanism of the same (ε, δ).",
        "profile",
        by="exact",
        gaussian=True,
    ),
    preset("Two records disagree", "One label is off: the bend’s promise breaks.", "labels", n=1000),
)


page.begin("quadratic", "A tilt adds a random slope to the objective, a bend adds a random curvature.")
st.fragment(PICTURES.explore)(PRESETS)
page.see_also("bounds", "what a tilt costs")
page.predict(page.Prediction.of("quadratic"), key="quadratic__try")
page.about("quadratic")
