"""What one can tell `deploy/serve`, and what follows from it."""

from __future__ import annotations

import argparse
import getpass
import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
UPLOAD_MEBIBYTES = 5  # `server.maxUploadSize` of .streamlit/config.toml; a test compares them
UPLOADS_AT_ONCE = 40  # from one address; a class hands in its tables one after the other
ORIGIN = re.compile(r"'self'|https?://[A-Za-z0-9.*-]+(:\d+)?")


@dataclass(frozen=True)
class Settings:
    """One server: how many processes, where it listens, its limits.

    Attributes
    ----------
    processes : int
        App processes. One for each processor is right: a process computes on one at a time.
    port : int
        nginx listens there, the processes on the ports after it, on 127.0.0.1.
    address : str
        What nginx listens on; "*" is every address of the machine.
    run : Path
        The folder for everything that is written; only the owner may read it.
    memory : int
        MiB that one process may hold before it is replaced.
    per_address : int
        Open connections from one address. A class may share one.
    cert, key : Path or None
        TLS: certificate chain and key.
    behind : tuple of str
        Networks of proxies in front whose `X-Forwarded-For` is believed.
    frames : tuple of str
        Origins that may show the app in a frame.
    log : Path or None
        A file that is rotated; None is standard output.
    """

    processes: int = 2
    port: int = 8080
    address: str = "*"
    run: Path = Path()
    memory: int = 1536
    per_address: int = 2000
    cert: Path | None = None
    key: Path | None = None
    behind: tuple[str, ...] = ()
    frames: tuple[str, ...] = ("'self'",)
    log: Path | None = None

    @property
    def app_ports(self) -> list[int]:
        """The ports of the processes."""
        return [self.port + 1 + number for number in range(self.processes)]


class _StartedAs(argparse.Action):
    """The name by which help and refusals call the program."""

    def __call__(self, parser: argparse.ArgumentParser, _given: Any, value: Any, _name: str | None = None) -> None:
        parser.prog = value


def parse(arguments: list[str] | None = None) -> Settings:
    """The command line; a value that does not fit ends the program with one sentence."""
    parser = argparse.ArgumentParser(
        prog="deploy/serve", description="Serve the app by several processes behind nginx, until SIGTERM or Ctrl-C."
    )
    parser.add_argument("--started-as", action=_StartedAs, help=argparse.SUPPRESS)  # the first of the arguments
    default = Settings()
    parser.add_argument("--processes", type=int, default=default.processes, help="app processes: 1 to 64")
    parser.add_argument("--port", type=int, default=default.port, help="nginx's port; the processes take the next ones")
    parser.add_argument("--address", default=default.address, help="what nginx listens on; '*' is every address")
    parser.add_argument("--run", type=Path, help="folder for everything that is written (default: a temporary one)")
    parser.add_argument("--memory", type=int, default=default.memory, help="MiB a process may hold: 256 or more")
    parser.add_argument("--per-address", type=int, default=default.per_address, help="connections from one address")
    parser.add_argument("--cert", type=Path, help="TLS certificate chain (PEM)")
    parser.add_argument("--key", type=Path, help="its key (PEM)")
    parser.add_argument(
        "--behind", nargs="+", default=[], metavar="NETWORK", help="proxies in front that tell addresses"
    )
    parser.add_argument(
        "--frames", nargs="+", default=[], metavar="ORIGIN", help="sites that may show the app in a frame"
    )
    parser.add_argument("--log", type=Path, help="a file, rotated at 1 MB, in place of standard output")
    given = parser.parse_args(arguments)
    if not 1 <= given.processes <= 64:
        parser.error(f"--processes is {given.processes}; it must be from 1 to 64.")
    last = 65534 - given.processes  # the ports after it are taken, too
    if not 1 <= given.port <= last:
        parser.error(f"--port is {given.port}; it must be from 1 to {last}.")
    if not re.fullmatch(r"\*|[0-9A-Fa-f.:\[\]]+", given.address):
        parser.error(f"--address is {given.address!r}; it must be an IP address or '*'.")
    if given.memory < 256:
        parser.error(f"--memory is {given.memory}; it must be 256 MiB or more.")
    if given.per_address < 1:
        parser.error(f"--per-address is {given.per_address}; it must be 1 or more.")
    if (given.cert is None) != (given.key is None):
        parser.error("--cert and --key belong together; give both.")
    for file in (given.cert, given.key):
        if file is not None and not file.is_file():
            parser.error(f"{str(file)!r} is no file.")
    for network in given.behind:
        if not re.fullmatch(r"[0-9A-Fa-f.:]+(/\d{1,3})?", network):
            parser.error(f"--behind is {network!r}; it must be an address or a network such as 10.0.0.0/8.")
    for origin in given.frames:
        if not ORIGIN.fullmatch(origin):
            parser.error(f"--frames is {origin!r}; it must be an origin such as https://moodle.example.org.")
    run = given.run or Path(tempfile.gettempdir()) / f"objpert-{getpass.getuser()}-{given.port}"
    return Settings(
        processes=given.processes,
        port=given.port,
        address=given.address,
        run=run.absolute(),
        memory=given.memory,
        per_address=given.per_address,
        cert=given.cert and given.cert.absolute(),
        key=given.key and given.key.absolute(),
        behind=tuple(given.behind),
        frames=("'self'", *given.frames),
        log=given.log and given.log.absolute(),
    )


def make_run_folder(folder: Path) -> None:
    """Make the folder, or take one that nobody else can write to or read.

    Raises
    ------
    PermissionError
        If it belongs to somebody else, or is no folder: it was put there by a stranger.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(f"The run folder {str(folder)!r} is not yours; name another one with --run.")
    folder.chmod(0o700)
