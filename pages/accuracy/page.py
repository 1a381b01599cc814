"""Accuracy against privacy (Redberg et al. 2023, Figure 2, Tables 1 and 2): every learner, on stored runs and live."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core import datasets
from objpert_core.experiments import results
from objpert_core.experiments.methods import EVERY, METHODS
from objpert_core.experiments.studies.subsampling import GENERATED, MAX_DRAWS, Plan
from pages.accuracy import charts as charts
from pages.accuracy import jobs as jobs
from pages.accuracy import numbers as data
from pages.accuracy import rows_words as rows_text
from pages.accuracy import tables as tables
from pages.accuracy import words as text
from ui import page
from ui.controls import (
    ROUND_STEPS,
    Choice,
    Control,
    Number,
    Pills,
    Preset,
    SelectSlider,
    Toggle,
    copy_link,
    log_values,
    preset_buttons,
    previous,
)
from ui.jobs import QueueFullError, shared_runner

POLL_SECONDS = 0.5
NAMES = tuple(EVERY)

SHOWN = Pills(
    "accuracy_methods",
    "Methods",
    data.USUAL,
    NAMES,
    format=text.LABELS.__getitem__,
    most=len(NAMES),
    help="Unpaid: the learning rate was chosen by looking at the data, and ε does not cover that. Paid: it does. "
    "The line “Names” under the chart explains the rest.",
)
VIEW = Choice(
    "accuracy_view",
    "View",
    charts.EVERYTHING,
    options=tuple(charts.VIEWS),
    help="small ε: up to 0.25; large ε: from 1; top: three points of accuracy below the best.",
)
PAPER = Toggle("accuracy_paper", "The paper’s numbers as hollow marks", True)
GHOST = Toggle("accuracy_ghost", "Keep the previous data set as a ghost", True)

ROWS_DATA = Choice(
    "accuracy_rows_data",
    "Data set",
    GENERATED[0],
    options=(*GENERATED, "adult"),
    help="The first two are drawn and can have any number of rows; adult has 36,177 training rows and no more.",
)
ROWS_EPSILON = SelectSlider(
    "accuracy_rows_epsilon",
    "Privacy budget ε",
    0.1,
    log_values(0.01, 20, extra=[0.025, 0.05, 0.25], steps=ROUND_STEPS),
    help="The same promise on every number of rows, at δ = 10⁻⁵.",
)
DRAWS = Number("accuracy_rows_draws", "Draws", 5, help="Of rows and noise.", low=1, high=MAX_DRAWS)
SEED = Number("accuracy_rows_seed", "First seed", 0, help="Draw i uses this seed plus i.", low=0, high=9999)
ROWS_CONTROLS = (ROWS_DATA, ROWS_EPSILON, DRAWS, SEED)


@dataclass(frozen=True)
class Controls:
    """The controls whose options are what the stored files hold."""

    data: Choice
    epsilon: SelectSlider
    again: Choice
    trial: Number

    @classmethod
    def of(cls, keys: tuple[str, ...]) -> "Controls":
        return cls(
            Choice("accuracy_data", "Data set", data.default_key(keys), options=keys),
            SelectSlider(
                "accuracy_epsilon",
                "Read at ε =",
                1.0,
                data.epsilons(keys),
                help="Where the answer and the table are read: every ε that some data set has. Not every data set has "
                "runs at each; the page says where one has none.",
            ),
            Choice("accuracy_again", "Method", "tight", options=NAMES, format=text.LABELS.__getitem__),
            Number("accuracy_trial", "Trial", 0, help="Its number is the seed of its split.", low=0, high=99),
        )

    def __iter__(self) -> Any:
        return iter((self.data, SHOWN, self.epsilon, VIEW, PAPER, GHOST, self.again, self.trial))


def presets(controls: Controls) -> list[Preset]:
    def preset(name: str, hint: str, **values: Any) -> Preset:
        asked = {SHOWN: data.USUAL, controls.epsilon: 1.0, VIEW: charts.EVERYTHING, PAPER: True}
        names: dict[str, Control] = {"dataset": controls.data, "methods": SHOWN, "view": VIEW, "paper": PAPER}
        names["epsilon"] = controls.epsilon
        return Preset(name, asked | {names[key]: value for key, value in values.items()}, hint)

    found = []
    for name, dataset in (("Figure 2: Adult", "adult"), ("Figure 2: Synthetic-L", "synthetic-l")):
        if dataset in controls.data.options:
            hint = (
                "The three methods of the paper’s Figure 2, ours and no privacy, beside the numbers that the paper "
                f"prints in its {data.PAPER_TABLE[dataset]}."
            )
            found.append(preset(name, hint, dataset=dataset, methods=data.PAPERS))
    small = "Where the noise is largest and the learners differ most."
    found.append(preset("Small ε", small, view=charts.SMALL, epsilon=0.1))
    found.append(preset("All methods", "Every learner that was run, at every ε.", methods=tuple(METHODS)))
    lucky = (
        "The same luck for both: for Algorithm 1 the best of as many noises as DP-SGD has learning rates, and for the "
        "rate that DP-SGD chose a fresh noise."
    )
    found.append(preset("The luck of choosing", lucky, methods=data.LUCK, view=charts.SMALL, epsilon=0.1, paper=False))
    margin = "The loss’s margin taken from Algorithm 1 and given to DP-SGD: what it is worth to either."
    found.append(preset("With and without the margin", margin, methods=data.MARGINS, epsilon=0.1, paper=False))
    return found


@st.fragment
def body(keys: tuple[str, ...]) -> None:
    """Both parts of the page in one fragment, so that one link can hold the controls of both."""
    controls = Controls.of(keys) if keys else None
    place = None
    if controls:
        place = explore(controls)
    else:
        st.info(text.no_results(), icon=":material/inventory_2:")
    place = few_and_many(place)
    with place:  # last: only now has every control its value
        copy_link((*(controls or ()), *ROWS_CONTROLS))


def explore(controls: Controls) -> DeltaGenerator:
    """The stored runs; returns where the page's link goes."""
    preset_buttons(presets(controls), prefix="accuracy")
    picture, panel = st.columns([2.6, 1], gap="medium")
    with panel:
        key, methods, epsilon = controls.data.show(), SHOWN.show(), controls.epsilon.show()
        view, paper, with_ghost = VIEW.show(), PAPER.show(), GHOST.show()
        place = st.container()
    before = previous("accuracy", key)
    latest: jobs.PointRun | None = st.session_state.get("accuracy__again")
    seen = latest.job.view() if latest else None  # once, so that chart, progress and timer agree
    with page.errors():
        stored = data.load(key)
        ghost = data.load_or_none(before) if with_ghost and before else None
        with picture:
            page.answer(text.answer(stored, epsilon), *text.details(stored, epsilon))
            for note in filter(None, (text.stand_in_note(stored), text.missing(stored, methods, epsilon))):
                st.info(note, icon=":material/info:")
            made = seen.latest if seen and latest and latest.key == key and not seen.active else None
            live = made.run if made else None
            chart = charts.figure_2(stored, methods, epsilon=epsilon, view=view, paper=paper, ghost=ghost, live=live)
            alt = text.alt(stored, methods, epsilon, ghost)
            page.chart(chart, key="accuracy_chart", alt=alt, filename="accuracy")
            st.caption(text.legend(stored.with_rival(methods, epsilon)))
            notes = (
                text.rival_note(stored, methods, epsilon),
                text.faint(ghost) if ghost else "",
                text.intervals(stored, methods),
                text.paper_note(stored) if paper else "",
            )
            st.caption(" ".join(filter(None, notes)))
            st.markdown(text.promise(stored, epsilon))
        numbers(stored, methods, epsilon, chart, alt)
        again(stored, epsilon, controls, active=bool(seen and seen.active))
    return place


