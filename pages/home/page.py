"""Home: what ε is, objective perturbation in one picture, and the way to the other pages."""

import streamlit as st

from pages.home import doors, gauge
from pages.home.pair import CONTROLS, DELTA, DRAW, DRAWS, FIT, LAM, PERSON, PRESETS, SIGMA
from pages.home.release import FIRST_QUESTION, SECOND_QUESTION, Release
from ui import page, style
from ui.controls import preset_buttons

# Somebody who asked for less motion is not offered any; "Draw another b" shows one still picture after another.
STYLE = "@media (prefers-reduced-motion: reduce) { .js-plotly-plot .menulayer { display: none; } }"


def next_draw() -> None:
    st.session_state[DRAW.key] = DRAW.stored(DRAW.value() % DRAWS + 1)


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="home")
    left, panel = page.columns()
    with panel:
        SIGMA.show()
        LAM.show()
        st.button("Draw another b", key="home_another", icon=":material/casino:", on_click=next_draw)
        PERSON.show()
        with page.tools(CONTROLS, PRESETS, name="home"):
            for control in (DELTA, DRAW, FIT):
                control.show()
    with page.errors():
        release = Release.now()
        if not style.embedded():
            st.html(gauge.gauge(release.guess, release.epsilon, release.delta))
        release.show(left)


page.begin(
    "home",
    "**ε limits how far a release can shift the odds that you took part.** Random noise keeps ε small.",
)
st.html(f"<style>{STYLE}{gauge.STYLE}{doors.STYLE}{doors.CARDS_STYLE}</style>")
doors.show()
explore()
page.predict(FIRST_QUESTION, key="home__try")
page.predict(SECOND_QUESTION, key="home__try_lambda", on_slide=False)
page.about("home")
doors.show_cards()
