"""The two doors of Home: for who is new to ε, and for who knows the paper."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

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
