"""The map over (σ, λ) and the attacker's errors as a browser shows them: drawn, readable, inside a narrow screen."""

from itertools import pairwise
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.browser.conftest import chart_data, settle
from tests.browser.test_charts_browser import COLORS, as_hex
from ui.figures import BACKGROUNDS, contrast

pytestmark = pytest.mark.browser

ERRORS = "/bounds?bounds_show=" + quote("Attacker’s errors")
PATHS = ["/distance", ERRORS]
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


def test_the_map_is_drawn_and_the_mark_follows_the_slider(open_page):
    page = open_page("/distance")
    page.wait_for_selector(".st-key-distance_map_logistic .js-plotly-plot .colorbar")
    found = page.evaluate(MAP, "distance_map_logistic")
    assert (found["type"], found["cells"], found["drawn"]) == ("heatmap", 1600, 1)
    assert found["mark"] == [10, 2]
    assert [label for label in found["bar"] if label] == ["exact", "1.01", "1.1", "1.25", "1.5", "2", "5", "none"]
    page.locator(".st-key-distance_lambda input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**distance_lambda=2.2**")
    settle(page)
    page.wait_for_function(
        """() => document.querySelector('.st-key-distance_map_logistic .js-plotly-plot')
            ._fullData.some(t => t.mode === 'markers' && !t.meta.ghost && t.y[0] === 2.2)"""
    )


def test_downloads_of_a_map_hold_its_numbers_and_its_picture(open_page):
    page = open_page("/distance")
    with page.expect_download() as csv:
        page.locator(".st-key-distance-map-glm_csv button").click()
    with page.expect_download() as svg:
        page.locator(".st-key-distance-map-glm_svg button").click()
    rows = csv.value.path().read_text().splitlines()
    assert csv.value.suggested_filename == "distance-map-glm.csv"
    assert rows[0] == "sigma,lam,distance"
    assert len(rows) == 1601
    picture = svg.value.path().read_text()
    assert "nothing proved" in picture
    assert 'class="scale"' in picture


def test_a_link_to_the_errors_shows_them_in_another_browser(open_page, chromium):
    page = open_page("/bounds")
    page.get_by_text("Attacker’s errors", exact=True).first.click()
    settle(page)
    page.get_by_role("button", name="Figure 1 right").click()
    settle(page)
    query = parse_qs(urlsplit(page.url).query)
    assert query["bounds_show"] == ["Attacker’s errors"]
    sent = chart_data(page, "bounds_errors")
    assert len(sent) == 6
    stranger = chromium.new_context(viewport={"width": 420, "height": 900})
    other = open_page(page.url, within=stranger)
    assert chart_data(other, "bounds_errors") == sent
    assert other.locator(".answer").inner_text() == page.locator(".answer").inner_text()
    stranger.close()


@pytest.mark.parametrize("theme", BACKGROUNDS)
@pytest.mark.parametrize("path", PATHS)
def test_every_text_of_the_charts_can_be_read(chromium, open_page, theme, path):
    context = chromium.new_context(color_scheme=theme)
    page = open_page(path, within=context)
    page.wait_for_selector(".js-plotly-plot .legendtext")
    found = page.evaluate(COLORS)
    context.close()
    assert as_hex(found["page"]) == BACKGROUNDS[theme]
    assert len(found["texts"]) > 15
    for text, fill, opacity in found["texts"]:
        assert opacity == "1", text
        assert contrast(as_hex(fill), BACKGROUNDS[theme]) >= 4.5, text


@pytest.mark.parametrize("path", PATHS)
def test_nothing_sticks_out_on_a_phone(chromium, open_page, path):
    phone = chromium.new_context(viewport={"width": 420, "height": 800}, color_scheme="dark")
    page = open_page(path, within=phone)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    wide = page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stMain] :is(h1, p, button, input, .js-plotly-plot)')]
            .filter(e => e.offsetParent && e.getBoundingClientRect().right > 421).map(e => e.outerHTML.slice(0, 200))"""
    )
    labels = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot .colorbar text')].map(t => t.getBoundingClientRect())
            .filter(r => r.width).map(r => [r.left, r.right])"""
    )
    phone.close()
    assert wide == []
    assert all(right <= 420 for _, right in labels)
    # one label ends before the next begins, unless that is the first of the next map
    assert all(right < left or left < first for (first, right), (left, _) in pairwise(labels))
