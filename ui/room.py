"""The room that a session is in: a strip on every page, votes under every prediction, and what its lecturer presses.

    room.strip()                                       # in every page's heading
    poll = room.poll(question, options, key="…")       # None outside a room
    guess = st.radio(…, key="…")
    if poll.show(guess, right=2): …                    # True once the lecturer has revealed

A room is named in the address (``?room=BCDFGH``), and who leads it by ``room_key``, which no link that the app shows
ever holds. A change of page takes both out of the address; the session remembers them, and `strip` writes them again.

A browser counts once. Streamlit gives each a cookie with a number, against forged requests; a page that is loaded
anew, or that comes back from another process, has the same one. The server has signed it (`ui.visitors`), and
`ui.votes` keeps a hash of it while the room lasts.
"""

import html
import random
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from ui import registry, style, visitors
from ui.shared_file import UnusableFileError
from ui.votes import MOST_OPTIONS, NAME, Outcome, Question, RoomError, Tally, rooms

LEADER, WAITING, IDLE, REVEALED, FOLLOWING = 2.0, 3.0, 6.0, 10.0, 12.0
"""Seconds between two looks: of the lecturer; of somebody who has answered, who has not, who sees the counts; for the
page that the lecturer shows."""
PACE = 0.03
"""Seconds that a class takes for each of its people to draw their pages after a reveal: what one costs the server."""
MOST_OPENED = 10
"""Rooms that one session opens."""

_HERE, _VOTER, _LUCK, _OPENED = "room__here", "room__voter", "room__luck", "room__opened"
_SHOWN = "room__shown"
_PLACE = ("lesson", "step")
"""What tells one place of a page from another: the steps of lessons."""
_NOT_COUNTED: dict[Outcome, str] = {
    "ended": "The vote has ended.",
    "full": "Your answer is not counted, because this room is full.",
    "changes": "You have changed your mind too often, so an earlier answer is counted.",
    "gone": "This room has ended.",
}

# The lecturer's own address as it is now, with the key, as a slide.
_TO_SLIDES = """<script>{
const slide = new URL(location);
slide.searchParams.set('embed', 'true');
location.assign(slide);
}</script>"""


@dataclass(frozen=True)
class Room:
    """The room that this session is in."""

    name: str
    key: str = ""  # the lecturer's; "" for everybody else

    @property
    def leads(self) -> bool:
        """Whether this session is the lecturer's."""
        return bool(self.key)


def page_address(query: Sequence[tuple[str, Any]]) -> str:
    """The whole address of this page with these parameters; a list gives a parameter several times."""
    named = urlencode(query, doseq=True)
    return f"{(st.context.url or '').rstrip('/')}{'?' if named else ''}{named}"


def here() -> Room | None:
    """The room that this session is in."""
    found: Room | None = st.session_state.get(_HERE)
    return found


def open_here() -> None:
    """Open a room that this session leads; `RoomError` or `UnusableFileError` where that is not possible."""
    opened = st.session_state.get(_OPENED, 0)
    if opened >= MOST_OPENED:
        raise RoomError(f"You have opened {MOST_OPENED} rooms. Reload the page to open another one.")
    st.session_state[_OPENED] = opened + 1
    st.session_state[_HERE] = Room(*rooms().open(visitors.network()))
    for name in ("room", "room_key"):  # of the room before
        st.query_params.pop(name, None)


def strip() -> None:
    """Enter the room of the address, or stay in that of the page before; one line says so, except on a slide.

    A room that does not exist, or no more, is one sentence, and the page works without it.
    """
    _sweeping()
    held = here()
    name = st.query_params.get("room", held.name if held else "").strip().upper()
    if not name:
        return
    key = st.query_params.get("room_key", held.key if held and held.name == name else "")
    try:
        end = rooms().ends(name)
        leads = end is not None and bool(key) and rooms().leads(name, key)
    except UnusableFileError as error:  # who was in the room before still is when the file is back
        if held is not None and held.name != name:
            st.session_state.pop(_HERE, None)
        _say(str(error))
        return
    if end is None:
        st.session_state.pop(_HERE, None)
        for part in ("room", "room_key"):
            st.query_params.pop(part, None)
        shown = f" {name}" if NAME.fullmatch(name) else " of that name"
        _say(
            f"There is no room{shown}: it was closed, its three hours are over, or its name is another. The page works "
            "without a room."
        )
        return
    now = Room(name, key if leads else "")
    st.session_state[_HERE] = now
    _write_address(now)
    st.html(style.sheet("votes", *([] if leads else ["question"])))
    if leads:
        _lead(now)
    if not style.embedded():
        _sign(now, end)


@cache
def _sweeping() -> None:
    """Rooms that another process left behind end on time, too, whether or not anybody here is in one."""
    with suppress(UnusableFileError):
        rooms()


