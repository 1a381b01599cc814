"""Figures for papers: what is plotted stands in the source, names are text, sizes are a column's, LaTeX compiles it."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.latex import compiled, harmless
from ui import figures
from ui.chart import Chart
from ui.svg import MM, to_pdf, to_svg
from ui.svg.pgf import to_pgf, writable
from ui.svg.traces import DASHES

X = np.array([0.1, 1.0, np.nan, 10.0, 100.0])
Y = np.array([1e-9, 1 / 3, 0.5, np.nextafter(0.1, 1), 1e-3])
HOSTILE = "\\input{/etc/passwd} 100 % _a_ $x$ #1 & {"


def tables(source: str) -> list[np.ndarray]:
    """The numbers of every plot, a row for a point."""
    found = re.findall(r"table\[row sep=crcr[^\]]*\] \{[^\n]*\n(.*?)\n\}", source, re.DOTALL)
    return [
        np.array([[float(cell) for cell in line.removesuffix(r"\\").split()] for line in table.split("\n")])
        for table in found
    ]


def plain(*traces, **axes) -> Chart:
    """A chart of these with axes from 0 to 4, unless others are told."""
    usual = {"xaxis": figures.axis("x", (0, 4)), "yaxis": figures.axis("y", (0, 4))}
    return figures.figure(traces, **usual | axes)


def every_kind() -> Chart:
    """A chart with a trace of each kind, over two panels."""
    error = {"array": [0.5, 0.1], "arrayminus": [0.1, 0.2]}
    low = {"type": "bar", "yaxis": "y2"}
    traces = [
        figures.series("line ε", X, Y, "glm"),
        figures.series("a ghost", X, Y, "glm", ghost=True),
        figures.band([0.1, 1.0, 10.0], [0.1, 0.2, 0.3], [0.3, 0.5, 0.6], "rdp"),
        figures.series("marked", X, Y, "lower"),
        figures.series("dots", X[:2], Y[:2], "tight", mode="markers", error_y=error),
        figures.series(HOSTILE, X, Y, "selection", mode="lines+markers"),
        {"type": "scatter", "mode": "text", "x": [1.0], "y": [0.5], "text": ["≤ 50 %"], "showlegend": False},
        low | {"name": "bars", "x": [1.0, 2.0], "y": [3.0, 4.0], "marker": {"color": ["#1a80c4", "#d55e00"]}},
        low | {"orientation": "h", "width": 0.5, "x": [3.0], "y": [1.5], "text": ["3"], "showlegend": False},
        low
        | {"type": "heatmap", "x": [1.0, 2.0, 3.0], "y": [0.0, 1.0], "z": [[0.0, 1.0]], "zmin": 0, "zmax": 1}
        | {"colorscale": [[0, "#1a80c4"], [1, "rgba(213,94,0,0.5)"]]}
        | {"colorbar": {"tickvals": [0, 1], "ticktext": ["none", "all"]}},
    ]
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.1, 100), log=True),
        yaxis=figures.axis("slack δ<br>on " + HOSTILE, (1e-10, 1), log=True) | {"domain": [0.5, 1.0]},
        yaxis2=figures.axis("y", (0, 5), tickvals=[0, 5], ticktext=["no<br>one", "all"]) | {"domain": [0.0, 0.4]},
        annotations=[{"text": "τ", "x": 1.0, "y": -3.0, "xanchor": "right", "yanchor": "bottom"}],
    )


def test_the_plotted_numbers_stand_in_it_to_the_last_digit():
    plotted = tables(to_pgf(every_kind()))
    np.testing.assert_array_equal(plotted[0], np.column_stack([X, Y]))
    (errors,) = [table for table in plotted if table.shape[1] == 4]
    np.testing.assert_array_equal(errors[:, 2:], [[0.0, 0.0], [0.1, 0.2]])  # a log axis has no place below zero


def test_bars_stand_at_their_places_and_beside_those_of_another_trace():
    bars = {"type": "bar", "x": [1.0, 2.0], "y": [3.0, 4.0], "marker": {"color": ["#1a80c4", "#d55e00"]}}
    source = to_pgf(plain(bars))
    assert [table.tolist() for table in tables(source)] == [[[1.0, 3.0]], [[2.0, 4.0]]]  # each colour is a plot
    widths = [float(width) for width in re.findall(r"ybar, bar width=([\d.]+),", source)]
    assert widths == pytest.approx([0.8, 0.8])
    pair = tables(to_pgf(plain(bars | {"marker": {}}, bars | {"marker": {}})))
    np.testing.assert_allclose([table[:, 0] for table in pair], [[0.8, 1.8], [1.2, 2.2]])
    flat = {"type": "bar", "orientation": "h", "width": 0.5, "x": [3.0], "y": [1.5]}
    assert [table.tolist() for table in tables(to_pgf(plain(flat)))] == [[[3.0, 1.5]]]
    log = plain(bars, xaxis=figures.axis("x", (1, 100), log=True))
    assert [table.tolist() for table in tables(to_pgf(log))] == [[[1.0, 3.0]], [[2.0, 4.0]]]


def test_what_would_be_too_far_away_for_tex_ends_sooner():
    (table,) = tables(to_pgf(plain(figures.series("a", [0, 4], [0.5, 1e300], "glm"))))
    assert table.tolist() == [[0, 0.5], [4, 84]]


def test_looks_and_axes_are_the_charts():
    source = to_pgf(every_kind())
    assert source.count(r"\begin{axis}") == 3  # two panels and the bar of colours
    assert source.count("mode=log") == 3
    assert "xmin=0.1, xmax=100.0" in source
    role = figures.ROLES["glm"]
    red, green, blue = (int(role.color[place : place + 2], 16) for place in (1, 3, 5))
    assert f"color={{rgb,255:red,{red};green,{green};blue,{blue}}}" in source
    assert source.count("dash pattern=") >= 3
    assert len(DASHES[role.dash].split()) == 2
    assert r"\addlegendentry{line $\varepsilon$}" in source
    assert "a ghost" not in "".join(re.findall(r"\\addlegendentry\{.*", source))
    assert "{no\\\\one}" in source


@pytest.mark.thorough
@given(st.text(max_size=30))
def test_names_are_text(name):
    across = figures.axis(name, (0, 1), tickvals=[0], ticktext=[name])
    source = to_pgf(plain(figures.series(name, [0, 1], [0, 1], "glm"), xaxis=across), title=name)
    for text in re.findall(r"\\addlegendentry\{(.*)\}\n", source):
        harmless(text)
    for line in source.splitlines():
        assert line.count("{") - line.count(r"\{") - line.count("}") + line.count(r"\}") in range(-2, 3)
    assert source.count("{") - source.count(r"\{") == source.count("}") - source.count(r"\}")


def test_a_kind_that_is_not_written_is_refused():
    chart = Chart({"data": [{"type": "pie"}], "layout": {"xaxis": {}, "yaxis": {}}})
    assert not writable(chart)
    with pytest.raises(ValueError, match="chart must have traces of bar, heatmap, scatter only"):
        to_pgf(chart)


@pytest.mark.thorough
@pytest.mark.parametrize("column", [84.0, 174.0])
def test_a_papers_pdf_is_as_wide_as_the_column_and_carries_its_font(column):
    file = to_pdf(every_kind(), title="ε", column=column)
    width = float(re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", file).group(1))
    assert width == pytest.approx(column * MM, abs=0.01)
    assert b"Helvetica" not in file
    assert file.count(b"/FontFile2") == 1


def test_a_bare_drawing_has_no_title_no_background_and_thinner_lines():
    text, page = (
        to_svg(every_kind(), title="What it shows", width=387, height=240, bare=bare) for bare in (True, False)
    )
    assert "#ffffff" in page
    assert "#ffffff" not in text
    assert text.count("What it shows") == page.count("What it shows") - 1

    def widest(drawing):
        return max(float(width) for width in re.findall(r'stroke-width="([\d.]+)"', drawing))

    assert widest(text) < widest(page)


@pytest.mark.slow
def test_pdflatex_compiles_it_as_wide_as_it_says(tmp_path):
    narrow, wide = (to_pgf(every_kind(), title=HOSTILE, column=column) for column in (84, 174))
    log = compiled(f"\\setbox0\\hbox{{{narrow}}}\\message{{WIDTH=\\the\\wd0}}\n\n{wide}", tmp_path)
    assert "Missing character" not in log
    assert "pgfplots Warning" not in log
    assert float(re.search(r"WIDTH=([\d.]+)pt", log).group(1)) == pytest.approx(84 * 72.27 / 25.4, abs=0.1)
