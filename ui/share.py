"""What a page gives to others: its link, the same picture as a slide, a code for telephones, a worksheet.

    share.button(CONTROLS)

Everything is made when the button is pressed, by a rerun of its own: a control in another fragment may have moved
since this place was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from ui.controls import Control
from ui.qr import qr_image


def link(controls: Iterable[Control], *, slide: bool = False, brief: bool = False) -> str:
    """The address that shows this page at its present setting.

    Every control is named, defaults included, so that the link outlives a change of them; a `brief` one, for a code to
    scan and for paper, leaves defaults out.
    """
    values = [(control, control.value()) for control in controls]
    named = [(c.key, c.encode(value)) for c, value in values if not (brief and value == c.default)]
    query = urlencode([("embed", "true"), *named] if slide else named, doseq=True)
    return f"{(st.context.url or '').rstrip('/')}{'?' if query else ''}{query}"


def button(controls: Iterable[Control], make_sheet: Callable[[str, bool], bytes] | None = None) -> None:
    """The button "Share".

    Parameters
    ----------
    controls : iterable of Control
        What the link names.
    make_sheet : callable, optional
        Makes the page's worksheet from a link, with the teacher's answers or without.
    """
    st.fragment(_button)(tuple(controls), make_sheet)


def _button(controls: tuple[Control, ...], make_sheet: Callable[[str, bool], bytes] | None) -> None:
    shown = st.popover("Share", icon=":material/share:", key=f"{controls[0].key}__link", on_change="rerun")
    if not shown.open:
        return
    address, slide, short = link(controls), link(controls, slide=True), link(controls, brief=True)
    with shown:
        with suppress(ValueError):  # a link of several thousand characters: no code holds it
            st.html(qr_image(short))
        st.caption("This address shows the same picture on another computer.")
        st.code(address, language=None, wrap_lines=True)
        st.caption("The same as a slide: answer, chart and main controls. The arrow keys go through the presets.")
        st.code(slide, language=None, wrap_lines=True)
        if make_sheet is not None:
            for label, answers in (("Worksheet to print", False), ("Worksheet with answers", True)):
                made = partial(make_sheet, short, answers)
                name = f"worksheet{'_answers' if answers else ''}.html"
                st.download_button(label, made, name, "text/html", on_click="ignore", icon=":material/print:")
