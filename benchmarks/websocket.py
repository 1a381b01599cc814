"""Slider to figure over the websocket: what a rerun of a page costs the server, for 1 and for 20 people at once.

    python -m benchmarks.websocket                       # starts its own servers, 1 and 20 people
    python -m benchmarks.websocket --people 1 5 --moves 30 --page home

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
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.streamlit_client import ROOT, Browser, Person, cpu_seconds, start_server, timed

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

    async def cost(self, everybody: list[Coroutine[Any, Any, list[float]]]) -> Cost:
        """What it costs when everybody does something at once."""
        used = cpu_seconds(self.process.pid)
        times = [t for each in await asyncio.gather(*everybody) for t in each]
        return Cost(times, cpu_seconds(self.process.pid) - used)

    async def crowd(self, number: int, lams: Iterator[int] | None = None) -> tuple[Cost, Cost, Person]:
        """First loads, then reruns of so many people, and one of them; `lams` says where their λ stands."""
        async with AsyncExitStack() as stack:
            links = [await stack.enter_async_context(await Browser(self.address).connect()) for _ in range(number)]
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


@contextmanager
def served(app: Path, options: argparse.Namespace) -> Iterator[Callable[..., tuple[Cost, Cost, Person]]]:
    """A server for as long as it is needed; gives a function that runs a crowd on it."""
    process, address = start_server(app, OMP_NUM_THREADS="1")
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
