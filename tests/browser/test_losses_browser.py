"""Losses and clipping as a browser shows it: presets change the view and the address, links show the same picture."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, move

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_slider_of_the_dimension_view_works_by_keyboard(open_page):
    page = open_page("/losses?losses_show=" + quote("Without GLM structure"))
    expect(answer(page)).not_to_contain_text("200 parameters")
    move(page, "losses_d", "ArrowRight", "losses_d=200")
    expect(answer(page)).to_contain_text("200 parameters")
