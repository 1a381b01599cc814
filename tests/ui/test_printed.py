"""Figures for files: what of them is the page's, what is the paper's, and who draws a PDF."""

import re
import sys
from types import ModuleType

import numpy as np
import plotly.io
import pytest
import segno

from ui import figures, printed
from ui.page import Prediction
from ui.qr import qr_svg
from ui.worksheet import Sheet, Task, worksheet

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


# Worksheets and QR codes: complete, escaped, and silent about the answers until they are asked for


LINK = "https://host.example/bounds?bounds_sigma=10&bounds_lam=0.9"
ASKED = Prediction(
    "what does a bend do?",
    "How far from θ*, and is θ* < 1 at *n = d*?",
    ("Far.", "Not **at all**."),
    1,
    "Since $f_C$ is `flat`.\n\nPress *Figure 2*.",
)
SHEET = Sheet("Bo&nds", "How much <privacy>?", "A *tilt*.", LINK, (ASKED,), (Task("λ < β", "Both & more"),), "T1.")


@pytest.mark.thorough
@pytest.mark.parametrize("link", [LINK, LINK + "&more=" + "x" * 700])
def test_a_code_is_the_links_own_black_on_white(link):
    drawing = qr_svg(link)
    expected = np.array(segno.make_qr(link, error="L").matrix)
    size = len(expected) + 8  # four modules of white on every side
    assert f'viewBox="0 0 {size} {size}"' in drawing
    assert 'role="img" aria-label="QR code of this link"' in drawing
    assert f'fill="#fff" d="M0 0h{size}v{size}h-{size}z"' in drawing
    black, x, y = np.zeros((size, size)), 0, 0.0
    for move, across, down in re.findall(
        r"([Mmh])(-?\d+)(?: (-?[\d.]+))?", re.search('stroke="#000" d="(.*?)"', drawing)[1]
    ):
        if move == "h":
            black[int(y), x : x + int(across)] = 1
        x, y = (0, 0.0) if move == "M" else (x, y)
        x, y = x + int(across), y + float(down or 0)
    np.testing.assert_array_equal(black, np.pad(expected, 4))


def test_a_link_that_no_code_holds_is_refused():
    with pytest.raises(ValueError, match="too large"):
        qr_svg("https://host.example/" + "x" * 3000)


def test_a_sheet_says_everything_and_escapes_it():
    text = worksheet(SHEET).decode()
    assert "<title>Bo&amp;nds: How much &lt;privacy&gt;?</title>" in text
    assert "A <em>tilt</em>." in text
    assert "open https://host.example/bounds?bounds_sigma=10&amp;bounds_lam=0.9</p>" in text
    assert qr_svg(LINK) in text
    assert "<p>How far from θ*, and is θ* &lt; 1 at <em>n\xa0=\xa0d</em>?</p>" in text
    assert "<li>Far.</li><li>Not <strong>at all</strong>.</li>" in text
    assert "λ &lt; β<small>Both &amp; more</small></th><td></td><td></td><td></td></tr>" in text
    assert "<footer>T1.</footer>" in text


def test_only_the_teachers_sheet_has_the_answers():
    told = (
        "<p><strong>Not <strong>at all</strong>.</strong></p><p>Since <em>f<sub>C</sub></em> is <code>flat</code>.</p>"
    )
    assert told + "<p>Press <em>Figure 2</em>.</p>" in worksheet(SHEET, answers=True).decode()
    for word in ("Since", "Figure 2", "teacher</h2>"):
        assert word not in worksheet(SHEET).decode()


def test_a_sheet_leaves_out_what_there_is_not():
    text = worksheet(Sheet("Bounds", "How much?", "A tilt.", LINK)).decode()
    for part in ("<table>", "<footer>", "Before you look", "teacher</h2>"):
        assert part not in text
