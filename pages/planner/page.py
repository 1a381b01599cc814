"""Choose σ and λ: which (σ, λ) meets a privacy target at the least cost (Redberg et al. 2023, appendix H)."""

import streamlit as st

from objpert_core.accounting import default_noise_ratio
from pages.planner import cost
from pages.planner.controls import ADULT, F_MAX, GHOST, LINKED, PAPER, SETTING
from pages.planner.frontier import Frontier
from ui import page
from ui.controls import Preset
from ui.view import Pictures

PICTURES = Pictures("planner", {"frontier": Frontier}, None, GHOST, LINKED)


def preset(name: str, hint: str, epsilon: float, bound: str, ratio: float, scaling: float) -> Preset:
    values = (epsilon, PAPER.delta, *ADULT, scaling, PAPER.norm, bound, ratio, 3.0)
    hint = f"{hint} Adult’s size: 45,222 rows, 105 features."
    return Preset(name, dict(zip((*SETTING, F_MAX), values, strict=True)), hint)


def ours(epsilon: float) -> Preset:
    f = default_noise_ratio("logistic", epsilon)
    hint = f"What the package takes at ε = {epsilon:g}: our theorem, f = {f:g}, s = 0.3."
    return preset(f"Our theorem at ε = {epsilon:g}", hint, epsilon, "logistic", f, 0.3)


RECIPE = "Redberg et al. (2023), section 5: Rényi, f = 1.3, a constant feature 1; ε = 1."
FORMULA = "f = 1 under our theorem: σ of the Gaussian mechanism, λ from one formula."
PRESETS = (
    preset("More noise, less λ", RECIPE, 1.0, "rdp", 1.3, 1.0),
    preset("No search: f = 1", FORMULA, 1.0, "logistic", 1.0, 1.0),
    *(ours(epsilon) for epsilon in (0.1, 1.0, 8.0)),
)


def revealed() -> None:
    shown = ("rdp", "logistic")
    picture = page.Picture(cost.chart(PAPER, shown, f_max=3.0), cost.alt(PAPER, None, shown))
    page.show(picture, key="planner_try_chart")


page.begin(
    "planner", "Little noise with much regularisation keeps the same promise as much noise with little regularisation."
)
st.fragment(PICTURES.explore)(PRESETS)
page.predict(page.Prediction.of("planner", revealed), key="planner__try")
page.about("planner")
