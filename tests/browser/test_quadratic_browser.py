"""Tilt or bend as a browser shows it: another draw has its own address, sliders go by keyboard, links show the same."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, eventually, expect_same, move, query, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_another_draw_has_its_own_address_and_its_link_shows_the_same_minima(open_page, open_elsewhere):
    page = open_page("/quadratic")
    first = answer(page).inner_text()
    page.get_by_role("button", name="Draw again").click()
    page.wait_for_url("**quadratic_seed=1**")
    expect(answer(page)).not_to_have_text(first)
    move(page, "quadratic_epsilon", "ArrowLeft", "quadratic_epsilon=")
    settle(page)
    assert float(query(page)["quadratic_seed"]) == 1
    other = open_elsewhere(page.url, color_scheme="dark")
    expect_same(other, page, "quadratic_chart")
    assert other.evaluate("document.documentElement.scrollWidth") <= 420


def test_with_the_tilt_switched_on_the_true_delta_is_back_under_the_promise(open_page):
    page = open_page("/quadratic?quadratic_view=" + quote("Two records disagree"))
    expect(answer(page)).to_contain_text("the promise breaks")
    page.get_by_text("Add a tilt, clip residuals to 1").click()
    expect(answer(page)).to_contain_text("holds")

    def check():
        drawn = chart_data(page, "quadratic_labels_chart")
        values = [y for y in drawn["true δ, bend and tilt"][1] if y == y]  # gaps are not numbers
        assert 0 < max(values) < drawn["promised δ"][1][0]

    eventually(page, check)
