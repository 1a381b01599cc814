"""The training page's background work: what was asked for, training it, fetching files. No Streamlit here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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


@dataclass(eq=False)
class Download:
    """How far a download is. Unlike other results it changes in place: each field alone is written in one step."""

    file: str = ""
    done: int = 0
    total: int | None = None
    files: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Of the present file, 0 to 1; 0 where its size is not known."""
        return min(1.0, self.done / self.total) if self.total else 0.0


class _StoppedError(Exception):
    """Leaves a transfer from inside its progress callback."""


def download(name: str) -> Callable[[Callable[[], bool]], Iterator[Download]]:
    """Work that fetches the raw files of data set `name`; what a stopped transfer leaves behind is nothing."""

    def work(should_stop: Callable[[], bool]) -> Iterator[Download]:
        state = Download()
        yield state

        def progress(file: str, done: int, total: int | None) -> None:
            if should_stop():
                raise _StoppedError
            state.file, state.done, state.total = file, done, total

        try:
            state.files = [path.name for path in datasets.fetch(name, progress)]
        except _StoppedError:
            return
        yield state

    return work
