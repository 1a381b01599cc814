"""The tuning page in a real browser: link, keyboard, lazy calibration, telephone."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import chart_data, settle

pytestmark = pytest.mark.browser

SETTINGS = ".st-key-tuning_settings input[type=range]"


def query(page):
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


def answer(page):
    return page.locator(".answer").inner_text().replace("\xa0", " ")


def test_a_link_shows_the_same_picture_in_another_browser(open_page, chromium):
    page = open_page("/tuning")
    assert page.get_by_role("heading", level=1).inner_text() == "What does trying ten settings cost?"
    assert "Choosing among 10 learning rates costs ε = 2.9" in answer(page)
    page.get_by_role("button", name="Geometric K").click()
    page.wait_for_url("**tuning_k=geometric**")
    settle(page)
    assert query(page) == {"tuning_k": "geometric", "tuning_more": "0.5"}
    sent = chart_data(page, "tuning_chart")
    assert len(sent) == 4
    stranger = chromium.new_context(viewport={"width": 420, "height": 900})
    other = open_page(page.url, within=stranger)
    assert chart_data(other, "tuning_chart") == sent
    assert chart_data(other, "tuning_runs") == chart_data(page, "tuning_runs")
    assert answer(other) == answer(page)
    stranger.close()


def test_the_keyboard_moves_the_grid_size_and_the_curves_stay(open_page):
    page = open_page("/tuning")
    before = chart_data(page, "tuning_chart")
    page.locator(SETTINGS).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**tuning_settings=14**")
    settle(page)
    page.wait_for_function("document.querySelector('.answer').innerText.includes('among 14 learning rates')")
    assert chart_data(page, "tuning_chart") == before


def test_what_each_run_must_be_opens_from_a_link_and_by_hand(open_page):
    page = open_page("/tuning")
    assert page.get_by_text("each run needs a noise multiplier").count() == 0
    page.get_by_text("What must each run be to afford it?").click()
    page.get_by_text("each run needs a noise multiplier").wait_for()
    assert query(page) == {"tuning_afford": "true"}
    again = open_page(page.url)
    assert again.get_by_text("each run needs a noise multiplier").count() == 1


def test_the_way_to_live_training(open_page):
    page = open_page("/tuning")
    page.get_by_role("link", name="Live training: what one fit without tuning reaches").click()
    page.wait_for_url("**/training**")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_on_a_phone(chromium, open_page, scheme):
    phone = chromium.new_context(viewport={"width": 420, "height": 800}, color_scheme=scheme)
    page = open_page("/tuning?tuning_afford=true", within=phone)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    # a slider's own input is invisible and hangs off its thumb
    wide = page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stMain] :is(h1, p, button, table, .js-plotly-plot)')]
            .filter(e => e.offsetParent && e.getBoundingClientRect().right > 421).map(e => e.outerHTML.slice(0, 200))"""
    )
    assert wide == []
    phone.close()
