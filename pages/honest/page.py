"""Honest or not: DP-SGD whose tuning is paid for, and DP-SGD whose tuning is not (Redberg et al. 2023, section 5)."""

from typing import Any

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments.studies.tuning_runs import Settings, TuningRuns
from pages.honest import charts, controls, tables
from pages.honest import words as text
from pages.honest.jobs import Request, wait_for_a_draw
from ui import live, page, sentences, style
from ui.controls import preset_buttons
from ui.runs import Runs
from ui.words import GRIDS

RUNS: Runs[TuningRuns] = Runs("honest")


def panel() -> tuple[Request, bool]:
    """The controls; returns what they ask for, and whether its data are there."""
    asked: dict[str, Any] = {field: control.show() for field, control in controls.FIRST.items()}
    act, name = st.container(), controls.DATA.show()
    ready = live.ready(name)
    asked |= {field: control.show() for field, control in controls.SECOND.items()}
    with page.tools(controls.CONTROLS, controls.PRESETS, name="honest"):
        asked |= {field: control.show() for field, control in controls.VIEW.items()}
    split_seed = asked.pop("split_seed")
    asked |= {"learning_rates": GRIDS[asked["learning_rates"]], "mean_runs": float(asked["mean_runs"])}
    request = Request(name, split_seed, Settings(**asked))
    with act:
        run(request, ready)
    return request, ready


def run(asked: Request, ready: bool) -> None:
    """Run, how far it is and Stop; what takes seconds starts by itself, so that no page opens empty."""
    first = RUNS.latest() is None
    pressed = live.run_button("honest", ready=ready)
    if (pressed or (first and ready and asked.light)) and live.start(RUNS, asked, live.Meter(), text.worth):
        if first and (started := RUNS.latest()):
            with st.spinner("Training the first draw …"):
                wait_for_a_draw(started.job)
        st.rerun()  # the whole page: only that sets the timer
    seen = RUNS.look(lambda seen: text.progress(seen.view, seen.run.meter), text.outcome, narrow=True)
    if seen is not None and (moved := text.differences(seen.run.request, asked)):
        st.warning(moved, icon=":material/sync_problem:")


def explore() -> None:
    preset_buttons(controls.PRESETS, prefix="honest")
    left, beside = page.columns()
    with beside, page.errors():
        asked, ready = panel()
    seen = RUNS.seen()
    if seen is None or seen.latest is None or not text.worth(seen.latest):
        with left:
            st.info(
                text.UNDER_WAY if RUNS.active else text.invitation(asked, ready=ready), icon=":material/play_circle:"
            )
        page.keep(controls.SHOWN)
        return
    result, before = seen.latest, seen.run.previous
    stale = seen.run.request != asked
    picture = page.Picture(
        charts.accuracies(result, before, stale=stale),
        text.accuracy_alt(result),
        lambda: charts.accuracies_frame(result),
    )
    with left:
        promise = sentences.promise(result.settings.epsilon, result.settings.delta, text.accountant(result))
        page.answer(text.answer(result), promise=promise, why=text.why(before, result))
        page.show(picture, key="honest_accuracy")
    if style.embedded():
        page.keep(controls.SHOWN)
        return
    st.caption(text.caption(result, ghosts=charts.compares(before, result)))
    if result.data.stand_in_for:
        st.info(datasets.describe(result.data.name), icon=":material/info:")
    st.markdown(text.price(result))
    page.evidence(picture, tables.table(result), name=f"honest_{result.data.name}")
    what_k_did(result, stale)
    winners_curse(result, stale)
    with st.expander("What the two certificates say", icon=":material/verified_user:"):
        st.caption(text.CERTIFICATES)
        for way, certificate in (("Unpaid", result.unpaid_certificate), ("Paid", result.paid_certificate)):
            st.markdown(f"**{way}**")
            st.code(repr(certificate), language=None, wrap_lines=True)
    note = "Trains everything again and prints the means and every K."
    page.reproduce(tables.snippet(result), note=note, name="honest")


def what_k_did(result: TuningRuns, stale: bool) -> None:
    st.header("What K did", anchor=False)
    draw = result.draws[min(controls.SHOWN.show(), len(result.draws)) - 1]
    st.markdown(text.what_k_did(draw))
    picture = page.Picture(
        charts.runs(result, draw, stale=stale), text.runs_alt(draw), lambda: charts.runs_frame(result)
    )
    page.show(picture, key="honest_runs_chart")
    st.caption(f"{text.scores(result)} {text.DO_NOT_PUBLISH}")
    page.evidence(picture, name=f"honest_runs_{result.data.name}")


def winners_curse(result: TuningRuns, stale: bool) -> None:
    st.header("The winner’s curse", anchor=False)
    st.markdown(f"{text.flattery(result)} {text.curse(result)}")
    picture = page.Picture(
        charts.curse(result, stale=stale), text.curse_alt(result), lambda: charts.curse_frame(result)
    )
    page.show(picture, key="honest_curse_chart")
    page.evidence(picture, name=f"honest_curse_{result.data.name}")


page.begin(
    "honest",
    "DP-SGD’s learning rate is chosen twice on the same data: without paying for the choice, as experiments often do "
    "it, and with every look at the data paid for.",
)
with page.errors():
    RUNS.follow(explore)
page.see_also("tuning", "ε for any number of settings")
page.predict(page.Prediction.of("honest"), key="honest__try")
page.about("honest")
