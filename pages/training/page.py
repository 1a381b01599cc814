"""Live training: the same task without privacy and by any of the private learners, on one data set."""

from dataclasses import replace
from typing import Any

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments.compare import (
    METHODS,
    NON_PRIVATE,
    Comparison,
    Settings,
)
from objpert_core.experiments.learners import SGD
from pages.training import charts as training
from pages.training import controls as controls
from pages.training import tables as tables
from pages.training import words as text
from pages.training.jobs import Meter, Request, Run
from ui import page, raw_files, sentences
from ui.controls import copy_link, preset_buttons
from ui.jobs import QueueFullError, shared_runner

POLL_SECONDS = 0.5
DATA = controls.data()


def start(request: Request) -> None:
    """Queue the training; a run of this session that is still under way is stopped by it."""
    old: Run | None = st.session_state.get("training__run")
    before = old.job.view().latest if old else None
    if before is None or not any(before.of(method) for method in before.settings.private):
        before = old.previous if old else None
    meter = Meter()
    try:
        job = shared_runner().submit(page.visitor("training"), lambda should_stop: request.work(should_stop, meter))
    except QueueFullError as error:
        st.error(str(error), icon=":material/hourglass_disabled:")
        return
    st.session_state["training__run"] = Run(request, job, st.session_state.pop("training__guess", None), before, meter)


def panel() -> tuple[Request, bool]:
    """The controls; returns what they ask for and whether Run was pressed."""
    name = DATA.show()
    st.caption(text.first_sentence(datasets.describe(name)))
    ready = datasets.available(name)
    if not ready:
        raw_files.offer(name)
    methods = controls.LEARNED.show()
    if not methods:
        st.warning("Choose at least one method.", icon=":material/checklist:")
    epsilon, delta = controls.EPSILON.show(), controls.DELTA.show()
    bound, repeats = controls.BOUND.show(), controls.REPEATS.show()
    with st.expander("Seeds, intercept and solver"):
        split_seed, seed, scaling = controls.SPLIT_SEED.show(), controls.SEED.show(), controls.SCALING.show()
        solver = controls.SOLVER.show()
        st.caption(text.ABOUT_SOLVER)
        st.caption(
            "Seeds make the page repeatable, for teaching. Whoever knows a noise seed can subtract the noise, so each "
            "certificate here is marked reproducible; a model for release is trained without one."
        )
    settings = Settings(epsilon, delta, bound, int(repeats), scaling, int(seed), methods or METHODS, solver=solver)
    if not set(SGD).isdisjoint(methods):
        settings = replace(settings, **descent())
    pressed = st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        key="training_run",
        disabled=not (ready and methods),
        help=None if ready else f"The files of {name} are missing or damaged.",
        width="stretch",
    )
    st.caption("Reloading the page or closing its tab stops a run and clears its results.")
    copy_link((DATA, *controls.CONTROLS))
    return Request(name, int(split_seed), settings), pressed


def descent() -> dict[str, Any]:
    """DP-SGD's parameters; drawn only where a DP-SGD is among the methods."""
    with st.expander("DP-SGD", expanded=True):
        batch, epochs = controls.BATCH.show(), controls.EPOCHS.show()
        rates, runs = text.GRIDS[controls.RATES.show()], float(controls.MEAN_RUNS.show())
        st.caption(text.schedule(int(epochs), rates, runs))
    return {"batch_size": int(batch), "epochs": int(epochs), "learning_rates": rates, "mean_runs": runs}


def results(asked: Request, polling: bool) -> None:
    """The latest run, as far as it is."""
    run: Run | None = st.session_state.get("training__run")
    if run is None:
        st.info(
            text.invitation(asked, datasets.describe(asked.name), ready=datasets.available(asked.name)),
            icon=":material/play_circle:",
        )
        predict(asked)
        page.keep(controls.VIEW, controls.CLOSE_UP)
        return
    view = run.job.view()
    if polling and not view.active:
        st.rerun()  # the whole page once more, without the timer
    if view.active:
        page.under_way(text.progress(view, run.meter), key="training_stop", stop=run.job.stop)
    elif words := text.outcome(view):
        (st.error if view.state == "failed" else st.info)(words, icon=":material/info:")
    moved = text.differences(run.request, asked)
    if moved:
        st.warning(moved, icon=":material/sync_problem:")
        if not view.active:
            predict(asked)
    comparison = view.latest
    if comparison is not None and comparison.fits:
        show(comparison, run, stale=moved is not None, finished=not view.active)
    else:
        page.keep(controls.VIEW, controls.CLOSE_UP)


def predict(asked: Request) -> None:
    """Asks for a guess before Run; what it is compared with is not there yet."""
    main = asked.settings.main
    if main is None or NON_PRIVATE not in asked.settings.methods or not datasets.available(asked.name):
        return  # nothing will be compared with anything
    question = (
        f"Before you press Run: how much accuracy will ε = {sentences.epsilon(asked.settings.epsilon)} cost? "
        f"(Judged by the “{text.LABELS[main]}” models: their mean accuracy against the model without privacy.)"
    )
    st.radio(question, text.GUESSES, index=None, key="training__guess", horizontal=True)


