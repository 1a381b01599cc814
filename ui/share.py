"""What a page gives to others: its link, the same picture as a slide, a code for telephones, a worksheet, a room.

    share.button(CONTROLS)

Everything is made when the button is pressed, by a rerun of its own: a control in another fragment may have moved
since this place was drawn.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

import streamlit as st

from ui import cite, room
from ui.controls import Control
from ui.qr import qr_image
from ui.shared_file import UnusableFileError
from ui.votes import RoomError


def link(controls: Iterable[Control], *, slide: bool = False, alone: bool = False) -> str:
    """The address that shows this page at its present setting, in the room that this session is in.

    It names what is not at its default. One for paper leads into no room (`alone`). None holds the key of a room.
    """
    values = [(control, control.value()) for control in controls]
    named = [(c.key, c.encode(value)) for c, value in values if c.encode(value) != c.encode(c.default)]
    if (here := room.here()) and not alone:
        named.insert(0, ("room", here.name))
    return room.page_address([("embed", "true"), *named] if slide else named)


def button(controls: Iterable[Control], make_sheet: Callable[[str, bool], bytes] | None = None) -> None:
    """The button "Share": links that name the controls, and the page's worksheet where one can be made."""
    st.fragment(_button)(tuple(controls), make_sheet)


def _button(controls: tuple[Control, ...], make_sheet: Callable[[str, bool], bytes] | None) -> None:
    shown = st.popover("Share", icon=":material/share:", key=f"{controls[0].key}__link", on_change="rerun")
    if not shown.open:
        return
    here, address = room.here(), link(controls)
    with shown:
        if not here:
            _room()
        with suppress(ValueError):  # a link of several thousand characters: no code holds it
            st.html(qr_image(address))
        st.caption(
            f"This address leads into room **{here.name}**, to the same picture."
            if here
            else "This address shows the same picture on another computer."
        )
        st.code(address, language=None, wrap_lines=True)
        st.caption(
            "The same picture as a slide: answer, chart and main controls. The arrow keys go through the presets."
        )
        st.code(link(controls, slide=True), language=None, wrap_lines=True)
        if make_sheet is not None:
            paper = link(controls, alone=True)
            for label, answers in (("Worksheet to print", False), ("Worksheet with answers", True)):
                made = partial(make_sheet, paper, answers)
                name = f"worksheet{'_answers' if answers else ''}.html"
                st.download_button(label, made, name, "text/html", on_click="ignore", icon=":material/print:")
        with st.expander("Cite the paper and the app", icon=":material/format_quote:"):
            st.code(cite.bibtex(controls[0].key.partition("_")[0]), language=None, wrap_lines=True)


def _room() -> None:
    """The button that opens a room, for who is in none."""
    pressed = st.button("Open a room", key="room__open", icon=":material/groups:", type="primary")
    st.caption("A room counts the answers of a class for three hours. Nobody is asked for a name.")
    if st.get_option("browser.gatherUsageStats"):  # a host may force it: docs/deploying.md
        st.caption(
            "This host sends addresses to Streamlit’s statistics, and these addresses would contain the "
            "room’s name and key."
        )
    if pressed:
        try:
            room.open_here()
        except (UnusableFileError, RoomError) as error:
            st.error(str(error), icon=":material/error:")
            return
        st.rerun()
