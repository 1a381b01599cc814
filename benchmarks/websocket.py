"""Slider to figure over the websocket: what a rerun of a page costs the server, for 1 and for 20 people at once.

    python benchmarks/websocket.py                       # starts its own servers, 1 and 20 people
    python benchmarks/websocket.py --people 1 5 --moves 30 --page home

Each person opens the page in a session of their own, then moves the σ slider again and again, each time by a step, and
waits for the finished run and its new chart before the next move. No browser is involved: this is the server's share
of the time. Between a figure and the next move people pause for 0.1 s, faster than a held arrow key repeats a slider's
message; `--pause 0` keeps the server busy all the time.

Values are "new" where everybody first moves λ to a value that nobody else has: no memory holds the answer. They are
"cached" where somebody has been before. First loads are counted apart from reruns. In the end people move the same
slider in an app that draws the page's widgets in an empty fragment and does nothing else: what is above that is ours.
On a machine that does other work, compare processor times.
"""

import argparse
import asyncio
import itertools
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("home", "bounds", "distance", "renyi", "composition")  # which have a σ and a λ
AIMS_MS = {1: 60.0, 20: 1000.0}
EMPTY = """
import streamlit as st
from ui.warm import warm_up

DRAW = {{"slider": st.select_slider, "selectbox": st.selectbox, "radio": st.radio}}

@st.fragment
def widgets():
    for kind, label, options, key in {widgets!r}:
        if kind in DRAW:
            DRAW[kind](label, options, key=key, bind="query-params")
        elif kind == "checkbox":
            st.toggle(label, key=key, bind="query-params")
        else:
            st.button(label, key=key)

warm_up()
widgets()
"""
"""The widgets of a page's fragment in an app of their own."""


@dataclass
class Person:
    """One browser tab: a session, its fragment with the sliders σ and λ, and all widgets by fragment."""

    link: Any
    page: str
    menu: bool  # whether the app has a menu of pages
    fragment: str = ""
    script_hash: str = ""
    charts: int = 0
    sliders: dict[str, Any] = field(default_factory=dict)
    widgets: dict[str, list[tuple[str, str, list[str], str]]] = field(default_factory=dict)

    async def open(self) -> None:
        """The first load of the page."""
        message = BackMsg()
        message.rerun_script.page_name = self.page if self.menu and self.page != "home" else ""
        await self._finish(message)
        if "sigma" not in self.sliders:
            raise RuntimeError("the page has no slider σ; is it in order?")

    async def move(self, slider: str, steps: int) -> None:
        """Set a slider so many steps from where it first stands, and wait until the run has finished."""
        message = BackMsg()
        rerun = message.rerun_script
        rerun.fragment_id, rerun.page_script_hash = self.fragment, self.script_hash
        widget = self.sliders[slider]
        value = widget.options[(int(widget.default[0]) + steps) % len(widget.options)]
        rerun.widget_states.widgets.add(id=widget.id).string_array_value.data.append(value)
        await self._finish(message)

    async def _finish(self, message: BackMsg) -> None:
        await self.link.send(message.SerializeToString())
        self.charts, self.widgets, started = 0, {}, False
        while True:
            reply = ForwardMsg()
            reply.ParseFromString(await asyncio.wait_for(self.link.recv(), 60))
            kind = reply.WhichOneof("type")
            if kind == "new_session":
                started = True
                self.script_hash = reply.new_session.page_script_hash
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
        if kind not in ("slider", "selectbox", "radio", "checkbox", "button", "download_button"):
            return
        widget = getattr(element, kind)
        drawn = self.widgets.setdefault(fragment, [])
        key = getattr(widget, "query_param_key", "") or str(len(drawn))
        drawn.append((kind, widget.label, list(getattr(widget, "options", ())), key))
        for name in ("sigma", "lambda"):
            if key == f"{self.page}_{name}":
                self.sliders[name], self.fragment = widget, fragment


@dataclass(frozen=True)
class Cost:
    """Seconds of single runs, and the server's processor time in all of them."""

    times: list[float]
    cpu: float

    @property
    def each(self) -> float:
        """Milliseconds of processor time a run."""
        return 1000 * self.cpu / len(self.times)

    @property
    def median(self) -> float:
        """Milliseconds until a run has finished."""
        return 1000 * statistics.median(self.times)

    def told(self, what: str) -> str:
        """One line."""
        times = sorted(1000 * t for t in self.times)
        p95 = times[min(len(times) - 1, int(0.95 * len(times)))]
        return (
            f"{what:24s}{len(times):5d} runs: median {self.median:7.1f} ms, p95 {p95:7.1f} ms, "
            f"server {self.each:5.1f} ms CPU each"
        )


