"""Slider to figure over the websocket: how long a rerun of the Bounds page takes for 1 and for 20 people at once.

    python benchmarks/websocket.py                       # starts its own server, 1 and 20 people
    python benchmarks/websocket.py --people 1 5 --moves 30 --page home

Each person opens the page in a session of their own, then moves the σ slider again and again, each time by a step, and
waits for the finished run and its new chart before the next move. No browser is involved: this is the server's share
of the time. Between a figure and the next move people pause for 0.1 s, faster than a held arrow key repeats a slider's
message; `--pause 0` keeps the server busy all the time. On a machine that does other work, compare the server's
processor time a rerun; it includes everybody's first load.
"""

import argparse
import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

ROOT = Path(__file__).resolve().parents[1]
SLIDERS = {
    "": "home_sigma",
    "bounds": "bounds_sigma",
    "distance": "distance_sigma",
    "renyi": "renyi_sigma",
    "composition": "composition_sigma",
}
AIMS_MS = {1: 60.0, 20: 1000.0}


class Person:
    """One browser tab: a session, the id of its fragment, and the slider it moves."""

    def __init__(self, socket_, page: str) -> None:
        self.socket, self.page, self.slider_key = socket_, page, SLIDERS[page]
        self.slider = self.fragment = self.script_hash = ""
        self.options: list[str] = []

    async def open(self) -> None:
        message = BackMsg()
        message.rerun_script.page_name = self.page
        charts = await self._finish(message)
        if not charts or not self.slider:
            raise RuntimeError(f"the page showed {charts} charts and slider {self.slider!r}; is it in order?")

    async def move(self, value: str) -> float:
        """Set the slider; seconds until the run has finished and the new chart is here."""
        message = BackMsg()
        rerun = message.rerun_script
        rerun.fragment_id, rerun.page_script_hash = self.fragment, self.script_hash
        state = rerun.widget_states.widgets.add(id=self.slider)
        state.string_array_value.data.append(value)
        start = time.perf_counter()
        if not await self._finish(message):
            raise RuntimeError("a slider was moved and no chart came back")
        return time.perf_counter() - start

    async def _finish(self, message: BackMsg) -> int:
        """Send, read until the script has finished; the number of charts that arrived."""
        await self.socket.send(message.SerializeToString())
        charts, started = 0, False
        while True:
            reply = ForwardMsg()
            reply.ParseFromString(await asyncio.wait_for(self.socket.recv(), 60))
            kind = reply.WhichOneof("type")
            if kind == "new_session":
                started = True
                self.script_hash = reply.new_session.page_script_hash
            elif kind == "delta" and reply.delta.WhichOneof("type") == "new_element":
                element = reply.delta.new_element
                if element.WhichOneof("type") == "exception":
                    raise RuntimeError(f"the page raised {element.exception.type}")
                charts += element.WhichOneof("type") == "plotly_chart"
                if element.WhichOneof("type") == "slider" and element.slider.query_param_key == self.slider_key:
                    self.slider, self.options = element.slider.id, list(element.slider.options)
                    self.fragment = reply.delta.fragment_id
            elif kind == "script_finished" and started:
                if reply.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue
                if reply.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    raise RuntimeError("the page did not compile")
                return charts


async def one_person(address: str, page: str, number: int, moves: int, pause: float, ready: asyncio.Barrier):
    async with connect(
        f"ws://{address}/_stcore/stream", subprotocols=["streamlit"], max_size=2**25, origin=f"http://{address}"
    ) as link:
        person = Person(link, page)
        await person.open()
        await ready.wait()
        times = []
        middle = len(person.options) // 2
        for step in range(moves):
            # everybody walks over other values, so that nobody is served from somebody else's cache
            value = person.options[(middle + (number * 7 + step) % (len(person.options) // 3)) % len(person.options)]
            times.append(await person.move(value))
            await asyncio.sleep(pause)
        return times


async def crowd(address: str, page: str, people: int, moves: int, pause: float) -> list[float]:
    ready = asyncio.Barrier(people)
    tasks = [one_person(address, page, n, moves, pause, ready) for n in range(people)]
    return [t for times in await asyncio.gather(*tasks) for t in times]


def cpu_seconds(pid: int) -> float:
    """Processor time of the server so far, where /proc tells; else NaN."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_server() -> tuple[subprocess.Popen, str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    process = subprocess.Popen(
        [*command, "--server.address", "127.0.0.1"],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--moves", type=int, default=15, help="slider moves a person (at most 200)")
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between a figure and the next move")
    parser.add_argument("--page", choices=["home", *filter(None, SLIDERS)], default="bounds")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which everything stops")
    options = parser.parse_args()
    page = "" if options.page == "home" else options.page
    process, address = start_server()
    status = 0
    try:
        asyncio.run(asyncio.wait_for(crowd(address, page, 1, 2, 0.0), options.limit))  # warm: imports, first curves
        for people in options.people:
            job = crowd(address, page, min(people, 100), min(options.moves, 200), options.pause)
            begun, used = time.perf_counter(), cpu_seconds(process.pid)
            times = sorted(1000 * t for t in asyncio.run(asyncio.wait_for(job, options.limit)))
            rate = len(times) / (time.perf_counter() - begun)
            cpu = 1000 * (cpu_seconds(process.pid) - used) / (len(times) + people)  # the first load is in it, too
            median, p95 = statistics.median(times), times[min(len(times) - 1, int(0.95 * len(times)))]
            aim = AIMS_MS.get(people)
            verdict = "" if aim is None else f"   aim {aim:.0f} ms: {'met' if median <= aim else 'MISSED'}"
            print(
                f"{people:3d} people, {len(times):4d} moves: median {median:6.1f} ms, p95 {p95:6.1f} ms, "
                f"{rate:5.1f} reruns/s, server {cpu:.0f} ms CPU each{verdict}"
            )
            status |= aim is not None and median > aim
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
    return int(status)


if __name__ == "__main__":
    raise SystemExit(main())
