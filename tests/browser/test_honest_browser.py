"""Honest or not in a real browser: it fills itself, and the charts are those of the run."""

import pytest

from tests.browser.conftest import chart_data, copied_link, query, reruns, settle

pytestmark = pytest.mark.browser

SMALL = "/honest?honest_data=breast-cancer&honest_draws=2&honest_epochs=1&honest_runs=3&honest_rates=five"


def test_it_fills_itself_and_stops_polling(open_page):
    page = open_page(SMALL)
    page.wait_for_selector(".answer")  # nobody pressed anything
    page.wait_for_selector(".st-key-honest_stop", state="detached")
    settle(page)
    assert len(chart_data(page, "honest_accuracy")) == 4
    assert any(name.startswith("fixed in advance") for name in chart_data(page, "honest_curse_chart"))
    assert reruns(page, 1500) == 0


def test_the_link_says_which_draw_is_looked_into(open_page):
    page = open_page(SMALL)
    page.wait_for_selector(".answer")
    page.wait_for_selector(".st-key-honest_stop", state="detached")
    settle(page)
    field = page.get_by_role("spinbutton", name="Draw to look into")
    field.fill("2")
    field.press("Enter")
    page.wait_for_url("**honest_shown=2**")
    settle(page)
    assert query(page)["honest_shown"] == "2"
    assert copied_link(page).endswith("honest_shown=2")
