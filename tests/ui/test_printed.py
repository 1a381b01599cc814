"""Figures for files: what of them is the page's, what is the paper's, and who draws a PDF."""

import re
import sys
from types import ModuleType

import plotly.io
import pytest

from ui import figures, printed

TITLE = "What it shows, in a sentence that is longer than a line of such a figure: ε = 1, δ = 10⁻⁵. " * 2


def picture(legend=True):
    curve = figures.series("Our theorem", [0, 1], [0.5, 1], "tight", mode="lines+markers", error_y={"width": 5})
    axes = {"xaxis": figures.axis("ε", (0, 1)), "yaxis": figures.axis("δ", (1e-4, 1), log=True)}
    return figures.figure([curve], **axes, legend=legend, updatemenus=[{"buttons": []}])


@pytest.mark.parametrize("legend", [True, False])
def test_a_figure_with_its_title_is_the_pages_on_white(legend):
    figure = picture(legend)
    before = plotly.io.to_json(figure)
    made = printed.printed(figure, title=TITLE)
    assert plotly.io.to_json(figure) == before
    title = (made.layout.legend.title if legend else made.layout.title).text
    assert title.replace("<br>", " ") == TITLE.strip()
    assert "<br>" in title
    assert made.to_dict()["data"] == figure.to_dict()["data"]
    assert (made.layout.width, made.layout.paper_bgcolor, len(made.layout.updatemenus)) == (760, "#ffffff", 0)
    assert made.layout.yaxis.range == figure.layout.yaxis.range


@pytest.mark.parametrize(("column", "width"), [(84.0, 317.48), (174.0, 657.64)])
def test_a_papers_figure_is_as_wide_as_the_column_with_text_of_8_points(column, width):
    screen = picture()
    made = printed.printed(screen, title=TITLE, column=column)
    assert (made.layout.width, made.layout.legend.title.text) == (width, "")
    axes = made.layout.xaxis, made.layout.yaxis
    letters = [made.layout.font, made.layout.legend.font, *(axis.tickfont for axis in axes), axes[0].title.font]
    assert {font.size for font in letters} == {8 * 96 / 72}
    (fine,), (bold,) = made.data, screen.data
    assert fine.line.width < bold.line.width
    assert fine.marker.size < bold.marker.size
    assert fine.error_y.width < bold.error_y.width


@pytest.mark.parametrize("form", printed.SCALES)
def test_kaleido_is_told_to_ask_no_other_host(monkeypatch, form):
    asked, kaleido = [], ModuleType("kaleido")
    kaleido.calc_fig_sync = lambda figure, *, opts, kopts: asked.append((opts, kopts)) or b"file"
    monkeypatch.setitem(sys.modules, "kaleido", kaleido)
    assert printed.draw(printed.printed(picture()), form) == b"file"
    assert asked == [
        ({"format": form, "scale": 2 if form == "png" else 1}, {"mathjax": False, "proxy_server": "127.0.0.1:9"})
    ]


@pytest.mark.slow
@pytest.mark.skipif(not printed.drawable(), reason="needs kaleido and a Chromium")
def test_a_pdf_is_as_wide_as_the_column_and_carries_its_font():
    file = printed.draw(printed.printed(picture(), column=84.0), "pdf")
    assert file.startswith(b"%PDF")
    assert float(re.search(rb"/MediaBox \[0 0 ([\d.]+)", file)[1]) == pytest.approx(84 / 25.4 * 72, abs=0.75)
    assert len(re.findall(rb"/Type /Page\b", file)) == 1
    assert b"/FontFile2" in file
