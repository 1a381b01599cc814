"""Long work in the background: a small pool of threads that the whole server shares.

A job is a generator function `work(should_stop)`. Each value it yields is a new partial result, complete in
itself and never changed afterwards; the page shows the latest one. What happens between two results goes to a meter
(`ui.request`). The same generator can be consumed in a plain loop where there are no threads (Python inside a browser).

* at most `workers` jobs run at once and at most `queue_limit` wait; a further one is refused with `QueueFullError`;
* networks (`ui.visitors`) take turns: whose jobs are many wait for one of each other network's, and where the queue is
  full the last of them makes way; one network alone, a class perhaps, has all of the queue;
* an owner (one browser session) has one job: submitting the next stops the previous one;
* stopping is cooperative: `should_stop()` turns true, the generator ends soon, its last value is kept;
* a job that nobody has looked at for `abandoned_after` seconds counts as stopped: a closed tab frees its slot.
  Browsers wake the timers of hidden tabs once a minute at worst, so the default is above that;
* the runner forgets a job when it ends. The session holds its own `Job`, so results live as long as the session.

Work is begun once and never repeated: with a private fit a second try would be a second release. Nothing here calls
Streamlit.
"""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from threadpoolctl import threadpool_limits

from objpert_core import ConvergenceError, DataUnavailableError

T = TypeVar("T")
State = Literal["waiting", "running", "finished", "stopped", "failed"]
Work = Callable[[Callable[[], bool]], Iterator[T]]

_log = logging.getLogger(__name__)


READABLE = (ValueError, ConvergenceError, DataUnavailableError)
"""Errors whose messages are written for people."""


class QueueFullError(RuntimeError):
    """The server already runs and holds as many jobs as it will; the message says so in one sentence."""


@dataclass(frozen=True)
class JobView(Generic[T]):
    """What a page may show of a job at one moment."""

    state: State  # "waiting", "running", "finished", "stopped" (by its owner, or abandoned) or "failed"
    latest: T | None  # the last partial result; None before the first; a stop or a failure keeps it
    message: str | None  # one sentence that says why the job failed
    ahead: int  # how many waiting jobs are in front of this one
    stopping: bool  # whether a stop was asked for and has not taken effect yet
    seconds: float  # time since the job began to run; it stands still once the job has ended

    @property
    def active(self) -> bool:
        """Whether the job may still change, so that polling makes sense."""
        return self.state in ("waiting", "running")

    @property
    def queue_words(self) -> str:
        """What to show while the job waits: 'Waiting for a free slot (2 ahead of you).'"""
        return f"Waiting for a free slot ({f'{self.ahead} ahead of you' if self.ahead else 'you are next'})."


def explain(error: Exception) -> str:
    """What people are told of an error in some work; one that is not written for them goes to the log."""
    if isinstance(error, READABLE):
        return str(error)
    _log.error("work failed", exc_info=error)
    if isinstance(error, MemoryError):
        return "The server ran out of memory for this job. Try fewer repeats or smaller data."
    return f"An unexpected error occurred in the background ({type(error).__name__}). The server's log has the details."


