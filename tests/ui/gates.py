"""Work that tests let go on, in whichever process it is done: the two ends of a gate meet in a folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path


class Gate:
    """Work that yields 0 and goes on to 1 only when it is let through."""

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
        (self.folder / what).write_text(str(os.getpid()))

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
