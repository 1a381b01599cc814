"""The way from Home to the other pages: a card with a picture for each; lessons and the path "Start here" first."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from pages.home import doors
from ui import lessons, registry, style

A_ROW = 3
LESSONS = "lessons"

# The link's own area covers the whole card, and so does its focus ring.
STYLE = """
[class*=st-key-home_card_] { position: relative; }
[class*=st-key-home_card_] :is(div, a) { position: static; }
[class*=st-key-home_card_] [data-testid=stPageLink] a::after { content: ''; position: absolute; inset: 0; z-index: 1; }
[class*=st-key-home_card_] [data-testid=stPageLink] a:focus-visible::after { outline: 3px solid currentColor;
  outline-offset: -3px; border-radius: .5rem; }
"""


def show() -> None:
    """The lessons, the path, then the other pages by group; a slide has none."""
    if style.embedded():
        return
    _lessons()
    path = registry.START_HERE[1:]
    st.header("Start here", anchor=doors.START)
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
