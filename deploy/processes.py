"""A child process: started so that it ends with its parent, watched, and started again when it has ended.

`Child` is any of them, `App` is one that serves people: it is asked for its health and its memory. What to do is
decided by `App.trouble` and `Child.due`, which read no clock themselves.
"""

from __future__ import annotations

import ctypes
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

FAILURES = 3  # health checks in a row
CHECK_EVERY, CHECK_WITHIN = 5.0, 10.0  # seconds; a busy process answers late
START_WITHIN = 120.0  # seconds until the first good check
STEADY_AFTER = 60.0  # seconds; who lived as long did not die of its start
LONGEST_WAIT = 30.0  # seconds before another start
SET_DEATH_SIGNAL = 1  # of prctl(2)

log = logging.getLogger("objpert")


def without_people(line: str) -> str:
    """A line of nginx's error log without what it says of the visitor: address, request with its query, referrer."""
    return re.split(r",? (?:while \w+ing [^,]*)?,? ?client: ", line, maxsplit=1)[0]


class Child:
    """One process of ours and its successors.

    Parameters
    ----------
    name : str
        What the log calls it.
    command : sequence of str
        Its argument vector. Secrets go into `environment`: everybody on the machine may read argument vectors.
    environment : dict
        Its whole environment.
    dies_by : int
        The signal that the kernel sends it when the parent is gone, for whatever reason.
    tell : callable
        Takes a line of its output to what may be logged.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: dict[str, str],
        folder: Path,
        dies_by: int = signal.SIGKILL,
        tell: Callable[[str], str] = str,
    ) -> None:
        self.name, self.command, self.environment, self.folder = name, list(command), environment, folder
        self.dies_by, self.tell = dies_by, tell
        self.process: subprocess.Popen[str] | None = None
        self.starts = 0
        self.started = self.ended = 0.0
        self.quick_deaths = 0

    @property
    def pid(self) -> int | None:
        """Its process, if one runs."""
        return self.process.pid if self.process is not None and self.process.poll() is None else None

    def start(self, now: float) -> None:
        """Start it. Call from the main thread: the kernel's signal goes by the thread that started a process."""
        self.starts += 1
        self.started = now
        try:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                process_group=0,  # Ctrl-C is for us; we pass it on
                preexec_fn=_end_with(os.getpid(), self.dies_by),
            )
        except OSError as error:  # no memory, perhaps: the others go on, and it is tried again
            log.error("%s could not be started: %s", self.name, error)
            self._count_end(now)
            return
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            if text := self.tell(line.rstrip()):
                log.info("%s: %s", self.name, text)

    def gone(self, now: float) -> str | None:
        """How it ended, once, if it has."""
        if self.process is None or self.process.poll() is None:
            return None
        code = self.process.returncode
        self.send(signal.SIGKILL)  # what it has started and left behind
        self.process = None
        self._count_end(now)
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _count_end(self, now: float) -> None:
        self.ended = now
        self.quick_deaths = 0 if now - self.started >= STEADY_AFTER else self.quick_deaths + 1

    def due(self, now: float) -> bool:
        """Whether it is to be started: at once after a long life, ever later after short ones."""
        wait = 0.0 if self.quick_deaths < 2 else min(LONGEST_WAIT, 2.0 ** (self.quick_deaths - 2))
        return self.process is None and (self.starts == 0 or now - self.ended >= wait)

    def send(self, number: int) -> None:
        """Send a signal to it and to what it has started itself."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                return  # nobody is left


def _end_with(parent: int, number: int) -> Callable[[], None] | None:
    """What a child does before it begins: ask the kernel for a signal when its parent is gone. Linux only."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(SET_DEATH_SIGNAL, number)
        if os.getppid() != parent:  # gone already
            os._exit(1)

    return prepare


class App(Child):
    """One process that serves the app on a port of its own."""

    def __init__(self, name: str, port: int, environment: dict[str, str], folder: Path) -> None:
        command = [sys.executable, "-m", "deploy.app", "--server.address", "127.0.0.1"]
        super().__init__(name, [*command, "--server.port", str(port)], environment, folder)
        self.port = port
        self.failures = 0
        self.healthy = False  # has answered since it was started
        self._over = threading.Event()

    def start(self, now: float) -> None:
        """Start it, and somebody who asks for its health."""
        self.failures, self.healthy = 0, False
        self._over.set()  # whoever asked the one before asks no more
        self._over = threading.Event()
        super().start(now)
        threading.Thread(target=self._ask, args=(self._over,), daemon=True).start()

    def _ask(self, over: threading.Event) -> None:
        while not over.wait(CHECK_EVERY if self.healthy else 0.2):
            answered = healthy(self.port, CHECK_WITHIN)
            if over.is_set():
                return
            self.count(answered)

    def count(self, answered: bool) -> None:
        """Note the result of a health check. One that has not begun to serve yet has not failed."""
        self.healthy = self.healthy or answered
        self.failures = 0 if answered or not self.healthy else self.failures + 1

    def memory(self) -> float:
        """MiB of resident memory; 0 where nobody tells."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def trouble(self, now: float, memory: float, most: float) -> str | None:
        """Why it is to be replaced, if it is."""
        if self.failures >= FAILURES:
            return f"{self.failures} health checks in a row had no answer"
        if not self.healthy and now - self.started > START_WITHIN:
            return f"it did not answer within {START_WITHIN:g} s of its start"
        if memory > most:
            return f"it holds {memory:.0f} MiB, more than {most:g}"
        return None


def healthy(port: int, within: float) -> bool:
    """Whether the app on this port answers its health check."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=within) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False
