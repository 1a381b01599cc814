"""Raw files: where they live, what their digests are, and how a missing one is fetched."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from objpert_core import _provenance
from objpert_core.exceptions import DataUnavailableError

DATA_DIR_VARIABLE = "OBJPERT_DATA_DIR"
BASE_URL_VARIABLE = "OBJPERT_DATA_URL"
UCI_BASE_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/"

Progress = Callable[[str, int, int | None], None]
"""Called as `progress(file name, bytes so far, total bytes or None)` while a file is being fetched."""

_SILENT = 30.0  # seconds, and the server has failed
_fetching = threading.Lock()


@dataclass(frozen=True)
class RawFile:
    """One file of a data set: `folder/name` on disk, `base_url + remote` on the net, and the digest it must have."""

    folder: str
    name: str
    remote: str
    sha256: str

    def find(self, root: Path) -> Path | None:
        """The file under `root`, flat (`gisette/x`) or as in the archive (`gisette/GISETTE/x`); None if absent."""
        for candidate in (root / self.folder / self.name, root / self.remote):
            if candidate.is_file():
                return candidate
        return None


ADULT_FILES = (
    RawFile(
        "adult", "adult.data", "adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    RawFile(
        "adult", "adult.test", "adult/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ),
)  # fmt: skip

GISETTE_FILES = (
    RawFile(
        "gisette", "gisette_train.data", "gisette/GISETTE/gisette_train.data",
        "6d4c5e998afe67937b9e77a3334e03c85e545ebc65a6eb1333ffc14125cfc389",
    ),
    RawFile(
        "gisette", "gisette_valid.data", "gisette/GISETTE/gisette_valid.data",
        "5cea897956dd172a006132738254a27a8f61ecc1ceb6f5b20639c281d2942254",
    ),
    RawFile(
        "gisette", "gisette_train.labels", "gisette/GISETTE/gisette_train.labels",
        "42bd681fe51b161f033df773df14a0116e492676555ab14616c1b72edc054075",
    ),
    RawFile(
        "gisette", "gisette_valid.labels", "gisette/gisette_valid.labels",
        "a6b857a0448023f033c4dda2ef848714b4be2ae45ce598d088fb3efb406e08c5",
    ),
)  # fmt: skip
"""In the order in which `gisette.read` takes them."""


def data_folder() -> Path:
    """The folder that holds the raw files.

    `OBJPERT_DATA_DIR` when it is set; else `data/downloads` of a checkout one may write to; else the operating system's
    cache folder (an installed package has no `data/`).
    """
    chosen = os.environ.get(DATA_DIR_VARIABLE, "").strip()
    if chosen:
        return Path(chosen).expanduser()
    root = _provenance.checkout()
    if root is not None and os.access(root / "data", os.W_OK):
        return root / "data" / "downloads"
    import pooch  # here, since few need it, and a Python in the browser may lack what it imports

    return Path(pooch.os_cache("objpert"))


def base_url() -> str:
    """Where files are fetched from: `OBJPERT_DATA_URL` when it is set (a mirror, a test), else the UCI archive."""
    return (os.environ.get(BASE_URL_VARIABLE, "").strip() or UCI_BASE_URL).rstrip("/") + "/"


@lru_cache(maxsize=64)
def _digest(path: Path, size: int, modified_ns: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal; computed again only when the file's size or time of change differs."""
    state = path.stat()
    return _digest(path, state.st_size, state.st_mtime_ns)


def present(files: Sequence[RawFile], root: Path) -> bool:
    """Whether every file is under `root` with the digest it must have; never touches the network."""
    for raw in files:
        path = raw.find(root)
        if path is None or digest(path) != raw.sha256:
            return False
    return True


def verified(raw: RawFile, root: Path) -> Path | None:
    """The file's path once its digest was checked, None without a file; `DataUnavailableError` for a wrong digest."""
    path = raw.find(root)
    if path is not None and (found := digest(path)) != raw.sha256:
        raise DataUnavailableError(
            f"{path} has the wrong SHA-256: expected {raw.sha256}, found {found}; the file is damaged or another "
            f"version, so nothing was read from it. Delete it to have it fetched again, or put the original there."
        )
    return path


def obtain(
    files: Sequence[RawFile],
    root: Path,
    *,
    url: str | None = None,
    progress: Progress | None = None,
    attempts: int = 3,
    pause: float = 1.0,
) -> list[Path]:
    """Paths of verified files; missing ones are fetched first, in so many `attempts` with a `pause` in seconds that
    doubles.

    What `progress` raises stops the transfer and leaves nothing behind. `DataUnavailableError` names the folder to put
    the files in.
    """
    paths = []
    for raw in files:
        path = verified(raw, root)
        if path is None:
            source = base_url() if url is None else url.rstrip("/") + "/"
            with _fetching:
                path = verified(raw, root)  # another thread may have fetched it meanwhile
                if path is None:
                    path = _fetch(raw, files, root, source + raw.remote, progress, attempts, pause)
        paths.append(path)
    return paths


class _Meter:
    """The part of tqdm's interface that pooch uses, handed on to a plain callback."""

    def __init__(self, name: str, callback: Progress) -> None:
        self.name, self.callback = name, callback
        self.total, self.done = 0, 0

    def update(self, count: int) -> None:
        # pooch counts whole blocks, the last one included, and at the end reports everything once more.
        self.done = min(self.done + count, self.total) if self.total else self.done + count
        self.callback(self.name, self.done, self.total or None)

    def reset(self) -> None:
        pass

    def close(self) -> None:
        pass


def _fetch(
    raw: RawFile,
    files: Sequence[RawFile],
    root: Path,
    url: str,
    progress: Progress | None,
    attempts: int,
    pause: float,
) -> Path:
    import pooch

    reason = ""
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        # Outside the data folder, so that a failure leaves no empty or half-written file where people look.
        with tempfile.TemporaryDirectory(prefix="objpert-") as scratch:
            partial = Path(scratch) / raw.name
            meter = _Meter(raw.name, progress) if progress is not None else False
            try:
                pooch.HTTPDownloader(progressbar=meter, timeout=_SILENT)(url, str(partial), None)
            except OSError as error:  # requests' exceptions are OSErrors: no network, time-outs, HTTP status
                reason = _why(error)
                if not _transient(error):
                    break
                continue
            found = digest(partial)
            if found == raw.sha256:
                return _install(partial, root / raw.folder / raw.name)
            reason = f"what arrived has SHA-256 {found}, expected {raw.sha256}"
    names = ", ".join(item.name for item in files)
    raise DataUnavailableError(
        f"{raw.name} is not on disk and could not be fetched from {url} ({reason}). Put {names} into "
        f"{root / raw.folder}, or set {DATA_DIR_VARIABLE} to a folder that holds {raw.folder}/{raw.name}."
    )


def _why(error: OSError) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"HTTP status {status}" if status is not None else type(error).__name__


def _transient(error: OSError) -> bool:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status is None or status >= 500 or status in (408, 429)


def _install(partial: Path, target: Path) -> Path:
    """Move a verified file into place in one step, so that nobody ever reads half of it."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        try:
            shutil.copyfile(partial, beside)
            os.chmod(beside, 0o644)
            os.replace(beside, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
    except OSError as error:
        raise DataUnavailableError(
            f"{target.name} was fetched but cannot be written to {target.parent} ({error.strerror}); "
            f"set {DATA_DIR_VARIABLE} to a folder one may write to."
        ) from error
    return target
