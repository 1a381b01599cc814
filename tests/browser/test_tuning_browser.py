"""The tuning page in a real browser: link, keyboard, lazy calibration, the way on."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, expect_query, move, visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_keyboard_moves_the_grid_size_and_what_each_run_must_be_opens(open_page):
    page = open_page("/tuning")
    before = chart_data(page, "tuning_chart")
    move(page, "tuning_settings", "ArrowRight", "tuning_settings=14")
    expect(answer(page)).to_contain_text("Ignoring the 14 trials")
    assert chart_data(page, "tuning_chart") == before
    needs = page.get_by_text("each run needs a noise multiplier")
    expect(needs).to_have_count(0)
    page.get_by_text("What is left for each run?").click()
    expect(needs).to_be_visible()
    expect_query(page, {"tuning_settings": "14", "tuning_afford": "true"})
    visit(page, page.url)  # open from the start where the address says so
    expect(needs).to_have_count(1)
    page.get_by_role("link", name="Live training: what one fit without tuning reaches").click()
    page.wait_for_url("**/training**")
