"""The SVG writer estimates how wide its texts are; a browser knows."""

import numpy as np
import pytest
from playwright.sync_api import expect

from ui import figures
from ui.svg import to_svg

pytestmark = pytest.mark.browser

OUTSIDE = """() => {
    const box = document.querySelector('svg').getBoundingClientRect();
    return [...document.querySelectorAll('text')].filter(e => {
        const r = e.getBoundingClientRect();
        return r.left < box.left || r.right > box.right || r.top < box.top || r.bottom > box.bottom;
    }).map(e => e.textContent);
}"""


@pytest.mark.parametrize("font", ["Helvetica, Arial, sans-serif", "DejaVu Sans"])
def test_no_text_is_cut_off(context, font):
    names = ["marital-status=Married-AF-spouse", "WWWW-MMMM", "education-num"]
    places = figures.axis("which", (2.5, -0.5), tickvals=np.arange(3), ticktext=names, categoryarray=names)
    roles = ("non-private", "published", "tight")
    dots = [figures.series(f"{role} 85.87 %", [1e-12, 1.0], [0, 1], role, mode="markers") for role in roles]
    chart = figures.figure(dots, xaxis=figures.axis("failure δ", (1e-100, 1), log=True), yaxis=places)
    text = to_svg(chart, title="Coefficients on adult-synthetic (stand-in for adult): ε = 1, δ = 10⁻⁵. " * 4)
    page = context.new_page()
    page.set_content('<body style="margin: 20px">' + text.replace("Helvetica, Arial, sans-serif", font))
    expect(page.locator("svg text").nth(10)).to_be_visible()  # more than ten of them
    assert page.evaluate(OUTSIDE) == []
