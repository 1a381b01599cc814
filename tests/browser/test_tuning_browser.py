"""The tuning page in a real browser: link, keyboard, lazy calibration, the way on."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, expect_query, expect_same, move, settle, visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.exhaustive
def test_a_link_shows_the_same_picture_in_another_browser(open_page, open_elsewhere):
    page = open_page("/tuning")
    expect(page.get_by_role("heading", level=1)).to_have_text("What does trying ten settings cost?")
    expect(answer(page)).to_contain_text("Ignoring the ten trials reports ε = 1")
    page.get_by_role("button", name="A wider K costs less").click()
    page.wait_for_url("**tuning_k=geometric**")
    settle(page)
    expect_query(page, {"tuning_k": "geometric", "tuning_more": "0.5"})
    assert len(chart_data(page, "tuning_chart")) == 4
    expect_same(open_elsewhere(page.url), page, "tuning_chart", "tuning_runs")


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
