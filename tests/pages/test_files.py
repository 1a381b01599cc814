"""The button "Files" on every page: which files there are, and that they hold what the page shows."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from objpert_core.tables import to_latex
from tests.pages.apps import charts, open_app, tables
from tests.ui.test_pgf import tables as plotted
from ui import files, registry
from ui.svg import decode

WITHOUT_FILES = {"lessons": "its charts move with a text's sliders"}
PAGES = [entry for entry in registry.PAGES if entry.name not in WITHOUT_FILES]
FIGURE = ["Numbers as CSV", "Figure as SVG", "Figure as PNG", "Figure as PDF"]
FIGURE += ["For a paper, PDF", "For a paper, PGFPlots"]
TABLE = ["Table as Markdown", "Table as LaTeX"]
QUICK = {"training": {"training_data": "breast-cancer", "training_repeats": "2"}}


@pytest.fixture
def offered(monkeypatch):
    """Opens every "Files" and keeps what its buttons would send: button's label → what makes the file, by popover."""
    found = defaultdict(dict)
    popover, where = st.popover, []

    def opened(label, **options):
        if label != "Files":
            return popover(label, **options)
        where.append(options["key"])
        options["key"] += "__open"
        box = st.container(key=options["key"])
        box.open = True
        return box

    def button(label, make, filename, *_, **options):
        found[where[-1]][label] = (filename, make, options["key"])

    monkeypatch.setattr(files.st, "popover", opened)
    monkeypatch.setattr(files.st, "download_button", button)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_every_picture_and_every_table_has_its_files(entry, offered):
    app = open_app(str(entry.path), **QUICK.get(entry.name, {}))
    pictures = {key: dict(made) for key, made in offered.items() if "Numbers as CSV" in made}
    shown = [table.to_dict("records") for table in tables(app)]
    for made in pictures.values():
        assert [label for label in made if label in FIGURE] == FIGURE
    written = [made[TABLE[1]][1]().decode() for made in offered.values() if TABLE[1] in made]
    for rows in shown:  # each table of the page is one of the files'
        body = to_latex(rows).partition(r"\toprule")[2]
        assert any(text.partition(r"\toprule")[2].split() == body.split() for text in written), rows[0]
    keys = [key for made in offered.values() for _, _, key in made.values()]
    assert len(keys) == len(set(keys))
    sources = [made[FIGURE[-1]][1]().decode() for made in pictures.values()]
    drawn = [{tuple(row[:2]) for table in plotted(source) for row in table.tolist()} for source in sources]
    for points in drawn:
        assert any(found and all(points >= curve for curve in found) for found in map(curves, charts(app)))


def near(values, axis):
    """Whether all are numbers that the picture does not leave far behind."""
    if values.dtype.kind not in "fiu" or not np.all(np.isfinite(values)):
        return False
    if axis["type"] == "log":
        return bool(np.all(values > 1e-150) and np.all(values < 1e150))
    return bool(np.all(np.abs(values) < 1e6))


def curves(spec):
    """The points of every line and cloud of a chart that has no gaps and stays near."""
    found = []
    for trace in spec["data"]:
        if trace.get("type") == "scatter" and trace.get("mode") != "text":
            data = {key: decode(trace[key]) for key in ("x", "y")}
            if all(near(values, spec["layout"][f"{key}axis"]) for key, values in data.items()):
                found.append(set(zip(*(values.astype(float).tolist() for values in data.values()), strict=True)))
    return found


def test_no_cell_of_a_file_for_a_spreadsheet_is_a_formula():
    frame = pd.DataFrame({"=name": ["=1+1", "-2+3+cmd|' /C calc'!A0", "-2", None], "number": [-1.5, 2.0, 3.0, 4.0]})
    lines = files._csv(lambda: frame).decode().splitlines()
    assert lines == ["'=name,number", "'=1+1,-1.5", "'-2+3+cmd|' /C calc'!A0,2", "-2,3", ",4"]
