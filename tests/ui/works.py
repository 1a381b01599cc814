"""Work for the tests of jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator


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
