"""The SVG writer estimates how wide its texts are; a browser knows."""

import numpy as np
import pytest
from playwright.sync_api import expect

from ui import figures
from ui.svg import to_svg
from ui.svg.text import FONTS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OUTSIDE = """() => {
    const box = document.querySelector('svg').getBoundingClientRect();
    return [...document.querySelectorAll('text')].filter(e => {
        const r = e.getBoundingClientRect();
        return r.left < box.left || r.right > box.right || r.top < box.top || r.bottom > box.bottom;
    }).map(e => e.textContent);
}"""


def test_no_text_is_cut_off(person):
    names = ["marital-status=Married-AF-spouse", "WWWW-MMMM", "education-num"]
    places = figures.axis("which", (2.5, -0.5), tickvals=np.arange(3), ticktext=names, categoryarray=names)
    roles = ("non-private", "published", "tight")
    dots = [figures.series(f"{role} 85.87 %", [1e-12, 1.0], [0, 1], role, mode="markers") for role in roles]
    chart = figures.figure(dots, xaxis=figures.axis("failure δ", (1e-100, 1), log=True), yaxis=places)
    text = to_svg(chart, title="Coefficients on adult-synthetic (stand-in for adult): ε = 1, δ = 10⁻⁵. " * 4)
    for font in (FONTS, "DejaVu Sans"):  # what the reader's machine has, and what PNG and PDF files are written in
        person.set_content('<body style="margin: 20px">' + text.replace(FONTS, font))
        expect(person.locator("svg text").nth(10)).to_be_visible()  # more than ten of them
        assert person.evaluate(OUTSIDE) == [], font
