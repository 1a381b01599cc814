"""Experiments whose results are stored: each is made piece by piece, continued and read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic

from objpert_core._validation import choice
from objpert_core.experiments import results
from objpert_core.experiments.results import AnyRow, Results
from objpert_core.experiments.store import Store
from objpert_core.tables import write

Piece = tuple[Any, ...]


@dataclass(frozen=True)
class Experiment(Generic[AnyRow]):
    """What one file of results holds, and how the file is made. `pieces` are the pieces of work, as cells of the
    columns `by` (the rows' keys if left out); `run` makes the rows of one. `seeds` says where the rows' seeds are told,
    `what` is missing without the file, and `shared` is the data set and configuration of all rows that have a title.
    """

    row: type[AnyRow]
    title: str
    pieces: tuple[Piece, ...] = ()
    run: Callable[..., Iterable[AnyRow]] = lambda *piece: ()
    by: tuple[str, ...] = ()
    seeds: str = "in the column seed"
    file: str = ""
    command: str = ""
    what: str = ""
    shared: Mapping[str, Any] = field(default_factory=dict)

    def path(self, where: Path | None = None) -> Path:
        """Where the results are or would be; `where` is a folder, `results.folder` if left out."""
        return (where or results.folder()) / f"{self.file}.csv"

    def store(self, made_by: Mapping[str, str], where: Path | None = None) -> Store[AnyRow]:
        """The file, opened for more rows; `made_by` is written before the first row that is added."""
        return Store(self.path(where), self.row, made_by, by=self.by, **self.shared)

    def make(self, made_by: Mapping[str, str], where: Path | None = None, *, most: int | None = None) -> int:
        """Do what the file does not hold yet, add it piece by piece (at most `most`), and return how many pieces were
        added.
        """
        with self.store(made_by, where) as store:
            left = [piece for piece in self.pieces if piece not in store.done][:most]
            for piece in left:
                store.append(*self.run(*piece))
        return len(left)

    def results(self, where: Path | None = None) -> Results[AnyRow]:
        """The stored results, read again when they have changed."""
        path = results.to_read(self.path(where))
        try:
            return results.read_again(path, self.row)
        except OSError:
            raise results.missing(self.what, path, self.command) from None

    def report_rows(self, found: Results[AnyRow]) -> list[dict[str, str]]:
        """The means as rows of a table: one for each method and setting."""
        shown = [column for column in self.row.KEYS if column != "seed"]
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
class Family:
    """Experiments that one command makes; `name` is the command's."""

    name: str
    about: str
    experiments: Mapping[str, Experiment[Any]]

    @classmethod
    def of(cls, name: str, about: str, **experiments: Experiment[Any]) -> Family:
        """A family whose command and files have its own name and the experiments'."""
        named = {
            key: replace(one, file=f"{name}_{key}", command=f"{name} {key}", what=f"results of {key}")
            for key, one in experiments.items()
        }
        return cls(name, about, MappingProxyType(named))

    def __getitem__(self, name: str) -> Experiment[Any]:
        return self.experiments[choice("name", name, tuple(self.experiments))]

    def load(self, name: str, where: Path | None = None) -> Results[Any]:
        """The stored results of one experiment."""
        return self[name].results(where)
