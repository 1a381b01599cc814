"""A person's tab without a browser: what the benchmarks of the server send over the websocket, and what they read.

`Person` opens a page, moves its sliders and keeps what the page says; `Browser` is what stands between a person and the
server: cookies, the requests before the websocket, its address, and coming back after a connection was lost.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

ROOT = Path(__file__).resolve().parents[1]
LARGEST_MESSAGE = 2**25
_GIVEN: set[int] = set()  # ports that `free_port` has named
PATIENCE = 60.0  # seconds that somebody waits for a page


@dataclass
class Person:
    """One browser tab: a session, and the sliders it has seen with their fragments."""

    link: Any
    page: str
    script_hash: str = ""
    charts: int = 0
    answers: dict[str, str] = field(default_factory=dict)  # fragment → the answer that stands in it
    session: str = ""
    sliders: dict[str, tuple[Any, str]] = field(default_factory=dict)  # name → widget, fragment
    chosen: dict[str, str] = field(default_factory=dict)  # what the address says of this page

    async def open(self) -> None:
        """The first load of the page, as its address says."""
        message = BackMsg()
        message.rerun_script.page_name = "" if self.page == "home" else self.page
        message.rerun_script.query_string = urlencode(self.chosen)
        self.sliders = {}
        await self._finish(message)
        if not self.sliders:
            raise RuntimeError(f"the page {self.page!r} has no slider; is it in order?")

    async def choose(self, slider: str, value: str) -> None:
        """Set a slider to one of its values, and wait until the run has finished."""
        widget, fragment = self.sliders[slider]
        message = BackMsg()
        rerun = message.rerun_script
        rerun.fragment_id, rerun.page_script_hash = fragment, self.script_hash
        rerun.widget_states.widgets.add(id=widget.id).string_array_value.data.append(value)
        self.chosen[f"{self.page}_{slider}"] = value
        rerun.query_string = urlencode(self.chosen)
        await self._finish(message)

    def stands(self, slider: str) -> str:
        """Where the page drew a slider when it was last drawn as a whole."""
        widget, _ = self.sliders[slider]
        return widget.raw_value[0] if widget.set_value else widget.options[int(widget.default[0])]

    def answer(self, slider: str) -> str:
        """The answer beside a slider."""
        return self.answers.get(self.sliders[slider][1], "")

    async def _finish(self, message: BackMsg) -> None:
        await self.link.send(message.SerializeToString())
        self.charts, started = 0, False
        while True:
            reply = ForwardMsg()
            reply.ParseFromString(await asyncio.wait_for(self.link.recv(), PATIENCE))
            kind = reply.WhichOneof("type")
            if kind == "new_session":
                started = True
                self.script_hash = reply.new_session.page_script_hash
                self.session = reply.new_session.initialize.session_id or self.session
            elif kind == "delta" and reply.delta.WhichOneof("type") == "new_element":
                self._read(reply.delta.new_element, reply.delta.fragment_id)
            elif kind == "script_finished" and started:
                if reply.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    raise RuntimeError("the page did not compile")
                if reply.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    return

    def _read(self, element: Any, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(f"the page raised {element.exception.type}")
        self.charts += kind == "plotly_chart"
        if kind == "html" and (found := re.search('<p class="answer">(.*?)</p>', element.html.body)):
            self.answers[fragment] = found[1]
        if kind == "slider" and element.slider.query_param_key.startswith(f"{self.page}_"):
            name = element.slider.query_param_key.removeprefix(f"{self.page}_")
            self.sliders[name] = element.slider, fragment


@dataclass
class Browser:
    """Cookies, and the way a browser goes from an address to an open page and back to it."""

    server: str  # host and port
    cookies: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str) -> tuple[int, bytes]:
        """Status and body of an answer over HTTP; its cookies are kept."""
        host, port = self.server.rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            lines = [f"GET {path} HTTP/1.1", f"Host: {self.server}", "Connection: close"]
            lines += ["Accept-Encoding: gzip"] if path.startswith("/static/") else []  # we read the page itself
            lines += [f"Cookie: {self._cookie_line()}"] if self.cookies else []
            writer.write("\r\n".join([*lines, "", ""]).encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            body = await reader.read()
        finally:
            writer.close()
        self._keep([line.split(":", 1)[1] for line in head if line.lower().startswith("set-cookie:")])
        return int(head[0].split()[1]), body

    async def load(self, page: str) -> list[str]:
        """What a browser asks for before it opens the websocket; the scripts that the page names."""
        status, body = await self.get("/" if page == "home" else f"/{page}")
        if status != 200:
            raise ConnectionError(f"the page was answered by {status}")
        for path in ("/_stcore/health", "/_stcore/host-config"):
            if (await self.get(path))[0] != 200:
                raise ConnectionError(f"{path} was not answered")
        return sorted({part.split(b'"')[0].decode() for part in body.split(b'"./') if part.startswith(b"static/")})

    async def connect(self, session: str = "") -> Any:
        """An open websocket; `session` is what a browser that lost its connection asks to have back."""
        asked = ["streamlit", *([self.cookies.get("_streamlit_xsrf", "none"), session] if session else [])]
        link = await connect(
            f"ws://{self.server}/_stcore/stream",
            subprotocols=[Subprotocol(name) for name in asked],
            max_size=LARGEST_MESSAGE,
            max_queue=None,
            origin=Origin(f"http://{self.server}"),
            additional_headers={"Cookie": self._cookie_line()} if self.cookies else {},
            compression=None,
            ping_interval=None,  # a browser answers pings, it sends none
            open_timeout=PATIENCE,
        )
        assert link.response is not None
        self._keep(link.response.headers.get_all("Set-Cookie"))
        return link

    def _cookie_line(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def _keep(self, lines: list[str]) -> None:
        for line in lines:
            name, _, value = line.split(";")[0].strip().partition("=")
            self.cookies[name] = value


async def timed(action: Coroutine[Any, Any, Any]) -> float:
    """How many seconds it took."""
    start = time.perf_counter()
    await action
    return time.perf_counter() - start


def free_port(following: int = 0) -> int:
    """A port of 127.0.0.1 that nobody listens on, nor on so many after it; no port twice from one process.

    A tab that is still open may call for a server that is gone, and must not find another one.
    """
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if not _GIVEN.isdisjoint(range(port, port + 1 + following)):
            continue
        try:
            for number in range(port + 1, port + 1 + following):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", number))
        except (OSError, OverflowError):
            continue
        _GIVEN.update(range(port, port + 1 + following))
        return port


def wait_until_healthy(address: str, process: subprocess.Popen, within: float = 60.0) -> None:
    """Return once the server answers; ends the program with one sentence if it does not in time."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{address}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise SystemExit(f"the server did not start within {within:g} s")


def start_server(app: Path = ROOT / "app.py", **environment: str) -> tuple[subprocess.Popen, str]:
    """A server of its own for `app`, in this environment besides, and its address, once it answers."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(port)]
    process = subprocess.Popen(
        [*command, "--server.address", "127.0.0.1"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"127.0.0.1:{port}"
    wait_until_healthy(address, process)
    return process, address
