"""Serve the app by several processes behind nginx: `deploy/serve --processes 2 --port 8080` (docs/deploying.md).

One supervisor starts them, asks each for its health, starts again what has ended or no longer answers, replaces what
holds too much memory, and stops them all on SIGTERM or Ctrl-C. When the supervisor itself is killed the kernel ends
its children.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import logging.handlers
import os
import resource
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import TextIO

from deploy import nginx
from deploy.processes import App, Child, log, without_people
from deploy.settings import ROOT, Settings, make_run_folder, parse

TICK = 0.2  # seconds
MEMORY_EVERY = 2.0  # seconds
PATIENCE = 5.0  # seconds between a polite signal and the other one
ROOMS = "rooms.sqlite"  # unless OBJPERT_ROOMS names another file, which is left alone
GIVE_UP_AFTER = 5  # starts of processes none of which has ever answered


class Supervisor:
    """The parent of nginx and of the app's processes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        environment = app_environment(settings)
        self.apps = [App(f"app {i}", port, environment, ROOT) for i, port in enumerate(settings.app_ports)]
        command = [nginx.executable(), "-p", str(settings.run), "-e", "stderr", "-c", str(settings.run / "nginx.conf")]
        # Killed by the hard signal nginx's first process would leave its workers behind.
        self.nginx = Child("nginx", command, dict(os.environ), settings.run, signal.SIGTERM, without_people)
        self.children = [*self.apps, self.nginx]
        self.replacing: dict[str, float] = {}  # name of who was asked to end → when it is made to
        self.ever_healthy = False
        self._told = ""
        self._measured = 0.0
        self._stop = threading.Event()

    def run(self) -> int:
        """Serve until somebody says stop; the exit code."""
        settings = self.settings
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._asked_to_stop)
        signal.signal(signal.SIGHUP, lambda *_: self.nginx.send(signal.SIGHUP))  # a new certificate
        nginx.write(settings)
        nginx.write_assets(settings.run / "assets")
        try:
            while not self._stop.wait(TICK):
                self.tick(time.monotonic())
                if not self.ever_healthy and min(app.starts for app in self.apps) > GIVE_UP_AFTER:
                    log.error("the app does not start; its own lines above say why")
                    return 1
        finally:
            self.end()
        return 0

    def _asked_to_stop(self, number: int, frame: FrameType | None) -> None:
        self._stop.set()

    def tick(self, now: float) -> None:
        """One look at everybody."""
        for child in self.children:
            if how := child.gone(now):
                self.replacing.pop(child.name, None)
                log.warning("%s ended by %s", child.name, how)
            if child.due(now):
                child.start(now)
                if child.pid:
                    log.info("%s started as process %s", child.name, child.pid)
            if now > self.replacing.get(child.name, float("inf")):
                child.send(signal.SIGKILL)
        if now - self._measured >= MEMORY_EVERY:
            self._measured = now
            self.replace_one(now)
        if not self.ever_healthy and any(app.healthy for app in self.apps):
            self.ever_healthy = True
            log.info("ready on port %d", self.settings.port)
        self._tell()

    def replace_one(self, now: float) -> None:
        """End whoever is in trouble, one at a time: the others serve its people meanwhile."""
        for app in self.apps:
            why = app.trouble(now, app.memory(), self.settings.memory)
            others_serve = all(other.healthy and other.failures == 0 for other in self.apps if other is not app)
            if why and not self.replacing and (others_serve or app.failures or not app.healthy):
                log.warning("%s is replaced: %s", app.name, why)
                self.replacing[app.name] = now + PATIENCE
                app.send(signal.SIGTERM)

    def _tell(self) -> None:
        """Write who runs into the run folder, whenever that changes."""
        apps = [{"pid": app.pid, "port": app.port, "starts": app.starts, "healthy": app.healthy} for app in self.apps]
        text = json.dumps({"supervisor": os.getpid(), "nginx": self.nginx.pid, "apps": apps})
        if text != self._told:
            self._told = text
            new = self.settings.run / "state.new"
            with contextlib.suppress(OSError):  # a full disk is no reason to stop serving
                new.write_text(text, encoding="utf-8")
                new.replace(self.settings.run / "state.json")

    def end(self) -> None:
        """Stop everybody; what does not end in time is made to."""
        for child in self.children:
            child.send(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while any(child.pid for child in self.children) and time.monotonic() < deadline:
            time.sleep(0.05)
        for child in self.children:
            child.send(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()
        for file in ("state.json", *(f"{ROOMS}{end}" for end in ("", "-wal", "-shm", "-journal"))):
            (self.settings.run / file).unlink(missing_ok=True)  # votes of a class do not outlive the server
        log.info("stopped")


def app_environment(settings: Settings) -> dict[str, str]:
    """What the app's processes find in their environment.

    The secret that signs cookies, and with them browsers' numbers, is the same for all, drawn anew at every start, and
    written nowhere. Rooms for votes lie in one file for all. Another process of the same user could read both; that
    user owns the server.
    """
    frames = {"STREAMLIT_SERVER_XSRF_COOKIE_SAME_SITE": "none"} if "None" in nginx.cookie_rules(settings) else {}
    return {
        "OBJPERT_ROOMS": str(settings.run / ROOMS),
        **os.environ,
        **frames,
        "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),
        "OBJPERT_ADDRESS_HEADER": "X-Objpert-Address",  # nginx writes it; the processes listen to nobody else
        "OMP_NUM_THREADS": "1",  # a process for each processor, and one thread in each that computes
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",  # every run of a page is a thread; each would keep memory of its own
        "PYTHONUNBUFFERED": "1",
    }


def take_lock(settings: Settings) -> TextIO:
    """The run folder's lock, held until the file is closed.

    Raises
    ------
    BlockingIOError
        If another server holds it.
    """
    lock = (settings.run / "lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        raise BlockingIOError(f"Process {lock.read().strip()} already serves from {str(settings.run)!r}.") from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def check_ports(settings: Settings) -> None:
    """See that nobody else has a port of ours.

    Raises
    ------
    OSError
        With a sentence that names the port.
    """
    listening = "" if settings.address == "*" else settings.address.strip("[]")
    for host, port in [(listening, settings.port), *(("127.0.0.1", port) for port in settings.app_ports)]:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                raise OSError(f"Port {port} cannot be had ({error.strerror}); choose others with --port.") from None


def check_configuration(settings: Settings) -> None:
    """Let nginx read its configuration.

    Raises
    ------
    ValueError
        With nginx's own words.
    """
    path = nginx.write(settings)
    command = [nginx.executable(), "-t", "-q", "-p", str(settings.run), "-e", "stderr", "-c", str(path)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    if checked.returncode:
        raise ValueError(f"nginx refuses its configuration: {checked.stderr.strip()}")


def log_to(file: Path | None) -> None:
    """Lines with their time, on standard output or in a file that is rotated: five of 1 MB."""
    handler: logging.Handler = logging.StreamHandler(sys.stdout)
    if file is not None:
        handler = logging.handlers.RotatingFileHandler(file, maxBytes=10**6, backupCount=4, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def main(arguments: list[str] | None = None) -> int:
    """Serve as the command line says; the exit code."""
    settings = parse(arguments)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = 65536 if most == resource.RLIM_INFINITY else min(65536, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))  # two for each websocket in nginx, one in the app
    os.umask(0o077)
    try:
        make_run_folder(settings.run)
        lock = take_lock(settings)
        check_ports(settings)
        check_configuration(settings)
        log_to(settings.log)
        supervisor = Supervisor(settings)
    except (OSError, ValueError) as error:
        print(f"deploy/serve: {error}", file=sys.stderr)
        return 1
    if os.geteuid() == 0:
        log.warning("this runs as root; an ordinary user is enough")
    with lock:
        return supervisor.run()


if __name__ == "__main__":
    raise SystemExit(main())
