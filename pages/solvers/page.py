"""Solvers (Appendix F of Redberg et al. 2023): gradient norm against gradient evaluations, and cost against n."""

import streamlit as st

from pages.solvers import growth
from pages.solvers.controls import COST, GHOST
from pages.solvers.descent import Descent
from ui import page
from ui.controls import presets
from ui.view import Pictures

PICTURES = Pictures("solvers", {"descent": Descent}, ghost=GHOST)
PRESETS = presets("solvers", (control for control in Descent.controls.values() if control is not COST))


def revealed() -> None:
    if shown := growth.stored(("gradient-descent", "accelerated", "sag"), "redundant"):
        page.show(page.Picture(shown.chart(height=380), shown.alt()), key="solvers_try_chart")


page.begin("solvers", "A fit may be released once the gradient of its objective is shorter than a threshold τ.")
st.fragment(PICTURES.explore)(PRESETS)
page.predict(page.Prediction.of("solvers", revealed), key="solvers__try")
page.about("solvers")
