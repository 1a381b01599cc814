"""The price of tuning (Redberg et al. 2023, section 5): what a choice among settings costs, in ε and in accuracy."""

from collections.abc import Sequence

import streamlit as st

from pages.tuning import trained
from pages.tuning.afford import OBJECTIVE_PERTURBATION
from pages.tuning.numbers import CONTROLS, GENERAL, GHOST, PRICE, RUNS, SEARCH, SEARCH_CONTROLS, SHOW, TRAINED
from pages.tuning.price import Price
from pages.tuning.searched import Searched
from ui import page, style
from ui.controls import Preset, preset_buttons, presets
from ui.view import Pictures, View

HELD = ("kind", "by", "epsilon", "sample_rate", "steps", "delta", "settings", "family", "more", "renyi")
PRESETS = presets("tuning", (SHOW, *(CONTROLS[field] for field in HELD)))
SEARCHES = presets("tuning", (SHOW, *SEARCH_CONTROLS.values()), "searches")


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


LINKED = tuple(dict.fromkeys((SHOW, *CONTROLS.values(), GHOST, *trained.CONTROLS, *SEARCH_CONTROLS.values())))
PICTURE = Tuned("tuning", {PRICE: Price}, ghost=GHOST, linked=LINKED)
INSIDE = Pictures("tuning", {SEARCH: Searched}, linked=LINKED)
ALL = (*PRESETS, *trained.PRESETS, *SEARCHES)
OWN = {PRICE: PRESETS, TRAINED: trained.PRESETS, SEARCH: SEARCHES}


def explore() -> None:
    place = st.container()
    left, panel = page.columns()
    with panel:
        shown = page.choose(SHOW)
    with place:
        preset_buttons(ALL if style.embedded() else OWN[shown], prefix="tuning")
    if shown == TRAINED:
        page.keep(*(control for control in LINKED if control not in (SHOW, *trained.CONTROLS)))
        trained.draw(left, panel, LINKED, ALL)
        return
    pictures = INSIDE if shown == SEARCH else PICTURE
    with panel, page.errors():
        view = pictures.panel(ALL)
    drawn = (SHOW, *view.controls.values(), *view.in_view(pictures.ghost))
    page.keep(*(control for control in LINKED if control not in drawn))
    with page.errors():
        view.now().show(left, ghost=GHOST.value())
    if not style.embedded() and shown == PRICE:
        st.markdown(OBJECTIVE_PERTURBATION)


page.begin("tuning", "Each setting that you try looks at the data once more. The choice costs ε, or accuracy.")
with page.errors():
    trained.RUNS.follow(explore)
page.see_also("training", "what one fit without tuning reaches")
page.predict(page.Prediction.of("tuning", revealed), key="tuning__try")
page.predict(page.Prediction.of("tuning", text="judges"), key="tuning__judges", on_slide=False)
page.about("tuning")
