"""The price of tuning in accuracy: DP-SGD whose tuning is paid for, and DP-SGD whose tuning is not.

Redberg et al. (2023), section 5. Everything is trained while people watch (`ui.runs`).
"""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.experiments.studies.tuning_runs import Settings, TuningRuns
from pages.tuning import trained_controls as controls
from pages.tuning import work
from pages.tuning.accuracies import Accuracies
from pages.tuning.result import Curse, WhatKDid
from pages.tuning.work import Request, wait_for_a_draw
from ui import live, page, style
from ui.controls import Control, Preset
from ui.runs import Runs
from ui.words import GRIDS

RUNS: Runs[TuningRuns] = Runs("honest")
CERTIFICATES = (
    "Both certificates can be verified, and both are true. The unpaid model’s certificate says what its "
    "promise does not cover. Fits on this page are seeded, so both certificates say “reproducible”."
)


def panel(linked: tuple[Control, ...], presets: tuple[Preset, ...]) -> tuple[Request, bool]:
    """The controls; returns what they ask for, and whether its data are there."""
    asked: dict[str, Any] = {field: control.show() for field, control in controls.FIRST.items()}
    act, name = st.container(), controls.DATA.show()
    ready = live.ready(name)
    asked |= {field: control.show() for field, control in controls.SECOND.items()}
    with page.tools(linked, presets, name="tuning"):
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


def draw(
    left: DeltaGenerator, beside: DeltaGenerator, linked: tuple[Control, ...], presets: tuple[Preset, ...]
) -> None:
    """Draw the controls of a run, and what came out of the last one."""
    with beside, page.errors():
        asked, ready = panel(linked, presets)
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
            page.verbatim(repr(certificate))
    note = "Trains everything again and prints the means and every K."
    page.reproduce(accuracies.code(), note=note, name="honest")
