"""A data set whose raw files are missing or damaged: what to put where, and a download with progress and Stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import streamlit as st

from objpert_core import datasets
from ui.jobs import Job, JobView, QueueFullError, shared_runner

RAW_FILES = {
    "adult": ("adult.data", "adult.test"),
    "gisette": ("gisette_train.data", "gisette_train.labels", "gisette_valid.data", "gisette_valid.labels"),
}
_FOLDER = "data/downloads"
_JOB = "raw_files__job"
_POLL_SECONDS = 0.5


@dataclass(eq=False)
class Download:
    """How far a download is. Unlike other results it changes in place: each field alone is written in one step."""

    file: str = ""
    done: int = 0
    total: int | None = None
    files: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Of the present file, 0 to 1; 0 where its size is not known."""
        return min(1.0, self.done / self.total) if self.total else 0.0


class _StoppedError(Exception):
    """Leaves a transfer from inside its progress callback."""


def fetch(name: str) -> Callable[[Callable[[], bool]], Iterator[Download]]:
    """Work that fetches the raw files of data set `name`; what a stopped transfer leaves behind is nothing."""

    def work(should_stop: Callable[[], bool]) -> Iterator[Download]:
        state = Download()
        yield state

        def progress(file: str, done: int, total: int | None) -> None:
            if should_stop():
                raise _StoppedError
            state.file, state.done, state.total = file, done, total

        try:
            state.files = [path.name for path in datasets.fetch(name, progress)]
        except _StoppedError:
            return
        yield state

    return work


def progress(view: JobView[Download]) -> tuple[float, str]:
    """The progress bar's share and text while files are being fetched."""
    if view.state == "waiting":
        return 0.0, view.queue_words
    state = view.latest
    if view.stopping:
        return 0.0, "Stopping …"
    if state is None or not state.file:
        return 0.0, "Asking the server …"
    size = f" of {state.total / 1e6:.1f}" if state.total else ""
    return state.share, f"{state.file}: {state.done / 1e6:.1f}{size} MB"


def without_folder(words: str) -> str:
    """A message in which the folder of the raw files has its role instead of its place on this server."""
    return words.replace(str(datasets.data_folder()), _FOLDER)


def offer(name: str, owner: str) -> None:
    """Says what is missing or damaged and how to mend it; nothing is fetched unless asked for."""
    if damaged := datasets.damage(name):
        st.error(
            f"The files of **{name}** are on this server, but not as they should be. "
            f"{without_folder(' '.join(damaged))} "
            "Its stand-in in the list works without them.",
            icon=":material/broken_image:",
        )
        return  # a damaged file is not overwritten, so that a download could not help
    files = ", ".join(f"`{file}`" for file in RAW_FILES[name])
    st.warning(
        f"The files of **{name}** are not on this server. Fetch them from the UCI archive, or put {files} into "
        f"`{_FOLDER}/{name}` by hand (`{name}` inside the folder that `OBJPERT_DATA_DIR` names, if it is set; their "
        "SHA-256 is checked). Its stand-in in the list works without them.",
        icon=":material/folder_off:",
    )
    if st.button(f"Download {name}", icon=":material/download:", key="raw_files_download"):
        try:
            st.session_state[_JOB] = (name, shared_runner().submit(owner, fetch(name)))
        except QueueFullError as error:
            st.error(str(error), icon=":material/hourglass_disabled:")
    wanted, job = st.session_state.get(_JOB, (None, None))
    if wanted == name and job is not None:
        active = job.view().active
        st.fragment(_show, run_every=_POLL_SECONDS if active else None)(job, active)


def _show(job: Job[Download], polling: bool) -> None:
    view = job.view()
    if view.active:
        share, words = progress(view)
        st.progress(share, words)
        st.button("Stop", key="raw_files_stop", icon=":material/stop:", on_click=job.stop)
    elif polling:
        st.rerun()
    elif view.state == "failed":
        st.error(without_folder(view.message or ""), icon=":material/cloud_off:")
    elif view.state == "stopped":
        st.info("The download was stopped; nothing was kept.", icon=":material/stop:")
