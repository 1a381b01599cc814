"""The price of tuning in accuracy: DP-SGD whose tuning is paid for, and DP-SGD whose tuning is not.

Redberg et al. (2023), section 5. Everything is trained while people watch (`ui.runs`).
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core import datasets
from objpert_core.datasets import Dataset
from objpert_core.experiments import paper
from objpert_core.experiments.studies.tuning_runs import MAX_DRAWS, Settings, TuningRuns, tuning_runs
from pages.tuning import trained as controls
from pages.tuning.accuracies import Accuracies
from pages.tuning.numbers import SHOW
from pages.tuning.result import Curse, WhatKDid
from ui import live, page, parameters, request, runs, sentences, style
from ui.controls import Choice, Control, Number, Preset, SelectSlider, presets
from ui.jobs import Job, JobView
from ui.runs import Runs
from ui.words import FEWEST, GRIDS

_SMALL = ("synthetic-l", "breast-cancer", "digits-4-9")
_LIGHT = 3000  # epochs of small data, all runs together: some seconds


@dataclass(frozen=True)
class Request(request.Request[TuningRuns]):
    """A data set, a split, and how it is tuned."""

    @property
    def light(self) -> bool:
        """Whether it takes seconds, so that it may start without being asked to."""
        settings = self.settings
        return self.name in _SMALL and settings.draws * settings.epochs * (settings.mean_runs + 2) <= _LIGHT

    def study(self, data: Dataset, should_stop: Callable[[], bool], tell: Callable[..., None]) -> Iterator[TuningRuns]:
        """Tune; a step tells its run (0: the unpaid candidates), the number of runs, and itself."""
        return tuning_runs(data, self.settings, should_stop, tell)


def wait_for_a_draw(job: Job[TuningRuns]) -> None:
    """Give a job that started by itself the moment it needs for its first draw, so that no page opens empty."""
    end = time.monotonic() + 8.0
    while (view := job.view()).active and not (view.latest and view.latest.draws) and time.monotonic() < end:
        time.sleep(0.05)


UNDER_WAY = "The first draw is in training."


def worth(result: TuningRuns) -> bool:
    """Whether there is something to show."""
    return bool(result.draws)


def invitation(request: Request, *, ready: bool = True) -> str:
    """What Run will do, where it does not start by itself; without the files, what to do first."""
    if not ready:
        return request.unready
    settings = request.settings
    return (
        f"This takes more than a few seconds: {sentences.count(settings.draws, 'draw')} of about "
        f"{settings.mean_runs + 1:.0f} trainings of {settings.epochs} epochs on {request.name}. Press Run to start."
    )


def progress(view: JobView[TuningRuns], meter: live.Meter) -> tuple[float, str]:
    """The progress bar's share and text while a job is active."""

    def how_far(latest: TuningRuns) -> tuple[float, str]:
        done, total = len(latest.draws), latest.settings.draws
        share, words, now = done / total, f"Draw {min(done + 1, total)} of {total}", meter.now
        if now is not None:
            run, of, step = now
            # the unpaid candidates take about as long as two runs
            share += (run + 1 if run else min(step / 1000, 1)) / (of + 2) / total
            words += f": paid, run {run} of K = {of}" if run else ": unpaid candidates"
        return share, words

    return runs.stage(view, "Loading the data and calibrating the noise …", how_far)


def outcome(view: JobView[TuningRuns]) -> str | None:
    """One sentence about a job that ended early; None for one that finished."""
    if view.latest is None or not view.latest.draws:
        return runs.ended_early(view, "Stopped before the first draw was done. Press Run to start again.")
    done, total = len(view.latest.draws), view.latest.settings.draws
    return runs.ended_early(view, f"Stopped after {done} of {total} draws. The page shows these draws.")


def differences(shown: Request, asked: Request) -> str | None:
    """How the controls differ from what is shown; None when they agree."""

    def said(value: Any) -> str:
        return str(len(value)) if isinstance(value, tuple) else live.plain(value)

    fields = ("epsilon", "delta", "learning_rates", "judges", "mean_runs", "batch_size", "epochs", "accountant")
    then, rates = "have results for the controls as they are now", "number of learning rates"
    return live.differences(shown, asked, (*fields, "draws", "seed"), then, said, learning_rates=rates)


