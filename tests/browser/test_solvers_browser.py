"""The Solvers page in a browser: its link shows the same elsewhere, with solvers hidden and a preset pressed."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, copied_link, expect_same, move, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_presets_pills_and_keyboard_move_the_link_and_it_shows_the_same_elsewhere(open_page, open_elsewhere):
    page = open_page("/solvers")
    page.wait_for_selector(".st-key-solvers_growth .plot-container")
    page.get_by_role("button", name="Gradient descent").click()
    page.wait_for_url("**solvers_shown=**")
    settle(page)
    page.get_by_role("button", name="Stop early, cheaper").click()
    page.wait_for_url("**solvers_tau=0.01**")
    settle(page)
    page.get_by_role("button", name="Gradient descent").click()  # the preset has brought it back
    page.wait_for_url("**solvers_shown=**")
    settle(page)
    move(page, "solvers_n", "ArrowLeft", "solvers_n=200")
    expect(answer(page)).to_contain_text("visits each row")
    other = open_elsewhere(copied_link(page))
    expect_same(other, page, "solvers_chart", "solvers_growth")
    for key in ("solvers_chart", "solvers_growth"):
        received = chart_data(other, key)
        assert len(received) == 6
        assert "Gradient descent" not in received
