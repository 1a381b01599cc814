"""The Rényi page in a browser: its link, its button that moves sliders, and both charts on a telephone."""

import pytest

from tests.browser.conftest import chart_data, settle
from tests.browser.test_pages_browser import query

pytestmark = pytest.mark.browser


def test_matching_moves_the_sliders_and_the_link_shows_the_same_elsewhere(open_page, chromium):
    page = open_page("/renyi?renyi_steps=1000&renyi_epsilon=0.5")
    page.wait_for_selector(".st-key-renyi_promises .plot-container")
    page.get_by_role("button", name="Match both at (0.5, 10⁻⁵)").click()
    page.wait_for_url("**renyi_noise=**")
    settle(page)
    page.wait_for_function("document.querySelector('.answer').innerText.includes('about the same')")
    moved = query(page)
    assert {"renyi_sigma", "renyi_lambda", "renyi_noise", "renyi_steps", "renyi_epsilon"} == set(moved)
    page.get_by_role("button", name="Copy link").click()
    link = page.locator("[data-testid=stPopoverBody] code").inner_text()
    stranger = chromium.new_context(viewport={"width": 420, "height": 900})
    other = open_page(link, within=stranger)
    for key, curves in (("renyi_chart", 5), ("renyi_promises", 4)):
        received = chart_data(other, key)
        assert received == chart_data(page, key)
        assert len(received) >= curves
    assert other.locator(".answer").inner_text() == page.locator(".answer").inner_text()
    stranger.close()


def test_presets_keyboard_and_nonsense(open_page):
    page = open_page("/renyi?renyi_q=banana&renyi_noise=1e999&renyi_bound=%00")
    assert not query(page)
    assert page.locator("[data-testid=stException]").count() == 0
    before = chart_data(page, "renyi_chart")
    page.get_by_role("button", name="Logistic loss").click()
    page.wait_for_url("**renyi_bound=**")
    settle(page)
    page.locator(".st-key-renyi_noise input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**renyi_noise=2.**")
    settle(page)
    after = chart_data(page, "renyi_chart")
    assert after["Objective perturbation"] != before["Objective perturbation"]
    assert after["Gaussian mechanism"] == before["Gaussian mechanism"]
    assert page.get_by_role("figure", name="Rényi divergence").count() == 1


def test_nothing_sticks_out_on_a_phone_and_the_legends_are_free(chromium, open_page):
    phone = chromium.new_context(viewport={"width": 420, "height": 900}, color_scheme="dark")
    page = open_page("/renyi", within=phone)
    page.wait_for_selector(".st-key-renyi_promises .legendtext")
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    wide = page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stMain] :is(h1, p, button, input, .js-plotly-plot)')]
            .filter(e => e.offsetParent && e.getBoundingClientRect().right > 421).map(e => e.outerHTML.slice(0, 200))"""
    )
    assert wide == []
    overlaps = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot')].filter(plot => {
            const legend = plot.querySelector('.legend').getBoundingClientRect();
            const drawn = plot.querySelector('.nsewdrag').getBoundingClientRect();
            return legend.bottom > drawn.top + 1;
        }).length"""
    )
    phone.close()
    assert overlaps == 0
