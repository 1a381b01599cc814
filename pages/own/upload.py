"""Where a table is while a session holds it: in the upload's memory, and nowhere else.

Streamlit keeps an uploaded file in memory until its owner removes it or the session ends, and its web server puts a
file of more than 1 MB into a nameless file on disk on its way there. Here, it goes by memory alone, and is dropped as
soon as the page is left.
"""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from objpert_core.datasets.tables import MOST_BYTES

KEY = "own__file"
_SEEN = "own__uploads"
_FORM = 1_000_000  # bytes around a file in the browser's message
LABEL = "A CSV file, up to 5 MB"

MultiPartParser.spool_max_size = max(MultiPartParser.spool_max_size, MOST_BYTES + _FORM)


class Upload(NamedTuple):
    """A file that is there: the number of its upload, which says nothing of it, and its bytes."""

    number: str
    content: bytes


def show() -> Upload | None:
    """Draw the place where a table is handed in; the one that is there."""
    file = st.file_uploader(LABEL, type=["csv", "tsv", "txt"], key=KEY, help=HELP)
    note(KEY, file)
    return None if file is None else Upload(file.file_id, file.getvalue())


def note(place: str, file: UploadedFile | None) -> None:
    """Remember what is held at this place, and drop what was there before."""
    seen: dict[str, str] = st.session_state.setdefault(_SEEN, {})
    now = file.file_id if file else ""
    if (before := seen.get(place, "")) not in ("", now):
        _drop([before])
    seen[place] = now


HELP = (
    "Columns separated by commas, semicolons, tabs or |, names in the first row, one person a row. It stays in this "
    "session’s memory: nothing of it is stored, logged or put into the address."
)


def leave() -> None:
    """Drop what was handed in; for the run of any other page, or of this one where it shows an example."""
    if seen := st.session_state.pop(_SEEN, None):
        _drop([file for file in seen.values() if file])


def _drop(files: list[str]) -> None:
    context = get_script_run_ctx()
    if context is not None:
        for file in files:
            context.uploaded_file_mgr.remove_file(context.session_id, file)  # type: ignore[attr-defined]
