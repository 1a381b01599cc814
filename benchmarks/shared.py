"""What the benchmarks share: empty caches, times, tables, and where a result came from."""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from objpert_core import _provenance
from objpert_core.experiments.summary import Interval


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


Labels = Mapping[str, Mapping[str, Any]]
"""What stands at a row or over a column, and what it selects of a stored file."""


def each(head: str, name: str, values: Iterable[Any]) -> Labels:
    """A label for every value of what is called `name` in the file; `head` says how it is written."""
    return {head.format(value): {name: value} for value in values}


def methods(labels: Mapping[str, str]) -> Labels:
    """A label for every method."""
    return {label: {"method": method} for method, label in labels.items()}


def crossed(corner: str, rows: Labels, columns: Labels, cell: Callable[..., str]) -> str:
    """A table: each cell is what `cell` says of what its row and its column select."""
    lines = ([head, *(cell(**row, **column) for column in columns.values())] for head, row in rows.items())
    return markdown([corner, *columns], lines)


def digits(value: float, number: int = 3) -> str:
    """So many digits, without an exponent."""
    return f"{float(f'{value:.{number}g}'):,.12g}"


def per_cent(mean: float, half_width: float, places: int = 2) -> str:
    """A share with half its interval."""
    return f"{100 * mean:.{places}f} ± {100 * half_width:.{places}f}"


def accuracy_text(interval: Interval) -> str:
    """A mean accuracy in per cent, with half its interval where there is one."""
    spread = f" ± {100 * interval.half_width:.2f}" if interval.known else ""
    return f"{100 * interval.mean:.2f}{spread}"


def filled(text: str, found: Mapping[str, str]) -> str:
    """`text` with every {{name}} replaced.

    Raises
    ------
    ValueError
        If a name is unknown, or something is computed that the text does not use.
    """
    asked = set(re.findall(r"\{\{(.*?)\}\}", text))
    if asked != set(found):
        raise ValueError(f"unknown: {sorted(asked - set(found))}, not used: {sorted(set(found) - asked)}")
    return re.sub(r"\{\{(.*?)\}\}", lambda match: found[match[1]], text)
