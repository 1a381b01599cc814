"""Honest or not in a real browser: it fills itself, and the charts are those of the run."""

import pytest

from tests.browser.conftest import chart_data, reruns, settle

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
