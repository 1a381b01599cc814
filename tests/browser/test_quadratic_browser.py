"""Tilt or bend as a browser shows it: another draw has its own address, sliders go by keyboard, links show the same."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow]


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
