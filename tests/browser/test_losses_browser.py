"""Losses and clipping as a browser shows it: presets change the view and the address, links show the same picture."""

from urllib.parse import quote

import pytest

from tests.browser.conftest import answer, chart_data, settle

pytestmark = pytest.mark.browser


def test_a_preset_moves_to_another_view_and_its_link_shows_the_same_fits(open_page, open_elsewhere):
    page = open_page("/losses")
    assert chart_data(page, "losses_chart")["kinks"][0] == [-1, 1]
    page.get_by_role("button", name="Clipping against outliers").click()
    page.wait_for_selector(".st-key-losses_fits .js-plotly-plot .plot-container")
    settle(page)
    sent = chart_data(page, "losses_fits")
    assert {"rows", "private fits", "not clipped, no noise", "clipped at C, no noise"} <= set(sent)
    other = open_elsewhere(page.url, color_scheme="dark")
    assert chart_data(other, "losses_fits") == sent
    assert answer(other) == answer(page)
    assert other.evaluate("document.documentElement.scrollWidth") <= 420


def test_the_slider_of_the_dimension_view_works_by_keyboard(open_page):
    page = open_page("/losses?losses_show=" + quote("Without GLM structure"))
    before = page.locator(".answer").inner_text()
    page.locator(".st-key-losses_d input[type=range]").press("ArrowRight")
    page.wait_for_url("**losses_d=200**")
    settle(page)
    assert "for 200" in page.locator(".answer").inner_text() != before
