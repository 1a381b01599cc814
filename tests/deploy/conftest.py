"""The server as it is deployed, from the files that the Dockerfile copies; skips, with a reason, without nginx."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.streamlit_client import free_port
from deploy import nginx
from tests.browser.conftest import person  # noqa: F401  a fixture
from tests.ui.waiting import until

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
COPIED = [words.split() for words in re.findall(r"^COPY (.+)$", DOCKERFILE, re.MULTILINE)]
MEBIBYTE = 2**20
START_WITHIN = 180.0  # seconds, on a busy machine


class Deployed:
    """A server of its own on free ports, its log and its run folder."""

    def __init__(self, folder: Path, processes: int) -> None:
        self.folder, self.run, self.processes = folder, folder / "run", processes
        self.port = free_port(following=processes)
        self.server = f"127.0.0.1:{self.port}"
        self.log = folder / "log"
        self.arguments = ["--processes", str(processes), "--port", str(self.port), "--run", str(self.run)]

    def start(self, environment: dict[str, str]) -> None:
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [self.folder / "deploy" / "serve", *self.arguments], env=environment, stdout=log, stderr=log
            )
        self.wait_until(lambda state: all(app["healthy"] for app in state["apps"]))

    def state(self) -> dict:
        return json.loads((self.run / "state.json").read_text())

    def wait_until(self, true_of) -> dict:
        """The state once it is as wished."""

        def as_wished():
            assert self.process.poll() is None, f"the server has ended; its log: {self.log.read_text()}"
            return (self.run / "state.json").exists() and true_of(self.state())

        until(as_wished, START_WITHIN)
        return self.state()

    def pids(self) -> list[int]:
        """Everybody's, nginx's workers among them."""
        state = self.state()
        workers = Path(f"/proc/{state['nginx']}/task/{state['nginx']}/children").read_text().split()
        return [state["supervisor"], state["nginx"], *map(int, workers), *(app["pid"] for app in state["apps"])]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def deployed_server(folder: Path, processes: int, *more: str):
    """The files that the Dockerfile copies, served; nothing else of the checkout is there."""
    for *sources, target in COPIED:
        for source in sources:
            given, to = ROOT / source, folder / target
            if given.is_dir():
                shutil.copytree(given, to, ignore=shutil.ignore_patterns("__pycache__", "downloads"))
            else:
                to.mkdir(parents=True, exist_ok=True)
                shutil.copy(given, to)
    (folder / ".venv").symlink_to(sys.prefix)
    served = Deployed(folder, processes)
    served.arguments += more
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    try:
        served.start(kept | {"HOME": str(folder / "nowhere"), "PYTHONDONTWRITEBYTECODE": "1"})
        yield served
    finally:
        if served.process.poll() is None:
            served.process.send_signal(signal.SIGTERM)
            served.process.wait(60)


@pytest.fixture(scope="session")
def needs_nginx():
    try:
        nginx.executable()
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def deployed(needs_nginx, tmp_path_factory):
    """Two processes behind nginx, for the tests of one file."""
    with deployed_server(tmp_path_factory.mktemp("deployed"), 2) as served:
        yield served
