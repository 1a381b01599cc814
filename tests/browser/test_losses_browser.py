"""Losses and clipping as a browser shows it: presets change the view and the address, links show the same picture."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, eventually, expect_same, move, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_preset_moves_to_another_view_and_its_link_shows_the_same_fits(open_page, open_elsewhere):
    page = open_page("/losses")
    assert chart_data(page, "losses_chart")["kinks"][0] == [-1, 1]
    page.get_by_role("button", name="Clipping beats outliers").click()
    expect(page.locator(".st-key-losses_fits .js-plotly-plot .plot-container")).to_be_visible()
    settle(page)

    def check():
        sent = chart_data(page, "losses_fits")
        assert {"rows", "private fits", "not clipped, no noise", "clipped at C, no noise"} <= set(sent)

    eventually(page, check)
    other = open_elsewhere(page.url, color_scheme="dark")
    expect_same(other, page, "losses_fits")
    assert other.evaluate("document.documentElement.scrollWidth") <= 420


def test_the_slider_of_the_dimension_view_works_by_keyboard(open_page):
    page = open_page("/losses?losses_show=" + quote("Without GLM structure"))
    expect(answer(page)).not_to_contain_text("200 parameters")
    move(page, "losses_d", "ArrowRight", "losses_d=200")
    expect(answer(page)).to_contain_text("200 parameters")
