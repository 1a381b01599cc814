"""Processor time and memory of one call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

Result = TypeVar("Result")

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Measured(Generic[Result]):
    """What a call returned, the calling thread's processor seconds, and the MB it needed at most on top of those in
    use; `peak_mb` is None where the system does not tell, and in any thread but the first.
    """

    result: Result
    seconds: float
    peak_mb: float | None


def measured(call: Callable[[], Result]) -> Measured[Result]:
    """Call, and measure the call."""
    before = _start_watching_memory()
    clock = getattr(time, "thread_time", time.process_time)  # a browser's Python has no threads
    began = clock()
    result = call()
    seconds = clock() - began
    peak = None if before is None else _status("VmHWM")
    return Measured(result, seconds, None if peak is None or before is None else max(peak - before, 0.0))


def _start_watching_memory() -> float | None:
    """MB in use now, after setting the process's high-water mark to it; None where that cannot be done (not Linux)."""
    if threading.current_thread() is not threading.main_thread():
        return None
    try:
        CLEAR_REFS.write_text("5")  # proc(5): resets the peak resident set size
    except OSError:
        return None
    return _status("VmRSS")


def _status(name: str) -> float | None:
    try:
        lines = STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":")), None)
