"""`objpert app`: open the app, whatever the current folder is."""

from __future__ import annotations

import argparse
from typing import Any

from objpert_core import _provenance
from objpert_core.cli.launch import launch

EVERYWHERE = ("0.0.0.0", "::")


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
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


def run(options: argparse.Namespace) -> int:
    """Open the app; the exit code of its server."""
    words = ["-m", "objpert_core.cli.server", "run", "app.py", "--server.port", str(options.port)]
    words += ["--server.address", options.address]
    if options.address in EVERYWHERE:  # else Streamlit would ask a server elsewhere what this computer's address is
        words += ["--browser.serverAddress", "localhost"]
    words += ["--server.headless", str(options.no_browser).lower(), "--server.showEmailPrompt", "false"]
    # Streamlit reads .streamlit/config.toml of the current folder: it has to be the app's own.
    return launch(words, _provenance.app_folder())


def _port(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; it must be from 1 to 65535")
    return int(text)
