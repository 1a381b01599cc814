"""Losses (Theorems E.2, E.3 and G.2 of Redberg et al. 2023): f and f_C, the fit, and no GLM structure."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages.losses.controls import DIMENSION, FIT, GHOST, LINKED, LOSS, LOSS_NAME, OWN, SHOW
from pages.losses.dimension import Dimension
from pages.losses.fit import Fit
from pages.losses.loss import Clipped
from ui import page
from ui.controls import Preset
from ui.view import Pictures, View


class Losses(Pictures):
    """Three pictures; the control of a loss's own constant is in sight where the loss has one."""

    def panel(self, presets: Sequence[Preset]) -> type[View]:
        view = self.views[SHOW.show()]
        shown = [control for control in view.controls.values() if control not in (*view.aside, *OWN.values())]
        for control in shown:
            control.show()
        if LOSS_NAME in shown and (constant := OWN.get(LOSS_NAME.value())):
            constant.show()
            shown.append(constant)
        with page.tools(self.controls, presets, name=self.page):
            for control in (*view.aside, GHOST):
                control.show()
            view.beside_axes()
        page.keep(*(control for control in self.controls if control not in (SHOW, GHOST, *shown, *view.aside)))
        return view


PICTURES = Losses("losses", {LOSS: Clipped, FIT: Fit, DIMENSION: Dimension}, SHOW, GHOST, LINKED)


def revealed() -> None:
    view = Clipped("squared", 1.0, 1.0, 0.5)
    figure = view.chart(replace(view, norm=1.0))
    page.show(page.Picture(figure, view.alt()), key="losses_try_chart")
    st.caption("The faint line is the clipped loss of a row of norm 1.")


page.begin("losses", "Privacy needs a limit on how hard one row can pull. Clipping sets the limit.")
st.fragment(PICTURES.explore)(PICTURES.presets)
page.predict(page.Prediction.of("losses", revealed), key="losses__try")
page.about("losses")
