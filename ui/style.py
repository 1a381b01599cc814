"""The look of a page: one style sheet for the desk and the phone, one more for slides; they stand in style.css.

A page's stage is what its fragment redraws: the picture, which is the answer and one chart, and the panel, which is the
controls. On a phone the picture stays in sight while the controls below it move. A page opened with ``?embed=true`` is
a slide: the stage fills the window and nothing else is seen, so that no scroll bar is needed at any size.

`ui.page` names the containers: ``stage__picture`` and ``stage__panel``, and a chart's container ends in ``__chart``.
"""

import re
from pathlib import Path

import streamlit as st

from ui import figures

SLIDE_CONTROLS = 3
"""How many controls a slide shows: the first ones of the panel. The others keep their values and their address."""

_INSIDE = ":is([data-testid=stElementContainer], [data-testid=stFullScreenFrame], [data-testid=stPlotlyChart])"
_WORDS = {
    "FILLED": f"[class*='__chart'] {_INSIDE}, [class*='__chart'] .js-plotly-plot",
    "GROUND": "light-dark(#ffffff, #171614)",  # the theme's backgrounds
    "SEEN": ':not([class*="_unseen"], :has([class*="_unseen"]))',
    "STAGE": "[data-testid=stHorizontalBlock]:has(> [data-testid=stColumn] .st-key-stage__picture)",
    "COLUMN": "[data-testid=stColumn]:has(.st-key-stage__picture .js-plotly-plot)",
    "FIRST_UNSEEN": str(SLIDE_CONTROLS + 1),
    "GREY": figures.GREY,
    "GREEN": figures.GREEN,
}
_SHEET = re.sub(r"\b[A-Z_]{4,}\b", lambda word: _WORDS[word[0]], Path(__file__).with_suffix(".css").read_text("utf-8"))
_SHEETS = dict(re.findall(r"/\* === (\w+)[^=]* === \*/(\n.*?)(?=/\* ===|\Z)", _SHEET, re.DOTALL))

# On a phone Streamlit opens the menu over the page, leaves it open when a page is chosen, and remembers that.
# The page's name makes the script another one on every page, and so the browser runs it again.
_CLOSE_MENU = """<script>/* PAGE */{
const close = (frames) => {
  if (innerWidth > 768) return;
  const menu = document.querySelector('[data-testid=stSidebar]');
  const button = menu && menu.querySelector('[data-testid=stSidebarCollapseButton] button');
  if (button && menu.dataset.collapsed === 'false') button.click();
  else if (!menu && frames) requestAnimationFrame(() => close(frames - 1));
};
close(120);
}</script>"""


def sheet(*names: str) -> str:
    """These parts of style.css, as HTML."""
    return f"<style>{''.join(_SHEETS[name] for name in names)}</style>"


def embedded() -> bool:
    """Whether the page is shown as a slide, opened with ``?embed=true``."""
    return bool(st.context.is_embedded)


def fill() -> None:
    """Let the stage's chart end where the window does; a slide's does so anyway."""
    if not embedded():
        st.html(sheet("desk"))


def on_phone() -> bool:
    """Whether the browser says that it is a telephone's."""
    return "Mobi" in st.context.headers.get("User-Agent", "")


def apply(page: str) -> None:
    """Put the style sheet into the page of that name or question, and close the menu that led there on a phone."""
    st.html(sheet("everywhere", "phone", *(["slide"] if embedded() else [])))
    with st.container(key="menu_unseen"):
        st.html(_CLOSE_MENU.replace("PAGE", re.sub(r"\W", " ", page)), unsafe_allow_javascript=True)
