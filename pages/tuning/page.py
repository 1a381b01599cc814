"""The price of tuning (Redberg et al. 2023, section 5): what a choice among settings costs, in ε and in accuracy."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.tuning import trained, trained_controls
from pages.tuning.afford import OBJECTIVE_PERTURBATION
from pages.tuning.controls import CONTROLS, GHOST, PRICE, SHOW, TRAINED
from pages.tuning.numbers import GENERAL, OBJECTIVE, RUNS
from pages.tuning.price import Price
from ui import page, style
from ui.controls import Preset, preset_buttons
from ui.view import Pictures, View

HELD = ("kind", "by", "epsilon", "sample_rate", "steps", "delta", "settings", "family", "more", "renyi")


def preset(name: str, hint: str, **values: Any) -> Preset:
    """At first on the paper's setting."""
    held = {field: CONTROLS[field].default for field in HELD} | values
    return Preset(name, {SHOW: PRICE} | {CONTROLS[field]: value for field, value in held.items()}, hint)


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
    """The price in ε, beside only those controls of one run that matter."""

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


PICTURE = Tuned(
    "tuning", {PRICE: Price}, ghost=GHOST, linked=(SHOW, *CONTROLS.values(), GHOST, *trained_controls.CONTROLS)
)
ALL = (*PRESETS, *trained_controls.PRESETS)


def explore() -> None:
    place = st.container()
    left, panel = page.columns()
    with panel:
        shown = page.choose(SHOW)
    with place:
        own = trained_controls.PRESETS if shown == TRAINED else PRESETS
        preset_buttons(ALL if style.embedded() else own, prefix="tuning")
    if shown == TRAINED:
        page.keep(*CONTROLS.values(), GHOST)
        trained.draw(left, panel, PICTURE.controls, ALL)
        return
    with panel, page.errors():
        view = PICTURE.panel(ALL)
    page.keep(*trained_controls.CONTROLS)
    with page.errors():
        view.now().show(left, ghost=GHOST.value())
    if not style.embedded():
        st.markdown(OBJECTIVE_PERTURBATION)


page.begin("tuning", "Each setting that you try looks at the data once more. The choice costs ε, or accuracy.")
with page.errors():
    trained.RUNS.follow(explore)
page.see_also("training", "what one fit without tuning reaches")
page.predict(page.Prediction.of("tuning", revealed), key="tuning__try")
page.predict(page.Prediction.of("tuning", text="judges"), key="tuning__judges")
page.about("tuning")
