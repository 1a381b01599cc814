"""The counts of a class: nothing lost, nobody twice, nothing kept, nothing broken by a bad file."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.ui.waiting import Clock
from ui import lessons, registry, shared_file, votes
from ui.shared_file import UnusableFileError
from ui.votes import Question, RoomError, Rooms

QUESTION = Question.of("bounds__try", "Which?", ("a", "b", "c"))
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clock():
    return Clock(now=1e9)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "rooms.sqlite"


@pytest.fixture
def rooms(path, clock):
    return Rooms(path, now=clock)


def rows(path: Path, table: str) -> int:
    with sqlite3.connect(path) as file:
        return file.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]


def test_a_browser_counts_once_and_may_change_its_mind(rooms):
    room, _ = rooms.open()
    for voter, choice in (("one", 0), ("two", 2), ("one", 0), ("one", 2), ("three", 1)):
        assert rooms.vote(room, QUESTION, voter, choice) == "counted"
    assert rooms.tally(room, QUESTION).counts == (0, 1, 2)
    assert rooms.choice(room, QUESTION, "one") == 2
    assert rooms.choice(room, QUESTION, "four") is None


def test_an_edited_question_starts_at_zero(rooms):
    room, _ = rooms.open()
    rooms.vote(room, QUESTION, "one", 0)
    for edited in (
        Question.of("bounds__try", "Which one?", ("a", "b", "c")),
        Question.of("k", "Which?", ("a", "b", "c")),
    ):
        assert rooms.tally(room, edited).votes == 0
    assert Question.of("bounds__try", "Which?", ("a", "b", "c")) == QUESTION


def test_only_the_key_reveals_hides_clears_and_closes(rooms):
    room, key = rooms.open()
    other, wrong = rooms.open()
    rooms.vote(room, QUESTION, "one", 1)
    for bad in (wrong, "", "x" * 10_000):
        assert not rooms.leads(room, bad)
        for act in (rooms.reveal, rooms.clear):
            with pytest.raises(RoomError):
                act(room, bad, QUESTION)
        with pytest.raises(RoomError):
            rooms.close(room, bad)
    assert rooms.leads(room, key)
    assert rooms.tally(room, QUESTION) == votes.Tally((0, 1, 0))
    rooms.reveal(room, key, QUESTION)
    assert rooms.tally(room, QUESTION).revealed
    assert rooms.vote(room, QUESTION, "two", 0) == "ended"
    rooms.reveal(room, key, QUESTION, shown=False)
    assert rooms.vote(room, QUESTION, "two", 0) == "counted"
    rooms.clear(room, key, QUESTION)
    assert rooms.tally(room, QUESTION) == votes.Tally((0, 0, 0), turn=1)
    rooms.close(room, key)
    assert rooms.ends(room) is None
    assert rooms.ends(other) is not None


def test_only_the_key_says_which_page_is_shown(rooms):
    name, key = rooms.open()
    assert rooms.shown(name) == ""
    rooms.lead_to(name, key, "bounds?bounds_sigma=5")
    assert rooms.shown(name) == "bounds?bounds_sigma=5"
    with pytest.raises(RoomError):
        rooms.lead_to(name, "wrong", "own?")
    rooms.lead_to(name, key, "x" * 9999)
    assert len(rooms.shown(name)) == votes.LONGEST_ADDRESS


def test_a_file_from_before_a_table_was_added_is_used(rooms, clock, path):
    name, key = rooms.open()
    with sqlite3.connect(path) as file:
        file.execute("DROP TABLE shown")
    later = Rooms(path, clock)
    assert later.shown(name) == ""
    later.lead_to(name, key, "own?")
    assert later.shown(name) == "own?"


def test_a_room_is_gone_after_three_hours_and_so_are_its_rows(rooms, clock, path):
    room, key = rooms.open()
    rooms.vote(room, QUESTION, "one", 0)
    clock.now += votes.LIFETIME - 1
    later, _ = rooms.open()
    assert rooms.vote(room, QUESTION, "two", 0) == "counted"
    clock.now += 1
    assert rooms.ends(room) is None
    assert not rooms.leads(room, key)
    assert rooms.choice(room, QUESTION, "one") is None
    assert rooms.vote(room, QUESTION, "three", 0) == "gone"
    with pytest.raises(RoomError):
        rooms.reveal(room, key, QUESTION)
    rooms.sweep()
    assert (rows(path, "room"), rows(path, "question"), rows(path, "vote")) == (1, 0, 0)
    assert rooms.ends(later) is not None


def test_the_sweeping_needs_nobody_who_looks(rooms, clock, path, monkeypatch):
    swept = threading.Event()
    room, _ = rooms.open()
    rooms.vote(room, QUESTION, "one", 0)
    clock.now += votes.LIFETIME
    sweep = rooms.sweep
    monkeypatch.setattr(rooms, "sweep", lambda: (sweep(), swept.set()))
    rooms.keep_sweeping()
    assert swept.wait(60)
    assert rows(path, "vote") == 0


def test_nothing_of_a_person_is_left_in_the_files(rooms, path):
    room, key = rooms.open()
    for voter in range(200):
        rooms.vote(room, QUESTION, f"token {voter}", voter % 3)

    def written():
        return b"".join(file.read_bytes() for file in path.parent.iterdir())

    assert QUESTION.name.encode() in written()
    for secret in (key, "token 7"):
        assert secret.encode() not in written()
    before = len(written())
    rooms.close(room, key)
    assert QUESTION.name.encode() not in written()
    assert len(written()) < before


def test_everything_has_an_end(rooms, monkeypatch):
    for name, most in {"ROOMS": 3, "QUESTIONS": 2, "VOTES": 2, "CHANGES": 2}.items():
        monkeypatch.setattr(votes, f"MOST_{name}", most)
    room, key = rooms.open()
    assert [rooms.vote(room, QUESTION, voter, 0) for voter in "abc"] == ["counted", "counted", "full"]
    changed = [rooms.vote(room, QUESTION, "a", choice) for choice in (1, 2, 0, 2)]
    assert changed == ["counted", "counted", "changes", "counted"]
    second, third = (Question.of(name, "Which?", ("a", "b")) for name in "st")
    assert [rooms.vote(room, question, "a", 0) for question in (second, third)] == ["counted", "full"]
    with pytest.raises(RoomError, match="2 questions"):
        rooms.reveal(room, key, third)
    for choice in (-1, 3):
        with pytest.raises(ValueError, match="choice must be from 0 to 2"):
            rooms.vote(room, QUESTION, "a", choice)


def open_in(rooms, network, filled=0):
    """A room of that network with so many votes."""
    name, _ = rooms.open(network)
    assert {rooms.vote(name, QUESTION, f"{name} {voter}", 0) for voter in range(filled)} <= {"counted"}
    return name


@pytest.mark.thorough
def test_one_person_cannot_take_the_next_lecturers_room(rooms, monkeypatch):
    monkeypatch.setattr(votes, "FRESH", 0.0)
    class_of_others = open_in(rooms, "university", filled=3)
    for _ in range(2 * votes.MOST_ROOMS):
        rooms.open("one person")
    assert rooms.ends(class_of_others)
    last = [open_in(rooms, f"network {number}", filled=1) for number in range(votes.MOST_ROOMS - 1)][-1]
    assert rooms.ends(class_of_others)  # others had several, and emptier ones
    assert rooms.ends(last)


def test_the_emptiest_makes_way_of_the_network_that_has_most(rooms, clock, monkeypatch):
    monkeypatch.setattr(votes, "FRESH", 0.0)
    monkeypatch.setattr(votes, "MOST_ROOMS", 4)
    names = []
    for network, filled in (("a", 2), ("a", 1), ("a", 1), ("b", 0)):
        clock.now += 1
        names.append(open_in(rooms, network, filled))
    open_in(rooms, "c", filled=1)
    assert [rooms.ends(name) is not None for name in names] == [True, False, True, True]
    open_in(rooms, "d", filled=1)
    assert [rooms.ends(name) is not None for name in names] == [True, False, False, True]
    open_in(rooms, "e", filled=1)
    assert [rooms.ends(name) is not None for name in names] == [True, False, False, False]
    with pytest.raises(RoomError, match="This server holds 4 rooms"):
        rooms.open("f")


def test_a_network_has_its_own_share_of_rooms_and_of_votes(rooms, clock, monkeypatch):
    monkeypatch.setattr(votes, "FRESH", 0.0)
    monkeypatch.setattr(votes, "MOST_ROOMS_OF_ONE", 2)
    monkeypatch.setattr(votes, "MOST_VOTES_OF_ONE", 2)
    used, idle = open_in(rooms, "a", filled=1), open_in(rooms, "a")
    new = open_in(rooms, "a", filled=1)
    assert (rooms.ends(idle), rooms.ends(used) is None) == (None, False)
    with pytest.raises(RoomError, match="Your network has 2 rooms"):
        rooms.open("a")
    assert rooms.ends(open_in(rooms, "b"))
    found = [rooms.vote(new, QUESTION, str(voter), 0, network) for voter, network in enumerate("xxxyy")]
    assert found == ["counted", "counted", "full", "counted", "counted"]
    assert rooms.vote(new, QUESTION, "0", 1, "x") == "counted"  # a mind is changed


def test_a_student_who_answers_everything_leaves_room_for_the_lecturer():
    asked = sum((room / "try.md").exists() for room in registry.ROOMS.iterdir())
    asked += sum(len(step.questions) for lesson in lessons.catalogue().lessons.values() for step in lesson.steps)
    assert 30 < asked <= votes.MOST_QUESTIONS / 2


@pytest.mark.parametrize(
    "name", ["", "bcdfgh", "BCDFG", "BCDFGHJ", "' OR 1=1 --", "BCDFGH\n", "ＢＣＤＦＧＨ", "x" * 10**6]
)
def test_nonsense_is_no_room(rooms, name):
    rooms.open()
    assert rooms.ends(name) is None
    assert not rooms.leads(name, "key")
    assert rooms.vote(name, QUESTION, "one", 0) == "gone"
    assert rooms.tally(name, QUESTION).votes == 0


def test_the_file_is_its_owners(rooms, path):
    rooms.open()
    for one in (path.parent, *path.parent.iterdir()):
        assert stat.S_IMODE(one.stat().st_mode) & 0o077 == 0, one


def test_a_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    monkeypatch.delenv("OBJPERT_ROOMS", raising=False)
    monkeypatch.setattr(shared_file.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = shared_file.private_file("OBJPERT_ROOMS", "rooms").parent
    assert folder.parent == tmp_path
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="nobody else"):
        shared_file.private_file("OBJPERT_ROOMS", "rooms")
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match="nobody else"):
        shared_file.private_file("OBJPERT_ROOMS", "rooms")


def test_a_damaged_file_is_one_sentence_and_not_tried_again_at_once(rooms, path, caplog):
    path.parent.mkdir()
    path.write_bytes(b"not a database " * 1000)
    for act in (rooms.open, rooms.sweep, lambda: rooms.ends("BCDFGH"), lambda: rooms.vote("BCDFGH", QUESTION, "a", 0)):
        with pytest.raises(UnusableFileError, match="votes are off"):
            act()
    assert len(caplog.records) == 1


def test_readers_do_not_wait_for_a_file_that_is_locked(rooms, path, monkeypatch):
    monkeypatch.setattr(shared_file, "PATIENCE", 0.05)
    monkeypatch.setattr(shared_file, "OFF_FOR", 0.0)
    room, _ = rooms.open()
    rooms.vote(room, QUESTION, "one", 1)
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        assert rooms.tally(room, QUESTION).counts == (0, 1, 0)
        with pytest.raises(UnusableFileError, match="votes are off"):
            rooms.vote(room, QUESTION, "two", 1)
        other.execute("ROLLBACK")
    assert rooms.vote(room, QUESTION, "two", 1) == "counted"


def test_a_file_that_was_tidied_away_is_made_again(rooms, path):
    room, _ = rooms.open()
    for file in path.parent.iterdir():
        file.unlink()
    with pytest.raises(UnusableFileError):
        rooms.vote(room, QUESTION, "one", 0)
    again, _ = Rooms(path, now=rooms._now).open()
    assert rooms.ends(again)


def test_one_look_serves_everybody_for_a_moment(rooms, monkeypatch):
    room, _ = rooms.open()
    rooms.vote(room, QUESTION, "one", 1)
    monkeypatch.setattr(votes, "FRESH", 1e9)
    assert rooms.tally(room, QUESTION).votes == 1
    asked = []
    monkeypatch.setattr(rooms._file, "reading", lambda: asked.append(1))
    assert [rooms.tally(room, QUESTION).votes for _ in range(200)] == [1] * 200
    assert not asked


VOTERS = """
import sys
from pathlib import Path
from ui.votes import Question, Rooms
path, room, who = sys.argv[1:]
question = Question.of("bounds__try", "Which?", ("a", "b", "c"))
sys.stdin.readline()  # both begin at once
rooms = Rooms(Path(path))
print(*{rooms.vote(room, question, f"{who} {voter}", voter % 3) for voter in range(100)})
print(rooms.vote(room, question, "both", 0))
"""


@pytest.mark.slow
def test_two_processes_lose_no_vote(tmp_path):
    path = tmp_path / "rooms.sqlite"
    rooms = Rooms(path)
    room, key = rooms.open()
    command, pipe = [sys.executable, "-c", VOTERS, str(path), room], subprocess.PIPE
    processes = [
        subprocess.Popen([*command, who], stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=dict(os.environ))
        for who in ("first", "second")
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=120)[0].split() for process in processes] == [["counted", "counted"]] * 2
    assert rooms.tally(room, QUESTION).counts == (69, 66, 66)
    rooms.reveal(room, key, QUESTION)
    assert Rooms(path).tally(room, QUESTION).revealed
