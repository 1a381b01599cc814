"""One stored point run again, with the same seed, beside the stored run."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments import indexed
from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import NON_PRIVATE
from objpert_core.experiments.live import StoppedError, stopper
from objpert_core.experiments.results import Run
from pages.accuracy.reading import LABELS, cannot_run, offer, points, seconds
from ui import page, runs, sentences, snippets
from ui.controls import Choice, Number
from ui.jobs import JobView
from ui.request import Meter
from ui.runs import Runs, Seen
from ui.snippets import Verbatim
from ui.words import accuracy

AGAIN: Runs[Run] = Runs("accuracy", "again")


def made_now(key: str) -> Run | None:
    """The point of this file that was run again here, if one was."""
    seen = AGAIN.seen()
    return seen.latest if seen and not seen.view.active and seen.run.request[1] == key else None


def draw(stored: Stored, epsilon: float, method: Choice, trial: Number, shown: Run | None) -> None:
    """Draw the controls of the point, and what became of it; `shown` is the run that the chart above has."""
    st.header("Run one point again", anchor=False)
    if not stored.known:
        st.caption(f"{stored.dataset} is not a data set of this package.")
        return
    left, right = st.columns(2)
    with left:
        chosen = method.show()
    with right:
        number = trial.show()
    piece = Piece(stored.dataset, chosen, indexed.target(chosen, epsilon), number, stored.parameters)
    if shown is None and made_now(stored.key) is not None:
        st.rerun()  # the run ended after the chart was drawn
    AGAIN.follow(Point(stored, piece).follow)


def progress(view: JobView[Run], meter: Meter, expected: float | None) -> tuple[float, str]:
    """The progress bar's share and text while a point is run; `expected` is what stored trials took, in seconds."""
    if waiting := runs.waiting(view):
        return waiting
    if meter.now is None:
        return 0.0, f"Loading the data and calibrating the noise, {view.seconds:.1f} s"
    share = min(0.95, view.seconds / expected) if expected else 0.5
    took = f"; stored trials took {expected:.3g} s" if expected else ""
    return share, f"{sentences.count(meter.now[0], 'step')}, {view.seconds:.1f} s{took}"


@dataclass(frozen=True)
class Point:
    """One method at one ε in one trial of a file."""

    stored: Stored
    piece: Piece

    @property
    def before(self) -> Run | None:
        """The stored run; None where this trial is not stored."""
        return self.stored.run(self.piece.method, self.piece.epsilon, self.piece.trial)

    @property
    def expected(self) -> float | None:
        """What stored trials took, in seconds."""
        return self.stored.typical_seconds(self.piece.method, self.piece.epsilon)

    def follow(self) -> None:
        """Draw the button, the progress of what it started, and the stored run beside it."""

        def how_far(seen: Seen[Run]) -> tuple[float, str]:
            asked, _ = seen.run.request
            return progress(seen.view, seen.run.meter, self.stored.typical_seconds(asked.method, asked.epsilon))

        place, request = st.container(), (self.piece, self.stored.key)
        seen = AGAIN.look(how_far, runs.ended_early)
        if seen and seen.view.active:
            return
        reason = cannot_run(self.piece.dataset, self.expected, LONGEST_SECONDS)
        with place:
            if offer("Run this point", reason, self.invitation(), key="accuracy_run", icon=":material/play_arrow:"):
                meter = Meter()
                AGAIN.start(request, partial(again, self.piece, meter), meter=meter)
                st.rerun()
        if seen is None or seen.latest is None:
            return
        if seen.run.request != request:
            st.info("This run belongs to another point. Press again to run this point.", icon=":material/sync_problem:")
            return
        st.markdown(self.answer(seen.latest))
        page.table(self.table(seen.latest), alt=self.answer(seen.latest), name="accuracy_point")
        page.reproduce(self.code(), note="These lines print the stored run and the new one.", name="point")

    def invitation(self) -> str:
        """What a press of the button does, and what there is to compare it with."""
        piece, before, expected = self.piece, self.before, self.expected
        target = "without privacy" if piece.method == NON_PRIVATE else f"ε = {sentences.epsilon(piece.epsilon)}"
        what = f"{LABELS[piece.method]}, {target}, split and trial {piece.trial} of {piece.dataset}"
        took = f" Stored trials of this point took {seconds(expected)} (median)." if expected else ""
        beside = "this trial is not stored, so there is nothing to compare with"
        return f"{what}: {f'{accuracy(before.accuracy)} is stored' if before else beside}.{took}"

    def answer(self, run: Run) -> str:
        """The run made now beside the stored one, and why they differ."""
        made, before = f"Made now: **{accuracy(run.accuracy)}** in {seconds(run.seconds)}.", self.before
        if before is None:
            return f"{made} This trial is not stored."
        stored = f"Stored: **{accuracy(before.accuracy)}** in {seconds(before.seconds)}."
        if run.accuracy == before.accuracy:
            return f"{made} {stored} The same seed gives the same model."
        apart = (
            f"{made} {stored} They are {points(run.accuracy - before.accuracy)} apart although both have the same seed"
        )
        noise = [(getattr(run, name), getattr(before, name)) for name in ("sigma", "lam", "noise_multiplier")]
        if any(new != old and (not new or not old or not math.isclose(new, old, rel_tol=1e-6)) for new, old in noise):
            return f"{apart}: the calibration has changed since that file was made, so the noise differs."
        return f"{apart} and the same noise: another processor or another version of the code adds up differently."

    def table(self, run: Run) -> list[dict[str, str]]:
        """The run made now beside the stored one, one quantity a row."""
        columns = {"made now": _cells(run)} | ({"stored": _cells(self.before)} if self.before else {})
        rows = [{"": name} | {head: column[name] for head, column in columns.items()} for name in columns["made now"]]
        return [row for row in rows if any(row[head] != "–" for head in columns)]

    def code(self) -> str:
        """Python that runs the point again; defines ``again`` and ``before``."""
        piece = self.piece
        target = Verbatim('float("inf")') if piece.method == NON_PRIVATE else piece.epsilon
        blanks = {"key": self.stored.key, "method": piece.method, "epsilon": target, "trial": piece.trial}
        return snippets.filled("accuracy", "again", {**blanks, "dataset": piece.dataset, "seed": piece.seed})


def _cells(run: Run) -> dict[str, str]:
    noise = {"learning rate": run.learning_rate, "σ": run.sigma, "λ": run.lam}
    noise |= {"noise multiplier": run.noise_multiplier, "margin k": run.margin}
    noise |= {"σ of the centre": run.center_noise, "σ of the scales": run.scale_noise}
    return {
        "test accuracy": f"{100 * run.accuracy:.3f} %",
        "processor time": seconds(run.seconds),
        "models trained": f"{run.runs}",
        **{name: "–" if value is None else sentences.scientific(value, 6) for name, value in noise.items()},
        "noise seed": "none" if run.seed is None else f"{run.seed}",
        "split seed": f"{run.split_seed}",
    }


LONGEST_SECONDS = 300.0  # a point that took longer where it was stored is left to the command line


def again(point: Piece, meter: Meter, should_stop: Callable[[], bool]) -> Iterator[Run]:
    """Fit `point` as its sweep did: same split, same seed, same parameters; tells the steps of all its runs."""
    data = datasets.load(point.dataset, split_seed=point.trial)
    watch, steps = stopper(should_stop), 0

    def step(*_: float) -> None:
        nonlocal steps
        steps += 1
        meter.tell(steps)
        watch()

    with suppress(StoppedError):
        watch()
        yield point.fit(data, callback=step)
