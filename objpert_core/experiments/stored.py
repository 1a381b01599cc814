"""Stored results of experiments: files that are written piece by piece, continued and read.

A family of experiments has a file for each; comment lines above the rows of each run say how they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from objpert_core import _provenance
from objpert_core._validation import choice
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments import results
from objpert_core.experiments.summary import Interval, mean_interval
from objpert_core.tables import write

Piece = tuple[Any, ...]
Read = TypeVar("Read")


@dataclass(frozen=True)
class Experiment:
    """What is stored in one file; the columns `names` name a piece, the columns `beside` belong to the `value`."""

    title: str
    names: tuple[str, ...]
    pieces: tuple[Piece, ...]
    rows: Callable[..., Iterable[Any]]
    value: str
    beside: tuple[str, ...] = ()
    seeds: str = "in the column seed"


@dataclass(frozen=True, eq=False)
class Stored:
    """A file of results: how it was made last (`notes`), and all cells as text."""

    name: str
    experiment: Experiment
    notes: Mapping[str, str]
    rows: tuple[dict[str, str], ...]

    def values(self, column: str = "", /, **wanted: object) -> list[float]:
        """What was measured in the rows that have these cells; or another column of these rows."""
        texts = {name: str(value) for name, value in wanted.items()}
        column = column or self.experiment.value
        return [float(row[column]) for row in self.rows if texts.items() <= row.items()]

    def interval(self, column: str = "", /, **wanted: object) -> Interval | None:
        """Mean and 95 % interval over the rows that have these cells; None without such rows."""
        found = self.values(column, **wanted)
        return mean_interval(found) if found else None

    def cells(self, column: str) -> tuple[str, ...]:
        """Every different cell of a column, in order."""
        return tuple(dict.fromkeys(row[column] for row in self.rows))


@dataclass(frozen=True)
class Family:
    """Experiments that one command makes; `name` is the command's, and the beginning of the files' names."""

    name: str
    about: str
    experiments: Mapping[str, Experiment]

    def __getitem__(self, name: str) -> Experiment:
        return self.experiments[choice("name", name, tuple(self.experiments))]

    def path_of(self, name: str, where: Path | None = None) -> Path:
        """Where the results of an experiment are or would be; `where` is a folder, `results.folder` if left out."""
        choice("name", name, tuple(self.experiments))
        return (where or results.folder()) / f"{self.name}_{name}.csv"

    def names(self) -> tuple[str, ...]:
        """The experiments that have stored results."""
        return tuple(name for name in self.experiments if results.to_read(self.path_of(name)).is_file())

    def make(self, name: str, made_by: Mapping[str, str], where: Path | None = None, *, most: int | None = None) -> int:
        """Do what a file does not hold yet, add it piece by piece (at most `most`), and return how many pieces were
        added.

        The comment lines `made_by` are written before the first row that this run adds.
        """
        path, experiment = self.path_of(name, where), self[name]
        held = _provenance.read_table(path).rows if path.is_file() else ()
        done = {tuple(row[column] for column in experiment.names) for row in held}
        left = [piece for piece in experiment.pieces if tuple(map(str, piece)) not in done]
        path.parent.mkdir(parents=True, exist_ok=True)
        for number, piece in enumerate(left[:most]):
            rows = [vars(row) for row in experiment.rows(*piece)]
            text = "".join(_provenance.row_line(row.values()) for row in rows)
            if number == 0:
                above = "".join(_provenance.note_line(key, value) for key, value in made_by.items())
                text = above + ("" if held else _provenance.row_line(rows[0])) + text
            with path.open("a", encoding="utf-8", newline="") as file:
                file.write(text)  # a piece at a time: an interrupted run leaves whole ones
        return len(left[:most])

    def load(self, name: str, where: Path | None = None) -> Stored:
        """The stored results of one experiment, read again when they have changed.

        `DataUnavailableError` names the command that makes them; `ValueError` says that the file is damaged.
        """
        command = f"python -m objpert_core.experiments {self.name} {name}"
        path = results.to_read(self.path_of(name, where))
        table = read_again(path, _provenance.read_table, f"of {name}", command)
        return Stored(name, self[name], table.notes, table.rows)

    def report_rows(self, found: Stored) -> list[dict[str, str]]:
        """The means as rows of a table: one for each method and setting."""
        experiment = found.experiment
        hidden = ("seed", experiment.value, *experiment.beside)
        shown = [column for column in found.rows[0] if column not in hidden]
        groups = dict.fromkeys(tuple(row[column] for column in shown) for row in found.rows)
        rows = []
        for group in groups:
            named = dict(zip(shown, group, strict=True))
            mean = found.interval(**named)
            assert mean is not None
            spread = f" ± {mean.half_width:.2g}" if mean.known else ""
            rows.append({**named, experiment.value: f"{mean.mean:.5g}{spread}"})
        return rows

    def report(self, found: Stored, form: str = "text") -> str:
        """The means in one of `objpert_core.tables.FORMATS`: a line for each method and setting."""
        title = found.experiment.title
        return write(self.report_rows(found), form, caption=f"{title[0].upper()}{title[1:]}").removesuffix("\n")


def read_again(path: Path, read: Callable[[Path], Read], what: str, command: str) -> Read:
    """What `read` makes of a file; remembered until the file changes.

    Without the file `DataUnavailableError` names `what` the file is of or for (with that word) and the `command` that
    makes it.
    """
    try:
        state = path.stat()
    except OSError:
        raise DataUnavailableError(f"There are no stored results {what} ({path}): make them with {command}") from None
    found: Read = _read(path, read, state.st_mtime_ns, state.st_size)
    return found


@lru_cache(maxsize=32)
def _read(path: Path, read: Callable[[Path], Any], changed: int, size: int) -> Any:
    return read(path)
