"""What a page gives to others: its link, the same picture as a slide, a code for telephones, a worksheet.

    share.button(CONTROLS, PRESETS, name="bounds")

Everything is made when the button is pressed, by a rerun of its own: a control in another fragment may have moved
since this place was drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

import streamlit as st

from ui.controls import Control, Preset


def link(controls: Iterable[Control], *, slide: bool = False) -> str:
    """The address that shows this page at its present setting: every control is named, defaults included."""
    named = [(control.key, control.encode(control.value())) for control in controls]
    query = urlencode([("embed", "true"), *named] if slide else named, doseq=True)
    return f"{(st.context.url or '').rstrip('/')}?{query}"


def button(controls: Iterable[Control], presets: Sequence[Preset] = (), *, name: str = "") -> None:
    """The button "Share"; `name` is the page's, for its worksheet."""
    st.fragment(_button)(tuple(controls), tuple(presets), name)


def _button(controls: tuple[Control, ...], presets: tuple[Preset, ...], name: str) -> None:
    shown = st.popover("Share", icon=":material/share:", key=f"{controls[0].key}__link", on_change="rerun")
    if not shown.open:
        return
    with shown:
        st.caption("This address shows the same picture on another computer.")
        st.code(link(controls), language=None, wrap_lines=True)
        st.caption("The same as a slide: answer, chart and main controls. The arrow keys go through the presets.")
        st.code(link(controls, slide=True), language=None, wrap_lines=True)
