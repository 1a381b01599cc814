"""The figures and tables of a paper are made by a command each."""

import re

import numpy as np
import pytest

import ui.figures
from benchmarks import figures
from ui.printed import draw, drawable


@pytest.mark.slow
@pytest.mark.skipif(not drawable(), reason="needs kaleido and a Chromium")
def test_a_thumbnail_has_the_curves_and_no_words():
    x = np.linspace(0, 10, 500)
    traces = [ui.figures.series("Named", x, np.exp(-x), "rdp"), ui.figures.series("Text", [1], [1], "glm", mode="text")]
    axes = {"xaxis": ui.figures.axis("across", (0, 10)), "yaxis": ui.figures.axis("up", (0, 1))}
    small = draw(figures.thumbnail(ui.figures.figure(traces, **axes).to_plotly_json()), "svg").decode()
    assert "<text" not in small
    assert len(small) < 6_000
    assert "stroke: rgb(0, 158, 115)" in small  # the colour of its role


@pytest.mark.slow
@pytest.mark.skipif(not drawable(), reason="needs kaleido and a Chromium")
def test_a_pages_charts_become_files_as_wide_as_the_column(tmp_path, capsys):
    controls = ["bounds_sigma=10", "bounds_lambda=5"]
    figures.main(["paper", "bounds", *controls, "--column", "100", "--out", str(tmp_path)])
    pdf, svg = ((tmp_path / f"bounds-1.{form}").read_bytes() for form in ("pdf", "svg"))
    assert float(re.search(rb"/MediaBox \[0 0 ([\d.]+)", pdf)[1]) == pytest.approx(100 / 25.4 * 72, abs=0.75)
    assert pdf.count(b"/FontFile2") >= 1
    assert b"Our theorem" in svg
    assert "Our theorem 0.341" in capsys.readouterr().out


@pytest.mark.slow
def test_a_control_that_the_page_does_not_have_is_named(capsys):
    for wrong, words in (("distance_sigam=5", "got distance_sigam"), ("sigma", "must be name=value, got 'sigma'")):
        with pytest.raises(SystemExit):
            figures.main(["paper", "distance", wrong])
        assert words in capsys.readouterr().err
