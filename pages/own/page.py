"""Your own data: a private fit to a table that somebody hands in, by what that person types about its columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.estimators import own_table
from pages.own import charts, editor, example, jobs, ledger, snippets, upload
from pages.own import words as text
from ui import controls as c
from ui import page, parameters, sentences, style
from ui.jobs import JobView
from ui.runs import Runs, Seen, ended_early, stage

RUNS: Runs[jobs.Outcome] = Runs("own")
TWO, NUMBER, OWN = "two", "number", "own"
NAMES = {TWO: "example: two values", NUMBER: "example: a number", OWN: "your own file"}
TABLE = c.Choice("own_table", "Table", TWO, options=tuple(NAMES), format=NAMES.__getitem__)
EPSILON = parameters.epsilon("own", 1.0)
DELTA = parameters.delta("own")
GHOST = parameters.ghost("own", "release")
CONTROLS = (TABLE, EPSILON, DELTA, GHOST)
USUAL: dict[c.Control, Any] = {TABLE: TWO, EPSILON: 1.0, DELTA: 1e-5}
PRESETS = (
    c.Preset("An example: two values", USUAL, "Who repays a loan? 2,000 invented people."),
    c.Preset("An example: a number", USUAL | {TABLE: NUMBER}, "What does a flat cost a month? 2,000 invented flats."),
    c.Preset("Ten times the privacy", USUAL | {EPSILON: 0.1}, "What a tenth of the ε does to the coefficients."),
    c.Preset("Your own file", USUAL | {TABLE: OWN}, "Hand in a table and type what is public about it."),
)
_RELEASES, _COUNTED, _SPENT = "own__releases", "own__counted", "own__spent"


def explore() -> None:
    """Presets, stage and panel in one fragment, and all that moves with them below; it polls while a fit is made."""
    c.preset_buttons(PRESETS, prefix="own")
    left, panel = page.columns()
    with panel:
        table, epsilon, delta = TABLE.show(), EPSILON.show(), DELTA.show()
        place = st.container()
        with page.tools(CONTROLS, PRESETS, name="own"):
            GHOST.show()
    if table == OWN:
        with quietly():
            own(left, place, epsilon, delta)
    else:
        upload.leave()
        shown(left, table, epsilon, delta)


@contextmanager
def quietly() -> Iterator[None]:
    """Whatever is raised inside becomes one sentence and is not logged: it may hold names or values of a table."""
    try:
        yield
    except ValueError as error:
        st.error(sentences.sentence(str(error)), icon=":material/error:")
    except Exception as error:
        st.error(f"Something unexpected went wrong ({type(error).__name__}).", icon=":material/error:")


# --- the examples -----------------------------------------------------------------------------------------------------


def shown(left: DeltaGenerator, name: str, epsilon: float, delta: float) -> None:
    """An example, fitted whenever a control moves."""
    with page.errors():
        made = example.fitted(name, epsilon, delta)
        asked = c.previous("own", (name, epsilon, delta))
        before = example.fitted(*asked) if asked else None
        picture = charts.coefficients(made, before if GHOST.value() else None)
        with left:
            why = text.example_why(before, made)
            page.answer(text.example_answer(made, example.EXAMPLES[name].name), promise=text.promise(made), why=why)
            page.show(picture, key="own_chart")
        if style.embedded():
            return
        st.caption(text.EXAMPLE)
        page.evidence(
            picture, text.table_rows(made), name="own", code=snippets.fit(made.ask), note=snippets.EXAMPLE_NOTE
        )
        st.header("What is public about the columns", anchor=False)
        st.caption(text.TYPED_FOR_YOU)
        alt = "What is public about the example’s columns."
        page.table(text.form_rows(example.EXAMPLES[name].lines), alt=alt, name="own_columns")
        with st.container(horizontal=True):
            page.download("Table as CSV", partial(example.content, name), "table.csv", "table", key="own_table_csv")
            take_away(made)
        use(made)


# --- somebody's own file ----------------------------------------------------------------------------------------------


def own(left: DeltaGenerator, place: DeltaGenerator, epsilon: float, delta: float) -> None:
    """A table that was handed in: what is typed about it, a fit when Fit is pressed, and what came of it."""
    releases: list[jobs.Made] = st.session_state.get(_RELEASES, [])
    if style.embedded():  # a wall is no place for a table
        with left:
            last = releases[-1].ask if releases else None
            stage_of(releases, last, "hand in a table", epsilon, delta)
        return
    with place:
        uploaded = upload.show()
        rows = st.number_input("Number of rows, if public", 1, 10_000_000, None, key="own__rows", help=text.ROWS_HELP)
        fit_here = st.container()
    released, below = st.container(), st.container()
    with below:
        st.header("What is public about the columns", anchor=False)
        st.caption(f"{text.WHY_EMPTY} {text.ONE_ROW}")
        known = editor.show(uploaded)
    ask = jobs.Ask(known.text, epsilon, delta, int(rows) if rows else None, dialect=known.dialect)
    collect()
    with fit_here:
        fit(ask, uploaded, known.step)
    releases = st.session_state.get(_RELEASES, [])
    with left:
        picture = stage_of(releases, ask, known.step, epsilon, delta)
    with released:
        st.caption(text.NOT_KEPT if releases else f"{text.STILL_EXAMPLE} {text.NOT_KEPT}")
        if releases:
            out(releases, picture, delta)


def fit(ask: jobs.Ask, uploaded: upload.Upload | None, step: str) -> None:
    """The button, how far a fit is, and how the last one ended."""
    ready = uploaded is not None and not step and not RUNS.active
    kind: Any = "primary" if ready else "secondary"  # the theme's letters cannot be read on a primary one that is off
    icon = ":material/lock:"
    pressed = st.button("Fit", type=kind, icon=icon, key="own_fit", disabled=not ready, width="stretch")
    if pressed and uploaded is not None:
        work = partial(jobs.fit, ask, jobs.Held(uploaded.content))
        if RUNS.start((ask, uploaded.number), work):
            st.rerun()
    if step:
        st.caption(sentences.sentence(f"Next: {step}"))
    seen = RUNS.look(progress, outcome, narrow=True)
    if seen is None or seen.latest is None or seen.run.request[1] != (uploaded.number if uploaded else ""):
        return
    if seen.latest.refused:
        st.error(sentences.sentence(seen.latest.refused), icon=":material/error:")
    elif seen.latest.made is not None:
        if seen.latest.made.notes:
            st.caption(" ".join([text.YOURS_ALONE, *map(sentences.sentence, seen.latest.made.notes)]))
        if moved := text.moved(seen.latest.made, ask):
            st.caption(moved)


def progress(seen: Seen[jobs.Outcome]) -> tuple[float, str]:
    return stage(seen.view, "Reading and fitting …", lambda _: (1.0, "Done"))


def outcome(view: JobView[jobs.Outcome]) -> str | None:
    if view.latest is not None and view.latest.made is not None:
        return None  # stopped too late: it is there, and counts
    return ended_early(view, "Stopped: nothing was released.")


def collect() -> None:
    """Add what the last fit released to the session's list, once."""
    seen = RUNS.seen()
    if seen is None or seen.latest is None or seen.latest.made is None:
        return
    if st.session_state.get(_COUNTED) is not seen.run.job:
        st.session_state[_COUNTED] = seen.run.job
        st.session_state.setdefault(_RELEASES, []).append(seen.latest.made)


