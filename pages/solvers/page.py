"""Solvers (Appendix F of Redberg et al. 2023): gradient norm against gradient evaluations, and cost against n."""

from typing import Any

import streamlit as st

from pages.solvers import growth
from pages.solvers.controls import COST, GHOST
from pages.solvers.descent import Descent
from ui import page
from ui.controls import Preset
from ui.view import Pictures

PICTURES = Pictures("solvers", {"descent": Descent}, ghost=GHOST)


def preset(name: str, hint: str, **values: Any) -> Preset:
    controls = {field: control for field, control in Descent.controls.items() if control is not COST}
    return Preset(name, {control: values.get(field, control.default) for field, control in controls.items()}, hint)


SMALL = "Little regularisation is harder to solve. Here are 100 rows instead of 500, to keep the page fast."
CURVED = "λ = 130 exceeds the largest curvature of all 500 rows, nβ = 125, so every solver is fast."
PRESETS = (
    preset("A fit at ε = 1", "Appendix F: λ and σ near those of ε = 1 on rows of norm 1, and redundant columns."),
    preset("Stop early, cheaper", "Stops at the gradient norm of the paper’s experiments, τ = 0.01.", tau=0.01),
    preset("More privacy is easier", "ε = 0.1: more regularisation.", lam=10.0, sigma=33.0),
    preset("Less privacy is harder", SMALL, rows=100, lam=0.056, sigma=0.62),
    preset("Diverse columns are easy", "The data cover every direction, so λ no longer decides.", columns="diverse"),
    preset("Large λ: all are fast", CURVED, lam=130.0),
)


def revealed() -> None:
    if shown := growth.stored(("gradient-descent", "accelerated", "sag"), "redundant"):
        page.show(page.Picture(shown.chart(height=380), shown.alt()), key="solvers_try_chart")


page.begin("solvers", "A fit may be released once the gradient of its objective is shorter than a threshold τ.")
st.fragment(PICTURES.explore)(PRESETS)
page.predict(page.Prediction.of("solvers", revealed), key="solvers__try")
page.about("solvers")
