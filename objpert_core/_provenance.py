"""Where a result came from, and files of results that say so.

A file of results is CSV. Comment lines ``# name: value`` above the columns say how it was made: command, seeds, commit.
"""

from __future__ import annotations

import csv
import io
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import objpert_core

PACKAGE = Path(objpert_core.__file__).parent


def checkout() -> Path | None:
    """The checkout of this project that the package lies in; None where the package was installed."""
    root = PACKAGE.parent
    try:
        project = (root / "pyproject.toml").read_text(encoding="utf-8")
    except OSError:
        return None
    return root if 'name = "objpert"' in project and (root / "data").is_dir() else None


def app_folder() -> Path:
    """The folder of the app's script, pages, settings and stored results: in the package, or where that lies."""
    inside = PACKAGE / "_app"  # a wheel has them there, so that it brings one importable name only (.ci/wheel.py)
    return inside if inside.is_dir() else PACKAGE.parent


def commit(*sources: Path, folder: Path = PACKAGE) -> str:
    """The short commit of `folder`'s own checkout, with `+` where `sources` (by default `folder`) have changes;
    "objpert_core" and the version where git keeps no file of the folder.
    """
    try:
        head, kept, changes = (
            subprocess.run(
                ["git", *words], cwd=folder, env=_git_finds_itself(), capture_output=True, text=True, check=True
            ).stdout.strip()
            for words in (
                ["rev-parse", "--short", "HEAD"],
                ["ls-files", "--", "."],
                ["status", "--porcelain", "--", *map(str, sources or (folder,))],
            )
        )
    except (OSError, subprocess.CalledProcessError):
        kept = ""
    return head + ("+" if changes else "") if kept else f"objpert_core {objpert_core.__version__}"


def _git_finds_itself() -> dict[str, str]:
    """The environment without what makes git look at another repository than the folder's (set in hooks)."""
    return {name: value for name, value in os.environ.items() if name not in _OTHER_REPOSITORY}


_OTHER_REPOSITORY = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"}


def versions(*modules: ModuleType) -> str:
    """The versions of this package, of Python and of `modules`, as one line."""
    named = {"objpert": objpert_core.__version__, "python": platform.python_version()}
    named |= {module.__name__: module.__version__ for module in modules}
    return ", ".join(f"{name} {version}" for name, version in named.items())


def machine() -> str:
    """The processor and how many cores there are."""
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor)
    return f"{processor}, {os.cpu_count()} cores"


# --- files of results --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A comment or a row of a file of results. ``# name: value`` has the note (name, value), another comment ("",
    text).
    """

    number: int
    note: tuple[str, str] | None
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A file of results: its comments ``# name: value``, and its rows by the columns' names, all cells as text."""

    notes: Mapping[str, str]
    rows: tuple[dict[str, str], ...]


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file of results, but for empty ones and a last one that is still being written."""
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), start=1):
        if line.startswith("#"):
            name, found, value = line[1:].strip().partition(": ")
            yield Line(number, (name, value) if found else ("", name))
        elif line:
            yield Line(number, None, tuple(next(csv.reader([line]))))


def read_table(path: Path) -> Table:
    """A file of results as a table; `ValueError` if a row has not as many cells as there are columns."""
    found = list(lines(path))
    columns, *rows = [line.cells for line in found if line.note is None] or [()]
    notes = dict(line.note for line in found if line.note is not None and line.note[0])
    return Table(notes, tuple(dict(zip(columns, cells, strict=True)) for cells in rows))


def note_line(name: str, value: str) -> str:
    """A comment of a file of results."""
    return f"# {name}: {value}\n"


def row_line(cells: Iterable[Any]) -> str:
    """A row of a file of results."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def write_table(out: Path | TextIO, rows: Iterable[Mapping[str, Any]], notes: Mapping[str, str] | None = None) -> None:
    """Write a file of results, each row as it comes, below a comment line for each note; replaces an existing file."""
    if isinstance(out, Path):
        with out.open("w", encoding="utf-8", newline="") as file:
            write_table(file, rows, notes)
        return
    out.writelines(note_line(name, value) for name, value in (notes or {}).items())
    columns: list[str] = []
    for row in rows:
        if not columns:
            columns = list(row)
            out.write(row_line(columns))
        out.write(row_line(row[name] for name in columns))
        out.flush()


def write_study(out: Path | TextIO, rows: Iterable[Mapping[str, Any]], command: str, seeds: str) -> None:
    """Write the table of a study, with its command, its seeds, and the version and commit that it was begun with."""
    version = f"{objpert_core.__version__}, commit: {commit()}"
    write_table(out, rows, {"command": command, "seeds": seeds, "version": version})
