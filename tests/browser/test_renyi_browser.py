"""The Rényi page in a browser: its link, its button that moves sliders, its presets and the keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, copied_link, eventually, expect_same, move, query, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_matching_moves_the_sliders_and_the_link_shows_the_same_elsewhere(open_page, open_elsewhere):
    page = open_page("/renyi?renyi_steps=1000&renyi_epsilon=0.5")
    page.wait_for_selector(".st-key-renyi_promises .plot-container")
    page.get_by_role("button", name="Match both at (0.5, 10⁻⁵)").click()
    page.wait_for_url("**renyi_noise=**")
    settle(page)
    expect(answer(page)).to_contain_text("about the same")
    moved = query(page)
    assert {"renyi_sigma", "renyi_lambda", "renyi_noise", "renyi_steps", "renyi_epsilon"} == set(moved)
    other = open_elsewhere(copied_link(page))
    expect_same(other, page, "renyi_chart", "renyi_promises")
    for key, curves in (("renyi_chart", 5), ("renyi_promises", 4)):
        assert len(chart_data(other, key)) >= curves


def test_presets_and_keyboard(open_page):
    page = open_page("/renyi")
    before = chart_data(page, "renyi_chart")
    page.get_by_role("button", name="A tight proof is free").click()
    page.wait_for_url("**renyi_bound=**")
    settle(page)
    move(page, "renyi_noise", "ArrowRight", "renyi_noise=2.")

    def check():
        after = chart_data(page, "renyi_chart")
        assert after["One fit"] != before["One fit"]
        assert after["Gaussian"] == before["Gaussian"]

    eventually(page, check)
    expect(page.get_by_role("figure", name="Rényi divergence")).to_have_count(1)
