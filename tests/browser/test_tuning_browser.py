"""The tuning page in a real browser: link, keyboard, lazy calibration, the way on."""

import pytest

from tests.browser.conftest import answer, chart_data, query, settle, visit

pytestmark = pytest.mark.browser

SETTINGS = ".st-key-tuning_settings input[type=range]"


def test_a_link_shows_the_same_picture_in_another_browser(open_page, open_elsewhere):
    page = open_page("/tuning")
    assert page.get_by_role("heading", level=1).inner_text() == "What does trying ten settings cost?"
    assert "Choosing among 10 learning rates costs ε = 2.9" in answer(page)
    page.get_by_role("button", name="Geometric K").click()
    page.wait_for_url("**tuning_k=geometric**")
    settle(page)
    assert query(page) == {"tuning_k": "geometric", "tuning_more": "0.5"}
    sent = chart_data(page, "tuning_chart")
    assert len(sent) == 4
    other = open_elsewhere(page.url)
    assert chart_data(other, "tuning_chart") == sent
    assert chart_data(other, "tuning_runs") == chart_data(page, "tuning_runs")
    assert answer(other) == answer(page)


def test_the_keyboard_moves_the_grid_size_and_what_each_run_must_be_opens(open_page):
    page = open_page("/tuning")
    before = chart_data(page, "tuning_chart")
    page.locator(SETTINGS).press("ArrowRight")
    page.wait_for_url("**tuning_settings=14**")
    settle(page)
    page.wait_for_function("document.querySelector('.answer').innerText.includes('among 14 learning rates')")
    assert chart_data(page, "tuning_chart") == before
    assert page.get_by_text("each run needs a noise multiplier").count() == 0
    page.get_by_text("What must each run be to afford it?").click()
    page.get_by_text("each run needs a noise multiplier").wait_for()
    assert query(page) == {"tuning_settings": "14", "tuning_afford": "true"}
    visit(page, page.url)  # open from the start where the address says so
    assert page.get_by_text("each run needs a noise multiplier").count() == 1
    page.get_by_role("link", name="Live training: what one fit without tuning reaches").click()
    page.wait_for_url("**/training**")
