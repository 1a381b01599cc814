"""Ask the data first in a browser: draws and moved points have addresses, sliders go by keyboard, links agree."""

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, eventually, query, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_point_is_moved_by_keyboard_and_the_list_is_in_the_address(open_page):
    page = open_page("/ptr")
    page.get_by_role("button", name="View").click()
    slider = page.locator(".st-key-ptr__place input[type=range]")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_url("**ptr_points=0.13**")
    settle(page)

    def check():
        assert 0.13 in chart_data(page, "ptr_chart")["points (secret)"][0]

    eventually(page, check)


def test_the_side_alone_passes_where_the_number_does_not(open_page):
    page = open_page("/ptr")
    page.get_by_role("button", name="Throwing away hides").click()
    expect(answer(page)).to_contain_text("asks for ε = 3.5, the published side (secret) for 0; 0.5 is allowed")
    expect(page.get_by_text("This run passes and publishes “not above ½”")).to_be_visible()
    page.get_by_role("button", name="ε rises with the gap").click()
    expect(answer(page)).to_contain_text("9.91 without δ")


@pytest.mark.parametrize("view", ["A vote", "Many teachers vote", "Does it pay?"])
def test_nonsense_does_no_harm_to_another_picture(open_page, view):
    page = open_page(f"/ptr?ptr_view={quote(view)}&ptr_epsilon=1e999&ptr_points=%00,&ptr_gap=nan&ptr_teachers=-1")
    expect(answer(page)).not_to_be_empty()
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    assert query(page) == {"ptr_view": view}
