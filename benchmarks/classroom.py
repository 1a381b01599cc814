"""A class on the server as it is deployed: real websockets through nginx to several processes.

    python -m benchmarks.classroom --people 200 --open-within 60 --every 10 --minutes 10 --processes 2
    python -m benchmarks.classroom --churn 2000 --kill --json data/results/classroom.json  # all of it: a quarter hour
    python -m benchmarks.classroom --table data/results/classroom.json  # puts it into docs/deploying.md

Each person goes the way of a browser: the page and its scripts over HTTP, cookies, the websocket, the first load. From
then on they move a slider every `--every` seconds, each interval longer or shorter by up to a half. One half follows
the lecturer's values, which somebody else has asked for before; the others go their own way. Whoever loses the
connection comes back as a browser does: after 0.25 to 0.5 s, then ever later, up to 4 s.

First one person moves the same sliders, alone: what a rerun costs on this machine. Then sessions come and go
(`--churn`), then comes the class, and in the end a process is killed (`--kill`). The people live in this process, on
the same processors as the server; the report tells how much of them they take.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from websockets.exceptions import WebSocketException

from benchmarks.shared import commit, markdown, put_between
from benchmarks.streamlit_client import ROOT, Browser, Person, free_port, timed, wait_until_healthy

PAGE, MARKERS = ROOT / "docs" / "deploying.md", ("<!-- classroom -->", "<!-- /classroom -->")
SLIDERS = {  # a page's slider that is moved most, and the one that sets people apart
    "home": ("sigma", "lambda"),
    "bounds": ("sigma", "lambda"),
    "composition": ("sigma", "lambda"),
    "tuning": ("settings", "epsilon"),
}
OPENED = ("home", "bounds", "bounds", "composition", "tuning")  # in turn
LOST = (WebSocketException, OSError, asyncio.IncompleteReadError)
ALONE = 20  # moves of the person who is there before the class
SETTLE = 10.0  # seconds after the last session of the churn
AFTER_THE_KILL = 60.0  # seconds that the class stays
SLOWEST = 2.0  # seconds that 95 of 100 reruns of a class stay below
POINTS = 12  # of what is shown over time
OTHER_EVERY = 4  # moves


class Server:
    """`deploy/serve` in a folder of its own, and what /proc tells of its processes."""

    def __init__(self, processes: int, folder: str) -> None:
        port = free_port(following=processes)
        self.run, self.address = Path(folder) / "run", f"127.0.0.1:{port}"
        command = [ROOT / "deploy" / "serve", "--processes", processes, "--port", port, "--address", "127.0.0.1"]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([*map(str, command), "--run", str(self.run)], **quiet)
        wait_until_healthy(self.address, self.process)
        while not all(app["healthy"] for app in self.apps()):
            time.sleep(0.1)

    def apps(self) -> list[dict[str, Any]]:
        """The processes of the app, as the supervisor says."""
        return json.loads((self.run / "state.json").read_text())["apps"]

    def cpu(self) -> dict[str, float]:
        """Seconds of processor time so far: apps, nginx, this process."""
        nginx = json.loads((self.run / "state.json").read_text())["nginx"]
        workers = Path(f"/proc/{nginx}/task/{nginx}/children").read_text().split()
        apps = sum(_cpu_seconds(app["pid"]) for app in self.apps() if app["pid"])
        return {"apps": apps, "nginx": sum(map(_cpu_seconds, [nginx, *workers])), "people": time.process_time()}

    def memory(self) -> list[float]:
        """Resident MiB of each process of the app."""
        pages = [Path(f"/proc/{app['pid']}/statm").read_text().split()[1] for app in self.apps() if app["pid"]]
        return [round(int(number) * os.sysconf("SC_PAGE_SIZE") / 2**20) for number in pages]


def _cpu_seconds(pid: int | str) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def served(processes: int) -> Iterator[Server]:
    """A server for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(processes, folder)
        try:
            yield server
        finally:
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(20)


