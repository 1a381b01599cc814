"""Where a table is while a session holds it: in the upload's memory, and nowhere else.

Streamlit keeps an uploaded file until its owner removes it or its session ends, and an ended session until another one
ends after it. Here a file is dropped as soon as its page is left, and soon after its tab is gone.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

KEY = "own__file"
LOOK_EVERY = 60.0
"""Seconds between two looks at the sessions that hold files; as long as a session may come back (.streamlit)."""
LABEL = "Your own table"
HELP = (
    "Separate columns by commas, semicolons, tabs or |. Put the names in the first row, and one person in each row. "
    "The file stays in this session’s memory: it is not stored, logged or put into the address."
)
_SEEN, _PLACE = "own__uploads", "own__place"


class Upload(NamedTuple):
    """A file that is there: the number of its upload, which says nothing of it, and its bytes."""

    number: str
    content: bytes


def show(wanted: bool, arrived: Callable[[], None]) -> Upload | None:
    """Draw the place where a table is handed in; the one that is there, which is dropped where it is not `wanted`."""
    if not wanted:
        leave()
    with st.container(key=KEY):
        place = f"{KEY}_{st.session_state.get(_PLACE, 0)}"
        file = st.file_uploader(LABEL, type=["csv", "tsv", "txt"], key=place, help=HELP, on_change=arrived)
    note(KEY, file)
    return None if file is None else Upload(file.file_id, file.getvalue())


def note(place: str, file: UploadedFile | None) -> None:
    """Remember what is held at this place, and drop what was there before."""
    seen: dict[str, str] = st.session_state.setdefault(_SEEN, {})
    now = file.file_id if file else ""
    if (before := seen.get(place, "")) not in ("", now):
        _drop(before)
    seen[place] = now
    context = get_script_run_ctx()
    if file is not None and context is not None:
        _watch(_Held(context.session_id, context.uploaded_file_mgr, file))


def leave() -> None:
    """Drop what was handed in; for the run of any other page, or of this one where it shows an example."""
    if any(numbers := (st.session_state.pop(_SEEN, None) or {}).values()):
        st.session_state[_PLACE] = st.session_state.get(_PLACE, 0) + 1  # the browser would still name the file
    for number in numbers:
        _drop(number)


class _Held(NamedTuple):
    """A file, whose session it is, and what keeps its bytes."""

    session: str
    manager: Any
    file: UploadedFile

    def drop(self) -> None:
        self.manager.remove_file(self.session, self.file.file_id)
        self.file.close()  # the session's own copy


_held: dict[str, _Held] = {}
_away: set[str] = set()  # files whose session was gone at the last look
_lock = threading.Lock()


def _watch(held: _Held) -> None:
    with _lock:
        first = not _held
        _held[held.file.file_id] = held
    if first:
        _look_later()


def _drop(number: str) -> None:
    with _lock:
        held = _held.pop(number, None)
    if held is not None:
        held.drop()


def _look_later() -> None:
    timer = threading.Timer(LOOK_EVERY, look)
    timer.daemon = True
    timer.start()


def look() -> None:
    """Drop the files of sessions that were gone at the last look and are gone now; look again while there are files."""
    with _lock:
        gone = {number for number, held in _held.items() if not _is_there(held.session)}
        dropped = [_held.pop(number) for number in gone & _away]
        _away.clear()
        _away.update(gone & _held.keys())
        more = bool(_held)
    for held in dropped:
        held.drop()
    if more:
        _look_later()


def _is_there(session: str) -> bool:
    """Whether the session has a tab that is connected."""
    return runtime.exists() and runtime.get_instance().is_active_session(session)
