"""The background work of the picture "In accuracy": what was asked for, and doing it. No Streamlit here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from objpert_core.datasets import Dataset
from objpert_core.experiments.studies.tuning_runs import TuningRuns, tuning_runs
from ui import request
from ui.jobs import Job

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


def wait_for_a_draw(job: Job[TuningRuns], seconds: float = 8.0) -> None:
    """Give a job that started by itself the moment it needs for its first draw, so that no page opens empty."""
    end = time.monotonic() + seconds
    while (view := job.view()).active and not (view.latest and view.latest.draws) and time.monotonic() < end:
        time.sleep(0.05)
