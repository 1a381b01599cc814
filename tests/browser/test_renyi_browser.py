"""The Rényi page in a browser: its link, its button that moves sliders, its presets and the keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import chart_data, eventually, move, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_presets_and_keyboard(open_page):
    page = open_page("/renyi")
    before = chart_data(page, "renyi_chart")
    press(page, "A tight proof is free", "renyi_bound=")
    move(page, "renyi_noise", "ArrowRight", "renyi_noise=2.")

    def check():
        after = chart_data(page, "renyi_chart")
        assert after["One fit"] != before["One fit"]
        assert after["Gaussian"] == before["Gaussian"]

    eventually(page, check)
    expect(page.get_by_role("figure", name="Rényi divergence")).to_have_count(1)