class Job(Generic[T]):
    """One piece of background work, held by the session that asked for it."""

    def __init__(self, runner: JobRunner, owner: str, work: Work[T], network: str = "") -> None:
        self.owner, self.network = owner, network
        self._runner = runner
        self._work: Work[T] | None = work
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._state: State = "waiting"
        self._latest: T | None = None
        self._message: str | None = None
        self._seen = self._began = runner.clock()
        self._ended: float | None = None

    def view(self) -> JobView[T]:
        """The job's state now. Looking also tells the runner that somebody still wants it."""
        now = self._seen = self._runner.clock()
        ahead = self._runner._ahead_of(self)
        with self._lock:
            began = now if self._state == "waiting" else self._began
            return JobView(
                state=self._state,
                latest=self._latest,
                message=self._message,
                ahead=ahead,
                stopping=self._stop.is_set() and self._state == "running",
                seconds=(self._ended if self._ended is not None else now) - began,
            )

    def stop(self) -> None:
        """Ask the job to end. A waiting one ends at once, a running one at its next check."""
        self._stop.set()
        self._runner._tend()

    def should_stop(self) -> bool:
        """Whether the work must end: its owner said so, or nobody has looked for too long."""
        if not self._stop.is_set() and self._runner.clock() - self._seen > self._runner.abandoned_after:
            self._stop.set()
        return self._stop.is_set()

    def _end(self, state: State, message: str | None = None) -> None:
        with self._lock:
            self._state = state
            self._message = message
            self._ended = self._runner.clock()
            self._work = None  # lets go of whatever the closure holds

    def _run(self) -> None:
        with self._lock:
            work = self._work
        if work is None or self.should_stop():
            self._end("stopped")
            return
        with self._lock:
            self._state, self._began = "running", self._runner.clock()
        try:
            with closing(self._steps(work)) as steps:
                for step in steps:
                    with self._lock:
                        self._latest = step
                    if self.should_stop():
                        break
        except Exception as error:
            self._end("failed", explain(error))
        else:
            self._end("stopped" if self._stop.is_set() else "finished")

    def _steps(self, work: Work[T]) -> Generator[T, None, None]:
        """The work's own values, made with its part of the cores: pieces that all use every core slow one another."""
        cores = max(1, (os.cpu_count() or 1) // self._runner.workers)
        with threadpool_limits(limits=cores, user_api="blas"):
            yield from work(self.should_stop)


class JobRunner:
    """Runs jobs, at most `workers` at once; networks take turns, and each is served first come first served."""

    def __init__(
        self,
        workers: int = 2,
        queue_limit: int = 16,
        abandoned_after: float = 90.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.workers = workers
        self.queue_limit = queue_limit
        self.abandoned_after = abandoned_after
        self.clock = clock
        self._lock = threading.Lock()
        self._waiting: list[Job] = []
        self._served: dict[str, int] = {}  # network → its last turn
        self._turn = 0
        self._running: list[Job] = []
        self._threads = 0

    def submit(self, owner: str, work: Work[T], *, network: str = "") -> Job[T]:
        """Queue `work` for `owner`, whose previous job is stopped first; `QueueFullError` where nothing was queued.

        Where the queue is full the last job of the network that has most in it makes way, if that leaves it no fewer
        than the newcomer's.
        """
        job: Job[T] = Job(self, owner, work, network)
        with self._lock:
            previous = [other for other in (*self._running, *self._waiting) if other.owner == owner]
        for other in previous:
            other.stop()
        self._tend()
        with self._lock:
            full = self._threads >= self.workers and len(self._waiting) >= self.queue_limit
            last = self._one_too_many(network) if full else None
            if full and last is None:
                raise QueueFullError(
                    f"The server is busy: {len(self._running)} jobs are running and {len(self._waiting)} are waiting. "
                    "Please try again in a minute."
                )
            if last is not None:
                self._waiting.remove(last)
            self._waiting.append(job)
            self._hire()
        if last is not None:
            last._end("failed", "The server is busy and has no free place. Please try again in a minute.")
        return job

    def _one_too_many(self, network: str) -> Job | None:
        """The last job of the network that has most waiting, if it has two more than this one."""
        waiting = Counter(job.network for job in self._waiting)
        most, jobs = max(waiting.items(), key=lambda item: item[1], default=("", 0))
        if jobs < waiting[network] + 2:
            return None
        return next(job for job in reversed(self._waiting) if job.network == most)

    def _line(self) -> list[Job]:
        """Those who wait, in the order of their turns: the network comes next whose last turn is longest ago."""
        waiting, line, served = list(self._waiting), [], dict(self._served)
        while waiting:
            line.append(min(waiting, key=lambda job: served.get(job.network, 0)))
            waiting.remove(line[-1])
            served[line[-1].network] = self._turn + len(line)
        return line

    def counts(self) -> tuple[int, int]:
        """How many jobs are running and how many are waiting."""
        with self._lock:
            return len(self._running), len(self._waiting)

    def _hire(self) -> None:
        """One thread more where somebody waits and there is room."""
        if self._waiting and self._threads < self.workers:
            self._threads += 1
            threading.Thread(target=self._serve, name="objpert-job", daemon=True).start()

    def _serve(self) -> None:
        """A worker thread: takes jobs until none is left, then ends."""
        while True:
            self._tend()
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                job = self._line()[0]
                self._waiting.remove(job)
                self._turn += 1
                self._served = {one.network: self._served.get(one.network, 0) for one in self._waiting + self._running}
                self._served[job.network] = self._turn
                self._running.append(job)
            try:
                job._run()
            finally:
                with self._lock:
                    self._running.remove(job)

    def _tend(self) -> None:
        """Take stopped and abandoned jobs out of the queue."""
        with self._lock:
            dropped = [job for job in self._waiting if job.should_stop()]
            for job in dropped:
                self._waiting.remove(job)
        for job in dropped:
            job._end("stopped")

    def _ahead_of(self, job: Job) -> int:
        self._tend()
        with self._lock:
            return self._line().index(job) if job in self._waiting else 0


@functools.cache
def shared_runner() -> JobRunner:
    """The one runner of this web process. Two threads: the machine must stay free to draw other people's pages."""
    return JobRunner()


_moment = threading.RLock()


@contextmanager
def moment() -> Iterator[None]:
    """Work that takes a moment, in the thread that needs it; other threads wait for their turn. Two pieces at once$
    would hold up one another: both together take half as long again as one after the other, each with all cores.
    """
    with _moment:
        yield
