"""The training page's background work: what was asked for, and training it. No Streamlit here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from objpert_core import datasets
from objpert_core.experiments.compare import Comparison, Settings, compare
from ui.jobs import Job


class Meter:
    """Where the fit under way is: written by the worker's thread, read by the page's; each reads or writes one tuple.

    DP-SGD with its tuning paid for makes several runs, whose steps start again at 1.
    """

    def __init__(self) -> None:
        self.now: tuple[str, int, int] | None = None  # method, run, step

    def tell(self, method: str, where: tuple[float, ...]) -> None:
        """What `compare` tells: the method, and (step or iteration, …)."""
        step, before = int(where[0]), self.now
        run = before[1] + (step <= before[2]) if before is not None and before[0] == method else 1
        self.now = (method, run, step)

    def next_fit(self) -> None:
        """A fit has ended."""
        self.now = None


@dataclass(frozen=True)
class Request:
    """Everything that decides a comparison's numbers: data set, split, settings."""

    name: str
    split_seed: int
    settings: Settings

    def work(self, should_stop: Callable[[], bool], meter: Meter | None = None) -> Iterator[Comparison]:
        """Load the data (fast when somebody has before), then compare; for `JobRunner.submit` or a plain loop."""
        meter = meter or Meter()
        data = datasets.load(self.name, split_seed=self.split_seed)
        for step in compare(data, self.settings, should_stop, meter.tell):
            meter.next_fit()
            yield step


@dataclass(frozen=True, eq=False)
class Run:
    """One press of Run: the request, its job, the prediction made beforehand, and what was on the screen before.

    `meter` shows where the fit under way is.
    """

    request: Request
    job: Job[Comparison]
    guess: str | None = None
    previous: Comparison | None = None
    meter: Meter = field(default_factory=Meter)
