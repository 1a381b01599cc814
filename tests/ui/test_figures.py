"""The house style: explicit ranges, theme-neutral text, and no two roles told apart by colour alone."""

import itertools

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.plotted import BACKGROUNDS, contrast, decode
from ui import bounds, figures

BOUNDS = tuple(bounds.NAMES)
FITS = ("non-private", "published", "tight")


def test_every_colour_stands_out_on_both_backgrounds():
    for (name, role), back in itertools.product(figures.ROLES.items(), BACKGROUNDS.values()):
        assert contrast(role.color, back) >= 3.0, (name, back)


def test_contrast_is_wcags():
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


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
