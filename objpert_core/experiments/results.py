"""Files of results: a CSV with one fit a row and, in comment lines, the configuration, the command and the commit.

A file holds one configuration and one version of the package. `# session:` lines say which command, on which commit and
machine, made the rows below them. `store` writes such files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from objpert_core import _provenance
from objpert_core.exceptions import DataUnavailableError

Key = tuple[str, float, int]

_PREFIX = "figure2_"


class Row(Protocol):
    """One row of a file of results: a dataclass whose fields are the columns."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    TITLE: ClassVar[str]
    """The file's first line."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What names the row: a file holds each key once."""

    @property
    def group(self) -> tuple[Any, ...]:
        """What the rows of all trials share."""

    @property
    def called(self) -> str:
        """The group in words."""

    @property
    def noise(self) -> tuple[float, ...]:
        """What is the same in every row of a group, unless the code that calibrates has changed."""

    def as_row(self) -> list[str]:
        """Its cells."""

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> Self:
        """The inverse of `as_row`; `ValueError` where a cell does not hold what its column should."""


AnyRow = TypeVar("AnyRow", bound=Row)


def columns_of(kind: type[Row]) -> tuple[str, ...]:
    """The columns of a file of such rows."""
    return tuple(field.name for field in fields(kind))


def lacking(columns: Sequence[str], kind: type[Row]) -> int | None:
    """How many of the last columns a file that is older than these columns lacks; None for any other file.

    >>> lacking(COLUMNS, Run), lacking(COLUMNS[:-1], Run), lacking(COLUMNS[1:], Run)
    (0, 1, None)
    """
    later = fields(kind)[len(columns) :]
    known = columns_of(kind)[: len(columns)] == tuple(columns) and all(field.default is None for field in later)
    return len(later) if known else None


@dataclass(frozen=True)
class Run:
    """One fit, or one tuning of several, and its result on the test rows.

    Parameters
    ----------
    dataset, method : str
        The data set's name; what was fitted, one of `methods.METHODS`.
    epsilon : float
        The ε promised; infinite without privacy.
    delta, seed
        The δ promised and the noise seed; None without privacy.
    trial : int
        Number of the repetition; all methods of one trial share the split.
    split_seed : int
        Seed of the split into training and test rows.
    accuracy : float
        Share of the test rows that the model gets right.
    seconds : float
        Processor time of `fit` with one thread, calibration and tuning included.
    runs : int
        Models trained, all candidates of a tuning counted.
    learning_rate : float or None
        The one chosen by DP-SGD.
    sigma, lam : float or None
        Standard deviation of the noise in the objective or in the output; λ of the regulariser.
    noise_multiplier : float or None
        DP-SGD's noise in units of the clipping threshold.
    peak_mb : float or None
        Memory in MB that the fit needed beyond what was in use before; None where it could not be told.
    margin : float or None
        Margin of the loss; None in rows older than this column.
    center_noise, scale_noise : float or None
        Noise of the private centre and scales that the rows went through; None where that step was skipped.
    map_rule : float or None
        Changes with the rule by which centre and scales are made of noisy sums; None without either.
    """

    TITLE: ClassVar[str] = (
        "# Test accuracy of private logistic regression: a row for each method, privacy target and trial."
    )

    dataset: str
    method: str
    epsilon: float
    delta: float | None
    trial: int
    split_seed: int
    seed: int | None
    accuracy: float
    seconds: float
    runs: int = 1
    learning_rate: float | None = None
    sigma: float | None = None
    lam: float | None = None
    noise_multiplier: float | None = None
    peak_mb: float | None = None
    margin: float | None = None
    center_noise: float | None = None
    scale_noise: float | None = None
    map_rule: float | None = None

    @property
    def key(self) -> Key:
        """Method, ε and trial."""
        return self.method, self.epsilon, self.trial

    @property
    def group(self) -> tuple[str, float]:
        """Method and ε."""
        return self.method, self.epsilon

    @property
    def called(self) -> str:
        """Method and ε, in words."""
        return f"{self.method} at ε = {self.epsilon:g}"

    @property
    def noise(self) -> tuple[float, ...]:
        """The columns of `NOISE`, 0 where there is none: the same in every trial of a method at one ε."""
        return tuple(getattr(self, name) or 0.0 for name in NOISE)

    def as_row(self) -> list[str]:
        """The cells of its row, in the order of `COLUMNS`; None is an empty cell."""
        return [cell(getattr(self, name)) for name in COLUMNS]

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> Self:
        """The inverse of `as_row`; `ValueError` where a cell does not hold what its column should."""
        values: dict[str, Any] = {name: row[name] for name in ("dataset", "method")}
        for name in ("trial", "split_seed", "runs"):
            values[name] = int(row[name])
        values["seed"] = int(row["seed"]) if row["seed"] else None
        for name in ("epsilon", "accuracy", "seconds"):
            values[name] = float(row[name])
        for name in ("delta", "learning_rate", "peak_mb", *NOISE):
            values[name] = float(row[name]) if row.get(name) else None
        if not 0 <= values["accuracy"] <= 1:
            raise ValueError(f"accuracy must be a number from 0 to 1, got {values['accuracy']!r}")
        return cls(**values)


