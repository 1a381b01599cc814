"""An example on the screen: fitted whenever a control moves, with the release before as its ghost."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.own import example, release, take_away
from pages.own.controls import GHOST
from pages.own.jobs import Made
from ui import page, sentences, style
from ui.controls import previous

SEEDED = "The example’s noise has a fixed seed, so everybody sees the same model. Do not publish this model."
TYPED_FOR_YOU = (
    "These values are public, because the code that makes the table is public. For your own file every field starts "
    "empty, and you type the values."
)
FIT_NOTE = "These lines fit a model to `table.csv` by `schema.json`, both from this page, and print the coefficients."


def show(left: DeltaGenerator, name: str, epsilon: float, delta: float, also: tuple[str, ...]) -> None:
    """The fit, and below it what is public about the columns."""
    made, table = example.fitted(name, epsilon, delta, also), example.EXAMPLES[name]
    asked = previous("own", (name, epsilon, delta, also))
    before = example.fitted(*asked) if asked else None
    picture = release.picture(made, before if GHOST.value() else None)
    with left:
        answer = f"One fit to {table.name} at ε = {sentences.epsilon(epsilon)}: {release.told(made)}"
        page.answer(answer, promise=release.promise(made), why=moved(before, made))
        page.show(picture, key="own_chart")
    if style.embedded():
        return
    st.caption(SEEDED)
    release.caution(made)
    release.scores(made)
    page.evidence(picture, release.table(made), name="own", code=release.fit_code(made.ask), note=FIT_NOTE)
    st.header("What is public about the columns", anchor=False)
    st.caption(TYPED_FOR_YOU)
    page.table(table.columns(), alt="What is public about the example’s columns.", name="own_columns")
    with st.container(horizontal=True):
        page.download("Table as CSV", partial(example.content, name), "table.csv", "table", key="own_table_csv")
        take_away.release_files(made)
        take_away.other_files(made)
    take_away.python(made)


def moved(before: Made | None, made: Made) -> str:
    """What another ε or δ did to the noise of the fit."""
    if before is None or before.ask.text != made.ask.text:
        return ""
    changes = sentences.changed(before.ask, made.ask, {"epsilon": "ε", "delta": "δ"})
    sigma, sigma_before = (float(release.certificate(fit).sigma) for fit in (made, before))
    course = sentences.course("the noise σ", sigma_before, sigma, sentences.number)
    return f"{sentences.shift(changes)}: {course}." if changes else ""
