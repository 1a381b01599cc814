"""One picture of a page, whole: its setting, what it answers, its chart, its table, its files, its Python.

    @dataclass(frozen=True)
    class Profile(View):
        epsilon: float
        delta: float

        name = "quadratic_profile"                       # the keys of chart and files begin with it
        title = "δ against ε, three proofs"             # in the list of pictures
        controls = {"epsilon": EPSILON, "delta": DELTA}  # each field's control

        def answer(self) -> str: ...                     # and promise, chart, shows, frame

    Profile.now().show(left)

The reason why the answer moved, the alternative text, the table's files and the Python block follow from these methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import page, sentences, snippets, style
from ui.controls import Control, previous

Course = tuple[str, float, Callable[[float], str]]
"""A number that a change of the setting moves: its name, its value, how a sentence writes it."""


class View(ABC):
    """One picture of a page; a subclass is a frozen dataclass whose fields are the setting."""

    name: ClassVar[str]
    title: ClassVar[str]
    controls: ClassVar[Mapping[str, Control]]
    switches: ClassVar[Mapping[str, Control]] = {}  # fields that a switch in "View" sets
    aside: ClassVar[tuple[Control, ...]] = ()  # those of `controls` that stand in "View", not in sight
    snippet: ClassVar[str] = ""  # a file in the page's folder `snippets`, without its suffix
    snippet_note: ClassVar[str] = ""  # what the lines of Python print, unless it is the numbers on the screen
    named: ClassVar[Mapping[str, str]] = {}  # field or property → its name, where a change of it is worth a sentence

    @classmethod
    def now(cls) -> Self:
        """The view at what its controls are at."""
        return cls(**{name: control.value() for name, control in (*cls.controls.items(), *cls.switches.items())})

    @abstractmethod
    def answer(self) -> str:
        """The answer, at most 18 words."""

    @abstractmethod
    def promise(self) -> str:
        """One line with ε, δ, adjacency and accountant."""

    @abstractmethod
    def chart(self, before: Self | None) -> go.Figure:
        """The chart, with a ghost of the setting before."""

    @abstractmethod
    def shows(self) -> str:
        """What the chart shows, in words: the alternative text after the answer."""

    def note(self) -> str:
        """The caption under the chart."""
        return ""

    def remarks(self) -> Sequence[str]:
        """What must be said before the caption."""
        return ()

    def table(self) -> Sequence[Mapping[str, str]]:
        """The table."""
        return ()

    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """The plotted numbers without rounding."""

    def courses(self) -> Sequence[Course]:
        """The numbers whose course explains a change of the setting."""
        return ()

    def blanks(self) -> Mapping[str, Any]:
        """What fills the snippet's placeholders; the fields, unless a view says more."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    # --- what follows from these ---

    def moved(self, before: Self | None) -> str:
        """What was changed since `before`, and where the numbers went; empty where nothing worth a sentence changed."""
        if before is None or not (changes := sentences.changed(before, self, self.named)):
            return ""
        courses = zip(before.courses(), self.courses(), strict=True)
        went = [sentences.course(name, old, new, write) for (name, old, write), (_, new, _) in courses]
        return f"{sentences.shift(changes)}: {', '.join(went)}."

    def alt(self) -> str:
        """The alternative text."""
        return f"{self.answer()} {self.shows()}"

    def code(self) -> str:
        """The lines of Python that print the numbers; empty where there are none."""
        return snippets.filled(self.name.partition("_")[0], self.snippet, self.blanks()) if self.snippet else ""

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        """Draw the picture into `left`, and what stands below it; a slide has the picture only."""
        before = previous(self.name, self)
        picture = page.Picture(self.chart(before if ghost else None), self.alt(), self.frame)
        with left:
            page.answer(self.answer(), promise=self.promise(), why=self.moved(before))
            page.show(picture, key=f"{self.name}_chart")
        if style.embedded():
            return
        for remark in self.remarks():
            st.info(remark, icon=":material/info:")
        if note := self.note():
            st.caption(note)
        page.evidence(picture, self.table(), name=self.name, code=self.code(), note=self.snippet_note)