def _say(sentence: str) -> None:
    if not style.embedded():
        st.info(sentence, icon=":material/groups:")


def _write_address(now: Room) -> None:
    """Name the room in the address where it is not: after a change of page, or when it has just been opened."""
    wanted = {"room": now.name} | ({"room_key": now.key} if now.leads else {})
    if any(st.query_params.get(part) != value for part, value in wanted.items()):
        st.query_params.update(wanted)


def _sign(now: Room, end: float) -> None:
    if not now.leads:
        with st.container(key="room__line"):
            st.caption(f"Room **{now.name}**: your answers are counted without your name.")
            st.fragment(_follow, run_every=FOLLOWING * _luck())(now, _address())
        return
    with st.container(horizontal=True, vertical_alignment="center", key="room__sign"):
        st.caption(
            f"You lead room **{now.name}** until {_clock(end)}. “Share” has the link for the class. "
            "Your own address contains the room’s key, so show the page in full screen."
        )
        if st.button("Show as slides", key="room__slides", icon=":material/slideshow:"):
            st.html(_TO_SLIDES, unsafe_allow_javascript=True)
        st.button("Close the room", key="room__close", icon=":material/close:", on_click=_close, args=(now,))


def _address() -> str:
    """This page and what its address says, without the room and the slide; "" where there is no menu."""
    name = urlsplit(st.context.url or "").path.rstrip("/").rpartition("/")[2] or registry.PAGES[0].name
    own = ("room", "room_key", "embed", "ask")
    kept = {part: st.query_params.get_all(part) for part in st.query_params if part not in own}
    return f"{name}?{urlencode(kept, doseq=True)}"


def _lead(now: Room) -> None:
    """Say to the class which page its lecturer shows, once for each page."""
    address = _address()
    if st.session_state.get(_SHOWN) != (now, address):
        with suppress(UnusableFileError, RoomError):
            rooms().lead_to(now.name, now.key, address)
            st.session_state[_SHOWN] = now, address


def _follow(now: Room, own: str) -> None:
    """The way to the page that the lecturer shows, where it is another one than this."""
    with suppress(UnusableFileError, KeyError, StreamlitPageNotFoundError):
        shown, here = urlsplit(rooms().shown(now.name)), urlsplit(own)
        if not shown.path:
            return
        query, at = parse_qs(shown.query), parse_qs(here.query)
        if shown.path == here.path and all(query.get(part) == at.get(part) for part in _PLACE):
            return
        page = registry.entry(shown.path)
        step = f", step {query['step'][-1]}" if "step" in query else ""
        label = f"**Your lecturer shows {page.title}{step}. Go there.**"
        st.page_link(page.path, label=label, icon=page.icon, query_params={**query, "room": now.name})


def _clock(moment: float) -> str:
    """The time of day where the reader is."""
    zone = st.context.timezone or "UTC"
    with suppress(ZoneInfoNotFoundError, ValueError):
        return f"{datetime.fromtimestamp(moment, ZoneInfo(zone)):%H:%M}"
    return f"{datetime.fromtimestamp(moment, UTC):%H:%M} UTC"


def _close(now: Room) -> None:
    with suppress(UnusableFileError, RoomError):
        rooms().close(now.name, now.key)


def _luck() -> float:
    """Another factor near 1 for every session: a class does not ask all at once."""
    return 0.85 + 0.3 * float(st.session_state.setdefault(_LUCK, random.random()))


def _voter() -> str:
    """The number that this browser is known by; the session's own where it sends none that the server has signed."""
    if _VOTER not in st.session_state:
        st.session_state[_VOTER] = visitors.browser() or secrets.token_hex(16)
    return str(st.session_state[_VOTER])


