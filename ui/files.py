"""Under "Files": a picture's numbers, its table and the figure itself, for a spreadsheet, for slides, for a paper.

Each file is made when its button is pressed, from the very figure and the very rows that are on the screen. Figures are
written by plotly in the reader's browser, and as PDF by kaleido where it is installed (`ui.printed`).
"""

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from objpert_core.tables import safe_cell, to_latex, to_markdown
from ui import style
from ui.printed import COLUMNS, SCALES, draw, drawable, printed

Rows = Sequence[Mapping[str, str]]
Numbers = pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Of a picture: a table, its columns, or its rows."""

_TYPES = {
    "csv": "text/csv",
    "pdf": "application/pdf",
    "json": "application/json",
    "md": "text/markdown",
    "tex": "application/x-tex",
}


def download(label: str, make: Callable[[], bytes], filename: str, icon: str, *, key: str = "") -> None:
    """A button for a file that is made when it is pressed; its key is the file's name with _ for the dot."""
    mime, key = _TYPES[filename.rpartition(".")[2]], key or filename.replace(".", "_")
    st.download_button(label, make, filename, mime, key=key, on_click="ignore", icon=f":material/{icon}:")


def of_picture(
    numbers: Callable[[], Numbers], figure: go.Figure, rows: Rows = (), *, name: str, title: str, alt: str
) -> None:
    """What opens under a picture. A slide has none.

    The plotted `numbers` are made when their button is pressed; `rows` are the table under the picture and `alt` its
    caption; `title` stands over the figure; the buttons' keys begin with `name`, which the files have, too.
    """
    if style.embedded():
        return
    files = st.expander("Files", icon=":material/download:", key=f"{name}_files", on_change="rerun")
    if not files.open:  # buttons that nobody sees cost a rerun as much as the others
        return
    with files:
        with st.container(horizontal=True, gap="small"):
            download("Numbers as CSV", partial(_csv, numbers), f"{name}.csv", "table")
            if rows:
                _tables(rows, name, alt)
        _figure(figure, name, title)


def _figure(figure: go.Figure, name: str, title: str) -> None:
    """The figure as it will be in the file, under plotly's own button, which has the reader's browser write it."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        column = COLUMNS[st.radio("Figure", list(COLUMNS), key=f"{name}_column", horizontal=True)]
        form = st.radio("File", ("SVG", "PNG"), key=f"{name}_form", horizontal=True)
        made, file = printed(figure, title=title, column=column), name if column is None else f"{name}-{column:g}mm"
        if drawable():
            download("Figure as PDF", partial(draw, made, "pdf"), f"{file}.pdf", "picture_as_pdf", key=f"{name}_pdf")
    st.caption("The camera in the figure’s corner saves it.")
    size = {side: made.to_dict()["layout"][side] for side in ("width", "height")}
    options = {"format": form.lower(), "scale": SCALES[form.lower()], "filename": file, **size}
    config = {"displayModeBar": True, "modeBarButtons": [["toImage"]], "toImageButtonOptions": options}
    st.plotly_chart(made, width=round(size["width"]), theme=None, key=f"{name}_printed", alt=title, config=config)


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


def _csv(numbers: Callable[[], Numbers]) -> bytes:
    buffer = io.StringIO()
    guarded = pd.DataFrame(numbers()).map(_guarded).rename(columns=_guarded)
    guarded.to_csv(buffer, index=False, float_format="%.17g", lineterminator="\n")
    return buffer.getvalue().encode()


def _guarded(value: Any) -> Any:
    return safe_cell(value) if isinstance(value, str) else value