def show(comparison: Comparison, run: Run, *, stale: bool, finished: bool) -> None:
    st.markdown(f"**Data:** {text.data_line(comparison.data)}")
    page.answer(text.headline(comparison, finished=finished), *text.details(comparison))
    if finished and run.guess and (right := text.verdict(comparison)):
        (st.success if right == run.guess else st.info)(
            f"You guessed “{run.guess}”; for the {text.LABELS[comparison.settings.main or '']} models it is “{right}”.",
            icon=":material/psychology_alt:",
        )
    if comparison.data.stand_in_for:
        st.info(datasets.describe(comparison.data.name), icon=":material/info:")
    picture = training.accuracy(comparison, run.previous, close_up=controls.CLOSE_UP.show(), stale=stale)
    name = f"training_{comparison.data.name}"
    page.chart(picture.figure, key="training_accuracy", alt=picture.alt, filename=name)
    notes = (text.paper(comparison), text.caveats(comparison))
    st.caption(" ".join(note for note in notes if note))
    page.table(tables.table(comparison), alt=picture.alt)
    page.downloads(picture.numbers, picture.figure, filename=name, title=picture.alt)
    look_closer(comparison, run, stale)
    with st.expander("About the data", icon=":material/database:"):
        st.markdown(f"{datasets.describe(comparison.data.name)}\n\n{comparison.data.citation}")
    if settings := tables.reproducible(comparison):
        order = ", ".join(text.LABELS[name] for name in settings.methods)
        page.reproduce(
            tables.snippet(comparison.data.name, comparison.data.split_seed, settings, comparison.data.columns),
            note=f"Prints the data set and the accuracies: {order}.",
        )


def look_closer(comparison: Comparison, run: Run, stale: bool) -> None:
    view = controls.VIEW.show()
    if view == "certificate":
        certificates(comparison)
        return
    if view.startswith("ROC"):
        picture = training.roc(comparison, run.previous, corner=view != "ROC", stale=stale)
    elif view == "coefficients":
        picture = training.coefficients(comparison, stale=stale)
        st.caption(
            "The largest coefficients of the first model, and the others' beside them: mean over the draws, line from "
            "the least to the greatest. Which are largest was looked up without privacy, as everything on this page: "
            "it teaches. What may be released is one private model with its certificate."
        )
    else:
        picture = training.gradient_norms(comparison, stale=stale)
        st.caption(
            "The proof needs the gradient's norm at the solution to be at most τ; the solver goes on until it is, and "
            "a fit that cannot reach it is not released. The path depends on the data: do not publish it. DP-SGD "
            "stops after a fixed number of steps instead and needs no such proof."
        )
    kind = view.replace(" ", "_").lower()
    name = f"training_{kind}_{comparison.data.name}"
    page.chart(picture.figure, key=f"training_{kind}_chart", alt=picture.alt, filename=name)
    page.downloads(picture.numbers, picture.figure, filename=name, title=picture.alt)


def certificates(comparison: Comparison) -> None:
    st.caption(
        "What may be published with a model. These fits were seeded, so each certificate says reproducible: for a "
        "release, train once without a seed. Each fit spends its own ε; fits on the same people add up."
    )
    fitted = [method for method in comparison.settings.private if comparison.of(method)]
    for place, method in enumerate(fitted):
        if place % 2 == 0:
            pair = st.columns(2)
        fits = comparison.of(method)
        assert fits[0].privacy is not None
        public = fits[0].privacy.public()
        with pair[place % 2]:
            st.markdown(f"**{text.LABELS[method]}**, noise seed {fits[0].seed}, on {comparison.data.label}")
            st.code(repr(public), language=None, wrap_lines=True)
            st.download_button(
                "Certificate as JSON",
                public.to_json(),
                f"certificate_{method}_{comparison.data.name}.json",
                "application/json",
                key=f"training_certificate_{method}",
                on_click="ignore",
                icon=":material/verified_user:",
            )


page.begin(
    "training",
    "The same task, learned without privacy and by private learners of your choice: Algorithm 1 published and tight, "
    "and its rivals, each calibrated to the same (ε, δ) for adding or removing one row.",
)
preset_buttons(controls.presets(DATA), prefix="training")
if note := text.preset_note(datasets.default_name(), bool(datasets.damage("adult"))):
    st.caption(note)
picture, right = st.columns([2.6, 1], gap="medium")  # a telephone shows the first column first
with right, page.errors():
    asked, pressed = panel()
with picture, page.errors():
    if pressed:
        start(asked)
    latest: Run | None = st.session_state.get("training__run")
    active = latest is not None and latest.job.view().active
    st.fragment(results, run_every=POLL_SECONDS if active else None)(asked, active)

st.caption(text.NOT_HERE)
page.see_also("losses", "regression, other losses")
page.see_also("accuracy", "the strongest DP-SGD, ten splits")
page.about("training")
