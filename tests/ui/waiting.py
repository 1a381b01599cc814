"""Work for the tests of jobs, and how tests wait for what other threads do."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ui.jobs import Job, JobView

T = TypeVar("T")


class Gate:
    """Work that yields 0 and goes on to 1 only when it is let through."""

    def __init__(self) -> None:
        self.began, self.opened = threading.Event(), threading.Event()

    def __call__(self, should_stop: Callable[[], bool]) -> Iterator[int]:
        self.began.set()
        yield 0
        while not self.opened.wait(0.002):
            if should_stop():
                return
        yield 1


def values(*found: object) -> Callable[[Callable[[], bool]], Iterator[object]]:
    """Work that yields these."""
    return lambda should_stop: (value for value in found)


def raises(error, should_stop):
    yield 1
    raise error


def counted(seen, should_stop):
    seen.append("in")
    time.sleep(0.05)
    yield 1
    seen.append("out")


def noted(order, name, should_stop):
    order.append(name)
    yield name


def deaf(gate, should_stop):
    yield 1
    while not (gate.opened.wait(0.002) and should_stop()):
        pass
    yield 2
    raise AssertionError("must not be asked for a third value")


def fifty(should_stop):
    for i in range(50):
        if should_stop():
            return
        yield i
        time.sleep(0)


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
