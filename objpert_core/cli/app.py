"""`objpert app`: open the app, whatever the current folder is."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from objpert_core import _provenance

LESSONS = "OBJPERT_LESSONS"  # a folder that may be named relative to the current one


def add(commands: Any) -> None:
    """Add the command to a parser's commands.

    Parameters
    ----------
    commands : action of `ArgumentParser.add_subparsers`
    """
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
        help="what it listens on; default localhost, which other computers cannot reach; 0.0.0.0 is every address",
    )
    command.add_argument("--no-browser", action="store_true", help="open no browser")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Open the app; the exit code of its server.

    Parameters
    ----------
    options : Namespace
        Of the parser that `add` made.

    Raises
    ------
    ImportError
        If what the app needs is not installed.
    """
    check_installed()
    folder = _provenance.app_folder()
    # Streamlit reads the current folder's .streamlit/config.toml: it must be the app's own.
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    command += ["--server.port", str(options.port), "--server.address", options.address]
    command += ["--server.headless", str(options.no_browser).lower(), "--server.showEmailPrompt", "false"]
    environment = dict(os.environ)
    if lessons := environment.get(LESSONS):
        environment[LESSONS] = str(Path(lessons).expanduser().absolute())
    return become(command, environment, folder)


def check_installed() -> None:
    """See that the app's packages are there.

    Raises
    ------
    ImportError
        With the command that installs them.
    """
    for package in ("streamlit", "plotly", "resvg_py", "svglib", "reportlab", "segno"):
        if importlib.util.find_spec(package) is None:
            raise ImportError(f"the app needs {package}, which is not installed: pip install 'objpert[app]'")


def become(command: list[str], environment: dict[str, str], folder: Path) -> int:
    """Run another program in place of this one, with its signals and its exit code.

    Parameters
    ----------
    command : list of str
    environment : dict
    folder : Path
        Its current folder.
    """
    sys.stdout.flush()
    if os.name == "posix":
        os.chdir(folder)
        os.execve(command[0], command, environment)
    return subprocess.run(command, env=environment, cwd=folder, check=False).returncode


def _port(text: str) -> int:
    """A port, as argparse wants it."""
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; it must be from 1 to 65535")
    return int(text)
