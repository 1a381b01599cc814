"""The background work of the page "Honest or not": what was asked for, and doing it. No Streamlit here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from objpert_core import datasets
from objpert_core.experiments.studies.tuning_runs import Settings, TuningRuns, tuning_runs
from ui.jobs import Job

_SMALL = ("synthetic-l", "breast-cancer", "digits-4-9")
_LIGHT = 3000  # epochs of small data, all runs together: some seconds


class Meter:
    """Where the draw under way is: written by the worker's thread, read by the page's, one tuple at a time."""

    def __init__(self) -> None:
        self.now: tuple[int, int, int] | None = None  # run (0: the unpaid candidates), runs, step

    def tell(self, run: int, runs: int, step: int) -> None:
        """What `tuning_runs` tells at every step."""
        self.now = (run, runs, step)


@dataclass(frozen=True)
class Request:
    """Everything that decides the numbers: data set, split, settings."""

    name: str
    split_seed: int
    settings: Settings

    @property
    def light(self) -> bool:
        """Whether it takes seconds, so that it may start without being asked to."""
        settings = self.settings
        return self.name in _SMALL and settings.draws * settings.epochs * (settings.mean_runs + 2) <= _LIGHT

    def work(self, should_stop: Callable[[], bool], meter: Meter | None = None) -> Iterator[TuningRuns]:
        """Load the data, then tune; for `JobRunner.submit` or a plain loop."""
        meter = meter or Meter()
        data = datasets.load(self.name, split_seed=self.split_seed)
        for state in tuning_runs(data, self.settings, should_stop, meter.tell):
            meter.now = None
            yield state


def wait_for_a_draw(job: Job[TuningRuns], seconds: float = 8.0) -> None:
    """Give a job that started by itself the moment it needs for its first draw, so that no page opens empty."""
    end = time.monotonic() + seconds
    while (view := job.view()).active and not (view.latest and view.latest.draws) and time.monotonic() < end:
        time.sleep(0.05)


@dataclass(frozen=True, eq=False)
class Run:
    """One run: the request, its job, where it is, and what was on the screen before."""

    request: Request
    job: Job[TuningRuns]
    meter: Meter = field(default_factory=Meter)
    previous: TuningRuns | None = None
