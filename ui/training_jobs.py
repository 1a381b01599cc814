"""The training page's background work: what was asked for, and training it. No Streamlit here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from objpert_core import datasets
from objpert_core.experiments.compare import Comparison, Settings, compare
from ui.jobs import Job


@dataclass(frozen=True)
class Request:
    """Everything that decides a comparison's numbers: data set, split, settings."""

    name: str
    split_seed: int
    settings: Settings

    def work(self, should_stop: Callable[[], bool]) -> Iterator[Comparison]:
        """Load the data (fast when somebody has before), then compare; for `JobRunner.submit` or a plain loop."""
        data = datasets.load(self.name, split_seed=self.split_seed)
        yield from compare(data, self.settings, should_stop)


@dataclass(frozen=True, eq=False)
class Run:
    """One press of Run: the request, its job, the prediction made beforehand, and what was on the screen before."""

    request: Request
    job: Job[Comparison]
    guess: str | None = None
    previous: Comparison | None = None
