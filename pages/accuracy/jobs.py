"""The accuracy page's background work: one stored point run again. No Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from objpert_core import datasets
from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.results import Run
from objpert_core.experiments.stopping import StoppedError, stopper
from ui import runs, sentences
from ui.jobs import JobView

LONGEST_SECONDS = 300.0  # a point that took longer where it was stored is left to the command line


@dataclass(eq=False)
class Again:
    """How far a point is, in steps of all its runs, and its result once there is one.

    Unlike other results it changes in place: each field alone is written in one step.
    """

    steps: int = 0
    run: Run | None = None


def again(point: Piece) -> Callable[[Callable[[], bool]], Iterator[Again]]:
    """The work of fitting `point` as its sweep did: same split, same seed, same parameters."""

    def work(should_stop: Callable[[], bool]) -> Iterator[Again]:
        state = Again()
        yield state
        data = datasets.load(point.dataset, split_seed=point.trial)

        watch = stopper(should_stop)

        def step(*_: float) -> None:
            state.steps += 1
            watch()

        with suppress(StoppedError):
            watch()
            state.run = point.fit(data, callback=step)
            yield state

    return work


def progress(view: JobView[Again], expected: float | None) -> tuple[float, str]:
    """The progress bar's share and text; `expected` is what stored trials took, in seconds."""
    if said := runs.waiting(view):
        return said
    if not (view.latest and view.latest.steps):
        return 0.0, f"Loading the data and calibrating the noise, {view.seconds:.1f} s"
    share = min(0.95, view.seconds / expected) if expected else 0.5
    took = f"; stored trials took {expected:.3g} s" if expected else ""
    return share, f"{sentences.count(view.latest.steps, 'step')}, {view.seconds:.1f} s{took}"
