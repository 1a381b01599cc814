"""Files of results: a CSV with one fit a row and, in comment lines, the configuration, the command and the commit.

A file grows by whole rows and can be continued after an interruption. It holds one configuration and one version of
the package; every time a run adds rows it first writes a `# session:` line that says which command on which commit
and machine made the rows below it.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import joblib
import numpy
import scipy
import sklearn

import objpert_core
from objpert_core.exceptions import DataUnavailableError

try:
    import fcntl
except ImportError:  # not on Windows: two runs on one file are then not kept apart
    fcntl = None  # type: ignore[assignment]

Key = tuple[str, float, int]

_PREFIX = "figure2_"
_TITLE = "# Test accuracy of private logistic regression: a row for each method, privacy target and trial."


@dataclass(frozen=True)
class Run:
    """One fit, or one tuning of several, and how it did on the test rows.

    Attributes:
        dataset: name of the data set.
        method: what was fitted, one of `methods.METHODS`.
        epsilon: the ε promised; infinite without privacy.
        delta: the δ promised; None without privacy.
        trial: number of the repetition; all methods of one trial share the split.
        split_seed: seed of the split into training and test rows.
        seed: noise seed; None without privacy.
        accuracy: share of the test rows it got right.
        seconds: processor time of `fit` with one thread, calibration and tuning included.
        runs: models trained, all candidates of a tuning counted.
        learning_rate: the one chosen by DP-SGD.
        sigma: standard deviation of the noise in the objective or in the output.
        lam: λ of the regulariser.
        noise_multiplier: DP-SGD's noise in units of the clipping threshold.
        peak_mb: memory in MB that the fit needed beyond what was in use before; None where it could not be told.
    """

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

    @property
    def key(self) -> Key:
        """What there is one of in a file: method, ε and trial."""
        return self.method, self.epsilon, self.trial

    def as_row(self) -> list[str]:
        """The cells of its row, in the order of `COLUMNS`; None is an empty cell."""
        return [_cell(getattr(self, name)) for name in COLUMNS]

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> Self:
        """The inverse of `as_row`.

        Raises:
            ValueError: a cell does not hold what its column should.
        """
        values: dict[str, Any] = {name: row[name] for name in ("dataset", "method")}
        for name in ("trial", "split_seed", "runs"):
            values[name] = int(row[name])
        values["seed"] = int(row["seed"]) if row["seed"] else None
        for name in ("epsilon", "accuracy", "seconds"):
            values[name] = float(row[name])
        for name in ("delta", "learning_rate", "sigma", "lam", "noise_multiplier", "peak_mb"):
            values[name] = float(row[name]) if row[name] else None
        if not 0 <= values["accuracy"] <= 1:
            raise ValueError(f"accuracy must be a number from 0 to 1, got {values['accuracy']!r}")
        return cls(**values)


COLUMNS = tuple(field.name for field in fields(Run))


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False)
class Results:
    """What one file holds.

    Attributes:
        dataset: name of the data set.
        version: version of the package that made it.
        configuration: every parameter that is the same for all its rows.
        sessions: for each command that added rows what it was, on which commit and machine.
        runs: the rows, in the file's order.
    """

    dataset: str
    version: str
    configuration: Mapping[str, Any]
    sessions: tuple[Mapping[str, str], ...]
    runs: tuple[Run, ...]

    @property
    def done(self) -> frozenset[Key]:
        """Which (method, ε, trial) there are."""
        return frozenset(run.key for run in self.runs)

    def of(self, method: str, epsilon: float) -> tuple[Run, ...]:
        """The runs of one method at one ε, by trial."""
        found = [run for run in self.runs if run.method == method and run.epsilon == epsilon]
        return tuple(sorted(found, key=lambda run: run.trial))


def folder() -> Path:
    """The folder of the stored results, `data/results` of a checkout; it need not exist (an installed package)."""
    return Path(__file__).resolve().parents[2] / "data" / "results"


def path_of(dataset: str) -> Path:
    """Where the stored results of a data set are or would be."""
    return folder() / f"{_PREFIX}{dataset}.csv"


def stored() -> tuple[str, ...]:
    """Names of the data sets that have stored results, sorted."""
    return tuple(sorted(path.stem.removeprefix(_PREFIX) for path in folder().glob(f"{_PREFIX}*.csv")))


def load(dataset: str) -> Results:
    """The stored results of one data set.

    Raises:
        DataUnavailableError: there are none; the message names the command that makes them.
        ValueError: the file is damaged.
    """
    path = path_of(dataset)
    if not path.is_file():
        raise DataUnavailableError(
            f"There are no stored results for {dataset!r} ({path}): "
            f"make them with python -m objpert_core.experiments figure2 --dataset {dataset}"
        )
    return read(path)


def read(path: Path) -> Results:
    """The results in a file; a last line that is still being written is left out.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged or no file of results; the message names the line.
    """
    header: dict[str, str] = {}
    sessions: list[Mapping[str, str]] = []
    runs: dict[Key, Run] = {}
    columns: tuple[str, ...] | None = None
    for number, line in _whole_lines(path):
        try:
            if line.startswith("#"):
                name, found, value = line[1:].strip().partition(": ")
                if found and name == "session":
                    sessions.append(json.loads(value))
                elif found:
                    header[name] = value
                continue
            cells = next(csv.reader([line]))
            if columns is None:
                columns = tuple(cells)
                if columns != COLUMNS:
                    raise ValueError(f"the columns must be {','.join(COLUMNS)}")
                continue
            run = Run.from_row(dict(zip(columns, cells, strict=True)))
            if run.key in runs:
                raise ValueError(f"a second row for {run.key}")
            runs[run.key] = run
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
    missing = [name for name in ("dataset", "version", "configuration") if name not in header]
    if missing or columns is None:
        raise ValueError(f"{path} is no file of results: it has no {missing[0] if missing else 'columns'}")
    return Results(
        header["dataset"], header["version"], json.loads(header["configuration"]), tuple(sessions), tuple(runs.values())
    )


def _whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), start=1):
        if line:
            yield number, line


def session(command: str) -> dict[str, str]:
    """What a row should be traced back by: the command, the commit, versions, machine and time.

    Args:
        command: the command line.
    """
    versions = {
        "python": platform.python_version(),
        **{module.__name__: module.__version__ for module in (numpy, scipy, sklearn, joblib)},
    }
    return {
        "command": command,
        "commit": _commit(),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "machine": f"{_processor()}, {os.cpu_count()} cores, 1 thread a fit",
        "started": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _commit() -> str:
    """The checkout's commit, with `+` if the package has changes that are not committed."""
    package = Path(objpert_core.__file__).parent
    try:
        head, changes = (
            subprocess.run(["git", *words], cwd=package, capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--", "."])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changes else "")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


class Store:
    """A file of results that rows are added to. A context manager; one at a time for each file.

    Args:
        path: the file; made if absent, continued otherwise. A last row that was cut off is dropped.
        dataset: name of the data set.
        configuration: what all rows share; anything JSON can hold.
        session: see `session`; written before the first row that is added.

    Attributes:
        done: which (method, ε, trial) the file holds.

    Raises:
        ValueError: the file was made for another data set, configuration or version, or is damaged.
        OSError: it cannot be written, or another run is writing to it.
    """

    def __init__(self, path: Path, dataset: str, configuration: Mapping[str, Any], session: Mapping[str, str]) -> None:
        self._session: Mapping[str, str] | None = session
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "a+b")  # noqa: SIM115 - closed by close()
        try:
            self._lock(path)
            self._drop_torn_line()
            shared = json.loads(json.dumps(configuration))  # as it will be read back
            if self._file.tell():
                self.done = set(self._checked(path, dataset, shared).done)
            else:
                self.done = set()
                self._write(
                    f"{_TITLE}\n# dataset: {dataset}\n# version: {objpert_core.__version__}\n"
                    f"# configuration: {json.dumps(shared)}\n{','.join(COLUMNS)}\n"
                )
        except BaseException:
            self.close()
            raise

    def _lock(self, path: Path) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(
                f"{path} is being written by another run: wait for it, or give another file"
            ) from None

    def _drop_torn_line(self) -> None:
        self._file.seek(0)
        self._file.truncate(self._file.read().rfind(b"\n") + 1)
        self._file.seek(0, os.SEEK_END)

    def _checked(self, path: Path, dataset: str, configuration: Mapping[str, Any]) -> Results:
        found = read(path)
        theirs = {"dataset": found.dataset, "version": found.version, **found.configuration}
        ours = {"dataset": dataset, "version": objpert_core.__version__, **configuration}
        for name in sorted(theirs.keys() | ours.keys()):
            if theirs.get(name) != ours.get(name):
                raise ValueError(
                    f"{path} was made with {name} = {theirs.get(name)!r}, this run has {ours.get(name)!r}: "
                    "rows of the two must not be mixed; give another file with --out, or remove this one"
                )
        return found

    def append(self, run: Run) -> None:
        """Add one row and see it to the disk.

        Raises:
            ValueError: the file has a row for this method, ε and trial, or the run holds a NaN.
        """
        if run.key in self.done:
            raise ValueError(f"there is a row for {run.key} already")
        if any(isinstance(value, float) and math.isnan(value) for value in vars(run).values()):
            raise ValueError(f"a run must not hold NaN, got {run!r}")
        text = io.StringIO()
        if self._session is not None:
            text.write(f"# session: {json.dumps(self._session, ensure_ascii=False)}\n")
            self._session = None
        csv.writer(text, lineterminator="\n").writerow(run.as_row())
        self._write(text.getvalue())
        self.done.add(run.key)

    def _write(self, text: str) -> None:
        self._file.write(text.encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, which lets another run have it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
