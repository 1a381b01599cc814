"""Rooms in which a class's predictions are counted: one SQLite file that the processes of a server share.

    name, key = rooms().open()                                   # the lecturer's; the class gets the name only
    rooms().vote(name, question, voter="a random token", choice=2)
    rooms().tally(name, question).counts                         # (3, 0, 14)

What is kept of a person is one number, the option chosen, beside a hash of a random token, so that one browser counts
once and may change its mind, and beside one of a hash of its network. Both are keyed with a random number of the room
and go with it; of who opened it the room has the hash of the network, keyed with the server's secret, and the page that
the lecturer shows. A room is gone three hours after it was opened: no question finds it any more, and a thread of every
process deletes its rows.

The numbers of rooms, questions, votes and changes are capped, those of one network (`ui.visitors`) more tightly, and so
is the file. Where there are too many rooms the emptiest makes way, of the network that has most. Whoever finds the
file damaged or locked gets an `UnusableFileError`, and tries again some seconds later. Nothing here calls Streamlit.
"""

import hashlib
import hmac
import logging
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from ui.shared_file import SharedFile, UnusableFileError, private_file

LIFETIME = 3 * 3600.0
"""Seconds from opening a room to its end: longer than a lecture and the break before it."""
FRESH = 1.0
"""For how many seconds the people of one process share what one of them has read."""
LETTERS = "BCDFGHJKMNPQRSTWXYZ"
"""What the name of a room is made of: no vowels, so no words; nothing that looks like a digit or two other letters."""
NAME = re.compile(f"[{LETTERS}]{{6}}")
MOST_ROOMS, MOST_QUESTIONS, MOST_VOTES, MOST_OPTIONS, MOST_CHANGES = 200, 100, 1200, 12, 20
"""Rooms at a time, questions per room, votes per question, options a question, changes of mind a vote."""
MOST_ROOMS_OF_ONE, MOST_VOTES_OF_ONE = 20, 600
"""The same of one network, which a whole class may share: rooms at a time, votes a question."""
MOST_LETTERS, LONGEST_ADDRESS = 200, 2000
"""Of a question's name, a key and a token; of a page's address."""

OFF = "Class votes are off for the moment: the server cannot use its file of rooms."

_SWEEP_EVERY = 30.0  # seconds
_MOST_HELD = 4096
_SCHEMA = """
CREATE TABLE IF NOT EXISTS room (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, salt BLOB NOT NULL, key BLOB NOT NULL, opened REAL NOT NULL,
    network TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS question (
    id INTEGER PRIMARY KEY, room INTEGER NOT NULL REFERENCES room ON DELETE CASCADE, name TEXT NOT NULL,
    revealed INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 0, UNIQUE (room, name));
CREATE TABLE IF NOT EXISTS vote (
    question INTEGER NOT NULL REFERENCES question ON DELETE CASCADE, voter BLOB NOT NULL, choice INTEGER NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0, network BLOB NOT NULL, PRIMARY KEY (question, voter)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shown (room INTEGER PRIMARY KEY REFERENCES room ON DELETE CASCADE, address TEXT NOT NULL);
"""
_EMPTIEST = """
SELECT room.id, COUNT(vote.voter), (SELECT COUNT(*) FROM room AS other WHERE other.network = room.network)
FROM room LEFT JOIN question ON question.room = room.id LEFT JOIN vote ON vote.question = question.id
WHERE room.network = ? OR ? GROUP BY room.id ORDER BY 3 DESC, 2, room.opened LIMIT 1
"""

Outcome = Literal["counted", "ended", "full", "changes", "gone"]
T = TypeVar("T")
_log = logging.getLogger(__name__)


class RoomError(ValueError):
    """No further room can be opened, or somebody without its key would lead one; the message says why."""


@dataclass(frozen=True)
class Question:
    """What is voted on: its name, which changes with its text, and the number of its options."""

    name: str
    options: int

    @classmethod
    def of(cls, key: str, text: str, options: Sequence[str]) -> Self:
        """The question that a page asks under `key`; an edited one has another name, and starts at zero."""
        if not 1 < len(options) <= MOST_OPTIONS:
            raise ValueError(f"options must be 2 to {MOST_OPTIONS} texts, got {len(options)}")
        digest = hashlib.sha256("\0".join((key, text, *options)).encode()).hexdigest()[:16]
        return cls(f"{key[: MOST_LETTERS - 20]}-{digest}", len(options))


