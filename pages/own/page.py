"""Your own data: a private fit to a table that somebody hands in, by what that person types about its columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.own import example_view, upload
from pages.own.controls import ALSO, CONTROLS, DELTA, EPSILON, GHOST, HANDED_IN, OWN, PRESETS, TABLE
from pages.own.own_file import RUNS, own
from pages.own.ranges import revealed
from ui import page, sentences, style
from ui.controls import preset_buttons


@contextmanager
def quietly() -> Iterator[None]:
    """Whatever is raised inside becomes one sentence and is not logged: it may hold names or values of a table."""
    try:
        yield
    except ValueError as error:
        st.error(sentences.sentence(str(error)), icon=":material/error:")
    except Exception as error:
        st.error(f"An unexpected error occurred ({type(error).__name__}).", icon=":material/error:")


@quietly()
def explore() -> None:
    """Presets, stage and panel in one fragment, and all that moves with them below; it polls while a fit is made."""
    page.keep(TABLE)  # presets and the place for a file move it
    mine = TABLE.value() == OWN
    with st.popover("Examples") if mine and not style.embedded() else st.container():  # an example drops the file
        preset_buttons(PRESETS, prefix="own")
    left, panel = page.columns()
    with panel:
        uploaded = None if style.embedded() else upload.show(mine, HANDED_IN.apply)  # a wall is no place for a table
        epsilon, also = EPSILON.show(), ALSO.show()
        place = st.container()
        with page.tools(CONTROLS, PRESETS, name="own"):
            delta = DELTA.show()
            GHOST.show()
    if mine:
        own(left, place, uploaded, epsilon, delta, also)
    else:
        example_view.show(left, TABLE.value(), epsilon, delta, also)


page.begin(
    "own", "You type what is public about the columns. Only the model learns from the values, and ε covers the model."
)
RUNS.follow(explore)
page.predict(page.Prediction.of("own", revealed), key="own__try")
page.about("own")
