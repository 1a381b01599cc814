"""Files of results: a CSV with one fit a row and, in comment lines, the configuration, the command and the commit.

A file with a title holds one configuration and one version of the package, and `# session:` lines say which command, on
which commit and machine, made the rows below them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar, get_args, get_type_hints

from objpert_core import _provenance
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.summary import Interval, mean_interval

Key = tuple[str, float, int]

_PREFIX = "figure2_"


class Row:
    """One row of a file: a dataclass whose fields are the columns, and whose annotations say how to read them."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    TITLE: ClassVar[str] = ""
    """The first line of a file that says at its top what all of its rows share; of other files there is none."""
    VALUE: ClassVar[str]
    """The column of what was measured."""
    KEYS: ClassVar[tuple[str, ...]] = ()
    """The columns that name a row: a file holds each key once. Those before the value, unless told otherwise."""
    CONSTANT: ClassVar[tuple[str, ...]] = ()
    """What is the same in every row of a group, unless the code that calibrates has changed; empty cells count as 0."""
    DIGITS: ClassVar[int | None] = None
    """How many digits a number keeps in its cell; all of them where this is None."""

    def __init_subclass__(cls) -> None:
        names = list(cls.__annotations__)
        cls.KEYS = cls.KEYS or tuple(names[: names.index(cls.VALUE)])

    @property
    def key(self) -> tuple[Any, ...]:
        """What names the row."""
        return tuple(getattr(self, name) for name in self.KEYS)

    @property
    def group(self) -> tuple[Any, ...]:
        """What the rows of all trials share: the key without its last part."""
        return self.key[:-1]

    @property
    def called(self) -> str:
        """The group in words: the method, and where."""
        numbers = [name for name in self.KEYS[:-1] if name != "method"]
        where = ", ".join(f"{'ε' if name == 'epsilon' else name} = {getattr(self, name):g}" for name in numbers)
        return f"{getattr(self, 'method', 'a row')} at {where}"

    @property
    def noise(self) -> tuple[float, ...]:
        """The columns of `CONSTANT`, 0 where there is none."""
        return tuple(getattr(self, name) or 0.0 for name in self.CONSTANT)

    def as_row(self) -> list[str]:
        """Its cells, in the order of the columns; None is an empty cell."""
        return [cell(getattr(self, name), self.DIGITS) for name in columns_of(type(self))]

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> Self:
        """The inverse of `as_row`; `ValueError` where a cell does not hold what its column should."""
        make: Any = cls
        return make(**{name: read(row[name]) for name, read in _readers(make).items() if name in row})


AnyRow = TypeVar("AnyRow", bound=Row)


@cache
def _readers(kind: type[Row]) -> Mapping[str, Callable[[str], Any]]:
    """How the cells of each column are read, by the annotation of its field."""
    annotations = get_type_hints(kind)
    return {name: _reader(annotations[name]) for name in columns_of(kind)}


def _reader(annotation: Any) -> Callable[[str], Any]:
    kind, *none = get_args(annotation) or (annotation,)  # `float | None`: the cell may be empty
    read = {"True": True, "False": False}.__getitem__ if kind is bool else kind
    return (lambda text: read(text) if text else None) if none else read


def columns_of(kind: type[Row]) -> tuple[str, ...]:
    """The columns of a file of such rows."""
    return tuple(column.name for column in fields(kind))


def lacking(columns: Sequence[str], kind: type[Row]) -> int | None:
    """How many of the last columns a file that is older than these columns lacks; None for any other file."""
    later = fields(kind)[len(columns) :]
    known = columns_of(kind)[: len(columns)] == tuple(columns) and all(column.default is None for column in later)
    return len(later) if known else None


@dataclass(frozen=True)
class Run(Row):
    """One fit, or one tuning of several, and its result on the test rows; all methods of one `trial` share the split of
    `split_seed`. `epsilon` is infinite, `delta` and `seed` are None without privacy. `seconds` are processor time with
    one thread, calibration and tuning included; `runs` counts all candidates of a tuning, `learning_rate` is the one
    chosen, and `peak_mb` the memory beyond what was in use before. `sigma` is the noise in the objective or in the
    output, `noise_multiplier` DP-SGD's, and `center_noise` and `scale_noise` that of the map, whose rule `map_rule`
    tells. None stands for what a fit does not have, and for columns younger than its row.
    """

    TITLE: ClassVar[str] = (
        "# Test accuracy of private logistic regression: a row for each method, privacy target and trial."
    )
    KEYS = ("method", "epsilon", "trial")
    VALUE = "accuracy"
    CONSTANT = ("sigma", "lam", "noise_multiplier", "margin", "center_noise", "scale_noise", "map_rule")

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

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> Self:
        """As of every row; an accuracy is a share."""
        found = super().from_row(row)
        if not 0 <= found.accuracy <= 1:
            raise ValueError(f"accuracy must be a number from 0 to 1, got {found.accuracy!r}")
        return found


