"""Writing files of results: whole rows, one run at a time, nothing mixed that does not belong together.

A file can be continued after an interruption; before its first row every run writes a line about itself.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self

import joblib
import numpy as np
import scipy
import sklearn

import objpert_core
from objpert_core import _provenance
from objpert_core.experiments.results import Results, Row, Run, columns_of, lacking, read

try:
    import fcntl
except ImportError:  # not on Windows: two runs on one file are then not kept apart
    fcntl = None  # type: ignore[assignment]


def session(command: str) -> dict[str, str]:
    """What a row should be traced back by: the command, the commit, versions, machine and time."""
    return {
        "command": command,
        "commit": _provenance.commit(),
        "versions": _provenance.versions(np, scipy, sklearn, joblib),
        "machine": f"{_provenance.machine()}, 1 thread a fit",
        "started": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def forget(path: Path, methods: Collection[str], kind: type[Row] = Run) -> int:
    """Take the rows of some methods out of a file, for example because their calibration has changed since; how many.

    The file is replaced as a whole or not at all, and `OSError` says that a run is writing to it. The lines about the
    sessions that made the rows stay.
    """
    if not path.is_file():
        return 0
    _widen(path, kind)
    with open(path, "rb") as file:
        _lock(file, path)
        gone = {",".join(run.as_row()) for run in read(path, kind).runs if run.method in methods}
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        _replace(path, (line for line in lines if line.rstrip("\n") not in gone))
    return len(gone)


def _widen(path: Path, kind: type[Row]) -> None:
    """Give a file that is older than the last columns these columns, empty in its rows."""
    columns = next((line.cells for line in _provenance.lines(path) if line.note is None), ())
    if not columns or not (missing := lacking(columns, kind)):
        return
    with open(path, "rb") as file:
        _lock(file, path)
        whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")  # what comes after it was cut off
        lines = whole.split("\n")
        head = next(line for line in lines if not line.startswith("#"))
        more = {head: ",".join(columns_of(kind))[len(head) :]}
        _replace(path, (line + ("" if line[:1] in "#" else more.get(line, "," * missing)) + "\n" for line in lines))


def _replace(path: Path, lines: Iterable[str]) -> None:
    spare = path.with_name(path.name + ".new")
    spare.write_text("".join(lines), encoding="utf-8")
    os.replace(spare, path)


def _lock(file: IO[bytes], path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(f"{path} is being written by another run: wait for it, or give another file") from None


class Store:
    """A file of results that rows are added to: a context manager, one at a time for each file.

    The file is made if absent, continued otherwise; a last row that was cut off is dropped. `done` has the keys of its
    rows. `ValueError` says that the file is damaged or was made for another data set, configuration or version,
    `OSError` that another run is writing to it.
    """

    def __init__(
        self,
        path: Path,
        dataset: str,
        configuration: Mapping[str, Any],
        session: Mapping[str, str],
        kind: type[Row] = Run,
    ) -> None:
        self._session: Mapping[str, str] | None = session
        self._kind = kind
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            _widen(path, kind)
        self._file = open(path, "a+b")  # noqa: SIM115 - closed by close()
        try:
            _lock(self._file, path)
            self._drop_torn_line()
            shared = json.loads(json.dumps(configuration))  # as it will be read back
            held: tuple[Row, ...]
            if self._file.tell():
                held = self._checked(path, dataset, shared).runs
            else:
                held = ()
                notes = {"dataset": dataset, "version": objpert_core.__version__, "configuration": json.dumps(shared)}
                above = "".join(_provenance.note_line(name, value) for name, value in notes.items())
                self._write(f"{kind.TITLE}\n{above}{_provenance.row_line(columns_of(kind))}")
            self.done = {run.key for run in held}
            self._noise = {run.group: run.noise for run in held}
        except BaseException:
            self.close()
            raise

    def _drop_torn_line(self) -> None:
        self._file.seek(0)
        self._file.truncate(self._file.read().rfind(b"\n") + 1)
        self._file.seek(0, os.SEEK_END)

    def _checked(self, path: Path, dataset: str, configuration: Mapping[str, Any]) -> Results[Any]:
        found = read(path, self._kind)
        theirs = {"dataset": found.dataset, "version": found.version, **found.configuration}
        ours = {"dataset": dataset, "version": objpert_core.__version__, **configuration}
        for name in sorted(theirs.keys() | ours.keys()):
            if theirs.get(name) != ours.get(name):
                raise ValueError(
                    f"{path} was made with {name} = {theirs.get(name)!r}, this run has {ours.get(name)!r}: "
                    "rows of the two must not be mixed; give another file with --out, or remove this one"
                )
        return found

    def append(self, run: Row) -> None:
        """Add one row and see it to the disk.

        `ValueError` where the file has a row of this key, the run holds a NaN, or its noise is not that of the other
        trials: the code that calibrates has changed since.
        """
        if run.key in self.done:
            raise ValueError(f"there is a row for {run.key} already")
        if any(isinstance(value, float) and math.isnan(value) for value in vars(run).values()):
            raise ValueError(f"a run must not hold NaN, got {run!r}")
        others = self._noise.setdefault(run.group, run.noise)
        if not np.allclose(run.noise, others, rtol=1e-6, atol=0.0):
            raise ValueError(
                f"{run.called} now has the noise {run.noise}, the file's other trials {others}: the calibration has "
                "changed, start another file"
            )
        text = _provenance.row_line(run.as_row())
        if self._session is not None:
            text = _provenance.note_line("session", json.dumps(self._session, ensure_ascii=False)) + text
            self._session = None
        self._write(text)
        self.done.add(run.key)

    def _write(self, text: str) -> None:
        self._file.write(text.encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, which lets another run open it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
