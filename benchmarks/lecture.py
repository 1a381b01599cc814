"""A lecture of ninety minutes with a class of telephones: questions on slides are asked, counted, revealed, and left.

    python -m benchmarks.lecture                       # 60 telephones, two processes behind nginx
    python -m benchmarks.lecture --people 20 --within 5

The lecturer's slide and the telephones are sessions over real websockets (`benchmarks.classroom`). For each question
every telephone opens the page that the slide's code leads to, chooses, and then looks as often as its page asks it to.
The lecturer sees all votes counted, reveals, and goes on to the next page. What lies between the questions takes no
time here: the room is made older by it instead, so that the last question is asked ninety minutes after the room was
opened. In the end the lecturer closes the room.
"""

import argparse
import asyncio
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.classroom import Server
from benchmarks.streamlit_client import PATIENCE, Browser
from ui.votes import FRESH, Rooms

QUESTIONS = ("bounds", "composition", "renyi", "tuning", "solvers")
MINUTES = 90
SLOWEST = 10.0  # seconds from "Reveal" to the counts on the last telephone: `ui.room` lets a large class take turns


class Session:
    """A browser's tab on one page of the room: its question, its buttons, what it says, and the timers it runs."""

    def __init__(self, browser: Browser, link: Any, query: dict[str, str], *, slide: bool) -> None:
        self.browser, self.link, self.slide = browser, link, slide
        self.query = urlencode(query)
        self.widgets: dict[str, tuple[str, str, list[str]]] = {}  # key → id, fragment, options
        self.said: list[str] = []
        self.timer: tuple[float, str] | None = None

    async def open(self, page: str) -> None:
        """The first load."""
        await self._run(page_name=page)

    async def act(self, key: str, **value: Any) -> None:
        """Choose, or press a button, whose key ends so."""
        identity, fragment, _ = next(found for name, found in self.widgets.items() if name.endswith(key))
        await self._run(fragment, identity, value)

    async def look(self) -> None:
        """What the page asks the browser to do now and then."""
        if self.timer is not None:
            await self._run(self.timer[1])

    @property
    def options(self) -> list[str]:
        """Those of the question."""
        return next(options for key, (_, _, options) in self.widgets.items() if options and key.endswith("__try"))

    def hears(self, words: str) -> bool:
        """Whether the page has said so since the last run."""
        return any(words in text for text in self.said)

    async def _run(self, fragment: str = "", identity: str = "", value: Any = None, page_name: str = "") -> None:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string, rerun.fragment_id, rerun.page_name = self.query, fragment, page_name
        rerun.context_info.is_embedded = self.slide
        if identity:
            state = rerun.widget_states.widgets.add(id=identity)
            for name, given in value.items():
                setattr(state, name, given)
        if not page_name:
            rerun.page_script_hash = self.script_hash
        await self.link.send(message.SerializeToString())
        self.said, started = [], False
        while True:
            reply = ForwardMsg()
            reply.ParseFromString(await asyncio.wait_for(self.link.recv(), PATIENCE))
            kind = reply.WhichOneof("type")
            if kind == "new_session":
                started, self.script_hash = True, reply.new_session.page_script_hash
                if not reply.metadata.run.fragment_ids:
                    self.timer = None
            elif kind == "navigation":
                self.script_hash = reply.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.query = reply.page_info_changed.query_string
            elif kind == "auto_rerun":
                self.timer = (reply.auto_rerun.interval, reply.auto_rerun.fragment_id)
            elif kind == "delta" and reply.delta.WhichOneof("type") == "new_element":
                self._read(reply.delta.new_element, reply.delta.fragment_id)
            elif kind == "script_finished" and started and not _goes_on(reply):
                return

    def _read(self, element: Any, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind in ("radio", "button"):
            widget = getattr(element, kind)
            self.widgets[widget.id] = widget.id, fragment, list(getattr(widget, "options", ()))
        elif kind == "html":
            self.said.append(element.html.body)
        elif kind in ("markdown", "alert"):
            self.said.append(getattr(element, kind).body)
        elif kind == "exception":
            raise RuntimeError(f"a page raised {element.exception.type}")


def _goes_on(reply: ForwardMsg) -> bool:
    """Whether another run follows by itself."""
    return bool(reply.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN)


async def arrive(
    server: str, page: str, *, slide: bool = False, browser: Browser | None = None, **query: str
) -> Session:
    """Somebody opens a page as a browser does."""
    browser = browser or Browser(server)
    await browser.load(page)
    session = Session(browser, await browser.connect(), query, slide=slide)
    await session.open(page)
    return session


async def until(session: Session, so: Callable[[], bool], within: float = PATIENCE) -> float:
    """Look as often as the page asks for until it is so; the moment at which it was."""
    deadline = time.perf_counter() + within
    while not so():
        if session.timer is None or time.perf_counter() > deadline:
            raise RuntimeError("a telephone waits for what does not come")
        await asyncio.sleep(session.timer[0])
        await session.look()
    return time.perf_counter()


async def answer(server: str, page: str, room: str, browser: Browser, after: float) -> tuple[Session, float, float]:
    """A telephone scans the code, and its owner chooses: how long the page took, and how long the vote."""
    await asyncio.sleep(after)
    began = time.perf_counter()
    phone = await arrive(server, page, browser=browser, room=room)
    came = time.perf_counter()
    await asyncio.sleep(random.uniform(0.5, 2))  # reading
    chose = time.perf_counter()
    await phone.act("__try", string_value=random.choice(phone.options))
    if not phone.hears("Your answer is counted"):
        raise RuntimeError("an answer was not counted")
    return phone, came - began, time.perf_counter() - chose


async def question(server: str, page: str, room: str, key: str, class_: list[Browser], within: float) -> list[float]:
    """One page of the lecture, from the slide to the counts on every telephone."""
    slide = await arrive(server, page, slide=True, room=room, room_key=key)
    began = time.perf_counter()
    await slide.act("__try__slide", trigger_value=True)
    asked = time.perf_counter() - began
    if not slide.hears(f"Room {room}"):
        raise RuntimeError("the slide shows no code of its room")
    answers = (answer(server, page, room, browser, random.uniform(0, within)) for browser in class_)
    came: list[Any] = []
    counting = asyncio.create_task(until(slide, lambda: slide.hears(f"**{len(class_)} votes**"), within + PATIENCE))
    came = await asyncio.gather(*answers)
    voted = time.perf_counter()
    counted = await counting - voted
    pressed = time.perf_counter()
    await slide.act("__try__reveal", trigger_value=True)
    shown = time.perf_counter() - pressed
    if not slide.hears('class="votes"'):
        raise RuntimeError("the slide shows no counts")
    seen = await asyncio.gather(*(until(phone, lambda p=phone: p.hears('class="votes"')) for phone, _, _ in came))
    lags = sorted(moment - pressed for moment in seen)
    loads, votes = sorted(row[1] for row in came), sorted(row[2] for row in came)
    print(
        f"{page:12s} Ask {asked:.2f} s; pages open after {median(loads):.2f} s (slowest {loads[-1]:.2f}); "
        f"a vote counts after {median(votes):.2f} s (slowest {votes[-1]:.2f}); all {len(class_)} on the slide "
        f"{max(0.0, counted):.1f} s after the last; counts on the slide {shown:.2f} s after Reveal, "
        f"on half of the telephones {median(lags):.1f} s, on all {lags[-1]:.1f} s",
        flush=True,
    )
    for session in (slide, *(phone for phone, _, _ in came)):
        with suppress(OSError):
            await session.link.close()
    return lags


async def lecture(server: str, file: Path, people: int, within: float) -> int:
    room, key = Rooms(file).open()
    class_, slowest = [Browser(server) for _ in range(people)], 0.0
    for number, page in enumerate(QUESTIONS):
        lags = await question(server, page, room, key, class_, within)
        slowest = max(slowest, lags[-1])
        if number < len(QUESTIONS) - 1:
            with sqlite3.connect(file) as rooms:
                rooms.execute("UPDATE room SET opened = opened - ?", (60 * MINUTES / (len(QUESTIONS) - 1),))
    left = ((Rooms(file).ends(room) or 0.0) - time.time()) / 60
    print(f"after {MINUTES} minutes the room stays open for another {left:.0f} minutes")
    await _close(server, file, room, key)
    print(f"{'good' if slowest < SLOWEST else 'TOO SLOW'}: everybody saw the counts within {slowest:.1f} s")
    return int(slowest >= SLOWEST)


async def _close(server: str, file: Path, room: str, key: str) -> None:
    """The lecturer's button, and what a telephone that is late hears."""
    desk = await arrive(server, QUESTIONS[-1], room=room, room_key=key)
    await desk.act("room__close", trigger_value=True)
    await asyncio.sleep(FRESH + 0.5)  # for so long another process goes by what it has read
    late = await arrive(server, QUESTIONS[-1], room=room)
    if Rooms(file).ends(room) is not None or not late.hears("There is no room"):
        raise RuntimeError("the room is still open")
    print("the room is closed, and who comes late is told so")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--within", type=float, default=20.0, help="seconds in which all have scanned the code")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rooms.sqlite")
        os.environ["OBJPERT_ROOMS"] = str(file)
        server = Server(options.processes, folder)
        try:
            run: Awaitable[int] = lecture(server.address, file, options.people, options.within)
            return asyncio.run(run)  # type: ignore[arg-type]
        finally:
            server.stop()


if __name__ == "__main__":
    raise SystemExit(main())