@dataclass
class Classroom:
    """What everybody shares: the server, the lecturer's values, and the notes that are taken."""

    server: str
    every: float
    ends: float = float("inf")
    killed: str = ""  # the process, as its cookie names it
    loads: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    arrivals: list[float] = field(default_factory=list)
    reruns: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    lost: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # moves that were answered by an error, or no chart
    away: list[tuple[float, bool]] = field(default_factory=list)  # seconds, and whether all was as before
    visitors: int = 0

    def lecturers(self, options: int) -> int:
        """Which of so many values the lecturer shows now; a new one in every interval."""
        return random.Random(int(time.monotonic() / self.every)).randrange(options)

    def taken(self) -> dict[str, Any]:
        """The notes in short, which then begin anew: numbers and quantiles, what was lost, and why at first."""
        found: dict[str, Any] = {
            "arrivals": summary(self.arrivals),
            "loads": {page: summary(times) for page, times in sorted(self.loads.items())},
            "reruns": {page: summary(times) for page, times in sorted(self.reruns.items())},
            "all reruns": summary([t for times in self.reruns.values() for t in times]),
            "lost": len(self.lost),
            "failed": len(self.failed),
            "why": (self.lost + self.failed)[:5],
        }
        if self.away:
            found["away"] = summary([seconds for seconds, _ in self.away]) | {"same": sum(s for _, s in self.away)}
        for notes in (self.loads, self.arrivals, self.reruns, self.lost, self.failed, self.away):
            notes.clear()
        return found