def numbers(stored: data.Stored, methods: tuple[str, ...], epsilon: float, chart: Any, alt: str) -> None:
    if rows := tables.methods(stored, methods, epsilon):
        page.table(rows, alt=alt)
    name = f"accuracy_{stored.key}"
    page.downloads(partial(tables.frame, stored, methods), chart, filename=name, title=alt)
    with st.expander("The claim at every ε", icon=":material/gavel:"):
        st.markdown(text.everywhere(stored) or "There is no ε with runs of both.")
        st.markdown("\n".join(f"* {line}" for line in text.variants(stored)))
        if rows := tables.every_epsilon(stored):
            page.table(rows, alt=text.everywhere(stored) or None)
        st.caption(text.CLAIM_NOTE)
    with st.expander("Where these numbers are from", icon=":material/history:"):
        st.markdown("\n".join(f"* {line}" for line in text.provenance(stored)))
        page.table(text.configuration(stored))
        st.download_button(
            "Every run as CSV",
            partial(results.path_of(stored.key).read_bytes),
            results.path_of(stored.key).name,
            "text/csv",
            key="accuracy_raw",
            on_click="ignore",
            icon=":material/table_rows:",
        )
    page.reproduce(tables.snippet(stored, epsilon))


def submit(work: Any, place: str) -> Any:
    """Queue the work; a job of this session that is still under way is stopped by it. None if there is no room."""
    try:
        return shared_runner().submit(page.visitor("accuracy"), work)
    except QueueFullError as error:
        st.session_state[f"accuracy__{place}_refused"] = str(error)
        return None


