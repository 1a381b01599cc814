"""Your own data: a private fit to a table that somebody hands in, by what that person types about its columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.own import example_view, upload
from pages.own.controls import ALSO, CONTROLS, DELTA, EPSILON, GHOST, OWN, PRESETS, TABLE
from pages.own.own_file import RUNS, own
from pages.own.ranges import revealed
from ui import page, sentences
from ui.controls import preset_buttons


def explore() -> None:
    """Presets, stage and panel in one fragment, and all that moves with them below; it polls while a fit is made."""
    preset_buttons(PRESETS, prefix="own")
    left, panel = page.columns()
    with panel:
        table, epsilon, also = TABLE.show(), EPSILON.show(), ALSO.show()
        place = st.container()
        with page.tools(CONTROLS, PRESETS, name="own"):
            delta = DELTA.show()
            GHOST.show()
    if table == OWN:
        with quietly():
            own(left, place, epsilon, delta, also)
    else:
        upload.leave()
        with page.errors():
            example_view.show(left, table, epsilon, delta, also)


@contextmanager
def quietly() -> Iterator[None]:
    """Whatever is raised inside becomes one sentence and is not logged: it may hold names or values of a table."""
    try:
        yield
    except ValueError as error:
        st.error(sentences.sentence(str(error)), icon=":material/error:")
    except Exception as error:
        st.error(f"An unexpected error occurred ({type(error).__name__}).", icon=":material/error:")


page.begin(
    "own", "You type what is public about the columns. Only the model learns from the values, and ε covers the model."
)
RUNS.follow(explore)
page.predict(page.Prediction.of("own", revealed), key="own__try")
page.about("own")
