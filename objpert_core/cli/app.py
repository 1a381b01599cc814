"""`objpert app`: open the app, whatever the current folder is. `objpert serve`: several processes behind nginx."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from objpert_core import _provenance

PACKAGES = ("streamlit", "plotly", "segno")
PATHS = ("OBJPERT_LESSONS", "OBJPERT_DATA_DIR", "OBJPERT_ROOMS")  # may be relative to the caller's current folder
EVERYWHERE = ("0.0.0.0", "::")


def add(commands: Any) -> None:
    """Add both commands to a parser's commands."""
    command = commands.add_parser(
        "app",
        help="open the app in a browser; so does objpert alone",
        description="Serve the app on this computer and open it in a browser, until Ctrl-C.",
        epilog="Example: objpert app --port 8502. For a class there is objpert serve.",
    )
    command.add_argument("--port", type=_port, default=8501, help="1 to 65535; default 8501")
    command.add_argument(
        "--address",
        default="localhost",
        help="where the app listens; default localhost, which other computers cannot reach; 0.0.0.0 is every address",
    )
    command.add_argument("--no-browser", action="store_true", help="open no browser")
    command.set_defaults(run=run)
    served = commands.add_parser(
        "serve",
        help="serve the app to a class: several processes behind nginx",
        add_help=False,  # the script has its own
    )
    served.set_defaults(run=serve, rest=[])


def run(options: argparse.Namespace) -> int:
    """Open the app; the exit code of its server."""
    words = ["-m", "objpert_core.cli.server", "run", "app.py", "--server.port", str(options.port)]
    words += ["--server.address", options.address]
    if options.address in EVERYWHERE:  # else Streamlit would ask a server elsewhere what this computer's address is
        words += ["--browser.serverAddress", "localhost"]
    words += ["--server.headless", str(options.no_browser).lower(), "--server.showEmailPrompt", "false"]
    # Streamlit reads .streamlit/config.toml of the current folder: it has to be the app's own.
    return launch(words, _provenance.app_folder())


def serve(options: argparse.Namespace) -> int:
    """Run the script with the arguments in `rest`; `ValueError` on a system that the script does not run on."""
    if os.name != "posix":
        raise ValueError("objpert serve needs Linux or macOS; on Windows docs/deploying.md has a container")
    words = ["-m", "deploy.serve", "--started-as", "objpert serve", *options.rest]
    return launch(["-P", *words])  # -P: not a folder deploy of the current one


def _port(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; it must be from 1 to 65535")
    return int(text)


def launch(words: Sequence[str], folder: Path | None = None) -> int:
    """Run Python with these words (after the interpreter's name) in place of this process; `ImportError` where the app,
    or a package that it needs, is not installed.
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
