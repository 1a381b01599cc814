"""A chart that is not validated sends what a validated one would."""

import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from ui.chart import FONT, LEAST, Chart, larger, smaller

SPEC = {
    "data": [
        {"type": "scatter", "x": np.array([0.0, 1.0]), "y": np.array([1.0, np.nan]), "line": {"dash": "dot"}},
        {"type": "scatter", "x": [1.5], "y": ("one",), "hoverinfo": None},
        {"type": "heatmap", "z": np.eye(2)[:, ::-1], "x": np.array(["a", "b"]), "y": np.array([])},
    ],
    "layout": {"xaxis": {"range": (0.0, 2.0), "title": {"text": "ε"}}, "height": 300},
    "frames": [{"name": "1", "data": [{"type": "scatter", "x": np.array([2.0]), "y": np.array([3.0])}]}],
}


def test_the_browser_gets_what_a_validated_figure_sends():
    chart = Chart(SPEC)
    sent = chart.to_dict()
    sent["layout"]["height"] = 20
    assert json.loads(plotly.io.to_json(chart, validate=False)) == json.loads(plotly.io.to_json(go.Figure(SPEC)))


def test_who_looks_inside_gets_the_validated_figure():
    chart = Chart(SPEC)
    assert chart.data[0].line.dash == "dot"
    assert chart.to_dict()["layout"]["height"] == 300
    with pytest.raises(AttributeError):
        chart.no_such_thing  # noqa: B018
    with pytest.raises(ValueError, match="colour"):
        _ = Chart({"data": [{"type": "scatter", "line": {"colour": "red"}}], "layout": {}}).data


def test_a_telephones_legend_has_two_columns_where_its_names_are_short():
    def legend(*names):
        traces = [{"type": "scatter", "x": [0.0], "y": [0.0], "name": name} for name in names]
        given = Chart({"data": traces, "layout": {"legend": {"orientation": "h"}, "xaxis": {}, "yaxis": {}}})
        return smaller(given).to_dict()["layout"]["legend"]

    short = ["Rényi", "Hockey-stick", "Gaussian lower bound"]
    assert legend(*short)["entrywidth"] == 0.5
    assert legend(*short)["orientation"] == "h"
    assert legend(*short)["x"] < 0  # it begins beside the axis: the whole picture is its width
    assert "entrywidth" not in legend(*short[:2])
    assert "entrywidth" not in legend(*short, "a name that has no room in half of a telephone")


def test_a_slides_legend_has_smaller_letters_only_where_they_bring_two_columns():
    def letters(*lengths):
        traces = [{"type": "scatter", "x": [0.0], "y": [0.0], "name": length * "a"} for length in lengths]
        return larger(Chart({"data": traces, "layout": {}})).to_dict()["layout"]["legend"]["font"]["size"]

    assert letters(40, 4, 4) == letters(4, 4, 4) == FONT - 2
    assert LEAST <= letters(33, 4, 4, 4, 4) < letters(20, 4, 4, 4, 4) == letters(60, 4, 4, 4, 4) == FONT - 4
