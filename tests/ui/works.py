"""Work for the tests of jobs, in whichever process it is done; a worker that imports this has little else to import."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any


class Gate:
    """Work that yields 0 and goes on to 1 only when it is let through; its two ends meet in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def __call__(self, should_stop: Callable[[], bool]) -> Iterator[int]:
        self.note("began")
        yield 0
        while not self.noted("open"):
            if should_stop():
                self.note("stopped")
                return
            time.sleep(0.002)
        yield 1

    def note(self, what: str) -> None:
        """Leave a note, at once as a whole."""
        unfinished = self.folder / f"{what}.{os.getpid()}"
        unfinished.write_text(str(os.getpid()))
        unfinished.rename(self.folder / what)

    def noted(self, what: str) -> bool:
        return (self.folder / what).exists()

    @property
    def began(self) -> bool:
        return self.noted("began")

    @property
    def process(self) -> int:
        """The process that does the work."""
        return int((self.folder / "began").read_text())

    def open(self) -> None:
        self.note("open")


class Lines:
    """A list that several processes write."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.touch()

    def add(self, *words: object) -> None:
        with self.file.open("a") as file:  # one short line is written as one
            file.write(" ".join(map(str, words)) + "\n")

    def __iter__(self) -> Iterator[str]:
        return iter(self.file.read_text().splitlines())


def values(*found: object) -> Callable[..., Iterator[object]]:
    """Work that yields these."""
    return partial(_values, found)


def _values(found, should_stop):
    yield from found


def raises(error, should_stop):
    yield 1
    raise error


def counted(seen, should_stop):
    seen.add("in")
    time.sleep(0.05)
    yield 1
    seen.add("out")


def noted(order, name, should_stop):
    order.add(name)
    yield name


def deaf(gate, should_stop):
    yield 1
    while not (gate.noted("open") and should_stop()):
        time.sleep(0.002)
    yield 2
    raise AssertionError("must not be asked for a third value")


def fifty(should_stop):
    for i in range(50):
        if should_stop():
            return
        yield i
        time.sleep(0)


def blas() -> list[int]:
    """How many threads linear algebra has here."""
    import scipy.linalg  # noqa: F401  (loads the library)
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def its_blas(should_stop):
    yield os.getpid(), blas()


def again_and_again(lines, gate, should_stop):
    lines.add("began")
    yield from gate(should_stop)


def with_rows(rows: list[str], gate: Gate, should_stop: Callable[[], bool]) -> Iterator[Any]:
    """Work on somebody's rows, which fails in the end."""
    yield len(rows)
    yield from gate(should_stop)
    raise KeyError("no row in this message")


def yields_a_lock(should_stop):
    yield 1
    yield threading.Lock()


def echo(content, should_stop):
    yield content[::-1]


def tells(meter, gate, should_stop):
    for step in range(5):
        meter.tell("paid", step)
    yield from gate(should_stop)
