"""The people of `benchmarks.classroom`: how they come, what they do, and how they come back."""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, ClassVar

from websockets.exceptions import WebSocketException

from benchmarks.streamlit_client import Browser, Person, timed

LOST = (WebSocketException, OSError, asyncio.IncompleteReadError)
OTHER_EVERY = 4  # moves
FIRST = 5  # of what went wrong is told
NOTICED_WITHIN = 30.0  # seconds after a process was killed in which losing the connection is laid to it


@dataclass
class Classroom:
    """What everybody shares: the server, the lecturer's values, and the notes that are taken."""

    SLIDERS: ClassVar[
        dict[str, tuple[str, str]]
    ] = {  # a page's slider that is moved most, and the one that sets people apart
        "home": ("sigma", "lambda"),
        "bounds": ("sigma", "lambda"),
        "composition": ("sigma", "lambda"),
        "tuning": ("settings", "epsilon"),
    }
    server: str
    pages: list[str]
    every: float
    ends: float = float("inf")
    killed: int | None = None
    killed_at: float = float("inf")
    loads: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    arrivals: list[float] = field(default_factory=list)
    reruns: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    lost: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)  # moves that were answered by an error, or no chart
    away: list[dict[str, Any]] = field(default_factory=list)
    visitors: int = 0

    def forget(self) -> None:
        """New notes."""
        self.loads, self.reruns = defaultdict(list), defaultdict(list)
        self.arrivals, self.lost, self.failed, self.away = [], [], [], []

    def lecturers(self, options: int) -> int:
        """Which of so many values the lecturer shows now; a new one in every interval."""
        return random.Random(int(time.monotonic() / self.every)).randrange(options)

    def taken(self) -> dict[str, Any]:
        """The notes in short: numbers and quantiles, how much was lost, and why in the first cases."""
        found: dict[str, Any] = {
            "arrivals": summary(self.arrivals),
            "loads": {page: summary(times) for page, times in sorted(self.loads.items())},
            "reruns": {page: summary(times) for page, times in sorted(self.reruns.items())},
            "all reruns": summary([t for times in self.reruns.values() for t in times]),
            "lost": len(self.lost),
            "failed": len(self.failed),
            "why": [f"{note['page']}: {note['why']}" for note in (self.lost + self.failed)[:FIRST]],
        }
        if self.away:
            same = sum(back["same"] for back in self.away)
            found["away"] = summary([back["seconds"] for back in self.away]) | {"same": same}
        return found


def summary(times: list[float]) -> dict[str, Any]:
    """How many there are, the median, what 95 and 99 of 100 stay below, and the longest; seconds."""
    if not times:
        return {"number": 0}
    ordered = sorted(times)
    found: dict[str, Any] = {"number": len(times)}
    for name, share in (("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("longest", 1.0)):
        found[name] = round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)
    return found


class Visitor:
    """One person with a browser.

    Parameters
    ----------
    follows : bool
        Whether they move to the lecturer's values, or to their own.
    """

    def __init__(self, classroom: Classroom, page: str, follows: bool, seed: int | None = None) -> None:
        classroom.visitors += 1
        self.classroom, self.page, self.follows = classroom, page, follows
        self.number = classroom.visitors
        self.rng = random.Random(self.number if seed is None else seed)
        self.browser = Browser(classroom.server)
        self.person: Person
        self.moves = 0

    async def arrive(self, scripts: bool = True) -> None:
        """The page, its scripts, the websocket, the first load; who goes their own way sets themselves apart."""
        start = time.perf_counter()
        paths = await self.browser.load(self.page)
        for path in paths if scripts else ():
            if (await self.browser.get(f"/{path}"))[0] != 200:
                raise ConnectionError(f"{path} was not answered")
        self.person = Person(await self.browser.connect(), self.page)
        self.classroom.loads[self.page] += await timed(self.person.open())
        self.classroom.arrivals.append(time.perf_counter() - start)
        if not self.follows:
            apart = Classroom.SLIDERS[self.page][1]
            await self.person.move(apart, self.number)

    async def move(self) -> None:
        """Move a slider, and see the new chart; who goes their own way takes the other slider now and then."""
        self.moves += 1
        slider = Classroom.SLIDERS[self.page][0 if self.follows or self.moves % OTHER_EVERY else 1]
        options = self.person.sliders[slider][0].options
        others = [value for value in options if value != self.person.chosen.get(f"{self.page}_{slider}")]
        choice = self.classroom.lecturers(len(others)) if self.follows else self.rng.randrange(len(others))
        times = await timed(self.person.choose(slider, others[choice]))
        if not self.person.charts:
            raise RuntimeError(f"a slider of {self.page!r} was moved and no chart came back")
        self.classroom.reruns[self.page] += times

    async def leave(self) -> None:
        """Close the tab."""
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
            if await self._loses_connection(min(left, self.classroom.every * self.rng.uniform(0.5, 1.5))):
                await self._come_back(None)
            elif time.monotonic() < self.classroom.ends:
                try:
                    await self.move()
                except LOST as error:
                    await self._come_back(error)
                except RuntimeError as error:
                    self.note(self.classroom.failed, error)
        await self.leave()

    async def _loses_connection(self, within: float) -> bool:
        """Wait so long; whether the connection is gone before."""
        try:
            await asyncio.wait_for(self.person.link.wait_closed(), within)
        except TimeoutError:
            return False
        return True

    async def _come_back(self, error: Exception | None) -> None:
        """As a browser does; the page is as it was if its sliders and its answer are."""
        moved = Classroom.SLIDERS[self.page][0]
        start, was, answer = time.monotonic(), self.browser.cookies.get("objpert_process"), self.person.answer(moved)
        longest = 0.5
        while True:
            await asyncio.sleep(self.rng.uniform(longest / 2, longest))
            longest = min(4.0, 2 * longest)
            if time.monotonic() > self.classroom.ends + 60:
                self.note(self.classroom.lost, TimeoutError("never came back"))
                return
            try:
                if (await self.browser.get("/_stcore/health"))[0] == 200:
                    self.person.link = await self.browser.connect(self.person.session)
                    await self.person.open()
                    break
            except LOST:
                continue
        sliders = {name.removeprefix(f"{self.page}_"): value for name, value in self.person.chosen.items()}
        same = all(self.person.stands(name) == value for name, value in sliders.items())
        back = {
            "seconds": time.monotonic() - start,
            "same": same and (error is not None or self.person.answer(moved) == answer),
        }
        killed = was == str(self.classroom.killed) and 0 <= start - self.classroom.killed_at < NOTICED_WITHIN
        if killed:
            self.classroom.away.append(back)
        else:
            self.note(self.classroom.lost, error or ConnectionError("closed"), **back)

    def note(self, notes: list[dict[str, Any]], error: Exception, **more: Any) -> None:
        """Put down what went wrong."""
        notes.append({"page": self.page, "why": f"{type(error).__name__}: {error}"[:200], **more})
