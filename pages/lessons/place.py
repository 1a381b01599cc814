"""Where the reader is: read from the address, else remembered by the session; the row of steps that leads on."""

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from ui import lessons, registry, slides
from ui.controls import Control, refuse
from ui.lessons import Place

KEYS = ("lesson", "step")


def here() -> Place:
    """The step that is shown; what the address says of it is true afterwards, and nonsense is gone."""
    query = st.query_params
    at = lessons.place(query)
    if at is None and "lesson" not in query and isinstance(last := st.session_state.get(lessons.LAST), Place):
        at = lessons.place(last.query)
    if at is None:
        at = lessons.place({"lesson": query.get("lesson", "")}) or Place(_first(), 1)
    elif "lesson" not in query:
        query.update(at.query)
    for key in KEYS:
        if key in query and query[key] != at.query[key]:
            refuse(key, query.get_all(key))
            del query[key]
    st.session_state[lessons.LAST] = at
    return at


def _first() -> lessons.Lesson:
    return next(iter(lessons.catalogue().lessons.values()))


def go(place: Place) -> None:
    """Move to another step: what a button does."""
    st.query_params.update(place.query)
    st.query_params.pop(slides.ASK, None)


# On a phone the row of steps is too long for the window, and at first its buttons come after the script.
_SCROLL = """<script>{
document.querySelector('.stMain').scrollTop = 0;
const look = (frames) => {
  const button = document.querySelector('.st-key-lessons_step_STEP button');
  if (!button) return frames && requestAnimationFrame(() => look(frames - 1));
  const row = button.closest('.st-key-lessons_presets');
  row.scrollLeft += button.getBoundingClientRect().left - row.getBoundingClientRect().left;
};
look(120);
}</script>"""


def to_the_top(at: Place) -> str:
    """What scrolls a new step to its beginning, and its button into sight: by itself the window stays where it was."""
    shown, st.session_state[lessons.SHOWN] = st.session_state.get(lessons.SHOWN), at
    if shown == at:
        return ""
    return _SCROLL.replace("STEP", str(at.step))


@dataclass(frozen=True)
class Named(Control):
    """A part of the place, for links: not a widget, since the address keeps it on other pages, too."""

    def value(self) -> Any:
        """What the session is at."""
        return st.session_state[lessons.LAST].query[self.key]


LINKED: tuple[Control, ...] = (Named("lesson", "Lesson", ""), Named("step", "Step", ""))


def row(at: Place) -> None:
    """One button a step, which says its name to a pointer that rests on it; then the way to every lesson."""
    with st.container(horizontal=True, key="lessons_presets"):
        for number, step in enumerate(at.lesson.steps, start=1):
            kind: Any = "primary" if number == at.step else "secondary"
            key, to = f"lessons_step_{number}", Place(at.lesson, number)
            st.button(f"{number}", key=key, type=kind, help=step.title, on_click=go, args=(to,))
        with st.popover("All lessons", icon=":material/school:"):
            others(at)


def deck(at: Place) -> None:
    """The steps one after the other on a slide, by buttons or by the arrow keys; down turns to a step's questions."""
    last, step = len(at.lesson.steps), at.lesson.steps[at.step - 1]
    if step.controls and step.questions:
        slides.button("lessons")
    with st.container(horizontal=True, vertical_alignment="center", key="lessons__slide__deck"):
        moves = {"back": ("‹", "Left", max(at.step - 1, 1)), "on": ("›", "Right", min(at.step + 1, last))}
        for name, (label, arrow, to) in moves.items():
            if name == "on":
                st.markdown(slides.leading_off(f"{step.title} ({at.step}/{last})"), width="content")
            goal, key = Place(at.lesson, to), f"lessons__slide_{name}"
            st.button(label, key=key, shortcut=arrow, on_click=go, args=(goal,), disabled=to == at.step)


def onward(at: Place) -> None:
    """Back and on, at the end of a step; after the last one the next lesson."""
    with st.container(horizontal=True, key="lessons_onward"):
        if at.step > 1:
            back = Place(at.lesson, at.step - 1)
            st.button("Back", key="lessons_back", icon=":material/arrow_back:", on_click=go, args=(back,))
        if at.next:
            label = f"Next: {at.lesson.steps[at.step].title}"
            st.button(label, key="lessons_next", type="primary", on_click=go, args=(at.next,))
        elif after := _after(at.lesson):
            label, first = f"Next lesson: {after.title}", Place(after, 1)
            st.button(label, key="lessons_after", type="primary", on_click=go, args=(first,))


def _after(lesson: lessons.Lesson) -> lessons.Lesson | None:
    """The lesson that follows in the list."""
    every = list(lessons.catalogue().lessons.values())
    return next((after for this, after in pairwise(every) if this is lesson), None)


def broken() -> None:
    """What is wrong with a lecturer's own lessons."""
    for sentence in lessons.catalogue().broken:
        st.warning(f"One lesson cannot be shown. {sentence}", icon=":material/warning:")


def others(at: Place) -> None:
    """Every lesson as a link."""
    path = registry.entry("lessons").path
    for lesson in lessons.catalogue().lessons.values():
        mark = " (this one)" if lesson is at.lesson else ""
        label = f"**{lesson.title}**{mark}, {lesson.minutes} minutes. {lesson.lead}"
        with suppress(StreamlitPageNotFoundError):  # the page's file runs by itself, without app.py's menu
            st.page_link(path, label=label, icon=":material/school:", query_params=Place(lesson, 1).query)
