"""The price of tuning in a real browser: it fills itself, and the charts are those of the run."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, copied_link, expect_chart, expect_rest, query, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "/tuning?tuning_show=In+accuracy&honest_data=breast-cancer"
SMALL += "&honest_draws=2&honest_epochs=1&honest_runs=3&honest_rates=five"


def done(page):
    expect(answer(page)).to_be_visible()
    expect(page.locator(".st-key-honest_stop")).to_have_count(0)
    expect_rest(page)


def test_it_fills_itself_stops_polling_and_the_link_says_which_draw_is_looked_into(open_page):
    page = open_page(SMALL)
    done(page)  # nobody pressed anything
    expect_chart(page, "honest_accuracy", lambda drawn: len(drawn) == 4)
    expect_chart(page, "honest_curse_chart", lambda drawn: any(name.startswith("fixed in advance") for name in drawn))
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_in_viewport()
    field = page.get_by_role("spinbutton", name="Draw to look into")
    field.fill("2")
    field.press("Enter")
    page.wait_for_url("**honest_shown=2**")
    settle(page)
    assert copied_link(page).endswith("honest_shown=2")


def test_the_address_that_the_page_had_leads_on_with_all_it_asks_for(open_page):
    page = open_page(SMALL.replace("/tuning?tuning_show=In+accuracy&", "/honest?"))
    page.wait_for_url("**/tuning?**")
    done(page)
    assert query(page) | {"tuning_show": "In accuracy", "honest_data": "breast-cancer", "honest_runs": "3"} == query(
        page
    )
    expect_chart(page, "honest_accuracy", lambda drawn: len(drawn) == 4)
