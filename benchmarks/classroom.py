"""A class on the server as it is deployed: real websockets through nginx to several processes.

    python -m benchmarks.classroom --people 200 --open-within 60 --every 10 --minutes 10 --processes 2
    python -m benchmarks.classroom --people 200 --minutes 2 --kill          # then one is killed, and a minute more
    python -m benchmarks.classroom --people 0 --churn 2000                  # sessions that come and go: memory
    python -m benchmarks.classroom --churn 2000 --kill --json data/results/classroom.json  # all of it: a quarter hour
    python -m benchmarks.classroom_report data/results/classroom.json --write docs/deploying.md

Each person goes the way of a browser: the page and its scripts over HTTP, cookies, the websocket, the first load. From
then on they move a slider every `--every` seconds, each interval longer or shorter by up to a half. One half follows
the lecturer's values, which somebody else has asked for before. The others go their own way: nobody has had their λ.
Whoever loses the connection comes back as a browser does: after 0.25 to 0.5 s, then ever later, up to 4 s.

First one person moves the same sliders, alone: what a rerun costs on this machine. Then sessions come and go, then
comes the class, and in the end a process is killed. The people live in this process, on the same processors as the
server, and cost processor time, too; the report tells how much.
"""

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
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.classroom_people import LOST, Classroom, Visitor
from benchmarks.classroom_report import as_markdown
from benchmarks.shared import commit
from benchmarks.streamlit_client import ROOT, cpu_seconds, free_port, resident_mebibytes, wait_until_healthy

ALONE = 20  # moves of the person who is there before the class
SETTLE = 10.0  # seconds after the last session of the churn
AFTER_THE_KILL = 60.0  # seconds that the class stays
SLOWEST = 2.0  # seconds that 95 of 100 reruns of a class stay below
POINTS = 12  # of what is shown over time


