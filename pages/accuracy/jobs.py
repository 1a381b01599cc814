"""The accuracy page's background work: one stored point run again. No Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from objpert_core import datasets
from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.results import Run
from objpert_core.experiments.stopping import StoppedError, stopper
from ui.request import Meter

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
