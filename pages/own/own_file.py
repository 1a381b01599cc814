"""Somebody's own file: what is typed about it, a fit when Fit is pressed, and what came of it."""

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core import tables
from objpert_core.estimators import own_table
from pages.own import editor, example, jobs, ledger, release, upload
from pages.own.controls import GHOST, TWO
from ui import page, sentences, style
from ui.jobs import JobView
from ui.runs import Runs, Seen, ended_early, stage

RUNS: Runs[jobs.Outcome] = Runs("own")
_COUNTED = "own__counted"
TO_DO = "Type what is known without the table."
WHY_EMPTY = (
    "The page reads no range or category off the table. Such a range would reveal something about the people in the "
    "table, and no ε would cover this."
)
PER_ROW = "The promise is per row: people with several rows get less."
NOT_KEPT = (
    "Your table stays in this session’s memory. It is not stored, logged or put into the address. The server drops "
    "the table when you remove it, open an example or turn to another page, and about two minutes after you close this "
    "page."
)
NO_RELEASE = "Before the first release your table costs ε = 0."
EACH_FIT = "Each press of Fit is a separate release, and releases add up."
STILL_EXAMPLE = "Until you press Fit, the faint chart shows the example at this ε and δ."
YOURS_ALONE = "For your eyes only, outside of the certificate"
ONLY_YOU = "Only you should see this."
PLAN = "What Fit will do"
NO_PLAN = "Type the number of rows, if it is known without the table: rules go by it, and without it only Fit can tell."
FIT_NOTE = (
    "These lines read your file `table.csv` by `schema.json` from this page, and fit a model. Each run is a separate "
    "release and counts like a press of Fit."
)


def own(
    left: DeltaGenerator,
    place: DeltaGenerator,
    uploaded: upload.Upload | None,
    epsilon: float,
    delta: float,
    also: tuple[str, ...],
    model: str,
) -> None:
    """A table that was handed in."""
    if style.embedded():
        with left:
            releases = made_here()
            picture(releases, releases[-1].ask if releases else None, "upload a table", epsilon, delta)
        return
    collect()
    releases = made_here()
    above, under = left.container(), left.container()
    released, below = st.container(), st.container()
    waits = uploaded is not None and not releases  # its columns stand where its picture will be
    with under if waits else below:
        st.header("What is public about the columns", anchor=False, help=WHY_EMPTY)
        st.caption(TO_DO)
        known = editor.show(uploaded)
    ask = jobs.asked(known.text, epsilon, delta, also, rows=known.rows, dialect=known.dialect, model=model)
    with place:
        if known.text:
            release.rule(ask)
        press(ask, uploaded, known)
        if releases:
            with st.container(horizontal=True, gap="small"):
                release.model_files(releases[-1])
        told(ask, uploaded)
    with above:
        shown = None if waits else picture(releases, ask, known.step, epsilon, delta)
        if shown is None:
            nothing(known.step)
    with released:
        for caution in releases[-1].cautions if releases else ():
            st.warning(sentences.sentence(caution), icon=":material/info:")
        told_now = [] if releases else [EACH_FIT] if waits else [STILL_EXAMPLE, EACH_FIT]
        st.caption(" ".join([*told_now, PER_ROW, NOT_KEPT]))
        if shown is not None and releases:
            last = releases[-1]
            release.caution(last)
            release.scores(last)
            page.evidence(shown, release.table(last), name="own", code=release.fit_code(last.ask), note=FIT_NOTE)
            with st.container(horizontal=True):
                release.other_files(last)
            release.python(last)
            ledger.show(releases, delta)


def made_here() -> list[jobs.Made]:
    """The releases of this session."""
    releases: list[jobs.Made] = st.session_state.get(ledger.RELEASES, [])
    return releases


