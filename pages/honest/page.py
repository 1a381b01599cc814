"""Honest or not: DP-SGD whose tuning is paid for, and DP-SGD whose tuning is not (Redberg et al. 2023, section 5)."""

from typing import Any

import streamlit as st

from objpert_core.experiments.studies.tuning_runs import Settings, TuningRuns
from pages.honest import controls, work
from pages.honest.accuracies import Accuracies
from pages.honest.curse import Curse
from pages.honest.jobs import Request, wait_for_a_draw
from pages.honest.what_k_did import WhatKDid
from ui import live, page, style
from ui.controls import preset_buttons
from ui.runs import Runs
from ui.words import GRIDS

RUNS: Runs[TuningRuns] = Runs("honest")
CERTIFICATES = (
    "Both certificates can be verified, and both are true: right after its promise, the unpaid one says what the "
    "promise does not cover. Fits on this page are seeded, so both certificates say reproducible."
)


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
    if (pressed or (first and ready and asked.light)) and live.start(RUNS, asked, live.Meter(), work.worth):
        if first and (started := RUNS.latest()):
            with st.spinner("Training the first draw …"):
                wait_for_a_draw(started.job)
        st.rerun()  # the whole page: only that sets the timer
    seen = RUNS.look(lambda seen: work.progress(seen.view, seen.run.meter), work.outcome, narrow=True)
    if seen is not None and (moved := work.differences(seen.run.request, asked)):
        st.warning(moved, icon=":material/sync_problem:")


def explore() -> None:
    preset_buttons(controls.PRESETS, prefix="honest")
    left, beside = page.columns()
    with beside, page.errors():
        asked, ready = panel()
    seen = RUNS.seen()
    if seen is None or seen.latest is None or not work.worth(seen.latest):
        with left:
            st.info(
                work.UNDER_WAY if RUNS.active else work.invitation(asked, ready=ready), icon=":material/play_circle:"
            )
        page.keep(controls.SHOWN)
        return
    result, stale = seen.latest, seen.run.request != asked
    accuracies = Accuracies(result, stale, seen.run.previous)
    accuracies.show(left)
    if style.embedded():
        page.keep(controls.SHOWN)
        return
    st.header("What K did", anchor=False)
    WhatKDid(result, stale, controls.SHOWN.show()).show()
    Curse(result, stale).show()
    with st.expander("What the two certificates say", icon=":material/verified_user:"):
        st.caption(CERTIFICATES)
        for way, certificate in (("Unpaid", result.unpaid_certificate), ("Paid", result.paid_certificate)):
            st.markdown(f"**{way}**")
            st.code(repr(certificate), language=None, wrap_lines=True)
    note = "Trains everything again and prints the means and every K."
    page.reproduce(accuracies.code(), note=note, name="honest")


page.begin(
    "honest",
    "DP-SGD’s learning rate is chosen twice on the same data: once without paying for the choice, as many "
    "experiments do, and once with every look at the data paid for.",
)
with page.errors():
    RUNS.follow(explore)
page.see_also("tuning", "ε for any number of settings")
page.predict(page.Prediction.of("honest"), key="honest__try")
page.about("honest")