def refused(place: str) -> None:
    if words := st.session_state.pop(f"accuracy__{place}_refused", None):
        st.error(words, icon=":material/hourglass_disabled:")


def again(stored: data.Stored, epsilon: float, controls: Controls, *, active: bool) -> None:
    st.subheader("Run one point again", anchor=False)
    if not stored.known:
        st.caption(f"{stored.dataset} is no data set of this package.")
        return
    left, right = st.columns(2)
    with left:
        method = controls.again.show()
    with right:
        trial = controls.trial.show()
    target = math.inf if method == "non-private" else epsilon
    point = jobs.Point(stored.dataset, method, target, trial, stored.parameters)
    st.fragment(one_point, run_every=POLL_SECONDS if active else None)(stored, point, active)


def one_point(stored: data.Stored, point: jobs.Point, polling: bool) -> None:
    """The button, the progress of what it started, and the stored run beside it."""
    latest: jobs.PointRun | None = st.session_state.get("accuracy__again")
    view = latest.job.view() if latest else None
    if polling and not (view and view.active):
        st.rerun()  # the whole page once more: the chart gets the point, the timer ends
    refused("again")
    if latest and view and view.active:
        expected = stored.typical_seconds(latest.point.method, latest.point.epsilon)
        page.under_way(jobs.progress(view, expected), key="accuracy_again_stop", stop=latest.job.stop)
        return
    before = stored.run(point.method, point.epsilon, point.trial)
    expected = stored.typical_seconds(point.method, point.epsilon)
    reason = text.cannot_run(point.dataset, datasets.available(point.dataset), expected, jobs.LONGEST_SECONDS)
    button, words = st.columns([1, 3], vertical_alignment="center")
    label = "Run this point"
    pressed = button.button(
        label, key="accuracy_run", icon=":material/play_arrow:", disabled=bool(reason), width="stretch"
    )
    words.caption(f"{reason or text.point_invitation(point, before, expected)} {text.linked(label)}")
    if pressed:
        if job := submit(jobs.again(point), "again"):
            st.session_state["accuracy__again"] = jobs.PointRun(point, stored.key, job)
        st.rerun()
    if latest is None or view is None:
        return
    if note := jobs.outcome(view):
        (st.error if view.state == "failed" else st.info)(note, icon=":material/info:")
    if view.latest is None or view.latest.run is None:
        return
    if (latest.point, latest.key) != (point, stored.key):
        st.info("What was run belongs to another point; press again for this one.", icon=":material/sync_problem:")
        return
    st.markdown(text.again(view.latest.run, before))
    page.table(tables.again(view.latest.run, before), alt=text.again(view.latest.run, before))
    page.reproduce(tables.point_snippet(point, stored.key), note="Prints the stored run and the one made anew.")


