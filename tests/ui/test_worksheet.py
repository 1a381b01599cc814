"""Worksheets and QR codes: complete, escaped, and silent about the answers until they are asked for."""

import re

import numpy as np
import pytest
import segno

from ui.page import Prediction
from ui.qr import qr_svg
from ui.worksheet import Sheet, Task, worksheet

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