COLUMNS = columns_of(Run)
NOISE = ("sigma", "lam", "noise_multiplier", "margin", "center_noise", "scale_noise", "map_rule")
"""What a run's calibration and rules decide."""


def cell(value: str | float | None) -> str:
    """A cell's text: a number with all its digits, nothing for None."""
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False)
class Results(Generic[AnyRow]):
    """What one file holds: the data set, the package's version that made the file, and the rows in the file's order.

    `configuration` has every parameter that is the same for all rows; `sessions` have, of each command that added rows,
    the command line, the commit and the machine.
    """

    dataset: str
    version: str
    configuration: Mapping[str, Any]
    sessions: tuple[Mapping[str, str], ...]
    runs: tuple[AnyRow, ...]

    @property
    def done(self) -> frozenset[tuple[Any, ...]]:
        """The keys there are; of a `Run` (method, ε, trial)."""
        return frozenset(run.key for run in self.runs)

    def of(self, *group: Any) -> tuple[AnyRow, ...]:
        """The rows of one group, by key: of each `Run` those of one method at one ε, by trial."""
        return tuple(sorted((run for run in self.runs if run.group == group), key=lambda run: run.key))


def folder() -> Path:
    """The folder for results that are made, which need not exist: a checkout's `data/results`, else the current one."""
    root = _provenance.checkout()
    return Path.cwd() if root is None else root / "data" / "results"


def _shipped() -> Path:
    """The folder of the results that came with the package; in a checkout it is `folder`."""
    return folder() if _provenance.checkout() else _provenance.app_folder() / "data" / "results"


def to_read(path: Path) -> Path:
    """The file to read in place of `path`: in `folder`, if `path` is missing, the file that came with the package."""
    own = _shipped() / path.name
    return own if path.parent == folder() and not path.is_file() and own.is_file() else path


def path_of(dataset: str, where: Path | None = None) -> Path:
    """Where the results of a data set are or would be; `where` is a folder or a file (then taken as it is), `folder` if
    left out.

    >>> path_of("adult", Path("mine.csv")).name, path_of("adult", Path.cwd()).name
    ('mine.csv', 'figure2_adult.csv')
    """
    if where is not None and not where.is_dir():
        return where
    return (where or folder()) / f"{_PREFIX}{dataset}.csv"


def stored() -> tuple[str, ...]:
    """Names of the data sets that have stored results, sorted."""
    found = {path.stem for where in (folder(), _shipped()) for path in where.glob(f"{_PREFIX}*.csv")}
    return tuple(sorted(name.removeprefix(_PREFIX) for name in found))


def load(dataset: str, where: Path | None = None) -> Results[Run]:
    """The stored results of one data set; arguments as for `path_of`.

    `DataUnavailableError` names the command that makes them; `ValueError` says that the file is damaged.
    """
    path = to_read(path_of(dataset, where))
    if not path.is_file():
        raise DataUnavailableError(
            f"There are no stored results for {dataset!r} ({path}): "
            f"make them with python -m objpert_core.experiments figure2 --dataset {dataset}"
        )
    return read(path)


def read(path: Path, kind: type[Any] = Run) -> Results[Any]:
    """The results in a file, which may be older than the last columns; a line still being written is left out.

    `ValueError` where the file is damaged or holds no results; the message names the line.
    """
    header: dict[str, str] = {}
    sessions: list[Mapping[str, str]] = []
    runs: dict[tuple[Any, ...], Any] = {}
    columns: tuple[str, ...] | None = None
    for line in _provenance.lines(path):
        try:
            if line.note is not None:
                name, value = line.note
                if name == "session":
                    sessions.append(json.loads(value))
                elif name:
                    header[name] = value
                continue
            if columns is None:
                columns = line.cells
                if lacking(columns, kind) is None:
                    raise ValueError(f"the columns must be {','.join(columns_of(kind))}")
                continue
            run = kind.from_row(dict(zip(columns, line.cells, strict=True)))
            if run.key in runs:
                raise ValueError(f"a second row for {run.key}")
            runs[run.key] = run
        except ValueError as error:
            raise ValueError(f"{path}, line {line.number}: {error}") from error
    missing = [name for name in ("dataset", "version", "configuration") if name not in header]
    if missing or columns is None:
        raise ValueError(f"{path} is no file of results: it has no {missing[0] if missing else 'columns'}")
    return Results(
        header["dataset"], header["version"], json.loads(header["configuration"]), tuple(sessions), tuple(runs.values())
    )
