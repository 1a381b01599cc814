"""Files that commands read and write: standard input as -, nothing larger than it should be, nothing half written."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

STANDARD = "-"
"""The name that stands for standard input or output."""


def read_bytes(name: str, what: str, most: int | None = None) -> bytes:
    """A file's bytes, or those of standard input; `ValueError` where there are more than `most`."""
    size = -1 if most is None else most + 1
    if name == STANDARD:
        content = sys.stdin.buffer.read(size)
    else:
        try:
            with Path(name).open("rb") as file:
                content = file.read(size)
        except OSError as error:
            raise OSError(f"{what} cannot be read from {name!r}: {_reason(error)}") from None
        except ValueError:  # a name with a zero byte
            raise ValueError(f"{what} cannot be read: a file's name must have no zero byte") from None
    if most is not None and len(content) > most:
        raise ValueError(f"{what} must have at most {most:,} bytes, and {name!r} has more")
    return content


def read_text(name: str, what: str, most: int) -> str:
    """A file's text, in UTF-8; errors as in `read_bytes`."""
    try:
        return read_bytes(name, what, most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{what} must be text in UTF-8, and {name!r} is not") from None


def write_one(name: str, text: str, *, overwrite: bool) -> None:
    """Write a file as a whole or not at all, or to standard output; `FileExistsError` unless it may be overwritten."""
    if name == STANDARD:
        print(text, end="")
        return
    target = Path(name)
    refuse_existing([target], overwrite=overwrite)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.")
    except OSError as error:
        raise OSError(f"{name!r} cannot be written: {_reason(error)}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, _usual_mode(0o666))
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def refuse_existing(paths: list[Path], *, overwrite: bool) -> None:
    """Raise `FileExistsError` for the first path that exists, unless it may be overwritten."""
    for path in paths:
        if not overwrite and path.exists():
            raise FileExistsError(f"{str(path)!r} is there already: name another one, or say --overwrite")


@contextmanager
def folder_of(name: str, files: tuple[str, ...], *, overwrite: bool) -> Iterator[dict[str, bytes]]:
    """A folder that gets its `files`, filled in by the caller, all at once at the end and only if nothing was raised
    before; that it can be written is found out first, as a lost release has been paid for.
    """
    if not name:
        raise ValueError("--out must name a folder, got ''")
    target = Path(name)
    refuse_existing([target / file for file in files], overwrite=overwrite)
    if target.exists() and not target.is_dir():
        raise FileExistsError(f"{name!r} is a file: --out must name a folder")
    new = not target.exists()
    try:
        aside = Path(tempfile.mkdtemp(dir=target.parent if new else target, prefix=".objpert-"))
    except OSError as error:
        raise OSError(f"{name!r} cannot be written: {_reason(error)}") from None
    try:
        contents: dict[str, bytes] = {}
        yield contents
        _put(contents, aside, target, new=new)
        for earlier in set(files) - set(contents):  # of another release
            (target / earlier).unlink(missing_ok=True)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put(contents: Mapping[str, bytes], aside: Path, target: Path, *, new: bool) -> None:
    for file, content in contents.items():
        (aside / file).write_bytes(content)
    if new:
        aside.chmod(_usual_mode(0o777))
        aside.rename(target)
        return
    for file in contents:
        (aside / file).replace(target / file)


def _usual_mode(wanted: int) -> int:
    mask = os.umask(0)
    os.umask(mask)
    return wanted & ~mask


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
