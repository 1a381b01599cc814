"""Accuracy against privacy (Redberg et al. 2023, Figure 2, Tables 1 and 2): every learner, on stored runs and live."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments import indexed, results, waterfall
from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import DISHONEST_LARGE, HONEST, NON_PRIVATE, TIGHT, UNPAID_STANDARDISED
from objpert_core.experiments.results import Run
from objpert_core.experiments.studies.subsampling import LearningCurve, Plan, learning_curve
from pages.accuracy import charts, contest, jobs, tables
from pages.accuracy import controls as chosen
from pages.accuracy import numbers as data
from pages.accuracy import rows_words as rows_text
from pages.accuracy import words as text
from ui import controls as c
from ui import page, runs, share, style
from ui import waterfall as steps
from ui.request import Meter

AGAIN: runs.Runs[Run] = runs.Runs("accuracy", "again")
ROWS: runs.Runs[LearningCurve] = runs.Runs("accuracy", "rows")


@st.fragment
def body(keys: tuple[str, ...]) -> None:
    """Both parts of the page in one fragment, so that one link can hold the controls of both."""
    if keys:
        explore(chosen.controls_of(keys))
    else:
        st.info(text.NO_RESULTS, icon=":material/inventory_2:")
        few_and_many(chosen.ROWS_CONTROLS)


def explore(controls: chosen.Controls) -> None:
    """The stored runs, and under them the part about few and many rows."""
    found = chosen.presets(controls)
    c.preset_buttons(found, prefix="accuracy")
    left, panel = page.columns()
    with panel:
        epsilon, key, question = controls.epsilon.show(), controls.data.show(), chosen.QUESTION.show()
        with st.popover("Compare methods", icon=":material/compare_arrows:", width="stretch"):
            methods = chosen.SHOWN.show()
        named = (
            controls.data,
            chosen.QUESTION,
            chosen.SHOWN,
            controls.epsilon,
            chosen.VIEW,
            chosen.PAPER,
            chosen.GHOST,
            controls.again,
            controls.trial,
        )
        with page.tools((*named, *chosen.ROWS_CONTROLS), found, name="accuracy"):
            view, with_paper, with_ghost = chosen.VIEW.show(), chosen.PAPER.show(), chosen.GHOST.show()
    with page.errors():
        stored = indexed.load(key)
        at = c.previous("accuracy__setting", (key, epsilon))
        then = (old, at[1]) if at and (old := indexed.load_or_none(at[0])) else None
        if question == text.ORIGIN:
            origin(left, stored, epsilon, then, ghost=with_ghost)
        else:
            earlier = c.previous("accuracy", key)
            faint = indexed.load_or_none(earlier) if with_ghost and earlier else None
            if question == text.AHEAD:
                methods, answer, why = data.ahead(stored, methods, epsilon), contest.ahead, contest.why
            else:
                answer, why = text.answer, text.why
            picture = page.Picture(
                charts.figure_2(
                    stored, methods, epsilon=epsilon, view=view, paper=with_paper, ghost=faint, live=made_now(key)
                ),
                text.alt(stored, methods, epsilon, faint),
                partial(tables.frame, stored, methods),
            )
            with left:
                said = answer(stored, epsilon), text.promise(stored, epsilon), why(then, stored, epsilon)
                page.answer(said[0], promise=said[1], why=said[2])
                page.show(picture, key="accuracy_chart")
            if not style.embedded():
                below(stored, methods, epsilon, picture, faint, with_paper)
        if not style.embedded():
            behind(stored, epsilon)
            again(stored, epsilon, controls)
    if style.embedded():
        page.keep(controls.again, controls.trial, *chosen.ROWS_CONTROLS)
    else:
        few_and_many()


def made_now(key: str) -> Run | None:
    """The point of this file that was run again here, if one was."""
    seen = AGAIN.seen()
    return seen.latest if seen and not seen.view.active and seen.run.request[1] == key else None


def origin(place: Any, stored: Stored, epsilon: float, then: tuple[Stored, float] | None, *, ghost: bool) -> None:
    """Where the accuracy comes from, one step after the other."""
    found = waterfall.of_stored(stored, epsilon)
    if found is None:
        with place:
            page.answer(text.no_chain(stored, epsilon))
        return
    before = waterfall.of_stored(*then) if then else None
    picture = steps.picture(found, levels(stored, epsilon), before if ghost else None)
    with place:
        page.answer(steps.answer(found), promise=text.promise(stored, epsilon), why=steps.why(before, found))
        page.show(picture, key="accuracy_waterfall")
    if style.embedded():
        return
    if note := text.stand_in_note(stored):
        st.info(note, icon=":material/info:")
    st.caption(steps.caption(found, "split"))
    name = f"accuracy_steps_{stored.key}"
    page.evidence(picture, steps.table(found), name=name, code=tables.waterfall_snippet(stored, epsilon))


def levels(stored: Stored, epsilon: float) -> list[steps.Level]:
    """Whom the steps are compared with."""
    names = {NON_PRIVATE: "no privacy", stored.rival(epsilon): "best unpaid DP-SGD"}
    names |= {UNPAID_STANDARDISED: "the same on standardised rows"}
    points = {method: stored.point(method, epsilon) for method in names if method}
    return [steps.Level(method, names[method], point.accuracy.mean) for method, point in points.items() if point]


def below(
    stored: Stored,
    methods: Sequence[str],
    epsilon: float,
    picture: page.Picture,
    ghost: Stored | None,
    with_paper: bool,
) -> None:
    """What stands under the stage: notes, table, files, and what the answer rests on."""
    for note in filter(None, (text.stand_in_note(stored), text.missing(stored, methods, epsilon))):
        st.info(note, icon=":material/info:")
    notes = (
        text.rival_note(stored, methods, epsilon),
        text.faint(ghost) if ghost else "",
        text.intervals(stored, methods),
        text.paper_note(stored) if with_paper else "",
        text.legend(stored.with_rival(methods, epsilon)),
    )
    st.caption(" ".join(filter(None, notes)))
    rows, code = tables.methods(stored, methods, epsilon), tables.snippet(stored, epsilon)
    page.evidence(picture, rows, name=f"accuracy_{stored.key}", code=code)


def bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"* {line}" for line in lines)


def behind(stored: Stored, epsilon: float) -> None:
    """What the answer rests on: the claim at every ε, and where the runs are from."""
    with st.expander("Which learner is ahead, at every ε", icon=":material/gavel:"):
        lines = (contest.verdict(stored, epsilon), contest.counter(stored, epsilon), contest.reached(stored, epsilon))
        st.markdown("\n\n".join(filter(None, lines)))
        st.markdown(contest.everywhere(stored) or "There is no ε with runs of both.")
        st.markdown(bullets(contest.variants(stored)))
        if rows := tables.every_epsilon(stored):
            page.table(rows, alt=contest.everywhere(stored) or None, name="accuracy_claim")
        st.caption(contest.CLAIM_NOTE)
    with st.expander("Where these numbers are from", icon=":material/history:"):
        st.markdown(bullets(text.provenance(stored)))
        page.table(text.configuration(stored), alt="How the runs were made.", name="accuracy_configuration")
        path = results.to_read(results.path_of(stored.key))
        page.download("Every run as CSV", path.read_bytes, path.name, "table_rows", key="accuracy_raw")


def again(stored: Stored, epsilon: float, controls: chosen.Controls) -> None:
    st.header("Run one point again", anchor=False)
    if not stored.known:
        st.caption(f"{stored.dataset} is no data set of this package.")
        return
    left, right = st.columns(2)
    with left:
        method = controls.again.show()
    with right:
        trial = controls.trial.show()
    target = indexed.target(method, epsilon)
    AGAIN.follow(one_point, stored, Piece(stored.dataset, method, target, trial, stored.parameters))


def offer(label: str, reason: str, does: str, **look: Any) -> bool:
    """The button that starts work, disabled for a reason, beside what it does; whether it was pressed."""
    button, words = st.columns([1, 3], vertical_alignment="center")
    words.caption(f"{reason or does} {text.linked(label)}")
    return button.button(label, disabled=bool(reason), width="stretch", **look)


def one_point(stored: Stored, point: Piece) -> None:
    """The button, the progress of what it started, and the stored run beside it."""

    def progress(seen: runs.Seen[Run]) -> tuple[float, str]:
        asked, _ = seen.run.request
        expected = stored.typical_seconds(asked.method, asked.epsilon)
        return text.point_progress(seen.view, seen.run.meter, expected)

    place = st.container()
    seen = AGAIN.look(progress, runs.ended_early)
    if seen and seen.view.active:
        return
    before = stored.run(point.method, point.epsilon, point.trial)
    expected = stored.typical_seconds(point.method, point.epsilon)
    reason = text.cannot_run(point.dataset, datasets.available(point.dataset), expected, jobs.LONGEST_SECONDS)
    with place:
        does = text.point_invitation(point, before, expected)
        if offer("Run this point", reason, does, key="accuracy_run", icon=":material/play_arrow:"):
            meter = Meter()
            AGAIN.start((point, stored.key), partial(jobs.again, point, meter), meter=meter)
            st.rerun()
    if seen is None or seen.latest is None:
        return
    if seen.run.request != (point, stored.key):
        st.info("What was run belongs to another point; press again for this one.", icon=":material/sync_problem:")
        return
    st.markdown(text.again(seen.latest, before))
    page.table(tables.again(seen.latest, before), alt=text.again(seen.latest, before), name="accuracy_point")
    page.reproduce(
        tables.point_snippet(point, stored.key), note="Prints the stored run and the one made anew.", name="point"
    )


def few_and_many(shared: Sequence[c.Control] = ()) -> None:
    """Accuracy on few and many rows; `shared` is what the link holds where there is no part above."""
    st.header("What does ε cost on 500, 5,000 or 50,000 rows?", anchor=False)
    st.markdown(
        "The noise stays the same; more people make the signal louder. The same promise, by Algorithm 1 with the tight "
        "bound, beside the model without privacy on the same rows."
    )
    left, panel = page.columns("rows")
    with panel:
        dataset, epsilon, draws, seed = (control.show() for control in chosen.ROWS_CONTROLS)
        if shared:
            share.button(shared)
    with left, page.errors():
        ROWS.follow(measured, Plan(dataset, epsilon, draws=draws, seed=seed))


def measured(plan: Plan) -> None:
    """The button, the progress of what it started, and the curve as far as it is."""
    place = st.container()
    seen = ROWS.look(lambda seen: rows_text.progress(seen.view), runs.ended_early)
    if not (seen and seen.view.active):
        reason = text.cannot_run(plan.dataset, datasets.available(plan.dataset), None, math.inf)
        look = {"key": "accuracy_measure", "type": "primary", "icon": ":material/science:"}
        with place:
            if offer("Measure", reason, rows_text.invitation(plan), **look):
                ROWS.start(plan, partial(learning_curve, plan))
                st.rerun()
    if seen is None:
        return
    if seen.run.request != plan:
        st.info("What is shown belongs to other settings; measure again.", icon=":material/sync_problem:")
    found = seen.latest
    if found is None or not (found.fits or found.complete):
        return
    st.markdown(f"**{rows_text.answer(found)}**")
    picture = page.Picture(charts.rows(found), rows_text.alt(found), partial(tables.rows_frame, found))
    if found.fits:
        page.show(picture, key="accuracy_rows_chart")
    st.caption(" ".join(rows_text.notes(found)))
    if found.fits:
        code = tables.rows_snippet(found.plan) if found.complete else ""
        page.evidence(picture, tables.row_sizes(found), name=f"accuracy_rows_{found.plan.dataset}", code=code)


def revealed() -> None:
    """The stored curves of Adult that the question is about."""
    methods = (HONEST, DISHONEST_LARGE, TIGHT)
    with page.errors():
        stored = indexed.load("adult")
        figure = charts.figure_2(stored, methods, epsilon=0.1, paper=False)
        page.show(page.Picture(figure, text.alt(stored, methods, 0.1)), key="accuracy_try_chart")


page.begin(
    "accuracy",
    "Logistic regression under the same (ε, δ) by Algorithm 1, DP-SGD and others: stored runs over several splits.",
)
stored_keys = data.files()
body(stored_keys)
page.see_also("tuning", "why the paid curve is lower")
page.predict(page.Prediction.of("accuracy", revealed), key="accuracy__try")
page.about("accuracy", CONSTANT=text.constants(data.constants(stored_keys)))
