"""A slide's question: "Ask", or the key ↓, turns from the picture to it, and back.

    slides.button("bounds__try")
    if slides.asking():
        with slides.sheet() as beside:
            answered = page.try_it(…)       # in a room: the number of votes, Reveal, the counts
        with beside:
            slides.code()                   # what the class scans

The address says which of the two is seen (`ASK`), so that a slide that is loaded anew shows the same.
"""

import html
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import room
from ui.qr import qr_image

ASK = "ask"
"""Where the address of a slide says that it shows a question instead of its picture."""


def asking() -> bool:
    """Whether the slide shows its question."""
    return st.query_params.get(ASK) == "true"


def turn() -> None:
    """Turn the slide from its picture to its question, or back."""
    if asking():
        del st.query_params[ASK]
    else:
        st.query_params[ASK] = "true"


def button(key: str) -> None:
    """The button that turns the slide, beside those that go on and back."""
    with st.container(key=f"{key}__ask"):
        st.button("Show" if asking() else "Ask", key=f"{key}__slide", shortcut="Down", on_click=turn)


@contextmanager
def sheet() -> Iterator[DeltaGenerator]:
    """A whole slide of text, drawn inside this block; yields the place beside the text."""
    with st.container(key="slide_sheet"):
        left, beside = st.columns([1.7, 1], gap="medium")
        with left.container(key="slide_text"):
            yield beside.container(key="slide_beside")


def leading_off(title: str) -> str:
    """A slide's title as Markdown that opens its page, with the menu, in another tab."""
    address = _address(name for name in st.query_params if name != ASK)
    return f"[{title}]({address})"


def code() -> None:
    """The address of this room as a code to scan, and to type, with the room's name in large letters; nothing outside a
    room.
    """
    here = room.here()
    if here is None:
        return
    with suppress(ValueError):  # a link of several thousand characters: no code holds it
        st.html(qr_image(_address(name for name in st.query_params if name not in (ASK, "room_key"))))
    typed = _address(["room"]).partition("://")[2]
    st.html(f'<p class="room">Room {html.escape(here.name)}</p><p class="typed">{html.escape(typed)}</p>')


def _address(names: Iterable[str]) -> str:
    """The address of this page with these of its parameters."""
    return room.page_address([(name, st.query_params.get_all(name)) for name in names])
