"""The map over (σ, λ) and the attacker's errors as a browser shows them: drawn, downloaded, sent."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import downloaded, move

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MAP = """key => {
    const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
    const heat = plot._fullData[0], mark = plot._fullData.filter(t => t.mode === 'markers' && !t.meta.ghost)[0];
    return {
        type: heat.type, cells: heat.z.length * heat.z[0].length, text: heat.text[0][0],
        mark: [mark.x[0], mark.y[0]],
        drawn: plot.querySelectorAll('.heatmaplayer image').length,
        bar: [...plot.querySelectorAll('.colorbar .crisp text, .colorbar text')].map(t => t.textContent),
    };
}"""


def test_the_map_is_drawn_its_mark_follows_the_slider_and_its_files_hold_it(open_page):
    page = open_page("/distance")
    expect(page.locator(".st-key-distance_map_logistic .js-plotly-plot .colorbar")).to_have_count(1)
    found = page.evaluate(MAP, "distance_map_logistic")
    assert (found["type"], found["cells"], found["drawn"]) == ("heatmap", 1600, 1)
    assert found["mark"] == [10, 2]
    assert [label for label in found["bar"] if label] == ["exact", "1.01", "1.1", "1.25", "1.5", "2", "5", "none"]
    move(page, "distance_lambda", "ArrowRight", "distance_lambda=2.2")
    page.wait_for_function(
        """() => document.querySelector('.st-key-distance_map_logistic .js-plotly-plot')
            ._fullData.some(t => t.mode === 'markers' && !t.meta.ghost && t.y[0] === 2.2)"""
    )

    page.locator(".st-key-distance-map-glm_files summary").click()
    csv = downloaded(page, page.locator(".st-key-distance-map-glm_csv button"))
    svg = downloaded(page, page.locator(".st-key-distance-map-glm_printed .modebar-btn"))
    rows = csv.path().read_text().splitlines()
    assert csv.suggested_filename == "distance-map-glm.csv"
    assert rows[0] == "sigma,lam,distance"
    assert len(rows) == 1601
    picture = svg.path().read_text()
    assert "nothing proved" in picture
    assert ">1.25</text>" in picture  # the bar of colours
