"""A small SQLite file that the processes of one server share; whoever cannot use it gets one sentence, and soon.

    file = SharedFile(private_file("OBJPERT_ROOMS", "objpert-rooms"), SCHEMA, "Votes are off for the moment.")
    with file.changing() as connection:     # all of it or nothing, one process after the other
        connection.execute(…)
    with file.reading() as connection:      # does not wait for a writer; None where there is no file yet
        ...

The file is made by the first change with ``make=True``, for its owner only. A damaged or locked one is left alone for
some seconds before the next try, so that a hundred sessions do not wait for it one after the other.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 1.0
"""Seconds that somebody waits for another process."""
OFF_FOR = 5.0
"""Seconds without a further try after the file could not be used."""

_PAGES = 16384  # of 4 kB
_log = logging.getLogger(__name__)


class UnusableFileError(RuntimeError):
    """The file cannot be used at present; the message is the sentence for people."""


class SharedFile:
    """The file, with one connection for changes and another for reading; `off` is what an `UnusableFileError` says."""

    def __init__(self, path: Path, schema: str, off: str) -> None:
        self._path, self._off = path, off
        self._reader, self._writer = _Line(path, schema), _Line(path, schema)
        self._off_until = 0.0
        self._trouble = ""

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """The connection for reading, which one thread has at a time; None where there is no file."""
        with self._using(self._reader, make=False) as connection:
            yield connection

    @contextmanager
    def changing(self, *, make: bool = False) -> Iterator[sqlite3.Connection]:
        """The connection for changes, in a transaction: an exception undoes them all."""
        with self._using(self._writer, make) as connection:
            if connection is None:
                raise UnusableFileError(self._off)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def tidy(self) -> None:
        """Give the place of deleted rows back, and leave nothing of them in the file's log."""
        with self._using(self._writer, make=False) as connection:
            if connection is not None:
                connection.execute("PRAGMA incremental_vacuum").fetchall()
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def exists(self) -> bool:
        """Whether anything was ever written."""
        return self._path.exists()

    @contextmanager
    def _using(self, line: _Line, make: bool) -> Iterator[sqlite3.Connection | None]:
        with line.lock:
            if time.monotonic() < self._off_until:
                raise UnusableFileError(self._off)
            try:
                yield line.connect(make)
            except (sqlite3.Error, OSError) as error:
                self._off_until = time.monotonic() + OFF_FOR
                line.hang_up()
                if str(error) != self._trouble:  # once
                    self._trouble = str(error)
                    _log.warning("%s cannot be used: %s", self._path, error)
                raise UnusableFileError(self._off) from error


class _Line:
    """A connection, and the lock of the thread that uses it."""

    def __init__(self, path: Path, schema: str) -> None:
        self.lock = threading.Lock()
        self._path, self._schema = path, schema
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def connect(self, make: bool) -> sqlite3.Connection | None:
        """The connection; None where there is no file and none is to be made."""
        inode = self._path.stat().st_ino if self._path.exists() else 0
        if inode != self._inode:  # not opened yet, or somebody has tidied the folder up
            self.hang_up()
        if not inode:
            if not make:
                return None
            _make_private(self._path)
        if self._connection is None:
            self._connection, self._inode = _connected(self._path, self._schema), self._path.stat().st_ino
        return self._connection

    def hang_up(self) -> None:
        """Close the connection; the next `connect` makes a new one."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection, self._inode = None, 0


_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")


def _connected(path: Path, schema: str) -> sqlite3.Connection:
    """A connection to a file that has its tables."""
    deadline = time.monotonic() + PATIENCE
    while True:
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            has = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if not has:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before anything is written
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
            if not has.issuperset(_TABLE.findall(schema)):  # a new file, or one from before a table was added
                connection.executescript(f"BEGIN IMMEDIATE; {schema} COMMIT;")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON").fetchall()
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA max_page_count = {_PAGES}").fetchall()
            return connection
        except sqlite3.OperationalError:  # SQLite does not wait where two make the same file
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        except sqlite3.Error:
            connection.close()
            raise


def _make_private(path: Path) -> None:
    """An empty file for its owner only, in a folder for its owner only unless the folder was there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def private_file(variable: str, name: str) -> Path:
    """The file that the environment variable names, or ``name.sqlite`` in a temporary folder of this user's.

    `PermissionError` where somebody else owns, or may open, the temporary folder of that name.
    """
    if named := os.environ.get(variable):
        return Path(named)
    user = os.getuid() if hasattr(os, "getuid") else None  # Windows gives every user a temporary folder of his own
    folder = Path(tempfile.gettempdir()) / (name if user is None else f"{name}-{user}")
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if user is not None and (found.st_uid != user or found.st_mode & 0o170077 != 0o040000):
        raise PermissionError(f"{folder} must be a folder of this user's that nobody else may open")
    return folder / f"{name}.sqlite"
