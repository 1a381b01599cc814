"""Where a result came from: the commit, the versions and the machine that made it."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from types import ModuleType

import objpert_core

PACKAGE = Path(objpert_core.__file__).parent


def commit(*sources: Path, folder: Path = PACKAGE) -> str:
    """The short commit of the checkout, "unknown" outside of one.

    Parameters
    ----------
    sources
        Files and folders that made the result; when one has changes that are not committed, the commit ends in `+`.
        Default: `folder`.
    folder : Path
        A folder of the checkout.
    """
    try:
        head, changes = (
            subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
            for words in (
                ["rev-parse", "--short", "HEAD"],
                ["status", "--porcelain", "--", *map(str, sources or (folder,))],
            )
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changes else "")


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
