"""How files of results are made: piece by piece, continued where a run stopped, several pieces at a time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TextIO

from benchmarks.experiments.runner import Outcome, Piece, execute
from benchmarks.experiments.store import Store
from objpert_core._validation import choice
from objpert_core.experiments.family import Family
from objpert_core.experiments.results import AnyRow, Results
from objpert_core.tables import write


@dataclass(frozen=True)
class Experiment(Generic[AnyRow]):
    """How one file is made. `pieces` are the pieces of work, as cells of the columns `by` (the rows' keys if left out);
    `run` makes the rows of one. `seeds` says where the rows' seeds are told, and `shared` is the data set and
    configuration of all rows that have a title.
    """

    row: type[AnyRow]
    title: str
    pieces: tuple[Piece, ...]
    run: Callable[..., Iterable[AnyRow]]
    by: tuple[str, ...] = ()
    seeds: str = "in the column seed"
    shared: Mapping[str, Any] = field(default_factory=dict)

    def store(self, path: Path, made_by: Mapping[str, str]) -> Store[AnyRow]:
        """The file, opened for more rows; `made_by` is written before the first row that is added."""
        return Store(path, self.row, {**made_by, "seeds": self.seeds}, by=self.by, **self.shared)

    def make(
        self,
        path: Path,
        made_by: Mapping[str, str],
        *,
        most: int | None = None,
        stream: TextIO | None = None,
        jobs: int = 1,
        scheduler: str | None = None,
    ) -> list[Outcome]:
        """Do what the file does not hold yet (at most `most` pieces), store each piece as it is done, and return those
        that failed: the same call tries them again. `jobs` and `scheduler` are as in `runner.execute`, `stream` is
        where progress is written (standard error if left out). `ValueError` where the calibration has changed since the
        file's rows were made.
        """
        stream, failed = stream or sys.stderr, []
        columns = self.by or self.row.KEYS
        with self.store(path, made_by) as store:
            left = [piece for piece in self.pieces if piece not in store.done][:most]
            print(f"{path.stem}: {len(left)} of {len(self.pieces)} pieces to do", file=stream, flush=True)
            began = time.monotonic()
            for count, outcome in enumerate(execute(self.run, left, jobs, scheduler), 1):
                if outcome.error is None:
                    store.append(*outcome.rows)
                else:
                    failed.append(outcome)
                named = ", ".join(f"{name} {cell}" for name, cell in zip(columns, outcome.piece, strict=True))
                became = f"FAILED: {outcome.error}" if outcome.error else f"{outcome.seconds:.3g} s"
                soon = duration((time.monotonic() - began) * (len(left) - count) / count)
                print(f"[{count}/{len(left)}] {named}: {became}; about {soon} left", file=stream, flush=True)
        return failed

    def report_rows(self, found: Results[AnyRow]) -> list[dict[str, str]]:
        """The means as rows of a table: one for each method and setting."""
        shown = [column for column in self.row.KEYS if column not in ("seed", "trial")]
        groups = dict.fromkeys(tuple(row[column] for column in shown) for row in found.rows)
        rows = []
        for group in groups:
            named = dict(zip(shown, group, strict=True))
            mean = found.interval(**named)
            assert mean is not None
            spread = f" ± {mean.half_width:.2g}" if mean.known else ""
            rows.append({**named, self.row.VALUE: f"{mean.mean:.5g}{spread}"})
        return rows

    def report(self, found: Results[AnyRow], form: str = "text") -> str:
        """The means in one of `objpert_core.tables.FORMATS`: a line for each method and setting."""
        title = f"{self.title[0].upper()}{self.title[1:]}"
        return write(self.report_rows(found), form, caption=title).removesuffix("\n")


@dataclass(frozen=True)
class Makers:
    """How the files of a family are made."""

    family: Family
    about: str
    experiments: Mapping[str, Experiment[Any]]

    def __getitem__(self, name: str) -> Experiment[Any]:
        return self.experiments[choice("name", name, tuple(self.experiments))]


def duration(seconds: float) -> str:
    """A time in words, coarser the longer it is.

    >>> duration(20.4), duration(600), duration(6000)
    ('20 s', '10 min', '1 h 40 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