def few_and_many(place: DeltaGenerator | None) -> DeltaGenerator:
    """Accuracy on few and many rows; returns where the page's link goes, `place` if it has one already."""
    st.subheader("What does ε cost on 500, 5,000 or 50,000 rows?", anchor=False)
    st.markdown(
        "The noise does not depend on the number of people, but what it drowns does. The same promise, by Algorithm 1 "
        "with the tight bound, on few rows and on many, beside the model without privacy on the same rows."
    )
    picture, panel = st.columns([2.6, 1], gap="medium")
    with panel:
        dataset, epsilon, draws, seed = (control.show() for control in ROWS_CONTROLS)
        place = place or st.container()
    plan = Plan(dataset, epsilon, draws=draws, seed=seed)
    latest: jobs.RowsRun | None = st.session_state.get("accuracy__rows")
    active = latest is not None and latest.job.view().active
    with picture, page.errors():
        st.fragment(measured, run_every=POLL_SECONDS if active else None)(plan, active)
    return place


def measured(plan: Plan, polling: bool) -> None:
    """The button, the progress of what it started, and the curve as far as it is."""
    latest: jobs.RowsRun | None = st.session_state.get("accuracy__rows")
    view = latest.job.view() if latest else None
    if polling and not (view and view.active):
        st.rerun()
    refused("rows")
    if latest and view and view.active:
        page.under_way(rows_text.progress(view), key="accuracy_rows_stop", stop=latest.job.stop)
    else:
        reason = text.cannot_run(plan.dataset, datasets.available(plan.dataset), None, math.inf)
        button, words = st.columns([1, 3], vertical_alignment="center")
        pressed = button.button(
            "Measure",
            key="accuracy_measure",
            type="primary",
            icon=":material/science:",
            disabled=bool(reason),
            width="stretch",
        )
        words.caption(f"{reason or rows_text.invitation(plan)} {text.linked('Measure')}")
        if pressed:
            if job := submit(jobs.rows(plan), "rows"):
                st.session_state["accuracy__rows"] = jobs.RowsRun(plan, job)
            st.rerun()
    if latest is None or view is None:
        return
    if not view.active and (note := jobs.outcome(view)):
        (st.error if view.state == "failed" else st.info)(note, icon=":material/info:")
    if latest.plan != plan:
        st.info("What is shown belongs to other settings; measure again.", icon=":material/sync_problem:")
    if view.latest is not None and (view.latest.fits or view.latest.complete):
        curve(view.latest)


def curve(found: Any) -> None:
    st.markdown(f"**{rows_text.answer(found)}**")
    alt = rows_text.alt(found)
    if found.fits:
        chart = charts.rows(found)
        page.chart(chart, key="accuracy_rows_chart", alt=alt, filename="accuracy-rows")
    st.caption(" ".join(rows_text.notes(found)))
    if found.fits:
        page.table(tables.row_sizes(found), alt=alt)
        name = f"accuracy_rows_{found.plan.dataset}"
        page.downloads(partial(tables.rows_frame, found), chart, filename=name, title=alt)
        if found.complete:
            page.reproduce(tables.rows_snippet(found.plan))


TRY_QUESTION = (
    "The paper’s Table 2 (Adult, ε = 0.1): DP-SGD whose learning rate was chosen without paying for it gets 81.61 % "
    "right. What does it get when the choice among some ten learning rates is paid for from the same ε?"
)
TRY_OPTIONS = ("81.5 %: choosing is nearly free.", "80.9 %: less than a point.", "78.3 %: more than three points.")
TRY_REASON = (
    "78.32 %, says the table: the choice is paid for from the same small budget, so that every run gets more noise. At "
    "ε = 8 the same choice costs half a point. Algorithm 1 has nothing to choose: σ and λ are "
    "computed from ε and δ before anybody looks at the data."
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: what does an honest choice cost?", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[2], key="accuracy__try"):
            return
        chart = charts.papers("adult")
        page.chart(chart, key="accuracy_try_chart", alt=text.papers_alt("adult"), filename="accuracy-try-it")
        st.markdown(TRY_REASON)


page.begin(
    "accuracy",
    "Logistic regression on one data set, learned under the same (ε, δ) by DP-SGD, by objective perturbation "
    "(Algorithm 1) and by others: test accuracy against ε, from stored runs that one command repeats.",
)
stored_keys = data.files()
body(stored_keys)
page.see_also("tuning", "why the paid curve is lower")
predict()
page.about("accuracy", CONSTANT=text.constants(data.constants(stored_keys)))
