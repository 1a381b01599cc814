"""How tests wait for what other threads do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tests.ui.works import Gate
from ui.jobs import Job, JobView

T = TypeVar("T")


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until the condition holds; fail where it does not in time (a machine may do other things as well)."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.002)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def ended(job: Job) -> JobView:
    """What a job says at its end."""
    until(lambda: not job.view().active)
    return job.view()


def begun(job: Job, gate: Gate) -> Job:
    """A job as soon as its work has begun, and the runner knows."""
    until(lambda: gate.began.is_set() and job.view().state == "running")
    return job


def awaited(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns; in a thread of its own, as Playwright's loop may already run in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