class Server:
    """`deploy/serve` in a folder of its own, and what /proc tells of its processes."""

    def __init__(self, processes: int, folder: str) -> None:
        port = free_port(following=processes)
        self.run, self.address = Path(folder) / "run", f"127.0.0.1:{port}"
        self.log = (Path(folder) / "log").open("w")
        command = [str(ROOT / "deploy" / "serve"), "--processes", str(processes), "--port", str(port)]
        self.process = subprocess.Popen(
            [*command, "--address", "127.0.0.1", "--run", str(self.run)], stdout=self.log, stderr=subprocess.STDOUT
        )
        wait_until_healthy(self.address, self.process)
        deadline = time.monotonic() + 60
        while not all(app["healthy"] for app in self.state()["apps"]):
            if time.monotonic() > deadline:
                raise SystemExit("not all processes of the server answered within 60 s")
            time.sleep(0.1)

    def state(self) -> dict[str, Any]:
        """Who runs, as the supervisor says."""
        return json.loads((self.run / "state.json").read_text())

    def pids(self) -> dict[str, list[int]]:
        """Process numbers of the apps, and of nginx."""
        state = self.state()
        children = Path(f"/proc/{state['nginx']}/task/{state['nginx']}/children").read_text().split()
        apps = [app["pid"] for app in state["apps"] if app["pid"]]
        return {"apps": apps, "nginx": [state["nginx"], *map(int, children)]}

    def cpu(self) -> dict[str, float]:
        """Seconds of processor time so far: apps, nginx, this process."""
        used = {name: sum(map(cpu_seconds, pids)) for name, pids in self.pids().items()}
        return used | {"people": time.process_time()}

    def memory(self) -> list[float]:
        """MiB of each app process."""
        return [round(resident_mebibytes(pid)) for pid in self.pids()["apps"]]

    def stop(self) -> None:
        """End it, and wait until it has."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def mixture(pages: list[str]) -> list[str]:
    """Who opens which page, in turn: Bounds has two of five people where all pages are asked for."""
    return [page for page in pages for _ in range(2 if page == "bounds" else 1)]


async def alone(server: Server, classroom: Classroom) -> dict[str, float]:
    """What a move costs on each page when nobody else is there: milliseconds of processor time in the server."""
    costs = {}
    for page in classroom.pages:
        # every process has imported everything and answered once
        for _ in range(2 * len(server.state()["apps"])):
            visitor = Visitor(classroom, page, follows=False)
            await visitor.arrive()
            await visitor.move()
            await visitor.leave()
        visitor = Visitor(classroom, page, follows=False)
        await visitor.arrive()
        before = server.cpu()
        for _ in range(ALONE):
            await visitor.move()
        after = server.cpu()
        await visitor.leave()
        costs[page] = round(1000 * (after["apps"] - before["apps"]) / ALONE, 1)
    classroom.forget()
    return costs


async def watch(server: Server, rows: list[dict[str, Any]], every: float) -> None:
    """The memory of the processes, again and again."""
    start = time.monotonic()
    while True:
        with contextlib.suppress(OSError):  # somebody has just been killed
            rows.append({"seconds": round(time.monotonic() - start), "memory": server.memory()})
        await asyncio.sleep(every)


async def lesson(server: Server, classroom: Classroom, options: argparse.Namespace) -> dict[str, Any]:
    """The class comes and works; a process is killed, if that was asked for, and the class stays a little longer."""
    rng, pages = random.Random(0), mixture(options.pages)
    people = [Visitor(classroom, pages[i % len(pages)], follows=i % 2 == 0, seed=i) for i in range(options.people)]
    seconds, before = 60 * options.minutes, server.cpu()
    rows: list[dict[str, Any]] = []
    classroom.ends = time.monotonic() + seconds + (AFTER_THE_KILL if options.kill else 0)
    watching = asyncio.create_task(watch(server, rows, seconds / (POINTS - 1)))
    coming = [asyncio.create_task(visitor.attend(rng.uniform(0, options.open_within))) for visitor in people]
    await asyncio.wait(coming, timeout=seconds)
    after = server.cpu()
    watching.cancel()
    cpu = {name: round(after[name] - before[name], 1) for name in after}
    found = classroom.taken() | {"seconds": seconds, "cpu": cpu, "over time": rows[:POINTS]}
    if options.kill:
        classroom.forget()
        apps = server.state()["apps"]
        classroom.killed, classroom.killed_at = next(i for i, app in enumerate(apps) if app["pid"]), time.monotonic()
        os.kill(apps[classroom.killed]["pid"], signal.SIGKILL)
        await asyncio.gather(*coming)
        found["after the kill"] = classroom.taken() | {"seconds": AFTER_THE_KILL}
    await asyncio.gather(*coming)
    return found


async def churn(server: Server, classroom: Classroom, options: argparse.Namespace) -> dict[str, Any]:
    """Sessions that come, load a page, move once and go; the memory of each process meanwhile."""
    series: list[dict[str, Any]] = []
    todo, done = iter(range(options.churn)), itertools.count()

    async def visits() -> None:
        for number in todo:
            visitor = Visitor(classroom, options.pages[number % len(options.pages)], follows=False, seed=number)
            try:
                await visitor.arrive(scripts=False)
                await visitor.move()
                await visitor.leave()
            except (*LOST, RuntimeError) as error:
                visitor.note(classroom.lost, error)
            if (ended := next(done)) % max(1, options.churn // (POINTS - 2)) == 0:
                series.append({"sessions": ended, "memory": server.memory()})

    start = time.monotonic()
    await asyncio.gather(*(visits() for _ in range(8)))
    await asyncio.sleep(SETTLE)
    series.append({"sessions": options.churn, "memory": server.memory()})
    return classroom.taken() | {"seconds": round(time.monotonic() - start), "over time": series}


async def everything(options: argparse.Namespace) -> dict[str, Any]:
    """All that was asked for, on a server of its own."""
    loop = asyncio.get_running_loop()
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
    with tempfile.TemporaryDirectory() as folder:
        server = await loop.run_in_executor(None, Server, options.processes, folder)
        try:
            classroom = Classroom(server.address, options.pages, options.every)
            found["alone"] = await alone(server, classroom)
            found["rerun alone"] = round(fmean(found["alone"][page] for page in mixture(options.pages)), 1)
            if options.churn:
                found["churn"] = await churn(server, classroom, options)
                classroom.forget()
            if options.people:
                found["class"] = await lesson(server, classroom, options)
            found["starts"] = [app["starts"] for app in server.state()["apps"]]
        finally:
            server.stop()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--open-within", type=float, default=60.0, help="seconds in which all have come")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between somebody's moves, on average")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--pages", nargs="+", choices=list(Classroom.SLIDERS), default=list(Classroom.SLIDERS))
    parser.add_argument("--churn", type=int, default=0, help="sessions that come and go, after the class")
    parser.add_argument("--kill", action="store_true", help="kill one process in the end")
    parser.add_argument("--json", type=Path, help="a file for everything that was measured")
    options = parser.parse_args()
    found = asyncio.run(everything(options))
    print(as_markdown(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    parts = [found[name] for name in ("class", "churn") if name in found]
    slow = "class" in found and found["class"]["all reruns"].get("p95", 0.0) > SLOWEST
    return int(slow or any(part["lost"] + part["failed"] for part in parts))


if __name__ == "__main__":
    raise SystemExit(main())
