"""The house style: explicit ranges, theme-neutral text, no two roles told apart by colour alone; quick charts."""

import itertools
import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from tests.plotted import BACKGROUNDS, contrast, decode
from ui import bounds, figures
from ui.chart import FONT, LEAST, Chart, larger, smaller

BOUNDS = tuple(bounds.NAMES)
FITS = ("non-private", "published", "tight")


def test_every_colour_stands_out_on_both_backgrounds():
    for (name, role), back in itertools.product(figures.ROLES.items(), BACKGROUNDS.values()):
        assert contrast(role.color, back) >= 3.0, (name, back)


@pytest.mark.parametrize(
    "group",
    [BOUNDS, FITS, ("without", "with", "noise"), ("glm", "lower", "dpsgd"), ("logistic", "lower", "dpsgd")],
)
def test_roles_on_one_chart_differ_in_colour_dash_and_symbol(group):
    for first, second in itertools.combinations(group, 2):
        a, b = figures.ROLES[first], figures.ROLES[second]
        assert a.color != b.color
        assert a.dash != b.dash
        assert a.symbol != b.symbol


def test_a_role_that_nobody_has_described_gets_a_look_of_its_own():
    spare = figures.look("a bound of tomorrow")
    assert spare not in figures.ROLES.values()
    assert all(contrast(spare.color, back) >= 3.0 for back in BACKGROUNDS.values())
    assert figures.series("A", [1], [1], "a bound of tomorrow")["line"]["color"] == spare.color


def test_figure_keeps_numbers_ranges_and_transparency():
    x, y = np.linspace(0, 2, 5), np.array([1.0, 1e-2, 1e-4, np.nan, 1e-9])
    chart = figures.figure(
        [
            figures.series("A", x, y, "logistic", hover="%{y}"),
            figures.series("A, before", x, y, "logistic", ghost=True),
        ],
        xaxis=figures.axis("ε", (0, 2)),
        yaxis=figures.axis("δ", (1e-10, 1), log=True),
    )
    assert isinstance(chart, go.Figure)
    np.testing.assert_array_equal(decode(chart.data[0].y), y)
    assert tuple(chart.layout.xaxis.range) == (0, 2)
    assert tuple(chart.layout.yaxis.range) == pytest.approx((-10, 0))
    assert chart.layout.paper_bgcolor == chart.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert chart.layout.font.color is None  # the theme's
    shown, ghost = chart.data
    assert ghost.opacity == figures.GHOST_OPACITY
    assert ghost.showlegend is False
    assert ghost.hoverinfo == "skip"
    assert ghost.line.color == shown.line.color
    assert ghost.line.width < shown.line.width
    assert shown.hovertemplate.endswith("<extra>A</extra>")


def test_band_runs_there_and_back():
    trace = figures.band([1, 2], [0.1, 0.2], [0.3, 0.4], "tight")
    assert trace["x"].tolist() == [1, 2, 2, 1]
    assert trace["y"].tolist() == [0.3, 0.4, 0.2, 0.1]
    assert trace["fillcolor"] == "rgba(213,94,0,0.2)"


@pytest.mark.parametrize(("low", "dtick"), [(1e-4, 1), (1e-10, 2), (1e-100, 13)])
def test_log_axis_has_at_most_nine_ticks(low, dtick):
    assert figures.axis("δ", (low, 1.0), log=True)["dtick"] == dtick


def test_no_single_grey_is_readable_text_in_both_themes():
    """Why `ui.page` lets a chart's text follow the theme instead of giving it a colour of its own."""
    greys = [f"#{level:02x}{level:02x}{level:02x}" for level in range(256)]
    assert max(min(contrast(grey, back) for back in BACKGROUNDS.values()) for grey in greys) < 4.5


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
