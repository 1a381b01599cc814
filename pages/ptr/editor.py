"""The twelve values: as text in the address and in a field, and moved one by one with sliders."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import streamlit as st

from ui.controls import Control, TypedText

FEWEST, MOST = 3, 24
_PLACE, _REFUSED = "ptr__place", "ptr__refused"


def parse(text: Any) -> tuple[float, ...]:
    """The values of a text, to three decimals; ValueError where it is no list of numbers from 0 to 1."""
    parts = str(text).replace(";", " ").replace(",", " ").split()
    try:
        values = tuple(round(float(part), 3) for part in parts)
    except ValueError:
        values = ()
    if not FEWEST <= len(values) <= MOST or not all(0 <= value <= 1 for value in values):
        raise ValueError(
            f"values must be {FEWEST} to {MOST} numbers from 0 to 1, such as 0.2, 0.45, 1; got {str(text)[:80]!r}"
        )
    return values


def write(values: tuple[float, ...]) -> str:
    """The one text of these values."""
    return ", ".join(f"{value:g}" for value in values)


@dataclass(frozen=True)
class PointsText(TypedText):
    """The values as text."""

    def parse(self, text: Any) -> tuple[float, ...]:
        return parse(text)

    def offers(self, value: Any) -> bool:
        """Whether it can be read."""
        return self.readable(value)

    def _draw(self, **common: Any) -> str:
        text = super()._draw(max_chars=200, **common)
        if reason := st.session_state.pop(_REFUSED, ""):
            st.caption(reason)
        return text

    def _typed(self) -> None:
        typed = st.session_state[self.key]
        try:
            st.session_state[self.key] = write(parse(typed))
        except ValueError:
            st.session_state[self.key] = st.session_state.get(self.good, self.default)
            st.session_state[_REFUSED] = (
                f"Type {FEWEST} to {MOST} numbers from 0 to 1. The page still uses the old list."
            )


@dataclass(frozen=True)
class Mover(Control):
    """Two sliders: which of the points, the first being the lowest, and where it goes."""

    _: KW_ONLY
    points: PointsText

    def show(self, **look: Any) -> None:
        values = sorted(self.points.parsed())
        held = st.session_state.get(self.key, self.default)
        which = st.session_state[self.key] = min(max(int(held), 1), len(values))
        st.slider(self.label, 1, len(values), key=self.key)
        st.session_state[_PLACE] = values[which - 1]
        st.slider("to", 0.0, 1.0, step=0.01, key=_PLACE, on_change=self._moved)

    def _moved(self) -> None:
        """Write the list with one point elsewhere; the slider stays with that point."""
        values = sorted(self.points.parsed())
        place = round(float(st.session_state[_PLACE]), 3)
        values[int(st.session_state[self.key]) - 1] = place
        values.sort()
        st.session_state[self.key] = values.index(place) + 1
        st.session_state[self.points.key] = write(tuple(values))
