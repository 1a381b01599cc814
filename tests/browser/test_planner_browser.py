"""The Planner in a real browser: arrow keys move the point, sampling arrives by itself, the link shows the same."""

import re

import pytest

from tests.browser.conftest import answer, chart_data, copied_link, reruns, settle

pytestmark = pytest.mark.browser

F = ".st-key-planner_f input[type=range]"
SMALL = "/planner?planner_bound=Logistic+(tight)&planner_rows=700&planner_features=5&planner_draws=2"


def test_arrow_keys_move_the_point_along_the_frontier(open_page):
    page = open_page("/planner")
    before = chart_data(page, "planner_frontier")
    page.locator(F).focus()
    for f in ("1.35", "1.4"):
        page.keyboard.press("ArrowRight")
        page.wait_for_url(f"**planner_f={f}**")
    settle(page)
    page.wait_for_function("document.querySelector('.answer').innerText.replace(/\\u00a0/g, ' ').includes('f = 1.4 ')")
    after = chart_data(page, "planner_frontier")
    (f,), (lam,) = after["your point, f = 1.4"]
    assert f == 1.4
    assert lam < before["your point, f = 1.3"][1][0]
    curve = dict(zip(*after["Rényi"], strict=True))
    assert curve[1.4] == lam
    assert chart_data(page, "planner_excess")["your point, f = 1.4"][0] == [1.4]


def test_a_sample_arrives_without_another_click_and_the_timer_ends(open_page):
    page = open_page(SMALL)
    page.get_by_role("button", name="Sample it").click()
    page.get_by_text(re.compile("trains best along this frontier")).first.wait_for()
    page.wait_for_selector(".st-key-planner_stop", state="detached")
    settle(page)
    shown = chart_data(page, "planner_excess")
    assert len(shown["sampled, Logistic (tight)"][0]) == 8
    assert reruns(page, 2000) == 0


def test_the_link_shows_the_same_picture_in_another_browser(open_page, open_elsewhere):
    page = open_page("/planner")
    page.get_by_role("button", name="Ours at ε = 8").click()
    page.wait_for_url("**planner_epsilon=8**")
    settle(page)
    sent = chart_data(page, "planner_frontier"), chart_data(page, "planner_excess")
    other = open_elsewhere(copied_link(page), color_scheme="dark")
    assert (chart_data(other, "planner_frontier"), chart_data(other, "planner_excess")) == sent
    assert answer(other) == answer(page)
    assert other.evaluate("document.documentElement.scrollWidth") <= 420
