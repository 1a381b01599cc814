"""The scaffolding of a page: title, answer, chart, downloads, snippet, prediction, explanation, errors.

    page.title("How much privacy does one fit cost?", "…one line of introduction…")

    @st.fragment                       # controls and chart rerun together, without the rest of the page
    def body():
        with page.errors():            # a ValueError becomes one sentence; the controls above it stay
            ...
            page.answer("One fit costs ε = …", "Someone who is told the model bets at most …")
            page.chart(figure, key="bounds_chart", alt="…the take-away…", filename="bounds")
            page.downloads(frame, figure, filename="bounds", title="…")
            page.reproduce(snippets.bounds(...))
    body()
    page.explain(r"…KaTeX…", reference="Redberg et al. (2023), Theorem 3.1")

Importing this module also warms the process up once (`ui.warm`).
"""

from __future__ import annotations

import html
import io
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from ui import sentences
from ui.controls import Control
from ui.svg import to_svg
from ui.warm import warm_up

warm_up()

_log = logging.getLogger(__name__)

# The answer's size follows the width of the window. The text around a chart takes the page's text colour: Streamlit's
# grey has a contrast of 3.8 : 1 on white, and no single grey reaches 4.5 : 1 on white and on the dark background.
_STYLE = """
<style>
.stMainBlockContainer { padding-top: 3.75rem; padding-bottom: 4rem; }
.answer { font-size: clamp(1.15rem, 0.9rem + 1.1vw, 1.6rem); line-height: 1.35; font-weight: 600;
          margin: 0 0 .35rem 0; }
.answer-more { font-size: 1.02rem; line-height: 1.5; margin: 0 0 .25rem 0; }
[class*="_unseen"] { display: none; }
.js-plotly-plot :is(.cartesianlayer, .infolayer, .menulayer) text { fill: currentColor !important; }
</style>
"""


def title(question: str, lead: str) -> None:
    """The page's question as its heading, one line of introduction under it, and the shared style."""
    st.html(_STYLE)
    st.title(question, anchor=False)
    st.markdown(lead)


def answer(sentence: str, *more: str) -> None:
    """The answer in one large sentence, plain sentences under it; a screen reader announces it when it changes."""
    lines = "".join(f'<p class="answer-more">{_set(line)}</p>' for line in more)
    st.html(f'<div role="status" aria-live="polite"><p class="answer">{_set(sentence)}</p>{lines}</div>')


def _set(line: str) -> str:
    """Text for HTML; an equation, a bet or a ± is not broken across lines."""
    return html.escape(line).replace(" = ", "&nbsp;=&nbsp;").replace(" : ", "&nbsp;:&nbsp;").replace("± ", "±&nbsp;")


def keep(*controls: Control) -> None:
    """Draw controls out of sight where there is nothing for them to move yet: an undrawn one loses its address."""
    with st.container(key=f"{controls[0].key}_unseen"):
        for control in controls:
            control.show()


def visitor(prefix: str) -> str:
    """The name under which this session's jobs on the page `prefix` are queued; the same for as long as it lasts."""
    return st.session_state.setdefault(f"{prefix}__owner", uuid.uuid4().hex)


def under_way(progress: tuple[float, str], *, key: str, stop: Callable[[], None]) -> None:
    """How far a job is, (share done, words), beside the button that stops it."""
    bar, button = st.columns([4, 1], vertical_alignment="bottom")
    bar.progress(*progress)
    button.button("Stop", key=key, icon=":material/stop:", on_click=stop, width="stretch")


def chart(figure: go.Figure, *, key: str, alt: str, filename: str = "") -> None:
    """Show a figure with its alt text.

    Without plotly's toolbar: it covers the legend on a phone and is seven stops for the Tab key; views are controls of
    the page, and `downloads` writes the file. So `filename` has no effect here any more.
    """
    config = {"displayModeBar": False, "responsive": True}
    st.plotly_chart(figure, key=key, alt=alt, config=config)


def downloads(
    frame: pd.DataFrame | Callable[[], pd.DataFrame], figure: go.Figure, *, filename: str, title: str
) -> None:
    """Two buttons: the plotted numbers as CSV and the figure as SVG. Both are made when pressed, not before.

    Args:
        frame: the numbers, or a function that makes them; no index is written.
        figure: what is on the screen.
        filename: name of the files without suffix; also the prefix of the buttons' keys.
        title: the SVG's accessible name.
    """

    def csv() -> bytes:
        table = frame() if callable(frame) else frame
        buffer = io.StringIO()
        table.to_csv(buffer, index=False, float_format="%.17g", lineterminator="\n")
        return buffer.getvalue().encode()

    def svg() -> bytes:
        return to_svg(figure, title=title).encode()

    with st.container(horizontal=True):
        st.download_button(
            "Numbers as CSV",
            csv,
            f"{filename}.csv",
            "text/csv",
            key=f"{filename}_csv",
            on_click="ignore",
            icon=":material/table:",
        )
        st.download_button(
            "Figure as SVG",
            svg,
            f"{filename}.svg",
            "image/svg+xml",
            key=f"{filename}_svg",
            on_click="ignore",
            icon=":material/image:",
        )


def table(rows: Sequence[Mapping[str, str]], *, alt: str | None = None) -> None:
    """A small table of texts, as real HTML rows that a screen reader walks through; wide ones scroll sideways."""
    st.table(pd.DataFrame(rows), hide_index=True, alt=alt, border="horizontal")


def reproduce(code: str, *, note: str = "These lines print the numbers on the screen.") -> None:
    """The "Reproduce in Python" block."""
    with st.expander("Reproduce in Python", icon=":material/code:"):
        st.caption(note)
        st.code(code, language="python")


def try_it(question: str, options: Sequence[str], correct: str, *, key: str) -> bool:
    """Ask for a prediction; say whether it was right, and return True only once one was made.

    The caller draws what reveals the answer when this returns True. The choice stays out of the address, so that a
    shared link does not give the answer away.
    """
    if correct not in options:
        raise ValueError(f"correct must be one of the options, got {correct!r}")
    guess = st.radio(question, options, index=None, key=key)
    if guess is None:
        st.caption("Choose before you look: the answer appears when you have.")
        return False
    if guess == correct:
        st.success(f"Yes: {correct}", icon=":material/check:")
    else:
        st.info(f"Not quite. The answer: {correct}", icon=":material/lightbulb:")
    return True


def text(name: str) -> str:
    """A page's longer text: ``about.md`` in its folder."""
    return (Path(__file__).parents[1] / "pages" / name / "about.md").read_text(encoding="utf-8")


def explain(body: str, *, reference: str, expanded: bool = False) -> None:
    """The "What am I looking at?" section: Markdown with KaTeX formulas, and where it is proved."""
    with st.expander("What am I looking at?", icon=":material/help:", expanded=expanded):
        st.markdown(body)
        st.markdown(f"**Reference.** {reference}")


def see_also(path: str, *, label: str, icon: str) -> None:
    """A link to another page of the app; nothing where a page's file runs by itself, without app.py's menu."""
    with suppress(StreamlitPageNotFoundError):
        st.page_link(path, label=label, icon=icon)


@contextmanager
def errors() -> Iterator[None]:
    """Show a `ValueError` as one sentence where it happened; what was drawn before it stays."""
    try:
        yield
    except ValueError as error:
        _log.info("refused: %s", error)
        st.error(sentences.sentence(str(error)), icon=":material/error:")
