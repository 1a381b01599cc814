"""Long work on a page, from the button to the last result: one way for every page.

    RUNS: Runs[Comparison] = Runs("training")         # at the top of the page

    if pressed:
        RUNS.start(request, work)                     # queued; a refusal is shown where the results go
    RUNS.follow(results, asked)                       # runs `results(asked)`, again and again while there is progress

    def results(asked):
        seen = RUNS.look(progress, outcome)           # progress bar and Stop, or how it ended
        if seen is not None and seen.latest is not None:
            …                                         # draw seen.latest

A button inside `results` starts a run, too; the page then calls `st.rerun`, since only a whole run sets the timer.
The work itself is a generator function (`ui.jobs`) and calls no Streamlit: it is done in a thread of its own.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from ui import jobs, sentences, visitors
from ui.jobs import Job, JobView, QueueFullError, Work

POLL_SECONDS = 0.5
T = TypeVar("T")


def visitor(prefix: str) -> str:
    """The name under which this session's jobs on the page `prefix` are queued; the same for as long as it lasts."""
    return st.session_state.setdefault(f"{prefix}__owner", uuid.uuid4().hex)


@dataclass(frozen=True, eq=False)
class Run(Generic[T]):
    """One press of a button."""

    request: Any  # everything that decides the numbers
    job: Job[T]  # the work, queued
    previous: T | None = None  # the last result of the run before, for ghosts
    meter: Any = None  # where the work is between two results: the work writes, the page reads


@dataclass(frozen=True)
class Seen(Generic[T]):
    """A run and how far it is, read once: everything that is drawn from it agrees."""

    run: Run[T]
    view: JobView[T]

    @property
    def latest(self) -> T | None:
        """The last result so far."""
        return self.view.latest


@dataclass(frozen=True)
class Runs(Generic[T]):
    """The runs of one kind on one page; each session holds its latest."""

    page: str  # the page's name; a session has one job a page
    kind: str = "run"  # tells several kinds on one page apart

    @property
    def _key(self) -> str:
        return f"{self.page}__{self.kind}"

    def latest(self) -> Run[T] | None:
        """The latest run of this session."""
        return st.session_state.get(self._key)

    def seen(self) -> Seen[T] | None:
        """The latest run and how far it is; None before the first."""
        run = self.latest()
        return None if run is None else Seen(run, run.job.view())

    @property
    def active(self) -> bool:
        """Whether the latest run is waiting or under way."""
        run = self.latest()
        return run is not None and run.job.view().active

    def previous(self, worth: Callable[[T], bool] = lambda result: True) -> T | None:
        """The last result that is `worth` being the next run's ghost: of the latest run, else the one before it."""
        run = self.latest()
        if run is None:
            return None
        last = run.job.view().latest
        return last if last is not None and worth(last) else run.previous

    def start(self, request: Any, work: Work[T], *, meter: Any = None, previous: T | None = None) -> bool:
        """Queue `work`; a run of this session on this page that is still under way is stopped by it.

        False where the server had no room; `look` says so until the next press.
        """
        st.session_state.pop(f"{self._key}_refused", None)
        try:
            owner, network = visitor(self.page), visitors.network()
            job = jobs.shared_runner().submit(owner, work, network=network)
        except QueueFullError as error:
            st.session_state[f"{self._key}_refused"] = str(error)
            return False
        st.session_state[self._key] = Run(request, job, previous, meter)
        return True

    def follow(self, draw: Callable[..., None], *arguments: Any) -> None:
        """Draw the results in a fragment, which draws itself again while the run is under way."""
        active = self.active
        st.fragment(self._drawn, run_every=POLL_SECONDS if active else None)(draw, active, arguments)

    def _drawn(self, draw: Callable[..., None], polling: bool, arguments: tuple[Any, ...]) -> None:
        if polling and not self.active:
            st.rerun()  # the whole page once more, without the timer
        draw(*arguments)

    def look(
        self,
        progress: Callable[[Seen[T]], tuple[float, str]],
        outcome: Callable[[JobView[T]], str | None],
        *,
        narrow: bool = False,
    ) -> Seen[T] | None:
        """Show a refusal, how far the run is beside Stop, or how it ended; returns the run, None before the first.

        `progress` is the share done and words; `outcome` one sentence about a run that ended, or None. Where it is
        `narrow`, Stop stands under the bar.
        """
        if words := st.session_state.get(f"{self._key}_refused"):
            st.error(words, icon=":material/hourglass_disabled:")
        seen = self.seen()
        if seen is None:
            return None
        if seen.view.active:
            key = f"{self.page}_stop" if self.kind == "run" else f"{self.page}_{self.kind}_stop"
            _under_way(progress(seen), key=key, stop=seen.run.job.stop, narrow=narrow)
        elif words := outcome(seen.view):
            (st.error if seen.view.state == "failed" else st.info)(words, icon=":material/info:")
        return seen


def _under_way(progress: tuple[float, str], *, key: str, stop: Callable[[], None], narrow: bool = False) -> None:
    """How far a job is, (share done, words), beside the button that stops it; under it where `narrow`."""
    bar, button = (st.container(), st.container()) if narrow else st.columns([4, 1], vertical_alignment="bottom")
    share, words = progress
    bar.progress(share, sentences.unbroken(words))
    button.button("Stop", key=key, icon=":material/stop:", on_click=stop, width="content" if narrow else "stretch")


def waiting(view: JobView) -> tuple[float, str] | None:
    """What every job says while it waits or stops; None while it works."""
    if view.state == "waiting":
        return 0.0, view.queue_words
    return (0.0, "Stopping …") if view.stopping else None


def stage(view: JobView[T], loading: str, how_far: Callable[[T], tuple[float, str]]) -> tuple[float, str]:
    """A progress bar's share and words: the place in the queue, `loading` before the first result, then `how_far`."""
    if view.state == "waiting":
        return 0.0, view.queue_words
    share, words = (0.0, loading) if view.latest is None else how_far(view.latest)
    return min(share, 1.0), "Stopping …" if view.stopping else words


def ended_early(view: JobView, stopped: str = "Stopped. The page shows the results so far.") -> str | None:
    """One sentence about a job that failed or was stopped; None for one that finished."""
    if view.state == "failed":
        return sentences.sentence(view.message or "")
    return stopped if view.state == "stopped" else None