def spent(releases: list[jobs.Made], delta: float) -> list[float]:
    """What the releases up to each one cost together; computed once for a δ."""
    at, known = st.session_state.get(_SPENT, (delta, []))
    totals = ledger.totals(releases, delta, known if at == delta else [])
    st.session_state[_SPENT] = delta, totals
    return totals


def stage_of(releases: list[jobs.Made], ask: jobs.Ask | None, step: str, epsilon: float, delta: float) -> page.Picture:
    """The last release; before the first, faintly, the example."""
    if not releases:
        told = [text.STILL_EXAMPLE] if style.embedded() else []  # else it stands below the picture
        page.answer(text.nothing_yet(step), promise=" ".join([text.NO_RELEASE, *told]))
        picture = charts.coefficients(example.fitted(TWO, epsilon, delta), stale=True)
        page.show(picture, key="own_chart")
        return picture
    together, last = spent(releases, delta)[-1], releases[-1]
    page.answer(
        text.answer(releases, together), promise=text.promise_of_all(releases, together, delta), why=text.largest(last)
    )
    before = releases[-2] if len(releases) > 1 and GHOST.value() else None
    picture = charts.coefficients(last, before, stale=not step and ask is not None and bool(text.moved(last, ask)))
    page.show(picture, key="own_chart")
    return picture


def out(releases: list[jobs.Made], picture: page.Picture, delta: float) -> None:
    """What was released, to take away, and what all of it costs."""
    last = releases[-1]
    page.evidence(picture, text.table_rows(last), name="own", code=snippets.fit(last.ask), note=snippets.FIT_NOTE)
    with st.container(horizontal=True):
        take_away(last)
    use(last)
    st.header("The releases of this session", anchor=False)
    rows = ledger.rows(releases, spent(releases, delta), delta)
    page.table(rows, alt="The releases of this session and what they cost together.", name="own_releases")
    st.caption(text.LEDGER)
    st.button("Other people’s data: start a new list", key="own_anew", on_click=anew, icon=":material/restart_alt:")


def anew() -> None:
    for key in (_RELEASES, _SPENT):
        st.session_state.pop(key, None)


def take_away(made: jobs.Made) -> None:
    """What may be published of a release, and the schema."""
    page.download("Model as JSON", partial(own_table.model_json, made), "model.json", "deployed_code", key="own_model")
    name = "certificate.json"
    page.download(
        "Certificate as JSON", partial(own_table.certificate_json, made), name, "verified_user", key="own_proof"
    )
    page.download("Schema as JSON", partial(own_table.schema_json, made), "schema.json", "list_alt", key="own_form")
    if own_table.skops_is_there():
        label, icon = "Model for scikit-learn (skops)", ":material/deployed_code:"
        make = partial(own_table.skops_file, made)
        mime = "application/octet-stream"
        st.download_button(label, make, "model.skops", mime, key="own_skops", on_click="ignore", icon=icon)
        page.download("Model card", partial(own_table.card_file, made), "README.md", "description", key="own_card")


def use(made: jobs.Made) -> None:
    """The lines of Python for new rows."""
    block = st.expander("Use the model in Python", icon=":material/code:", key="own_use", on_change="rerun")
    if block.open:
        with block:
            st.caption(f"{snippets.USE_NOTE} {text.NO_ACCURACY}")
            st.code(snippets.use(made.ask), language="python")


page.begin(
    "own",
    "A private fit to a table of your own. You type what is public about its columns; nothing is learned from the "
    "values but the model, and ε covers that.",
)
RUNS.follow(explore)
page.predict(page.Prediction.of("own", lambda: page.show(charts.ranges(), key="own_try_chart")), key="own__try")
page.about("own")
