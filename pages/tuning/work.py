"""The work of the picture "In accuracy", and what is said before it, while it is under way, and at its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from objpert_core.datasets import Dataset
from objpert_core.experiments.studies.tuning_runs import TuningRuns, tuning_runs
from ui import live, request, runs, sentences
from ui.jobs import Job, JobView

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