DATA = parameters.data_set(
    "honest",
    "synthetic-l",
    datasets.names(classes=2),
    help="Each draw takes about a second on synthetic-l, some seconds on Adult and its stand-in, and minutes on "
    "gisette.",
)
EPSILON = parameters.epsilon(
    "honest", 0.1, help="The ε on every model’s certificate. For the unpaid model this is the ε of one run."
)
DELTA = parameters.delta("honest")
RATES = parameters.learning_rates("honest", "paper", {name: rates for name, rates in GRIDS.items() if len(rates) > 1})
JUDGES = SelectSlider(
    "honest_judges",
    "Judges",
    200,
    (20, 50, 100, 200, 500, 1000, 2000),
    help="The number of test rows that choose the unpaid model: at most half of all test rows. The other test rows "
    "are fresh. The fewer judges there are, the more they flatter their choice.",
)
MEAN_RUNS = parameters.mean_runs(
    "honest",
    paper.MEAN_RUNS,
    (1, 2, 3, 5, 10, paper.MEAN_RUNS, 20, 30, 50),
    help=f"Paid tuning makes K ~ Poisson(μ) runs. At the paper’s μ = {paper.MEAN_RUNS}, K exceeds 10 nine times in "
    "ten.",
)
BATCH = parameters.batch_size("honest", 4096)
EPOCHS = parameters.epochs("honest", 10)
ACCOUNTANT = Choice(
    "honest_accountant",
    "Accountant of one run",
    "pld",
    options=("pld", "rdp"),
    format={"pld": "privacy loss distributions", "rdp": "Rényi, as in the paper"}.__getitem__,
)
DRAWS = parameters.draws(
    "honest",
    FEWEST,
    MAX_DRAWS,
    help=f"How many seeds to run everything with, 1 to {MAX_DRAWS}. Intervals need {FEWEST}.",
)
SPLIT_SEED = parameters.split_seed("honest", help="Chooses which fifth of the rows is the test set.")
SEED = parameters.seed("honest", "First noise seed", help="Draw i uses this seed plus i.")
SHOWN = Number("honest_shown", "Draw to look into", 1, help="The K runs of this draw are below.", low=1, high=MAX_DRAWS)

FIRST: dict[str, Control] = {"epsilon": EPSILON}
SECOND: dict[str, Control] = {"learning_rates": RATES, "draws": DRAWS}
VIEW: dict[str, Control] = {
    "judges": JUDGES,
    "mean_runs": MEAN_RUNS,
    "batch_size": BATCH,
    "epochs": EPOCHS,
    "accountant": ACCOUNTANT,
    "delta": DELTA,
    "split_seed": SPLIT_SEED,
    "seed": SEED,
}
"""What stands above the data set, under it, and in View, in order, by what the settings call it."""

DECIDES = (DATA, *FIRST.values(), *SECOND.values(), *VIEW.values())
CONTROLS: tuple[Control, ...] = (*DECIDES, SHOWN)
PRESETS = presets("tuning", (SHOW, *DECIDES), "trained")


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
    if (pressed or (first and ready and asked.light)) and live.start(RUNS, asked, live.Meter(), worth):
        if first and (started := RUNS.latest()):
            with st.spinner("Training the first draw …"):
                wait_for_a_draw(started.job)
        st.rerun()  # the whole page: only that sets the timer
    seen = RUNS.look(lambda seen: progress(seen.view, seen.run.meter), outcome, narrow=True)
    if seen is not None and (moved := differences(seen.run.request, asked)):
        st.warning(moved, icon=":material/sync_problem:")


def draw(
    left: DeltaGenerator, beside: DeltaGenerator, linked: tuple[Control, ...], presets: tuple[Preset, ...]
) -> None:
    """Draw the controls of a run, and what came out of the last one."""
    with beside, page.errors():
        asked, ready = panel(linked, presets)
    seen = RUNS.seen()
    if seen is None or seen.latest is None or not worth(seen.latest):
        with left:
            st.info(
                UNDER_WAY if RUNS.active else invitation(asked, ready=ready),
                icon=":material/play_circle:",
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
