"""The app talks to nobody but its visitors: every address that its process turns to is written down."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from benchmarks.streamlit_client import free_port, wait_until_healthy

ROOT = Path(__file__).parents[2]
LOOPBACK = ("localhost", "127.0.0.1", "::1")
WATCHER = r"""
import os, sys

def note(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        address = arguments[:1]
    else:
        return
    with open(os.environ["SEEN"], "a", encoding="utf-8") as file:
        file.write(repr(address if isinstance(address, tuple) else (str(address),)) + "\n")

sys.addaudithook(note)
"""
COMMANDS = {
    "streamlit": ["-m", "streamlit", "run", "app.py"],
    "objpert": ["-m", "objpert_core.cli", "app", "--no-browser"],
    "served": ["-m", "deploy.app", "--server.address", "127.0.0.1"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_app_turns_to_no_other_host_and_listens_to_none(command: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WATCHER, encoding="utf-8")
    seen, port = tmp_path / "seen", free_port()
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    option = "--port" if command == "objpert" else "--server.port"
    process = subprocess.Popen(
        [sys.executable, *COMMANDS[command], option, str(port)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": path, "SEEN": str(seen)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"127.0.0.1:{port}"
    try:
        wait_until_healthy(address, process)
        urllib.request.urlopen(f"http://{address}/", timeout=30).close()
        with connect(f"ws://{address}/_stcore/stream", origin=Origin(f"http://{address}")):
            pass
        with (
            pytest.raises(InvalidStatus),
            connect(  # a page of another site that opens the app
                f"ws://{address}/_stcore/stream", origin=Origin("http://other.example"), open_timeout=30
            ),
        ):
            pass
    finally:
        process.terminate()
        process.wait(30)
    addresses = [ast.literal_eval(line) for line in seen.read_text(encoding="utf-8").splitlines()]
    assert any(port in address for address in addresses)  # the watcher was there
    hosts = {address[0] for address in addresses}
    assert hosts <= {*LOOPBACK, None}, hosts
