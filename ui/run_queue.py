"""People's runs of pages take turns, so that a class that moves its sliders together is served one after the other.

Streamlit gives each run a thread of its own. A hundred of them share Python's one lock: all finish when the last one
does, and the thread that listens to the browsers gets the lock once in a hundred times, until they think that nobody
is there. In turns the first are served at once, all take as long as before, and the listening thread hardly waits:
`python -m benchmarks.classroom --people 60 --every 0.1`.
"""

import functools
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

AT_ONCE = 2  # Python computes one at a time; a second one has the processor while the first one waits for something
SLOW_AFTER = 1.0  # seconds; whoever takes longer, a download perhaps, holds up nobody


class Turns:
    """So many at once, those left out who have had a turn for `slow_after` seconds; the others wait in their order."""

    def __init__(self, at_once: int = AT_ONCE, slow_after: float = SLOW_AFTER) -> None:
        self.at_once, self.slow_after = at_once, slow_after
        self._freed = threading.Condition()
        self._began: dict[object, float] = {}  # who has a turn, and since when
        self._line: deque[threading.Event] = deque()  # the first one waits for a turn, all others to be the first

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and have it until the block ends."""
        first = threading.Event()
        with self._freed:
            self._line.append(first)
            self._line[0].set()
        first.wait()
        with self._freed:
            while left := self._seconds_until_free():
                self._freed.wait(left)
            self._began[first] = time.monotonic()
            self._line.popleft()
            if self._line:
                self._line[0].set()
        try:
            yield
        finally:
            with self._freed:
                del self._began[first]
                self._freed.notify()

    def _seconds_until_free(self) -> float:
        """0.0 where there is a turn to be had; else when there is one at the latest."""
        began = sorted(at for at in self._began.values() if time.monotonic() < at + self.slow_after)
        if len(began) < self.at_once:
            return 0.0
        return max(0.001, began[0] + self.slow_after - time.monotonic())


def take_turns() -> None:
    """From now on, runs of this process's pages take turns, where Streamlit still has the method that is wrapped."""
    run, turns = getattr(ScriptRunner, "_run_script", None), Turns()
    if run is None:
        return

    @functools.wraps(run)
    def in_turn(runner: ScriptRunner, rerun: RerunData) -> None:
        with turns.turn():
            run(runner, rerun)

    ScriptRunner._run_script = in_turn  # type: ignore[method-assign, assignment]
