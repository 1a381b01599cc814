"""Honest or not: DP-SGD whose tuning is paid for, and DP-SGD whose tuning is not (Redberg et al. 2023, section 5)."""

from typing import Any

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments.studies.tuning_runs import Settings, TuningRuns
from pages.honest import charts, controls, tables
from pages.honest import words as text
from pages.honest.jobs import Request, wait_for_a_draw
from ui import live, page, share
from ui.controls import preset_buttons
from ui.runs import Runs, Seen
from ui.words import GRIDS

RUNS: Runs[TuningRuns] = Runs("honest")


def panel() -> tuple[Request, bool]:
    """The controls; returns what they ask for and whether to start."""
    name = controls.DATA.show()
    ready = live.ready(name)
    asked: dict[str, Any] = {field: control.show() for field, control in controls.FIRST.items()}
    with st.expander("DP-SGD, δ and seeds"):
        asked |= {field: control.show() for field, control in controls.BOX.items()}
    pressed = live.run_button("honest", ready=ready)
    share.button(controls.CONTROLS)
    split_seed = asked.pop("split_seed")
    asked |= {"learning_rates": GRIDS[asked["learning_rates"]], "mean_runs": float(asked["mean_runs"])}
    request = Request(name, split_seed, Settings(**asked))
    return request, pressed or (ready and request.light and RUNS.latest() is None)


def start(request: Request) -> None:
    """Queue the tuning. The first one is waited for: it starts by itself, and no page opens empty."""
    first = RUNS.latest() is None
    if live.start(RUNS, request, live.Meter(), text.worth) and first and (run := RUNS.latest()):
        with st.spinner("Training the first draw …"):
            wait_for_a_draw(run.job)


def results(asked: Request) -> None:
    words = text.invitation(asked, ready=datasets.available(asked.name))
    live.results(RUNS, asked, text, invitation=words, worth=text.worth, show=show, unseen=[controls.SHOWN])


def show(seen: Seen[TuningRuns], result: TuningRuns, stale: bool) -> None:
    before, name = seen.run.previous, result.data.name
    st.markdown(f"**Data:** {text.data_line(result)}")
    page.answer(text.answer(result), *text.details(result))
    if result.data.stand_in_for:
        st.info(datasets.describe(name), icon=":material/info:")
    picture = page.Picture(
        charts.accuracies(result, before, stale=stale),
        text.accuracy_alt(result),
        lambda: charts.accuracies_frame(result),
    )
    page.show(picture, key="honest_accuracy")
    st.caption(text.caption(result, ghosts=charts.compares(before, result)))
    page.evidence(picture, tables.table(result), name=f"honest_{name}")

    st.header("What K did", anchor=False)
    draw = result.draws[min(controls.SHOWN.show(), len(result.draws)) - 1]
    st.markdown(text.what_k_did(draw))
    picture = page.Picture(
        charts.runs(result, draw, stale=stale), text.runs_alt(draw), lambda: charts.runs_frame(result)
    )
    page.show(picture, key="honest_runs_chart")
    st.caption(f"{text.scores(result)} {text.DO_NOT_PUBLISH}")
    page.evidence(picture, name=f"honest_runs_{name}")

    st.header("The winner’s curse", anchor=False)
    st.markdown(text.curse(result))
    picture = page.Picture(
        charts.curse(result, stale=stale), text.curse_alt(result), lambda: charts.curse_frame(result)
    )
    page.show(picture, key="honest_curse_chart")
    page.evidence(picture, name=f"honest_curse_{name}")

    with st.expander("What the two certificates say", icon=":material/verified_user:"):
        st.caption(text.CERTIFICATES)
        for way, certificate in (("Unpaid", result.unpaid_certificate), ("Paid", result.paid_certificate)):
            st.markdown(f"**{way}**")
            st.code(repr(certificate), language=None, wrap_lines=True)
    page.reproduce(tables.snippet(result), note="Trains everything again and prints the means and every K.")


page.begin(
    "honest",
    "DP-SGD needs a learning rate. Here it is chosen twice on the same data: once without paying for the choice, as "
    "experiments often do it, and once with every look at the data paid for. Both certificates say the same ε.",
)
preset_buttons(controls.PRESETS, prefix="honest")
left, right = page.columns()
with right, page.errors():
    asked, go = panel()
with left, page.errors():
    if go:
        start(asked)
    RUNS.follow(results, asked)
page.see_also("tuning", "ε for any number of settings")
page.predict(page.Prediction.of("honest"), key="honest__try")
page.about("honest")