@dataclass(frozen=True)
class Tally:
    """The votes on a question at one moment."""

    counts: tuple[int, ...]  # votes for each option
    revealed: bool = False  # whether the class may see them; nobody votes any more while it does
    turn: int = 0  # how often the votes were cleared; a vote of an earlier turn is none

    @property
    def votes(self) -> int:
        """All of them."""
        return sum(self.counts)


class Rooms:
    """The rooms of one file, which is made when the first one is opened, for its owner only."""

    def __init__(self, file: Path, now: Callable[[], float] = time.time) -> None:
        self._file, self._now = SharedFile(file, _SCHEMA, OFF), now
        self._held: dict[tuple[str, str], tuple[float, Any]] = {}
        self._lock = threading.Lock()

    def open(self, network: str = "") -> tuple[str, str]:
        """Open a room: its name, for everybody, and its key, for who leads it; the file holds only a hash of the key.

        `RoomError` where there are as many rooms as may be, and people vote in all.
        """
        salt, key = secrets.token_bytes(16), secrets.token_urlsafe(16)
        name = "".join(secrets.choice(LETTERS) for _ in range(6))
        with self._file.changing(make=True) as file:
            self._delete_old(file)
            self._make_way(file, network)
            values = (name, salt, _digest(salt, key), self._now(), network)
            file.execute("INSERT INTO room (name, salt, key, opened, network) VALUES (?, ?, ?, ?, ?)", values)
        self._forget(name)
        return name, key

    def close(self, name: str, key: str) -> None:
        """Delete the room and all that was counted in it."""
        with self._leading(name, key) as (file, room):
            file.execute("DELETE FROM room WHERE id = ?", (room,))
        self._forget(name)
        self.sweep()

    def ends(self, name: str) -> float | None:
        """When the room ends, in seconds since 1970; None where there is no such room, or no more."""
        if not NAME.fullmatch(name):
            return None

        def read(file: sqlite3.Connection) -> float | None:
            found = file.execute("SELECT opened FROM room WHERE name = ?", (name,)).fetchone()
            return found[0] + LIFETIME if found else None

        end = self._shared((name, ""), read, None)
        return end if end is not None and end > self._now() else None

    def leads(self, name: str, key: str) -> bool:
        """Whether this is the key of the room."""
        if not (NAME.fullmatch(name) and 0 < len(key) <= MOST_LETTERS):
            return False
        with self._file.reading() as file:
            return file is not None and self._led(file, name, key) is not None

    def lead_to(self, name: str, key: str, address: str) -> None:
        """Say which page the lecturer shows: its name, and what its address says after the question mark."""
        with self._leading(name, key) as (file, room):
            file.execute("INSERT OR REPLACE INTO shown VALUES (?, ?)", (room, address[:LONGEST_ADDRESS]))
        self._forget(name, "shown")

    def shown(self, name: str) -> str:
        """The address of the page that the lecturer shows, as `lead_to` got it; "" where there is none."""

        def read(file: sqlite3.Connection) -> str:
            since = (name, self._now() - LIFETIME)
            select = "SELECT address FROM shown JOIN room ON room.id = shown.room WHERE name = ? AND opened > ?"
            found = file.execute(select, since).fetchone()
            return found[0] if found else ""

        return self._shared((name, "shown"), read, "")

    def tally(self, name: str, question: Question) -> Tally:
        """The votes on a question, at most `FRESH` seconds old; none where it was never asked in the room."""
        none = Tally((0,) * question.options)

        def read(file: sqlite3.Connection) -> Tally:
            rows = file.execute(
                "SELECT q.revealed, q.turn, v.choice, COUNT(v.voter) FROM room r JOIN question q ON q.room = r.id "
                "LEFT JOIN vote v ON v.question = q.id WHERE r.name = ? AND r.opened > ? AND q.name = ? "
                "GROUP BY v.choice",
                (name, self._now() - LIFETIME, question.name),
            ).fetchall()
            if not rows:
                return none
            votes = {choice: count for _, _, choice, count in rows}
            counts = tuple(votes.get(option, 0) for option in range(question.options))
            return Tally(counts, bool(rows[0][0]), rows[0][1])

        return self._shared((name, question.name), read, none)

    def vote(self, name: str, question: Question, voter: str, choice: int, network: str = "") -> Outcome:
        """Count a vote, in place of the one that this voter, a random token, has cast before.

        Where it does not count, the vote has "ended", the room or the question is "full", this voter has made too many
        "changes", or the room is "gone".
        """
        if not 0 <= choice < question.options:
            raise ValueError(f"choice must be from 0 to {question.options - 1}, got {choice}")
        with self._file.changing() as file:
            outcome = self._cast(file, name, question, voter, choice, network)
        if outcome == "counted":
            self._forget(name, question.name)
        return outcome

    def _cast(
        self, file: sqlite3.Connection, name: str, question: Question, voter: str, choice: int, network: str
    ) -> Outcome:
        room = self._find(file, name)
        if room is None:
            return "gone"
        asked = self._ask(file, room[0], question)
        if asked is None:
            return "full"
        place, revealed = asked
        if revealed:
            return "ended"
        person = (place, _digest(room[1], voter))
        before = file.execute("SELECT choice, changes FROM vote WHERE question = ? AND voter = ?", person).fetchone()
        if before is None:
            where = _digest(room[1], network)
            counted = "SELECT COUNT(*), COUNT(NULLIF(network != ?, 1)) FROM vote WHERE question = ?"
            votes, own = file.execute(counted, (where, place)).fetchone()
            if votes >= MOST_VOTES or own >= MOST_VOTES_OF_ONE:
                return "full"
            new = "INSERT INTO vote (question, voter, choice, network) VALUES (?, ?, ?, ?)"
            file.execute(new, (*person, choice, where))
        elif before[0] != choice:
            if before[1] >= MOST_CHANGES:
                return "changes"
            moved = "UPDATE vote SET choice = ?, changes = changes + 1 WHERE question = ? AND voter = ?"
            file.execute(moved, (choice, *person))
        return "counted"

    def choice(self, name: str, question: Question, voter: str) -> int | None:
        """What this voter has chosen, None for nothing: a page that was loaded anew shows it again."""
        with self._file.reading() as file:
            room = self._find(file, name) if file is not None else None
            if file is None or room is None:
                return None
            found = file.execute(
                "SELECT choice FROM vote JOIN question ON question.id = vote.question "
                "WHERE question.room = ? AND question.name = ? AND voter = ?",
                (room[0], question.name, _digest(room[1], voter)),
            ).fetchone()
            return found[0] if found else None

    def reveal(self, name: str, key: str, question: Question, shown: bool = True) -> None:
        """Show the counts to the class, or hide them again; voting goes on while they are hidden."""
        with self._leading(name, key) as (file, room):
            asked = self._ask(file, room, question)
            if asked is None:
                raise RoomError(f"A room holds {MOST_QUESTIONS} questions; open another room for this question.")
            file.execute("UPDATE question SET revealed = ? WHERE id = ?", (int(shown), asked[0]))
        self._forget(name, question.name)

    def clear(self, name: str, key: str, question: Question) -> None:
        """Delete the votes on a question, and hide what is left: nothing."""
        with self._leading(name, key) as (file, room):
            asked = file.execute(
                "SELECT id FROM question WHERE room = ? AND name = ?", (room, question.name)
            ).fetchone()
            if asked:
                file.execute("DELETE FROM vote WHERE question = ?", asked)
                file.execute("UPDATE question SET revealed = 0, turn = turn + 1 WHERE id = ?", asked)
        self._forget(name, question.name)

    def sweep(self) -> None:
        """Delete the rooms whose time is over, and give the room that they took in the file back."""
        if self._file.exists():
            with self._file.changing() as file:
                self._delete_old(file)
            self._file.tidy()

    def keep_sweeping(self) -> None:
        """Sweep twice a minute from now on, in a thread of its own."""

        def work() -> None:
            while True:
                with suppress(UnusableFileError):
                    self.sweep()
                time.sleep(_SWEEP_EVERY)

        threading.Thread(target=work, name="rooms", daemon=True).start()

    def _delete_old(self, file: sqlite3.Connection) -> None:
        file.execute("DELETE FROM room WHERE opened <= ?", (self._now() - LIFETIME,))

    def _make_way(self, file: sqlite3.Connection, network: str) -> None:
        """Delete the emptiest room where another has no place: of this network, or else of that which has most.

        A room in which somebody has voted stays, unless its network has several and the server is full.
        """
        rooms, own = file.execute("SELECT COUNT(*), COUNT(NULLIF(network != ?, 1)) FROM room", (network,)).fetchone()
        if rooms < MOST_ROOMS and own < MOST_ROOMS_OF_ONE:
            return
        too_many = own >= MOST_ROOMS_OF_ONE
        emptiest, votes, held = file.execute(_EMPTIEST, (network, not too_many)).fetchone()
        if votes and (too_many or held == 1):
            most = f"Your network has {own}" if too_many else f"This server holds {rooms}"
            raise RoomError(f"{most} rooms, which is the limit. The oldest room ends within three hours.")
        file.execute("DELETE FROM room WHERE id = ?", (emptiest,))

    def _find(self, file: sqlite3.Connection, name: str) -> tuple[int, bytes, bytes] | None:
        """The room's number, salt and hash of its key."""
        found = "SELECT id, salt, key FROM room WHERE name = ? AND opened > ?"
        row: tuple[int, bytes, bytes] | None = file.execute(found, (name, self._now() - LIFETIME)).fetchone()
        return row

    def _led(self, file: sqlite3.Connection, name: str, key: str) -> int | None:
        room = self._find(file, name)
        return room[0] if room and hmac.compare_digest(room[2], _digest(room[1], key)) else None

    def _ask(self, file: sqlite3.Connection, room: int, question: Question) -> tuple[int, int] | None:
        """The question's number and whether it is revealed, put into the room unless it is there; None: no place."""
        known = "SELECT id, revealed FROM question WHERE room = ? AND name = ?"
        row: tuple[int, int] | None = file.execute(known, (room, question.name)).fetchone()
        if row is None:
            (questions,) = file.execute("SELECT COUNT(*) FROM question WHERE room = ?", (room,)).fetchone()
            if questions < MOST_QUESTIONS:
                new = file.execute("INSERT INTO question (room, name) VALUES (?, ?)", (room, question.name))
                row = (int(new.lastrowid or 0), 0)
        return row

    def _shared(self, key: tuple[str, str], read: Callable[[sqlite3.Connection], T], none: T) -> T:
        """What `read` finds, or found for somebody else a moment ago; `none` where there is no file yet."""
        with self._lock:
            until, value = self._held.get(key, (0.0, none))
            if time.monotonic() < until:
                return value
            with self._file.reading() as file:
                value = read(file) if file is not None else none
            if len(self._held) >= _MOST_HELD:
                self._held.clear()
            self._held[key] = (time.monotonic() + FRESH, value)
            return value

    def _forget(self, name: str, what: str = "") -> None:
        """What this process has changed it reads anew: a question by its name."""
        with self._lock:
            self._held.pop((name, what), None)

    @contextmanager
    def _leading(self, name: str, key: str) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Changes to a room by who holds its key."""
        with self._file.changing() as file:
            room = self._led(file, name, key)
            if room is None:
                raise RoomError("The room has ended, or this is not its key.")
            yield file, room


def _digest(salt: bytes, secret: str) -> bytes:
    """A token or a key as the file holds it."""
    return hashlib.blake2b(secret[:MOST_LETTERS].encode(), key=salt, digest_size=16).digest()


@cache
def rooms() -> Rooms:
    """The rooms of this server, in the file ``OBJPERT_ROOMS`` or a temporary one; the first call begins to sweep."""
    try:
        path = private_file("OBJPERT_ROOMS", "objpert-votes")
    except OSError as error:
        _log.warning("no class votes: %s", error)
        raise UnusableFileError(OFF) from error
    found = Rooms(path)
    found.keep_sweeping()
    return found
