"""Writing files of results: whole pieces, one run at a time, nothing mixed that does not belong together."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Generic, Self

import joblib
import numpy as np
import scipy
import sklearn

import objpert_core
from objpert_core import _provenance
from objpert_core.experiments.results import AnyRow, Results, Row, Run, columns_of, lacking, read

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
    """Take the rows of some methods out of a file, as when their calibration has changed since; how many."""
    if not path.is_file():
        return 0
    _widen(path, kind)
    with open(path, "rb") as file:
        _lock(file, path)
        gone = {",".join(run.as_row()) for run in read(path, kind).runs if run.method in methods}
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        _replace(path, (line for line in lines if line.rstrip("\n") not in gone))
    return len(gone)


def write(path: Path, rows: Sequence[Row], made_by: Mapping[str, str]) -> None:
    """Write a file without a title anew, at least one row; as a whole or not at all."""
    spare = path.with_name(path.name + ".new")
    spare.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        if fcntl is not None and path.is_file():
            _lock(stack.enter_context(open(path, "rb")), path)
        with Store(spare, type(rows[0]), made_by) as store:
            store.append(*rows)
        os.replace(spare, path)


def _columns(path: Path) -> tuple[str, ...]:
    """The columns that a file has; none where the file has no row of them."""
    return next((line.cells for line in _provenance.lines(path) if line.note is None), ())


def _widen(path: Path, kind: type[Row]) -> None:
    """Give a file that is older than the last columns these columns, empty in its rows."""
    columns = _columns(path)
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
    with spare.open("w", encoding="utf-8") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    os.replace(spare, path)


def _lock(file: IO[bytes], path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(f"{path} is being written by another run: wait for it, or give another file") from None


class Store(Generic[AnyRow]):
    """A file of results that rows are added to: a context manager, one at a time for each file."""

    def __init__(
        self,
        path: Path,
        kind: type[AnyRow],
        session: Mapping[str, str],
        *,
        by: Sequence[str] = (),
        dataset: str = "",
        configuration: Mapping[str, Any] | None = None,
    ) -> None:
        self._session: Mapping[str, str] | None = session
        self._path, self._kind, self._by = path, kind, tuple(by) or kind.KEYS
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            _widen(path, kind)
        self._file = open(path, "a+b")  # noqa: SIM115 - closed by close()
        try:
            _lock(self._file, path)
            torn = self._drop_torn_line()
            shared = json.loads(json.dumps(configuration or {}))  # as it will be read back
            held: tuple[AnyRow, ...] = ()
            if self._file.tell():
                held = self._checked(dataset, shared).runs
            elif kind.TITLE:
                notes = {"dataset": dataset, "version": objpert_core.__version__, "configuration": json.dumps(shared)}
                self._write(f"{kind.TITLE}\n{_notes(notes)}{_provenance.row_line(columns_of(kind))}")
            if torn and held and self._by != kind.KEYS:
                held = self._without_last_piece(held)
            self.done = {self._piece(row) for row in held}
            self._noise = {row.group: row.noise for row in held}
        except BaseException:
            self.close()
            raise

    def _drop_torn_line(self) -> bool:
        """Whether there was one."""
        self._file.seek(0)
        text = self._file.read()
        whole = text.rfind(b"\n") + 1
        if not self._kind.TITLE and not _columns(self._path):
            whole = 0  # cut off before its first row
        self._file.truncate(whole)
        self._file.seek(0, os.SEEK_END)
        return whole < len(text)

    def _checked(self, dataset: str, configuration: Mapping[str, Any]) -> Results[AnyRow]:
        found = read(self._path, self._kind)
        if not self._kind.TITLE:
            return found
        theirs = {"dataset": found.dataset, "version": found.version, **found.configuration}
        ours = {"dataset": dataset, "version": objpert_core.__version__, **configuration}
        for name in sorted(theirs.keys() | ours.keys()):
            if theirs.get(name) != ours.get(name):
                raise ValueError(
                    f"{self._path} was made with {name} = {theirs.get(name)!r}, this run has {ours.get(name)!r}: "
                    "rows of the two must not be mixed; give another file with --out, or remove this file"
                )
        return found

    def _without_last_piece(self, held: tuple[AnyRow, ...]) -> tuple[AnyRow, ...]:
        """Drop the last rows of one piece: where the row after them was cut off, others of the piece may be lacking."""
        last = self._piece(held[-1])
        rest = tuple(row for row in held if self._piece(row) != last)
        self._file.seek(0)
        lines = self._file.readlines()
        self._file.truncate(sum(map(len, lines[: len(rest) - len(held)])))
        self._file.seek(0, os.SEEK_END)
        return rest

    def _piece(self, row: AnyRow) -> tuple[Any, ...]:
        return tuple(getattr(row, name) for name in self._by)

    def append(self, *rows: AnyRow) -> None:
        """Add the rows of a piece of work, or of several, and see them to the disk."""
        for row in rows:
            if self._piece(row) in self.done:
                raise ValueError(f"there is a row for {self._piece(row)} already")
            if any(isinstance(value, float) and math.isnan(value) for value in vars(row).values()):
                raise ValueError(f"a run must not hold NaN, got {row!r}")
            others = self._noise.setdefault(row.group, row.noise)
            if not np.allclose(row.noise, others, rtol=1e-6, atol=0.0):
                raise ValueError(
                    f"{row.called} now has the noise {row.noise}, the file's other trials {others}: the calibration "
                    "has changed, start another file"
                )
        text = "".join(_provenance.row_line(row.as_row()) for row in rows)
        if not self._file.tell():
            text = _provenance.row_line(columns_of(self._kind)) + text
        if self._session is not None:
            told = {"session": json.dumps(self._session, ensure_ascii=False)} if self._kind.TITLE else self._session
            text = _notes(told) + text
            self._session = None
        self._write(text)
        self.done.update(map(self._piece, rows))

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
        if not os.fstat(self._file.fileno()).st_size:
            with contextlib.suppress(PermissionError):  # Windows keeps a file that is open
                self._path.unlink()  # nothing was added
        self.close()


def _notes(told: Mapping[str, str]) -> str:
    return "".join(_provenance.note_line(name, value) for name, value in told.items())
