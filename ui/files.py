"""The button "Files": a picture's numbers, its table and the figure itself, for a spreadsheet, for slides, for a paper.

Each file is made when its button is pressed, from the very figure and the very rows that are on the screen.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from objpert_core.tables import safe_cell, to_latex, to_markdown
from ui import style
from ui.svg import COLUMNS, to_pdf, to_png, to_svg
from ui.svg.pgf import to_pgf, writable

Rows = Sequence[Mapping[str, str]]

_TYPES = {
    "csv": "text/csv",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "json": "application/json",
    "html": "text/html",
    "md": "text/markdown",
    "tex": "application/x-tex",
}


def download(label: str, make: Callable[[], bytes], filename: str, icon: str, *, key: str = "") -> None:
    """A button for a file that is made when it is pressed; its key is the file's name with _ for the dot."""
    mime, key = _TYPES[filename.rpartition(".")[2]], key or filename.replace(".", "_")
    st.download_button(label, make, filename, mime, key=key, on_click="ignore", icon=f":material/{icon}:")


def of_picture(
    numbers: Callable[[], pd.DataFrame], figure: go.Figure, rows: Rows = (), *, name: str, title: str, alt: str
) -> None:
    """The button under a picture. A slide has none.

    Parameters
    ----------
    numbers : callable
        Makes the plotted numbers; no index is written.
    figure : plotly.graph_objects.Figure
        What is on the screen.
    rows : sequence of mapping
        The table under it, if there is one. The plotted numbers are too many for a paper's table.
    name : str
        Of the files without suffix; also the prefix of the buttons' keys.
    title : str
        The figure's accessible name.
    alt : str
        The table's caption.
    """
    if style.embedded():
        return
    files = st.popover("Files", icon=":material/download:", key=f"{name}_files", on_change="rerun")
    if not files.open:  # buttons that nobody sees cost a rerun as much as the others
        return
    with files:
        with st.container(horizontal=True, gap="small"):
            download("Numbers as CSV", partial(_csv, numbers), f"{name}.csv", "table")
            if rows:
                _tables(rows, name, alt)
        with st.container(horizontal=True, gap="small"):
            download("Figure as SVG", lambda: to_svg(figure, title=title).encode(), f"{name}.svg", "image")
            download("Figure as PNG", lambda: to_png(figure, title=title), f"{name}.png", "photo")
            download("Figure as PDF", lambda: to_pdf(figure, title=title), f"{name}.pdf", "picture_as_pdf")
        _for_a_paper(figure, name, title)


def _for_a_paper(figure: go.Figure, name: str, title: str) -> None:
    """The width of a column, and the figure as wide as that."""
    column = COLUMNS[st.radio("Figure for a paper", list(COLUMNS), key=f"{name}_column", horizontal=True)]
    file = f"{name}-{column:g}mm"
    with st.container(horizontal=True, gap="small"):
        make = partial(to_pdf, figure, title=title, column=column)
        download("For a paper, PDF", make, f"{file}.pdf", "article", key=f"{name}_paper_pdf")
        if writable(figure):
            source = partial(to_pgf, figure, title=title, column=column)
            key = f"{name}_paper_tex"
            download("For a paper, PGFPlots", lambda: source().encode(), f"{file}.tex", "functions", key=key)


def of_table(rows: Rows, *, name: str, alt: str) -> None:
    """The button under a table that has no picture; parameters as for `of_picture`. A slide has none."""
    if style.embedded():
        return
    files = st.popover("Files", icon=":material/download:", key=f"{name}_files", on_change="rerun")
    if files.open:
        with files, st.container(horizontal=True, gap="small"):
            _tables(rows, name, alt)


def _tables(rows: Rows, name: str, alt: str) -> None:
    label = "tab:" + name.encode("ascii", "ignore").decode()
    download("Table as Markdown", lambda: to_markdown(rows, caption=alt).encode(), f"{name}-table.md", "table_rows")
    download(
        "Table as LaTeX", lambda: to_latex(rows, caption=alt, label=label).encode(), f"{name}-table.tex", "table_rows"
    )


def _csv(numbers: Callable[[], pd.DataFrame]) -> bytes:
    buffer = io.StringIO()
    guarded = numbers().map(_guarded).rename(columns=_guarded)
    guarded.to_csv(buffer, index=False, float_format="%.17g", lineterminator="\n")
    return buffer.getvalue().encode()


def _guarded(value: Any) -> Any:
    return safe_cell(value) if isinstance(value, str) else value
