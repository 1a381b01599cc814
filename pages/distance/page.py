"""Distance to optimality (Figure 4 of Redberg et al. 2023): how far a bound is from what any proof could show."""

import streamlit as st

from pages.distance.curves import ALPHA_MAX, EPS_MAX, GHOST, LARGE_SMALL, MECHANISM, SILENT, Distance, against_lam
from ui import page, parameters
from ui.bounds import Setting
from ui.controls import Preset
from ui.view import Pictures

PICTURES = Pictures("distance", {"curves": Distance}, ghost=GHOST)


def preset(name: str, setting: Setting, hint: str, eps_view: float) -> Preset:
    values = parameters.in_order(MECHANISM, setting) | {ALPHA_MAX: 10_000.0, EPS_MAX: eps_view}
    return Preset(name, values, f"{setting}. {hint}")


OURS = "The paper gives no numbers for this panel. These numbers show what the paper says about the panel."
BELOW = "Rows of norm 1, so β = 1/4, and λ below β: the 2023 theorem falls silent."
PRESETS = (
    preset("Figure 4a", Setting(10.0, 100.0, 1.0, 1.0), f"Both proofs are close: large σ, large λ. {OURS}", 1.0),
    preset("Figure 4b", LARGE_SMALL, f"Little λ weakens one proof: large σ, small λ. {OURS}", 2.0),
    preset("Figure 4c", Setting(1.0, 100.0, 1.0, 1.0), f"Little noise (small σ), large λ. {OURS}", 10.0),
    preset("Figure 4d", Setting(1.0, 2.0, 1.0, 1.0), f"With little noise λ matters less: small σ, λ. {OURS}", 10.0),
    preset("One proof falls silent", SILENT, BELOW, 2.0),
)


def revealed() -> None:
    page.show(against_lam(10.0, 1e-5), key="distance_try_chart")


page.begin("distance", "No proof can go below the Gaussian mechanism with the same noise. How close is a proof to it?")
st.fragment(PICTURES.explore)(PRESETS)
page.predict(page.Prediction.of("distance", revealed), key="distance__try")
page.about("distance")
