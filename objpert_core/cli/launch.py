"""Start a program of the app, from a checkout or an installed package; `objpert app` and `objpert serve` do."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from objpert_core import _provenance

PACKAGES = ("streamlit", "plotly", "segno")
PATHS = ("OBJPERT_LESSONS", "OBJPERT_DATA_DIR", "OBJPERT_ROOMS")  # may be relative to the caller's current folder


def launch(words: Sequence[str], folder: Path | None = None) -> int:
    """Run Python with these words (after the interpreter's name) in place of this process, its signals and exit code
    included.

    `ImportError` where the app, or a package that it needs, is not installed.
    """
    app = _provenance.app_folder()
    if not (app / "app.py").is_file():
        raise ImportError(f"the app is not in {str(app)!r}; install objpert from its wheel or its checkout")
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise ImportError(f"the app needs {package}, which is not installed: pip install '/path/to/checkout[app]'")
    command, environment = [sys.executable, *words], _environment(app)
    sys.stdout.flush()
    if os.name == "posix":
        os.chdir(folder or Path.cwd())
        os.execve(command[0], command, environment)
    return subprocess.run(command, env=environment, cwd=folder, check=False).returncode


def _environment(app: Path) -> dict[str, str]:
    """The environment, in which `ui`, `pages` and `deploy` are found by the program and by what it starts itself."""
    path = os.environ.get("PYTHONPATH")
    whole = {name: str(Path(os.environ[name]).expanduser().absolute()) for name in PATHS if os.environ.get(name)}
    return {**os.environ, **whole, "PYTHONPATH": os.pathsep.join([str(app), *([path] if path else [])])}
