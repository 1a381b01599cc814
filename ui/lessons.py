"""Where lessons are found, where a reader is in one, and the strip that a step puts above another page.

Built-in lessons stand in ``pages/lessons/texts``, those of a lecturer in the folder that the environment variable
OBJPERT_LESSONS names. Both are read once. An address, ``?lesson=one-fit&step=2``, only ever looks up a name among what
was read; `ui.lesson_text` says how a lesson is written.

    python -m ui.lessons mine.md                checks a lesson: draws every step, opens every page that it names
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from ui import registry, sentences
from ui.lesson_text import NAME, Lesson, LessonError, OpenPage, parse

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

FOLDER = "OBJPERT_LESSONS"
"""The environment variable with a lecturer's own folder."""
LAST = "lessons__place"
"""Where the session keeps the place that was seen last."""
SHOWN = "lessons__shown"
"""Where the session keeps the place that is on the screen; no other page does."""
LARGEST, LONGEST = 100_000, 40  # bytes of a file, letters of its name

_PAGE = registry.ROOMS / "lessons" / "page.py"
_TEXTS = _PAGE.parent / "texts"


@dataclass(frozen=True)
class Catalogue:
    """All lessons by name, in their order, and one sentence for each file that could not be read."""

    lessons: Mapping[str, Lesson]
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A step of a lesson; steps are counted from 1."""

    lesson: Lesson
    step: int

    @property
    def query(self) -> dict[str, str]:
        """How an address says it."""
        return {"lesson": self.lesson.name, "step": str(self.step)}

    @property
    def next(self) -> Place | None:
        """The step after it, if any."""
        return Place(self.lesson, self.step + 1) if self.step < len(self.lesson.steps) else None


@cache
def catalogue() -> Catalogue:
    """The built-in lessons, then a lecturer's own; an own one of the same name takes the built-in one's place."""
    own = os.environ.get(FOLDER)
    found: dict[str, Lesson] = {}
    broken = [f"{FOLDER} names no folder."] if own and not Path(own).is_dir() else []
    for path in [*sorted(_TEXTS.glob("*.md")), *(sorted(Path(own).glob("*.md")) if own else ())]:
        try:
            lesson = read(path)
            found[lesson.name] = lesson
        except LessonError as error:
            broken.append(f"{path.name}, {error}")
        except (OSError, UnicodeDecodeError):
            broken.append(f"{path.name} is not a readable text file.")
    return Catalogue(found, tuple(broken))


def read(path: Path) -> Lesson:
    """The lesson of a file; digits before the first hyphen of the file's name order the list and are left out."""
    name = re.sub(r"^\d+-", "", path.stem)
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        rule = f"a file’s name has at most {LONGEST} small letters, digits and single hyphens"
        raise LessonError(1, f"{rule}, got {path.stem[: 2 * LONGEST]!r}.")
    if (size := path.stat().st_size) > LARGEST:
        raise LessonError(1, f"a lesson has at most {LARGEST:,} bytes, this file has {size:,}.")
    return parse(path.read_text(encoding="utf-8-sig"), name)


def place(query: Mapping[str, str]) -> Place | None:
    """The place that an address names; None where it names none."""
    lesson, step = catalogue().lessons.get(query.get("lesson", "")), query.get("step", "1")
    if lesson is None or not re.fullmatch(r"[1-9][0-9]?", step) or int(step) > len(lesson.steps):
        return None
    return Place(lesson, int(step))


def strip(page: str) -> None:
    """On a page that a lesson has led to: what its step asks to do there, the way back and on. Otherwise nothing.

    A page of another step, where the browser's Back button may lead, has the way back only.
    """
    st.session_state.pop(SHOWN, None)
    if "lesson" not in st.query_params or st.context.is_embedded:
        return
    here = place(st.query_params)
    if here is None:
        return
    st.session_state[LAST] = here
    opened = here.lesson.steps[here.step - 1].page
    task = opened.task if opened and opened.name == page else ""
    with st.container(border=True, key="lesson_strip"):
        st.markdown(f"**{here.lesson.title}, step {here.step} of {len(here.lesson.steps)}.** {task}".strip())
        with st.container(horizontal=True), suppress(StreamlitPageNotFoundError):
            lessons = registry.entry("lessons").path
            st.page_link(lessons, label="Back to the lesson", icon=":material/undo:", query_params=here.query)
            if task and here.next:
                onward = f"Next: {here.next.lesson.steps[here.step].title}"
                st.page_link(lessons, label=onward, icon=":material/arrow_forward:", query_params=here.next.query)


# --- the check of a lesson --------------------------------------------------------------------------------------------


def faults(path: Path) -> list[str]:
    """What is wrong with the lesson in a file, one sentence each: it is read, drawn, and its pages are opened."""
    try:
        lesson = read(path)
    except LessonError as error:
        return [str(error)]
    except (OSError, UnicodeDecodeError):
        return ["this is not a readable text file."]
    found: list[str] = []
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = str(path.parent)
    catalogue.cache_clear()
    try:
        for number, step in enumerate(lesson.steps, start=1):
            app = _opened(_PAGE, {"lesson": lesson.name, "step": str(number)})
            found += [error.value for error in app.error] + [error.message for error in app.exception]
            if step.page:
                found += _refused(step.page)
    finally:
        os.environ.pop(FOLDER)
        os.environ |= {FOLDER: before} if before is not None else {}
        catalogue.cache_clear()
    return list(dict.fromkeys(found))


def _refused(link: OpenPage) -> list[str]:
    """The controls of a link that its page does not have, or does not set to that value."""
    app = _opened(registry.ROOMS / link.name / "page.py", link.query)
    return [
        f"line {link.line}: the page {link.name} does not take {key}={' and '.join(values)}."
        for key, values in link.query.items()
        if key not in app.session_state or not _taken(app.session_state[key], values, app.query_params.get(key))
    ]


def _taken(held: Any, values: list[str], kept: str | list[str] | None) -> bool:
    """Whether a control is at these values: the address keeps them, or leaves them out where they are its default."""
    if kept is not None:
        return ([kept] if isinstance(kept, str) else kept) == values
    own = held if isinstance(held, list | tuple) else [held]
    return len(own) == len(values) and all(map(_same, own, values))


def _same(held: Any, value: str) -> bool:
    if isinstance(held, bool):
        return value == str(held).lower()
    try:
        return float(held) == float(value)
    except (TypeError, ValueError):
        return bool(held == value)


def _opened(page: Path, query: Mapping[str, str | list[str]]) -> AppTest:
    from streamlit.testing.v1 import AppTest  # a server has no use for it

    app = AppTest.from_file(str(page), default_timeout=300)
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()


def main(paths: list[str]) -> int:
    """Check the lessons in these files, say what is wrong with each, and return how many are wrong."""
    wrong = 0
    for path in paths:
        found = faults(Path(path))
        wrong += bool(found)
        for fault in found or ["nothing is wrong."]:
            print(f"{path}: {sentences.sentence(fault)}")
    return wrong


if __name__ == "__main__":
    from ui import lessons  # this module under the name that pages know it by: there is one catalogue

    sys.exit(lessons.main(sys.argv[1:]))