def press(ask: jobs.Ask, uploaded: upload.Upload | None, known: editor.Known) -> None:
    """The button, and what to do or to look at before it is pressed."""
    ready = uploaded is not None and not known.step and not RUNS.active
    kind: Any = "primary" if ready else "secondary"  # the theme's letters cannot be read on a primary one that is off
    icon = ":material/lock:"
    pressed = st.button("Fit", type=kind, icon=icon, key="own_fit", disabled=not ready, width="stretch")
    if pressed and uploaded is not None:
        work = partial(jobs.fit, ask, jobs.Held(uploaded.content))
        if RUNS.start((ask, uploaded.number), work):
            st.rerun()
    if known.step:
        st.caption(sentences.sentence(f"Next: {known.step}"))
        return
    plan(ask)
    if known.idle:
        have = "its line has" if len(known.idle) == 1 else "their lines have"
        st.caption(f"Fit leaves out {sentences.listing(known.idle)}, although {have} entries.")


def plan(ask: jobs.Ask) -> None:
    """What Fit will do, spend and release, by what was typed alone: the text that `objpert fit --plan` prints."""
    block = st.expander(PLAN, icon=":material/receipt_long:", key="own_plan", on_change="rerun")
    if not block.open:
        return
    with block:
        try:
            rows = own_table.plan(ask)
        except ValueError as problem:
            st.caption(NO_PLAN if ask.rows is None else sentences.sentence(str(problem)))
            return
        st.markdown("\n".join(f"* **{row['what']}**: {tables.unmarked(row['in words'])}" for row in rows))


def told(ask: jobs.Ask, uploaded: upload.Upload | None) -> None:
    """How far a fit is, and how the last one ended."""
    seen = RUNS.look(progress, outcome, narrow=True)
    if seen is None or seen.latest is None or seen.run.request[1] != (uploaded.number if uploaded else ""):
        return
    if seen.latest.refused and seen.run.request[0] == ask:  # of other entries it may not be true
        st.error(sentences.sentence(seen.latest.refused), icon=":material/error:")
    elif seen.latest.made is not None:
        if much := seen.latest.made.much_clipped:
            st.warning(" ".join([*map(sentences.sentence, much), ONLY_YOU]), icon=":material/visibility_lock:")
        if seen.latest.made.notes:
            with st.expander(YOURS_ALONE, icon=":material/visibility_lock:"):
                st.caption(" ".join(map(sentences.sentence, seen.latest.made.notes)))
        if since := changed(seen.latest.made, ask):
            st.caption(since)


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
        st.session_state.setdefault(ledger.RELEASES, []).append(seen.latest.made)


def changed(made: jobs.Made, ask: jobs.Ask) -> str:
    """How the controls differ from the release that is shown; empty where they do not."""
    changes = sentences.changed(made.ask, ask, {"epsilon": "ε", "delta": "δ", "rows": "number of rows"})
    parts = [sentences.shift(changes)] if changes else []
    parts += ["other columns or ranges"] if made.ask.text != ask.text else []
    also = [(one.test_share, one.intervals) for one in (made.ask, ask)]
    parts += ["something else released with the model"] if also[0] != also[1] else []
    decides = ask.model != own_table.BY_RULE or ask.rows is not None
    parts += ["another model"] if decides and ask.decided(ask.rows or 0).model != made.ask.model else []
    return f"The picture shows your last release. Since then: {' and '.join(parts)}." if parts else ""


def nothing(step: str) -> None:
    """The answer before the first release."""
    lines = [NO_RELEASE, EACH_FIT, STILL_EXAMPLE] if style.embedded() else [NO_RELEASE]  # else below the picture
    page.answer(
        f"Nothing about your table is released {'yet' if step else 'until you press Fit'}.", promise=" ".join(lines)
    )


def picture(releases: list[jobs.Made], ask: jobs.Ask | None, step: str, epsilon: float, delta: float) -> page.Picture:
    """The last release; before the first, faintly, the example."""
    if releases:
        last, together = releases[-1], ledger.spent(releases, delta)[-1]
        promise = ledger.promise(releases, together, delta)
        page.answer(ledger.answer(releases, together), promise=promise, why=release.told(last))
        before = releases[-2] if len(releases) > 1 and GHOST.value() else None
        stale = not step and ask is not None and bool(changed(last, ask))
        shown = release.picture(last, before, stale=stale)
    else:
        nothing(step)
        shown = release.picture(example.fitted(TWO, epsilon, delta), stale=True)
    page.show(shown, key="own_chart")
    return shown
