"""Accuracy against privacy (Redberg et al. 2023, Figure 2, Tables 1 and 2): every learner, on stored runs and live."""

import streamlit as st

from objpert_core.experiments import indexed
from objpert_core.experiments.learners import DISHONEST_PLD, HONEST, TIGHT
from pages.accuracy import again, ahead, controls, reading, rows
from pages.accuracy.figure import Figure2, constants
from pages.accuracy.reading import Origin, Reading
from ui import page, style
from ui.controls import preset_buttons, previous

NO_RESULTS = (
    "This server has no stored results. Make them with `python -m benchmarks.experiments figure2 --dataset "
    "adult-synthetic` in the project’s folder, then reload this page. The last part of the page works without "
    "stored results."
)


@st.fragment
def body(keys: tuple[str, ...]) -> None:
    """Both parts of the page in one fragment, so that one link can hold the controls of both."""
    if keys:
        explore(controls.controls_of(keys))
    else:
        st.info(NO_RESULTS, icon=":material/inventory_2:")
        rows.draw(controls.ROWS_CONTROLS)


def explore(own: controls.Controls) -> None:
    """The stored runs, and under them the part about few and many rows."""
    offers = controls.presets(own)
    preset_buttons(offers, prefix="accuracy")
    left, panel = page.columns()
    with panel:
        epsilon, key, question = own.epsilon.show(), own.data.show(), controls.QUESTION.show()
        with st.popover("Compare methods", icon=":material/compare_arrows:", width="stretch"):
            methods = controls.SHOWN.show()
        with page.tools(own.linked, offers, name="accuracy"):
            view, with_paper, with_ghost = controls.VIEW.show(), controls.PAPER.show(), controls.GHOST.show()
    with page.errors():
        stored, live = indexed.load(key), again.made_now(key)
        at = previous("accuracy__setting", (key, epsilon))
        before = Reading(old, at[1]) if at and (old := indexed.load_or_none(at[0])) else None
        if question == controls.ORIGIN:
            Origin(stored, epsilon).show(left, before, ghost=with_ghost)
        else:
            earlier = previous("accuracy", key)
            faint = indexed.load_or_none(earlier) if with_ghost and earlier else None
            kind: type[Figure2] = Figure2
            if question == controls.AHEAD:
                kind, methods = ahead.Ahead, ahead.compared(Reading(stored, epsilon), methods)
            kind(stored, epsilon, methods, view, with_paper, faint, live).show(left, before)
        if not style.embedded():
            ahead.draw(Reading(stored, epsilon))
            reading.draw(stored)
            again.draw(stored, epsilon, own.again, own.trial, live)
    if style.embedded():
        page.keep(own.again, own.trial, *controls.ROWS_CONTROLS)
    else:
        rows.draw()


def revealed() -> None:
    """The stored curves of Adult that the question is about."""
    with page.errors():
        figure = Figure2(indexed.load("adult"), 0.1, (HONEST, DISHONEST_PLD, TIGHT), paper=False)
        page.show(page.Picture(figure.chart(), figure.alt()), key="accuracy_try_chart")


page.begin(
    "accuracy",
    "Logistic regression at the same (ε, δ): by objective perturbation (Algorithm 1), by DP-SGD and by others.",
)
stored_keys = controls.files()
body(stored_keys)
page.see_also("tuning", "why the paid curve is lower")
page.predict(page.Prediction.of("accuracy", revealed), key="accuracy__try")
page.about("accuracy", CONSTANT=constants(controls.constants(stored_keys)))
