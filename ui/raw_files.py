"""A data set whose raw files are missing or damaged: what to put where, and a download with progress and Stop."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments.live import StoppedError
from ui.jobs import JobView
from ui.runs import Runs, Seen, ended_early, waiting

RAW_FILES = {
    "adult": ("adult.data", "adult.test"),
    "gisette": ("gisette_train.data", "gisette_train.labels", "gisette_valid.data", "gisette_valid.labels"),
}
_FOLDER = "data/downloads"


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


RUNS: Runs[Download] = Runs("raw_files")
"""Downloads have a name of their own in the queue: a run of the page beside them goes on. Their files are for this
machine, so that the web process fetches them."""


def fetch(name: str) -> Callable[[Callable[[], bool]], Iterator[Download]]:
    """Work that fetches the raw files of data set `name`; what a stopped transfer leaves behind is nothing."""

    def work(should_stop: Callable[[], bool]) -> Iterator[Download]:
        state = Download()
        yield state

        def progress(file: str, done: int, total: int | None) -> None:
            if should_stop():
                raise StoppedError
            state.file, state.done, state.total = file, done, total

        try:
            state.files = [path.name for path in datasets.fetch(name, progress)]
        except StoppedError:
            return
        yield state

    return work


def progress(view: JobView[Download]) -> tuple[float, str]:
    """The progress bar's share and text while files are being fetched."""
    if words := waiting(view):
        return words
    state = view.latest
    if state is None or not state.file:
        return 0.0, "Asking the server …"
    size = f" of {state.total / 1e6:.1f}" if state.total else ""
    return state.share, f"{state.file}: {state.done / 1e6:.1f}{size} MB"


def without_folder(words: str) -> str:
    """A message in which the folder of the raw files has its role instead of its place on this server."""
    return words.replace(str(datasets.data_folder()), _FOLDER)


def offer(name: str) -> None:
    """Says what is missing or damaged and how to mend it; nothing is fetched unless asked for."""
    if damaged := datasets.damage(name):
        st.error(
            f"The files of **{name}** on this server are damaged. {without_folder(' '.join(damaged))} The stand-in "
            f"in the list works without these files.",
            icon=":material/broken_image:",
        )
        return  # a damaged file is not overwritten, so that a download could not help
    files = ", ".join(f"`{file}`" for file in RAW_FILES[name])
    st.warning(
        f"The files of **{name}** are not on this server. Fetch them from the UCI archive, or put {files} into "
        f"`{_FOLDER}/{name}` yourself. If `OBJPERT_DATA_DIR` names another folder, put them into `{name}` inside that "
        "folder. The page checks the SHA-256 of the files. The stand-in in the list works without these files.",
        icon=":material/folder_off:",
    )
    if st.button(f"Download {name}", icon=":material/download:", key="raw_files_download"):
        RUNS.start(name, fetch(name))
    RUNS.follow(_show, name)


def _show(name: str) -> None:
    run = RUNS.latest()
    if run is None or run.request == name:
        RUNS.look(_progress, _outcome, narrow=True)


def _progress(seen: Seen[Download]) -> tuple[float, str]:
    return progress(seen.view)


def _outcome(view: JobView[Download]) -> str | None:
    words = ended_early(view, "The download was stopped, and nothing was kept.")
    return words and without_folder(words)