def summary(times: list[float]) -> dict[str, Any]:
    """How many there are, the median, what 95 and 99 of 100 stay below, and the longest; seconds."""
    ordered, found = sorted(times), {"number": len(times)}
    for name, share in (("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("longest", 1.0)) if times else ():
        found[name] = round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)
    return found


class Visitor:
    """One person with a browser, who moves to the lecturer's values (`follows`) or to their own."""

    person: Person

    def __init__(self, classroom: Classroom, page: str, follows: bool = False) -> None:
        classroom.visitors += 1
        self.classroom, self.page, self.follows, self.number = classroom, page, follows, classroom.visitors
        self.rng, self.browser, self.moves = random.Random(self.number), Browser(classroom.server), 0

    async def arrive(self, scripts: bool = True) -> None:
        """The page, its scripts, the websocket, the first load; who goes their own way sets themselves apart."""
        start = time.perf_counter()
        paths = await self.browser.load(self.page)
        for path in paths if scripts else ():
            if (await self.browser.get(f"/{path}"))[0] != 200:
                raise ConnectionError(f"{path} was not answered")
        self.person = Person(await self.browser.connect(), self.page)
        self.classroom.loads[self.page].append(await timed(self.person.open()))
        self.classroom.arrivals.append(time.perf_counter() - start)
        if not self.follows:
            apart = SLIDERS[self.page][1]
            options = self.person.sliders[apart][0].options
            await self.person.choose(apart, options[self.number % len(options)])

    async def move(self) -> None:
        """Move a slider, and see the new chart; who goes their own way takes the other slider now and then."""
        self.moves += 1
        slider = SLIDERS[self.page][0 if self.follows or self.moves % OTHER_EVERY else 1]
        options = self.person.sliders[slider][0].options
        others = [value for value in options if value != self.person.chosen.get(f"{self.page}_{slider}")]
        choice = self.classroom.lecturers(len(others)) if self.follows else self.rng.randrange(len(others))
        seconds = await timed(self.person.choose(slider, others[choice]))
        if not self.person.charts:
            raise RuntimeError(f"a slider of {self.page!r} was moved and no chart came back")
        self.classroom.reruns[self.page].append(seconds)

    async def visit(self, moves: int) -> None:
        """Come, move so often, and close the tab."""
        await self.arrive(scripts=False)
        for _ in range(moves):
            await self.move()
        await self.person.link.close()

    async def attend(self, after: float) -> None:
        """Come after so many seconds, and work until the class ends."""
        await asyncio.sleep(after)
        try:
            await self.arrive()
        except (*LOST, RuntimeError) as error:
            self.note(self.classroom.lost, error)
            return
        while (left := self.classroom.ends - time.monotonic()) > 0:
            pause = min(left, self.classroom.every * self.rng.uniform(0.5, 1.5))
            try:
                await asyncio.wait_for(self.person.link.wait_closed(), pause)
                await self._come_back(ConnectionError("closed"), answered=True)
            except TimeoutError:
                if time.monotonic() < self.classroom.ends:
                    await self._move_or_come_back()
        await self.person.link.close()

    async def _move_or_come_back(self) -> None:
        try:
            await self.move()
        except LOST as error:
            await self._come_back(error, answered=False)
        except RuntimeError as error:
            self.note(self.classroom.failed, error)

    async def _come_back(self, error: Exception, answered: bool) -> None:
        """As a browser does; the page is as it was if its sliders and, where the last move was answered, it are."""
        moved, start, longest = SLIDERS[self.page][0], time.monotonic(), 0.5
        was, answer = self.browser.cookies.get("objpert_process"), self.person.answer(moved)
        while True:
            await asyncio.sleep(self.rng.uniform(longest / 2, longest))
            longest = min(4.0, 2 * longest)
            if time.monotonic() > self.classroom.ends + 60:
                self.note(self.classroom.lost, TimeoutError("never came back"))
                return
            with contextlib.suppress(*LOST):
                if (await self.browser.get("/_stcore/health"))[0] == 200:
                    self.person.link = await self.browser.connect(self.person.session)
                    await self.person.open()
                    break
        chosen = {name.removeprefix(f"{self.page}_"): value for name, value in self.person.chosen.items()}
        same = all(self.person.stands(name) == value for name, value in chosen.items())
        if was == self.classroom.killed:
            same &= not answered or self.person.answer(moved) == answer
            self.classroom.away.append((time.monotonic() - start, same))
        else:
            self.note(self.classroom.lost, error)

    def note(self, notes: list[str], error: Exception) -> None:
        """Put down what went wrong."""
        notes.append(f"{self.page}: {type(error).__name__}: {error}"[:200])


async def alone(server: Server, classroom: Classroom) -> dict[str, float]:
    """What a move costs on each page when nobody else is there: milliseconds of processor time in the server."""
    costs = {}
    for page in SLIDERS:
        for _ in range(2 * len(server.apps())):  # every process has imported everything and answered once
            await Visitor(classroom, page).visit(1)
        visitor = Visitor(classroom, page)
        await visitor.arrive()
        before = server.cpu()["apps"]
        for _ in range(ALONE):
            await visitor.move()
        costs[page] = round(1000 * (server.cpu()["apps"] - before) / ALONE, 1)
        await visitor.person.link.close()
    classroom.taken()
    return costs


async def churn(server: Server, classroom: Classroom, sessions: int) -> dict[str, Any]:
    """Sessions that come, load a page, move once and go; the memory of each process meanwhile."""
    series: list[dict[str, Any]] = []
    todo, done, start = iter(range(sessions)), itertools.count(), time.monotonic()

    async def visits() -> None:
        for number in todo:
            visitor = Visitor(classroom, list(SLIDERS)[number % len(SLIDERS)])
            try:
                await visitor.visit(1)
            except (*LOST, RuntimeError) as error:
                visitor.note(classroom.lost, error)
            if (ended := next(done)) % max(1, sessions // (POINTS - 2)) == 0:
                series.append({"sessions": ended, "memory": server.memory()})

    await asyncio.gather(*(visits() for _ in range(8)))
    await asyncio.sleep(SETTLE)
    series.append({"sessions": sessions, "memory": server.memory()})
    return classroom.taken() | {"seconds": round(time.monotonic() - start), "over time": series}


async def lesson(server: Server, classroom: Classroom, options: argparse.Namespace) -> dict[str, Any]:
    """The class comes and works; a process is killed, if that was asked for, and the class stays a little longer."""
    rng, seconds, before, start = random.Random(0), 60 * options.minutes, server.cpu(), time.monotonic()
    classroom.ends = start + seconds + (AFTER_THE_KILL if options.kill else 0)
    people = [Visitor(classroom, OPENED[i % len(OPENED)], follows=i % 2 == 0) for i in range(options.people)]
    coming = [asyncio.create_task(visitor.attend(rng.uniform(0, options.open_within))) for visitor in people]
    rows: list[dict[str, Any]] = []
    for point in range(1, POINTS):
        rows.append({"seconds": round(time.monotonic() - start), "memory": server.memory()})
        await asyncio.sleep(max(0.0, start + seconds * point / (POINTS - 1) - time.monotonic()))
    after = server.cpu()
    cpu = {name: round(after[name] - before[name], 1) for name in after}
    found = classroom.taken() | {"seconds": seconds, "cpu": cpu, "over time": rows}
    if options.kill:
        number, pid = next((i, app["pid"]) for i, app in enumerate(server.apps()) if app["pid"])
        classroom.killed = str(number)
        os.kill(pid, signal.SIGKILL)
        await asyncio.gather(*coming)
        found["after the kill"] = classroom.taken() | {"seconds": AFTER_THE_KILL}
    await asyncio.gather(*coming)
    return found


async def everything(options: argparse.Namespace) -> dict[str, Any]:
    """All that was asked for, on a server of its own."""
    found: dict[str, Any] = {
        "command": "python -m benchmarks.classroom " + " ".join(sys.argv[1:]),
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}",
        "load before": round(os.getloadavg()[0], 2),
        "processes": options.processes,
        "people": options.people,
        "every": options.every,
        "open within": options.open_within,
    }
    with served(options.processes) as server:
        classroom = Classroom(server.address, options.every)
        found["alone"] = await alone(server, classroom)
        found["rerun alone"] = round(fmean(found["alone"][page] for page in OPENED), 1)
        if options.churn:
            found["churn"] = await churn(server, classroom, options.churn)
        if options.people:
            found["class"] = await lesson(server, classroom, options)
    return found


def as_markdown(found: dict[str, Any]) -> str:
    """What was found, as docs/deploying.md has it."""
    pages = ", ".join(f"{page} {cost:.0f}" for page, cost in found["alone"].items())
    parts = [
        f"`{found['command']}`: commit {found['commit']}, {found['date']}, {found['machine']}, load before "
        f"{found['load before']:.2f}; {found['processes']} processes of the app behind nginx.",
        f"**The machine.** One person's rerun, alone, with values that nobody has had: "
        f"**{found['rerun alone']:.0f} ms** of processor time, the mean over the pages as people open them ({pages}).",
    ]
    if notes := found.get("class"):
        spent, number = notes["cpu"], notes["all reruns"]["number"]
        used = ", ".join(f"{name} {100 * seconds / notes['seconds']:.0f} %" for name, seconds in spent.items())
        parts += [
            f"**{found['people']} people**, all there within {found['open within']:g} s, a move every "
            f"{found['every']:g} s, {notes['seconds'] / 60:g} minutes: {number} reruns, **{_lost(notes)}**.",
            _times(
                {"the way in: page, scripts, first load": notes["arrivals"]}
                | {f"first load, {page}": times for page, times in notes["loads"].items()}
                | {f"rerun, {page}": times for page, times in notes["reruns"].items()}
                | {"**rerun, all pages**": notes["all reruns"]}
            ),
            *notes["why"],
            f"Processors in use, in per cent of one: {used}; the people ran on the same machine. The apps used "
            f"{1000 * spent['apps'] / max(1, number):.0f} ms for each rerun, first loads among them.",
            _memory(notes["over time"], "seconds"),
        ]
        if after := notes.get("after the kill"):
            away = after["away"]
            parts += [
                f"**Then one process was killed**: its {away['number']} people were away for {away['median']:.1f} s "
                f"(median), {away['p95']:.1f} s (p95), {away['longest']:.1f} s (longest), and {away['same']} of them "
                f"came back to the same sliders and answer. {_lost(after).capitalize()} among all others. Reruns in "
                f"the {after['seconds']:g} s from then on:",
                _times({"rerun, all pages": after["all reruns"]}),
                *after["why"],
            ]
    if notes := found.get("churn"):
        rows = notes["over time"]
        parts += [
            f"**Sessions that come and go**, before the class: {rows[-1]['sessions']} in {notes['seconds']:.0f} s, "
            f"{_lost(notes)}.",
            _memory(rows, "sessions"),
            *notes["why"],
        ]
    return "\n\n".join(parts)


def _lost(notes: dict[str, Any]) -> str:
    lost, failed = notes["lost"], notes["failed"]
    return f"{lost or 'no'} lost connection{'s' * (lost > 1)}, {failed or 'no'} failed rerun{'s' * (failed > 1)}"


def _times(found: dict[str, dict[str, float]]) -> str:
    names = ("median", "p95", "p99", "longest")
    rows = [[row, str(t["number"]), *(f"{t[name]:.3f}" for name in names if name in t)] for row, t in found.items()]
    return markdown(["", "number", *(f"{name}, s" for name in names)], rows)


def _memory(rows: list[dict[str, Any]], by: str) -> str:
    memory = [" + ".join(f"{mebibytes:.0f}" for mebibytes in row["memory"]) for row in rows]
    return markdown([by, *(f"{row[by]:g}" for row in rows)], [["MiB of each process", *memory]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--open-within", type=float, default=60.0, help="seconds in which all have come")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between somebody's moves, on average")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--churn", type=int, default=0, help="sessions that come and go before the class")
    parser.add_argument("--kill", action="store_true", help="kill one process in the end")
    parser.add_argument("--json", type=Path, help="a file for everything that was measured")
    parser.add_argument("--table", type=Path, help="measure nothing: put what this file holds into docs/deploying.md")
    options = parser.parse_args()
    if options.table:
        put_between(PAGE, MARKERS, as_markdown(json.loads(options.table.read_text(encoding="utf-8"))))
        return 0
    found = asyncio.run(everything(options))
    print(as_markdown(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    parts = [found[name] for name in ("class", "churn") if name in found]
    slow = "class" in found and found["class"]["all reruns"].get("p95", 0.0) > SLOWEST
    return int(slow or any(part["lost"] + part["failed"] for part in parts))


if __name__ == "__main__":
    raise SystemExit(main())
