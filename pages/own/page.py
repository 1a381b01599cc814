"""Your own data: a private fit to a table that somebody hands in, by what that person types about its columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core._validation import FloatArray
from objpert_core.datasets import Number
from pages.own import example, release, upload
from pages.own.controls import ALSO, CONTROLS, DELTA, EPSILON, GHOST, HANDED_IN, MODEL, OWN, PRESETS, TABLE
from pages.own.jobs import Made
from pages.own.own_file import RUNS, own
from ui import page, sentences, style
from ui.controls import preset_buttons, previous
from ui.figures import axis, figure, series

SEEDED = "The example’s noise has a fixed seed, so everybody sees the same model. Do not publish this model."
TYPED_FOR_YOU = (
    "These values are public, because the code that makes the table is public. For your own file every field starts "
    "empty, and you type the values."
)
FIT_NOTE = "These lines fit a model to `table.csv` by `schema.json`, both from this page, and print what it does."
RANGES = (
    "Each age becomes a feature from −1 to 1. The typed range, 0 to 120, gives one line. A range read off the table "
    "gives a steeper line, and an even steeper one without the 104-year-old."
)


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
        epsilon, also, model = EPSILON.show(), ALSO.show(), MODEL.show()
        place = st.container()
        with page.tools(CONTROLS, PRESETS, name="own"):
            delta = DELTA.show()
            GHOST.show()
    if mine:
        own(left, place, uploaded, epsilon, delta, also, model)
    else:
        with place:
            release.rule(example.asked(TABLE.value(), epsilon, delta, also, model))
        example_shown(left, TABLE.value(), epsilon, delta, also, model)


def example_shown(
    left: DeltaGenerator, name: str, epsilon: float, delta: float, also: tuple[str, ...], model: str
) -> None:
    """The fit, and below it what is public about the columns."""
    made, table = example.fitted(name, epsilon, delta, also, model), example.EXAMPLES[name]
    asked = previous("own", (name, epsilon, delta, also, model))
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
        release.model_files(made)
        release.other_files(made)
    release.python(made)


def moved(before: Made | None, made: Made) -> str:
    """What another ε or δ did to the noise of the fit."""
    if before is None or (before.ask.text, before.ask.model) != (made.ask.text, made.ask.model):
        return ""
    changes = sentences.changed(before.ask, made.ask, {"epsilon": "ε", "delta": "δ"})
    sigma, sigma_before = (float(release.certificate(fit).sigma) for fit in (made, before))
    course = sentences.course("the noise σ", sigma_before, sigma, sentences.number)
    return f"{sentences.shift(changes)}: {course}." if changes else ""


def revealed() -> None:
    ages = np.linspace(18.0, 104.0, 87)
    traces = [
        series("typed: 0 to 120", ages, _scaled(ages, 0, 120), "tight", hover="%{y:.2f}"),
        series("read off, with her", ages, _scaled(ages, 18, 104), "with", hover="%{y:.2f}"),
        series("read off, without her", ages, _scaled(ages, 18, 81), "without", hover="%{y:.2f}"),
    ]
    chart = figure(traces, axis("age", (15, 107)), axis("feature", (-1.1, 1.1)), height=360)
    page.show(page.Picture(chart, RANGES), key="own_try_chart")


def _scaled(ages: FloatArray, low: float, high: float) -> FloatArray:
    """What the reader makes of a number in this range."""
    known = Number(low, high)
    return np.clip((2 * ages - known.low - known.high) / (known.high - known.low), -1.0, 1.0)


page.begin("own", "You type what is public about the columns. Only the model learns from values, and ε covers it.")
RUNS.follow(explore)
page.predict(page.Prediction.of("own", revealed), key="own__try")
page.about("own")
