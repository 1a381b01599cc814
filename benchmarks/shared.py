"""What the benchmarks share: empty caches, times, tables, and where a result came from."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from objpert_core import _provenance


def empty_caches() -> None:
    """Forget every memoised result of ours."""
    for name, module in list(sys.modules.items()):
        if name.startswith("objpert_core"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()


def milliseconds(run: Callable[[], Any], runs: int = 7) -> float:
    """Processor time: the median of so many runs after one that warms up, our caches emptied before each."""
    times = []
    for _ in range(runs + 1):
        empty_caches()
        start = time.process_time()
        run()
        times.append(1e3 * (time.process_time() - start))
    return statistics.median(times[1:])


def put_between(page: Path, markers: tuple[str, str], text: str) -> None:
    """Put a text between two markers of a page, in the place of what stands there."""
    head, _, rest = page.read_text(encoding="utf-8").partition(markers[0])
    tail = rest.partition(markers[1])[2]
    page.write_text(f"{head}{markers[0]}\n\n{text}\n\n{markers[1]}{tail}", encoding="utf-8")


def commit() -> str:
    """The short commit, with a + where the package or the benchmarks have changes that are not committed."""
    return _provenance.commit(_provenance.PACKAGE, Path(__file__).parent)


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(
        ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *("| " + " | ".join(row) + " |" for row in rows)]
    ).replace("|  |", "| |")
