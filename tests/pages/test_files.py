"""What is under "Files" on every page: which files there are, and that they hold what the page shows."""

import json
from collections import defaultdict

import pandas as pd
import plotly.graph_objects as go
import pytest
import streamlit as st

from objpert_core.tables import to_latex
from tests.pages.apps import open_app, tables
from ui import files, registry

WITHOUT_FILES = {"lessons": "its charts move with a text's sliders"}
PAGES = [entry for entry in registry.PAGES if entry.name not in WITHOUT_FILES]
TABLE = ["Table as Markdown", "Table as LaTeX"]
QUICK = {"training": {"training_data": "breast-cancer", "training_repeats": "2"}}


@pytest.fixture
def offered(monkeypatch):
    """Opens every "Files" and keeps what its buttons would send: button's label → what makes the file, by key."""
    found, where = defaultdict(dict), []

    def box(opens):
        def opened(label, **options):
            if label != "Files":
                return opens(label, **options)
            where.append(options["key"])
            options["key"] += "__open"
            box = st.container(key=options["key"])
            box.open = True
            return box

        return opened

    def button(label, make, filename, *_, **options):
        found[where[-1]][label] = (filename, make, options["key"])

    for opens in ("popover", "expander"):
        monkeypatch.setattr(files.st, opens, box(getattr(st, opens)))
    monkeypatch.setattr(files.st, "download_button", button)
    monkeypatch.setattr(files, "drawable", lambda: True)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_every_picture_and_every_table_has_its_files(entry, offered):
    app = open_app(str(entry.path), **QUICK.get(entry.name, {}))
    shown = [table.to_dict("records") for table in tables(app)]
    written = [made[TABLE[1]][1]().decode() for made in offered.values() if TABLE[1] in made]
    for rows in shown:  # each table of the page is one of the files'
        body = to_latex(rows).partition(r"\toprule")[2]
        assert any(text.partition(r"\toprule")[2].split() == body.split() for text in written), rows[0]
    keys = [key for made in offered.values() for _, _, key in made.values()]
    assert len(keys) == len(set(keys))
    pictures = [key.removesuffix("_files") for key, made in offered.items() if "Numbers as CSV" in made]
    drawn = {chart.proto.id.split("-", 2)[2]: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}
    screen = [curves(chart) for key, chart in drawn.items() if not key.endswith("_printed")]
    assert [key for key in drawn if key.endswith("_printed")] == [f"{name}_printed" for name in pictures]
    for name in pictures:
        assert "Figure as PDF" in offered[f"{name}_files"]
        printed = go.Figure(drawn[f"{name}_printed"])  # plotly takes it
        assert printed.layout.paper_bgcolor == "#ffffff"
        assert curves(drawn[f"{name}_printed"]) in screen


def curves(spec):
    """The points of every trace."""
    return [{key: trace.get(key) for key in ("x", "y", "z")} for trace in spec["data"]]


def test_no_cell_of_a_file_for_a_spreadsheet_is_a_formula():
    frame = pd.DataFrame({"=name": ["=1+1", "-2+3+cmd|' /C calc'!A0", "-2", None], "number": [-1.5, 2.0, 3.0, 4.0]})
    lines = files._csv(lambda: frame).decode().splitlines()
    assert lines == ["'=name,number", "'=1+1,-1.5", "'-2+3+cmd|' /C calc'!A0,2", "-2,3", ",4"]
