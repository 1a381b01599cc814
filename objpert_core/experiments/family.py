"""Files of results that one command makes: each experiment of a family has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from objpert_core._validation import choice
from objpert_core.experiments import results
from objpert_core.experiments.results import Results, Row


@dataclass(frozen=True)
class Family:
    """What the rows of each experiment are; command and files begin with `name`."""

    name: str
    rows: Mapping[str, type[Row]]

    def path(self, experiment: str, where: Path | None = None) -> Path:
        """Where the results are or would be; `where` is a folder, `results.folder` if left out."""
        choice("experiment", experiment, tuple(self.rows))
        return (where or results.folder()) / f"{self.name}_{experiment}.csv"

    def load(self, experiment: str, where: Path | None = None) -> Results[Any]:
        """The stored results, read again when they have changed; `DataUnavailableError` says how they are made."""
        path = results.to_read(self.path(experiment, where))
        try:
            return results.read_again(path, self.rows[experiment])
        except OSError:
            raise results.missing(f"results of {experiment}", path, f"{self.name} {experiment}") from None