@dataclass(frozen=True)
class Poll:
    """A question that the room votes on, as it is now; made by `poll`."""

    room: Room
    question: Question
    options: tuple[str, ...]
    key: str
    tally: Tally

    def show(self, guess: str | None, right: int) -> bool:
        """What stands under the options. True once the answer may be drawn, which the lecturer decides."""
        said = ""
        if self.room.leads:
            self._buttons()
        elif not self.tally.revealed:
            said = (
                "Choose now. The answer appears when the lecturer reveals it." if guess is None else self._cast(guess)
            )
        st.fragment(_watch, run_every=self._pause(guess))(self, right, said)
        return self.tally.revealed

    def _cast(self, guess: str) -> str:
        """Count the guess unless it is counted; what to say about it."""
        choice, counted = self.options.index(guess), f"{self.key}__counted"
        if st.session_state.get(counted) != choice:
            try:
                outcome = rooms().vote(self.room.name, self.question, _voter(), choice, visitors.network())
            except UnusableFileError as error:
                return str(error)
            if outcome != "counted":
                return _NOT_COUNTED[outcome]
            st.session_state[counted] = choice
        return "Your answer is counted. The right answer appears when the lecturer reveals it."

    def _pause(self, guess: str | None) -> float:
        """Seconds between two looks."""
        usual = LEADER if self.room.leads else REVEALED if self.tally.revealed else IDLE if guess is None else WAITING
        return usual * (1 if self.room.leads else _luck())

    def _buttons(self) -> None:
        """Reveal or hide again, and clear."""
        with st.container(horizontal=True, key=f"{self.key}__lead"):
            if self.tally.revealed:
                st.button("Hide again", key=f"{self.key}__hide", on_click=self._lead, args=("hide",))
            else:
                st.button("Reveal", key=f"{self.key}__reveal", on_click=self._lead, args=("reveal",), type="primary")
            st.button("Clear the votes", key=f"{self.key}__clear", on_click=self._lead, args=("clear",))
        if trouble := st.session_state.pop(f"{self.key}__trouble", ""):
            st.error(trouble, icon=":material/error:")

    def _lead(self, act: str) -> None:
        name, key = self.room.name, self.room.key
        try:
            if act == "clear":
                rooms().clear(name, key, self.question)
            else:
                rooms().reveal(name, key, self.question, shown=act == "reveal")
        except (UnusableFileError, RoomError) as error:
            st.session_state[f"{self.key}__trouble"] = str(error)


def poll(text: str, options: Sequence[str], *, key: str) -> Poll | None:
    """The vote on a question; None outside a room, where the question is everybody's own.

    Call it before the radio buttons `key`: a page that was loaded anew gets the browser's earlier choice, and after
    the votes were cleared nothing is chosen.
    """
    now = here()
    if now is None or not 1 < len(options) <= MOST_OPTIONS:
        return None
    question = Question.of(key, text, options)
    try:
        if rooms().ends(now.name) is None:
            return None
        found = Poll(now, question, tuple(options), key, rooms().tally(now.name, question))
        seen, turn = f"{key}__turn", (now.name, question.name, found.tally.turn)
        if key not in st.session_state or st.session_state.get(seen) != turn:
            before = None if now.leads else rooms().choice(now.name, question, _voter())
            st.session_state[key] = None if before is None else options[before]
            st.session_state[seen], st.session_state[f"{key}__counted"] = turn, before
        return found
    except UnusableFileError as error:
        st.caption(str(error))
        return None


def _watch(shown: Poll, right: int, said: str) -> None:
    """Look now and then whether the lecturer has revealed: the counts stand there at once, the page follows."""
    try:
        if rooms().ends(shown.room.name) is None:
            st.rerun()
        tally = rooms().tally(shown.room.name, shown.question)
    except UnusableFileError as error:
        st.caption(str(error))
        return
    if tally.turn != shown.tally.turn or tally.revealed < shown.tally.revealed:
        st.rerun()
    if tally.revealed > shown.tally.revealed:
        if shown.room.leads or _has_its_turn(shown.key, tally.votes):
            st.rerun()
        said = "The reason appears in a few seconds."
    if shown.room.leads and not tally.revealed:
        st.markdown(f"**{_votes(tally.votes)}** so far. Your own choice is not counted.")
    if tally.revealed:
        st.html(bars(shown.options, tally, right))
    if said:
        st.caption(said)


def _has_its_turn(key: str, class_size: int) -> bool:
    """Whether this session draws its page now: a large class does so one after the other, or all would wait for all."""
    spread, due = PACE * class_size, f"{key}__due"
    if spread > 1 and time.monotonic() < st.session_state.setdefault(due, time.monotonic() + spread * random.random()):
        return False
    st.session_state.pop(due, None)
    return True


def bars(options: Sequence[str], tally: Tally, right: int) -> str:
    """The counts as HTML: one bar an option, its words and number above it; the right one is marked."""
    lines = []
    for place, (option, count) in enumerate(zip(options, tally.counts, strict=True)):
        share = 100 * count / max(tally.votes, 1)
        kind, said = ("right", f"{option} (right)") if place == right else ("", option)
        lines.append(
            f'<div role="listitem" class="{kind}"><div class="said"><span>{html.escape(said)}</span> '
            f'<span class="count">{_votes(count)}, {share:.0f}&nbsp;%</span></div>'
            f'<div class="track" aria-hidden="true"><div class="bar" style="width: {share:.1f}%"></div></div></div>'
        )
    label = html.escape(f"What the room answered: {_votes(tally.votes)}.", quote=True)
    return f'<div role="list" class="votes" aria-label="{label}">{"".join(lines)}</div>'


def _votes(count: int) -> str:
    return f"{count} vote{'' if count == 1 else 's'}"
