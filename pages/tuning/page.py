"""What tuning costs (Redberg et al. 2023, section 5): ε against the number of settings tried, paid in four ways."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.tuning.afford import OBJECTIVE_PERTURBATION
from pages.tuning.controls import CONTROLS, GHOST
from pages.tuning.numbers import GENERAL, OBJECTIVE, RUNS
from pages.tuning.price import Price
from ui import page
from ui.controls import Preset
from ui.view import Pictures, View

HELD = ("kind", "by", "epsilon", "sample_rate", "steps", "delta", "settings", "family", "more", "renyi")


def preset(name: str, hint: str, **values: Any) -> Preset:
    """At first on the paper's setting."""
    held = {field: CONTROLS[field].default for field in HELD} | values
    return Preset(name, {CONTROLS[field]: value for field, value in held.items()}, hint)


PAPERS = "Redberg et al. (2023), section 5, on Adult: 10 learning rates, K Poisson with Pr[K > 10] = 0.9."
WIDER = (
    "About as many runs on average, but spread more widely. Costs less, but half the time there are fewer runs than "
    "settings."
)
NOTHING = "Objective perturbation with σ and λ computed from ε and δ: one setting."
PRESETS = (
    preset("Ten trials are not free", PAPERS),
    preset("A wider K costs less", WIDER, family="geometric", more=0.5),
    preset("Three settings: compose", "So few settings that composing every run is the cheaper proof.", settings=3),
    preset("Tighter accountants", "The paper’s setting by privacy loss distributions.", renyi=False),
    preset("Nothing to choose", NOTHING, kind=OBJECTIVE, settings=1, renyi=False),
)


class Tuned(Pictures):
    """The page's picture, beside only those controls of one run that matter."""

    def panel(self, presets: Sequence[Preset]) -> type[View]:
        """Draw the controls; which of them describe one run is chosen in "View", below where they stand."""
        CONTROLS["settings"].show()
        first = st.container()
        family, _, kind = (CONTROLS[field].show() for field in ("family", "more", "kind"))
        with page.tools(self.controls, presets, name="tuning"):
            _, (budget, *details) = RUNS[kind, CONTROLS["by"].show()]
            for field in (*details, *(("eta",) if family == GENERAL else ()), "delta", "renyi"):
                CONTROLS[field].show()
            GHOST.show()
        with first:
            CONTROLS[budget].show()
        return Price


def revealed() -> None:
    price = Price(settings=3)
    page.show(page.Picture(price.chart(None, height=380), price.alt()), key="tuning_try_chart")


page.begin(
    "tuning",
    "Each learning rate that you try looks at the data once more. Publishing the best model reveals something from "
    "every look. There are four ways to account for these looks: the first ignores them, and the others are proved.",
)
st.fragment(Tuned("tuning", {"price": Price}, ghost=GHOST).explore)(PRESETS)
st.markdown(OBJECTIVE_PERTURBATION)
page.see_also("training", "what one fit without tuning reaches")
page.predict(page.Prediction.of("tuning", revealed), key="tuning__try")
page.about("tuning")
