"""The ways from Home: two doors, for who is new to ε and for who knows the paper, and a card for each page.

The cards have pictures; lessons and the path "Start here" come first.
"""

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitPageNotFoundError

from ui import cite, lessons, registry, style

START = "start-here"
STYLE = """
[class*=st-key-home_door_] { padding: .35rem .9rem; gap: .1rem .9rem; }
[class*=st-key-home_door_] a p { text-decoration: underline; }
[class*=st-key-home_door_] p a { color: inherit !important; font-size: .875rem; display: inline-block;
  padding: .2rem 0; }
@media (max-width: 640px) { [class*=st-key-home_door_] a[data-testid] { padding-left: 0; padding-right: 0; } }
@media (min-width: 641px) { .st-key-stage__picture { --above: 23.5rem; --least: 21rem; } }
"""


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: the page that shows it, the page's preset, and the address of that setting.

    `called` is the link's name where the preset's says too little.
    """

    page: str
    preset: str
    query: Mapping[str, str | list[str]] = field(default_factory=dict)
    called: str = ""


_RIVALS = [
    "no privacy",
    "DP-SGD unpaid (Rényi)",
    "DP-SGD paid",
    "Algorithm 1 with the 2023 theorem",
    "Algorithm 1 with our theorem",
]
_TABLES: dict[str, str | list[str]] = {"accuracy_epsilon": "1", "accuracy_methods": _RIVALS}
FIGURES: tuple[Figure, ...] = (
    Figure("bounds", "Figure 1, left"),
    Figure("bounds", "Figure 1, right", {"bounds_sigma": "10", "bounds_lambda": "5"}),
    Figure("renyi", "Figure 5", called="Rényi against DP-SGD"),
    Figure("distance", "Figure 4b", called="Distance"),
    Figure("accuracy", "Figure 2, Adult", _TABLES | {"accuracy_paper": "true"}),
    Figure("accuracy", "Figure 2, Gisette: why it is a stand-in", _TABLES | {"accuracy_data": "gisette-like"}),
)
"""The paper's figures, in the order in which it tells its story."""


def show() -> None:
    """Both doors; a slide has none."""
    if style.embedded():
        return
    with _door("new", "New to ε"):
        first = next(iter(lessons.catalogue().lessons.values()))
        _link("lessons", f"Lesson: {first.title}", lessons.Place(first, 1).query)
        _link("guess", "Attack a model")
        st.markdown(f"[All six steps](#{START})", width="content")
    with _door("paper", "I know the paper"):
        for figure in FIGURES:
            _link(figure.page, figure.called or figure.preset, figure.query)
        with st.popover("Cite", icon=":material/format_quote:", key="home_cite"):
            st.code(cite.bibtex(), language=None, wrap_lines=True)


def _door(name: str, title: str) -> DeltaGenerator:
    box = st.container(border=True, horizontal=True, vertical_alignment="center", key=f"home_door_{name}")
    box.markdown(f"**{title}**", width="content")
    return box


def _link(name: str, label: str, query: Mapping[str, str | list[str]] | None = None) -> None:
    entry = registry.entry(name)
    with suppress(StreamlitPageNotFoundError):  # the page's file runs by itself, without app.py's menu
        st.page_link(entry.path, label=label, query_params=dict(query or {}) or None, width="content")


A_ROW = 3
LESSONS = "lessons"

# The link's own area covers the whole card, and so does its focus ring.
CARDS_STYLE = """
[class*=st-key-home_card_] { position: relative; }
[class*=st-key-home_card_] :is(div, a) { position: static; }
[class*=st-key-home_card_] [data-testid=stPageLink] a::after { content: ''; position: absolute; inset: 0; z-index: 1; }
[class*=st-key-home_card_] [data-testid=stPageLink] a:focus-visible::after { outline: 3px solid currentColor;
  outline-offset: -3px; border-radius: .5rem; }
"""


def show_cards() -> None:
    """The lessons, the path, then the other pages by group; a slide has none."""
    if style.embedded():
        return
    _lessons()
    path = registry.START_HERE[1:]
    st.header("Start here", anchor=START)
    st.markdown(f"This page is the first of {len(path) + 1} steps. All steps together take an hour.")
    _grid([(registry.entry(step.name), step.lesson, step.query) for step in path], first=2)
    stepped = {LESSONS, *(step.name for step in registry.START_HERE)}
    others = [entry for entry in registry.PAGES if entry.name not in stepped]
    for group, pages in groupby(others, lambda entry: entry.group):
        st.header(group, anchor=False)
        _grid([(entry, entry.question, {}) for entry in pages])


def _lessons() -> None:
    """The door to the lessons, and each of them as a link."""
    entry = registry.entry(LESSONS)
    st.header("Lessons", anchor=False)
    st.markdown("Move something, predict, then read why: a lesson asks before it explains.")
    door, links = st.columns([1, A_ROW - 1])
    with door, st.container(border=True, height="stretch", key=f"home_card_{LESSONS}"):
        _card(entry, f"**{entry.title}.** {entry.question}", {})
    with links, suppress(StreamlitPageNotFoundError):
        for lesson in lessons.catalogue().lessons.values():
            label = f"**{lesson.title}**, {lesson.minutes} minutes. {lesson.lead}"
            st.page_link(entry.path, label=label, icon=entry.icon, query_params=lessons.Place(lesson, 1).query)


def _grid(pages: Sequence[tuple[registry.Entry, str, Mapping[str, str]]], first: int | None = None) -> None:
    """Cards in rows; numbered from `first` on, if that is given."""
    for start in range(0, len(pages), A_ROW):
        row = enumerate(pages[start : start + A_ROW], start)
        for (place, (entry, says, query)), column in zip(row, st.columns(A_ROW), strict=False):
            title = entry.headed if first is None else f"{first + place}. {entry.headed}"
            with column, st.container(border=True, height="stretch", key=f"home_card_{entry.name}"):
                _card(entry, f"**{title}** {says}", query)


def _card(entry: registry.Entry, says: str, query: Mapping[str, str]) -> None:
    if entry.thumbnail.exists():
        drawing = base64.b64encode(entry.thumbnail.read_bytes()).decode()
        st.html(f'<img src="data:image/svg+xml;base64,{drawing}" alt="" style="width: 100%; height: auto">')
    with suppress(StreamlitPageNotFoundError):  # the page's file runs by itself, without app.py's menu
        st.page_link(entry.path, label=says, icon=entry.icon, query_params=dict(query) or None)