COLUMNS = columns_of(Run)
NOISE = Run.CONSTANT
"""What a run's calibration and rules decide."""


def cell(value: str | float | None, digits: int | None = None) -> str:
    """A cell's text: a number with all its digits or so many, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value)) if digits is None else f"{value:.{digits}g}"
    return str(value)


@dataclass(frozen=True, eq=False)
class Results(Generic[AnyRow]):
    """What one file holds: its data set, its version, its rows in their order, and how they were made.

    A file without a title has no `configuration` and no `sessions`: its `notes` say how it was made last.
    """

    dataset: str
    version: str
    configuration: Mapping[str, Any]
    sessions: tuple[Mapping[str, str], ...]
    runs: tuple[AnyRow, ...]
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def done(self) -> frozenset[tuple[Any, ...]]:
        """The keys there are; of a `Run` (method, ε, trial)."""
        return frozenset(run.key for run in self.runs)

    def of(self, *group: Any) -> tuple[AnyRow, ...]:
        """The rows whose keys begin so, by key: of each `Run` those of one method at one ε, by trial."""
        return tuple(sorted(self._beginning.get(group, ()), key=lambda run: run.key))

    @cached_property
    def _beginning(self) -> Mapping[tuple[Any, ...], list[AnyRow]]:
        """The rows by every beginning of their keys: a page asks for many groups, and a file has thousands of rows."""
        found = defaultdict(list)
        for run in self.runs:
            key = run.key
            for length in range(len(key) + 1):
                found[key[:length]].append(run)
        return dict(found)

    @cached_property
    def rows(self) -> tuple[dict[str, str], ...]:
        """The rows as the file has them: all cells are texts."""
        return tuple(dict(zip(columns_of(type(run)), run.as_row(), strict=True)) for run in self.runs)

    def values(self, column: str = "", /, **wanted: object) -> list[float]:
        """What was measured in the rows that have these cells; or another column of these rows."""
        cells = {name: str(value) for name, value in wanted.items()}.items()
        pairs = zip(self.runs, self.rows, strict=True)
        return [float(getattr(run, column or run.VALUE)) for run, row in pairs if cells <= row.items()]

    def interval(self, column: str = "", /, **wanted: object) -> Interval | None:
        """Mean and 95 % interval over the rows that have these cells; None without such rows."""
        found = self.values(column, **wanted)
        return mean_interval(found) if found else None

    def cells(self, column: str) -> tuple[str, ...]:
        """Every different cell of a column, in order."""
        return tuple(dict.fromkeys(row[column] for row in self.rows))


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
    """The stored results of one data set; `DataUnavailableError` names the command, `ValueError` says what is
    damaged."""
    path = to_read(path_of(dataset, where))
    if not path.is_file():
        raise missing(f"results for {dataset!r}", path, f"figure2 --dataset {dataset}")
    return read(path)


def missing(what: str, path: Path, command: str) -> DataUnavailableError:
    """The error that says which command of the experiments makes a file that is not there."""
    return DataUnavailableError(
        f"There are no stored {what} ({path}): make them with python -m benchmarks.experiments {command}"
    )


def read(path: Path, kind: type[Any] = Run) -> Results[Any]:
    """The results in a file, which may be older than the last columns; a line still being written is left out.

    `ValueError` where the file is damaged or holds no results; the message names the line.
    """
    notes: dict[str, str] = {}
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
                    notes[name] = value
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
        except (ValueError, KeyError) as error:
            raise ValueError(f"{path}, line {line.number}: {error}") from error
    missing = [name for name in ("dataset", "version", "configuration") if kind.TITLE and name not in notes]
    if missing or columns is None:
        raise ValueError(f"{path} is no file of results: the file has no {missing[0] if missing else 'columns'}")
    configuration = json.loads(notes.get("configuration", "{}"))
    about = notes.get("dataset", ""), notes.get("version", ""), configuration, tuple(sessions)
    return Results(*about, tuple(runs.values()), notes)


def read_again(path: Path, kind: Any = Run) -> Results[Any]:
    """As `read`, remembered until the file changes; `OSError` where there is no file."""
    state = path.stat()
    return _read_again(path, kind, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=32)
def _read_again(path: Path, kind: Any, changed: int, size: int) -> Results[Any]:
    return read(path, kind)
