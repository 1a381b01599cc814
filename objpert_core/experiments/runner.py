"""Run many independent fits through joblib: on this machine's cores, or on a cluster through Dask."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO, TypeVar

import joblib
from threadpoolctl import threadpool_limits

import objpert_core
from objpert_core._validation import choice, positive_integer

BACKENDS = ("loky", "dask")


class Work(Protocol):
    """A picklable piece of work."""

    @property
    def kind(self) -> str:
        """What takes about the same time as this; progress is estimated by it."""

    def __call__(self) -> Any:
        """Do the work; its return value becomes the outcome's result."""


AnyWork = TypeVar("AnyWork", bound=Work)


def refuse_another_version(started: str) -> None:
    """`RuntimeError` where this worker has not the version of the package that started the sweep."""
    if started != objpert_core.__version__:
        raise RuntimeError(f"this worker has objpert {objpert_core.__version__}, the sweep was started with {started}")


@dataclass(frozen=True)
class Outcome:
    """What became of one piece of work: its `result`, or as `error` type and message of the exception, for the rest
    goes on. `seconds` are wall-clock time, loading of data included.
    """

    work: Any
    result: Any
    error: str | None
    seconds: float


def execute(
    work: Sequence[AnyWork], jobs: int = 1, backend: str = "loky", scheduler: str | None = None
) -> Iterator[Outcome]:
    """Do all of `work` and yield each outcome as it comes, in any order; a piece that raises does not stop the others.
    Every piece runs with one thread of linear algebra, so that times can be compared. `backend` is "loky" for `jobs`
    processes on this machine, or "dask" for the cluster of a `scheduler`, an address (``tcp://host:8786``) or a
    scheduler file. `ValueError` where an argument is out of range, `ImportError` without `distributed`, `OSError` where
    the scheduler does not answer.
    """
    positive_integer("jobs", jobs)
    choice("backend", backend, BACKENDS)
    if (backend == "dask") != (scheduler is not None):
        raise ValueError(
            f"scheduler must be an address or a scheduler file with backend 'dask' and absent otherwise, got "
            f"scheduler={scheduler!r} with backend {backend!r}"
        )
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            parallel = joblib.Parallel(n_jobs=jobs, backend="loky", batch_size=1, return_as="generator_unordered")
        else:
            client = stack.enter_context(_client(scheduler))
            stack.enter_context(joblib.parallel_config(backend="dask", client=client))
            parallel = joblib.Parallel(n_jobs=-1, batch_size=1, return_as="generator_unordered")
        yield from parallel(joblib.delayed(_attempt)(piece) for piece in work)


def _client(scheduler: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "backend 'dask' needs the package distributed, which is not installed: pip install distributed"
        ) from error
    where = {"scheduler_file": scheduler} if Path(scheduler).is_file() else {"address": scheduler}
    return Client(**where, set_as_default=False)


def _attempt(work: Work) -> Outcome:
    began = time.perf_counter()
    try:
        with threadpool_limits(limits=1):
            result = work()
    except Exception as error:
        return Outcome(work, None, f"{type(error).__name__}: {error}", time.perf_counter() - began)
    return Outcome(work, result, None, time.perf_counter() - began)


class Progress:
    """Says after every piece how many are done and when all may be, from the pace so far and each kind's mean time.

    `work` is everything to be done; `clock` gives seconds from any start.
    """

    def __init__(self, work: Sequence[Work], stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._stream, self._clock = len(work), stream, clock
        self._began = clock()
        self._left: dict[str, int] = defaultdict(int)
        for piece in work:
            self._left[piece.kind] += 1
        self._seconds: dict[str, list[float]] = defaultdict(list)

    def done(self, outcome: Outcome, describe: Callable[[Outcome], str]) -> None:
        """Count one outcome and write a line about it."""
        kind = outcome.work.kind
        self._left[kind] -= 1
        self._seconds[kind].append(outcome.seconds)
        finished = self._total - sum(self._left.values())
        left = self.seconds_left()
        soon = "" if left is None else f"; about {_duration(left)} left"
        width = len(str(self._total))
        print(f"[{finished:{width}}/{self._total}] {describe(outcome)}{soon}", file=self._stream, flush=True)

    def seconds_left(self) -> float | None:
        """Seconds until everything is done; None before each kind that is left has been seen once."""
        waiting = {kind: count for kind, count in self._left.items() if count}
        worked = sum(sum(times) for times in self._seconds.values())
        if not worked or any(not self._seconds[kind] for kind in waiting):
            return None
        to_come = sum(count * sum(self._seconds[kind]) / len(self._seconds[kind]) for kind, count in waiting.items())
        return (self._clock() - self._began) * to_come / worked


def carry_out(
    todo: Sequence[Work],
    keep: Callable[[Any], object],
    describe: Callable[[Outcome], str],
    stream: TextIO,
    *,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
) -> tuple[Outcome, ...]:
    """Do all of `todo`, `keep` each result as it comes, and say how far the work is; what failed comes back.

    `describe` makes one line about an outcome; `jobs`, `backend` and `scheduler` are as in `execute`, which also says
    what is refused.
    """
    progress, failed = Progress(todo, stream), []
    for outcome in execute(todo, jobs, backend, scheduler) if todo else ():
        if outcome.error is None:
            keep(outcome.result)
        else:
            failed.append(outcome)
        progress.done(outcome, describe)
    return tuple(failed)


def _duration(seconds: float) -> str:
    """A time in words, coarser the longer it is."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
