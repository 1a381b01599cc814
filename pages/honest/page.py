"""Honest or not: DP-SGD whose tuning is paid for, and DP-SGD whose tuning is not (Redberg et al. 2023, section 5)."""

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments.studies.tuning_runs import Settings, TuningRuns
from pages.honest import charts as charts
from pages.honest import controls as controls
from pages.honest import tables as tables
from pages.honest import words as text
from pages.honest.jobs import Meter, Request, Run, wait_for_a_draw
from ui import page, raw_files
from ui.controls import copy_link, preset_buttons
from ui.jobs import QueueFullError, shared_runner
from ui.words import GRIDS

POLL_SECONDS = 0.5


def start(request: Request) -> None:
    """Queue the tuning; a run of this session that is still under way is stopped by it. The first one is waited for."""
    old: Run | None = st.session_state.get("honest__run")
    before = old.job.view().latest if old else None
    meter = Meter()
    try:
        job = shared_runner().submit(page.visitor("honest"), lambda should_stop: request.work(should_stop, meter))
    except QueueFullError as error:
        st.error(str(error), icon=":material/hourglass_disabled:")
        return
    if old is None:
        with st.spinner("Training the first draw …"):
            wait_for_a_draw(job)
    st.session_state["honest__run"] = Run(request, job, meter, before if before and before.draws else None)


def panel() -> tuple[Request, bool]:
    """The controls; returns what they ask for and whether to start."""
    name = controls.DATA.show()
    ready = datasets.available(name)
    if not ready:
        raw_files.offer(name)
    epsilon, rates, judges = controls.EPSILON.show(), controls.RATES.show(), controls.JUDGES.show()
    mean_runs, draws = controls.MEAN_RUNS.show(), controls.DRAWS.show()
    with st.expander("DP-SGD, δ and seeds"):
        batch, epochs = controls.BATCH.show(), controls.EPOCHS.show()
        accountant, delta = controls.ACCOUNTANT.show(), controls.DELTA.show()
        split_seed, seed = controls.SPLIT_SEED.show(), controls.SEED.show()
    pressed = st.button(
        "Run", type="primary", icon=":material/play_arrow:", key="honest_run", disabled=not ready, width="stretch"
    )
    copy_link(controls.CONTROLS)
    settings = Settings(
        epsilon=epsilon,
        delta=delta,
        learning_rates=GRIDS[rates],
        mean_runs=float(mean_runs),
        batch_size=int(batch),
        epochs=int(epochs),
        accountant=accountant,
        judges=int(judges),
        draws=int(draws),
        seed=int(seed),
    )
    request = Request(name, int(split_seed), settings)
    arrived = "honest__run" not in st.session_state and ready and request.light
    return request, pressed or arrived


def results(asked: Request, polling: bool) -> None:
    """The latest run, as far as it is."""
    run: Run | None = st.session_state.get("honest__run")
    if run is None:
        words = text.invitation(asked, ready=datasets.available(asked.name))
        st.info(words, icon=":material/play_circle:")
        page.keep(controls.SHOWN)
        return
    view = run.job.view()
    if polling and not view.active:
        st.rerun()  # the whole page once more, without the timer
    if view.active:
        page.under_way(text.progress(view, run.meter), key="honest_stop", stop=run.job.stop)
    elif words := text.outcome(view):
        (st.error if view.state == "failed" else st.info)(words, icon=":material/info:")
    moved = text.differences(run.request, asked)
    if moved:
        st.warning(moved, icon=":material/sync_problem:")
    if view.latest is not None and view.latest.draws:
        show(view.latest, run, stale=moved is not None)
    else:
        page.keep(controls.SHOWN)


def show(result: TuningRuns, run: Run, *, stale: bool) -> None:
    st.markdown(f"**Data:** {text.data_line(result)}")
    page.answer(text.answer(result), *text.details(result))
    if result.data.stand_in_for:
        st.info(datasets.describe(result.data.name), icon=":material/info:")
    name = f"honest_{result.data.name}"
    chart = charts.accuracies(result, run.previous, stale=stale)
    alt = text.accuracy_alt(result)
    page.chart(chart, key="honest_accuracy", alt=alt, filename=name)
    st.caption(text.caption(result, ghosts=charts.compares(run.previous, result)))
    page.table(tables.table(result), alt=alt)
    page.downloads(lambda: charts.accuracies_frame(result), chart, filename=name, title=alt)
    what_k_did(result, stale=stale)
    winners_curse(result, stale=stale)
    certificates(result)
    page.reproduce(tables.snippet(result), note="Trains everything again and prints the means and every K.")


def what_k_did(result: TuningRuns, *, stale: bool) -> None:
    st.subheader("What K did", anchor=False)
    draw = result.draws[min(int(controls.SHOWN.show()), len(result.draws)) - 1]
    st.markdown(text.what_k_did(draw))
    chart, alt = charts.runs(result, draw, stale=stale), text.runs_alt(draw)
    page.chart(chart, key="honest_runs_chart", alt=alt)
    st.caption(f"{text.scores(result)} {text.DO_NOT_PUBLISH}")
    page.downloads(lambda: charts.runs_frame(result), chart, filename=f"honest_runs_{result.data.name}", title=alt)


def winners_curse(result: TuningRuns, *, stale: bool) -> None:
    st.subheader("The winner’s curse", anchor=False)
    st.markdown(text.curse(result))
    chart, alt = charts.curse(result, stale=stale), text.curse_alt(result)
    page.chart(chart, key="honest_curse_chart", alt=alt)
    page.downloads(lambda: charts.curse_frame(result), chart, filename=f"honest_curse_{result.data.name}", title=alt)


def certificates(result: TuningRuns) -> None:
    with st.expander("What the two certificates say", icon=":material/verified_user:"):
        st.caption(
            "Both can be verified, and each is true: the unpaid one says right after the promise what it does not "
            "cover. Fits on this page are seeded, so both say reproducible."
        )
        for name, certificate in (("Unpaid", result.unpaid_certificate), ("Paid", result.paid_certificate)):
            st.markdown(f"**{name}**")
            st.code(repr(certificate), language=None, wrap_lines=True)


TRY_QUESTION = (
    "Ten candidates are each right on 90 % of all rows, and their mistakes have nothing to do with one another. 100 "
    "judges choose the best one. On how many of themselves is it right?"
)
TRY_OPTIONS = ("About 90 %.", "About 93 to 95 %.", "About 99 %.")
TRY_REASON = (
    "One jury’s share of right answers has a standard error of √(0.9 · 0.1 / 100) = 3 points, and the "
    "largest of ten independent ones lies 1.5 standard errors above their mean. Fresh rows say 90 %. Candidates "
    "that were trained on the same rows, as on this page, err on the same judges; the curse is then smaller, not gone."
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: ten equals", icon=":material/psychology:"):
        if page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[1], key="honest__try"):
            st.markdown(TRY_REASON)


page.begin(
    "honest",
    "DP-SGD needs a learning rate. Here it is chosen twice on the same data: once without paying for the choice, as "
    "experiments often do it, and once with every look at the data paid for. Both certificates say the same ε.",
)
preset_buttons(controls.PRESETS, prefix="honest")
picture, right = st.columns([2.6, 1], gap="medium")  # a telephone shows the first column first
with right, page.errors():
    asked, go = panel()
with picture, page.errors():
    if go:
        start(asked)
    latest: Run | None = st.session_state.get("honest__run")
    active = latest is not None and latest.job.view().active
    st.fragment(results, run_every=POLL_SECONDS if active else None)(asked, active)
page.see_also("tuning", "ε for any number of settings")
predict()
page.about("honest")