@dataclass
class Server:
    """A running server, and what people do to it."""

    process: subprocess.Popen
    address: str
    options: argparse.Namespace
    empty: bool

    def cpu_seconds(self) -> float:
        """Processor time so far, where /proc tells; else NaN."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def cost(self, everybody: list[Coroutine[Any, Any, list[float]]]) -> Cost:
        """What it costs when everybody does something at once."""
        used = self.cpu_seconds()
        times = [t for each in await asyncio.gather(*everybody) for t in each]
        return Cost(times, self.cpu_seconds() - used)

    async def crowd(self, number: int, lams: Iterator[int] | None = None) -> tuple[Cost, Cost, Person]:
        """First loads, then reruns of so many people, and one of them; `lams` says where their λ stands."""
        origin, address = f"http://{self.address}", f"ws://{self.address}/_stcore/stream"
        async with AsyncExitStack() as stack:
            links = [
                await stack.enter_async_context(
                    connect(address, subprotocols=["streamlit"], max_size=2**25, origin=origin)
                )
                for _ in range(number)
            ]
            people = [Person(link, self.options.page, not self.empty) for link in links]
            loads = await self.cost([timed(person.open()) for person in people])
            for person in people if lams is not None else ():
                await person.move("lambda", next(lams))
            reruns = await self.cost([self.walk(person) for person in people])
            return loads, reruns, people[0]

    async def walk(self, person: Person) -> list[float]:
        """Move σ up step by step, and see a new chart each time."""
        times: list[float] = []
        for step in range(1, min(self.options.moves, 40) + 1):
            times += await timed(person.move("sigma", step))
            if not (person.charts or self.empty):
                raise RuntimeError("a slider was moved and no chart came back")
            await asyncio.sleep(self.options.pause)
        return times


async def timed(action: Coroutine[Any, Any, None]) -> list[float]:
    """How many seconds it took, in a list."""
    start = time.perf_counter()
    await action
    return [time.perf_counter() - start]


def start_server(app: Path = ROOT / "app.py") -> tuple[subprocess.Popen, str]:
    """A server of its own for `app`, and its address, once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(port)]
    process = subprocess.Popen(
        [*command, "--server.address", "127.0.0.1"],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address, deadline = f"127.0.0.1:{port}", time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://{address}/_stcore/health", timeout=2):
                return process, address
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise SystemExit("the server did not start within 60 s")


@contextmanager
def served(app: Path, options: argparse.Namespace) -> Iterator[Callable[..., tuple[Cost, Cost, Person]]]:
    """A server for as long as it is needed; gives a function that runs a crowd on it."""
    process, address = start_server(app)
    server = Server(process, address, options, app.name != "app.py")
    try:
        yield lambda *how: asyncio.run(asyncio.wait_for(server.crowd(*how), options.limit))
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--moves", type=int, default=15, help="slider moves a person (at most 40)")
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between a figure and the next move")
    parser.add_argument("--page", choices=PAGES, default="bounds")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a crowd stops")
    options = parser.parse_args()
    crowds = [min(people, 100) for people in options.people]
    missed, reruns = False, {}
    with served(ROOT / "app.py", options) as run:
        _, _, one = run(1)  # imports, and the answers at the usual λ
        lams = (side * distance for distance in itertools.count(1) for side in (1, -1))
        for people in crowds:
            loads, reruns["cached", people], _ = run(people)
            _, reruns["new", people], _ = run(people, lams)
            print(f"{people} people on {options.page}")
            print(loads.told("  first loads"))
            for values in ("cached", "new"):
                print(reruns[values, people].told(f"  reruns, {values} values"))
            median, aim = reruns["new", people].median, AIMS_MS.get(people, float("inf"))
            missed |= median > aim
            print(f"  the median of new values is {'above' if median > aim else 'within'} the aim of {aim:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        app = Path(folder) / "empty.py"
        app.write_text(EMPTY.format(widgets=one.widgets[one.fragment]), encoding="utf-8")
        with served(app, options) as run:
            run(1)
            for people in crowds:
                _, empty, _ = run(people)
                print(empty.told(f"empty fragment, {people}"))
                for values in ("cached", "new"):
                    print(f"  {values} values cost {reruns[values, people].each / empty.each:.1f} times as much")
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
