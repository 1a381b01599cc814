"""The Planner in a real browser: arrow keys move the point, sampling arrives by itself, the link shows the same."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import chart_data, eventually, expect_rest, move

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "/planner?planner_bound=Logistic+(tight)&planner_rows=700&planner_features=5&planner_draws=2"


def test_arrow_keys_move_the_point_along_the_frontier(open_page):
    page = open_page("/planner")
    before = chart_data(page, "planner_frontier")
    for f in ("1.35", "1.4"):
        move(page, "planner_f", "ArrowRight", f"planner_f={f}")
    expect(page.locator(".answer-why")).to_contain_text("f 1.35 → 1.4: λ falls")

    def check():
        assert "your point, f = 1.4" in chart_data(page, "planner_frontier")
        assert chart_data(page, "planner_excess")["your point, f = 1.4"][0] == [1.4]

    eventually(page, check)
    after = chart_data(page, "planner_frontier")
    (f,), (lam,) = after["your point, f = 1.4"]
    assert f == 1.4
    assert lam < before["your point, f = 1.3"][1][0]
    curve = dict(zip(*after["Rényi"], strict=True))
    assert curve[1.4] == lam


def test_a_sample_arrives_without_another_click_and_the_timer_ends(open_page):
    page = open_page(SMALL)
    page.get_by_role("button", name="Sample it").click()
    expect(page.get_by_text(re.compile("trains best along this frontier")).first).to_be_visible()
    expect(page.locator(".st-key-planner_stop")).to_have_count(0)

    def check():
        assert len(chart_data(page, "planner_excess")["sampled, Logistic (tight)"][0]) == 8

    eventually(page, check)
    expect_rest(page)
