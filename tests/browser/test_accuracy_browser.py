"""The accuracy page in a real browser: a link shows the same picture, a point that is run again appears by itself."""

from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import expect

from objpert_core import datasets
from objpert_core.experiments import indexed, waterfall
from pages.accuracy import controls
from tests.browser.conftest import answer, chart_data, expect_chart, expect_rest, expect_same, press, settle
from ui import waterfall as steps

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def stored():
    """The stored results of a small data set, or of any that can be fitted here."""
    found = [
        key for key in controls.files() if indexed.load(key).known and datasets.available(indexed.load(key).dataset)
    ]
    if not found:
        pytest.skip("no stored results of a data set that is on this machine (data/results/figure2_*.csv)")
    return indexed.load("breast-cancer" if "breast-cancer" in found else found[-1])


def test_a_link_shows_the_same_picture_in_another_browser(open_page, open_elsewhere, stored):
    page = open_page(f"/accuracy?accuracy_data={quote(stored.key)}&accuracy_epsilon=4&accuracy_ghost=false")
    expect(answer(page)).to_contain_text("At ε = 4 ")
    before = chart_data(page, "accuracy_chart")
    page.get_by_role("button", name="Compare methods").click()
    page.locator(".st-key-accuracy_methods").get_by_role("button", name="Algorithm 1 with the 2023 theorem").click()
    page.wait_for_url("**accuracy_methods=**")
    page.keyboard.press("Escape")
    settle(page)
    expect_chart(page, "accuracy_chart", lambda drawn: "Algorithm 1 with the 2023 theorem" in drawn)
    assert "Algorithm 1 with the 2023 theorem" not in before
    methods = parse_qs(urlsplit(page.url).query)["accuracy_methods"]
    assert {"Algorithm 1 with the 2023 theorem", "Algorithm 1 with our theorem"} <= set(methods)
    other = open_elsewhere(page.url)
    expect_same(other, page, "accuracy_chart")


def test_a_point_that_is_run_again_appears_by_itself_and_polling_ends(open_page, stored):
    page = open_page(f"/accuracy?accuracy_data={quote(stored.key)}&accuracy_epsilon=2")
    page.get_by_role("button", name="Run this point").click()
    expect(page.get_by_text("Made now:").first).to_be_visible()  # nobody clicked anything else
    expect_chart(page, "accuracy_chart", lambda drawn: "made now: Algorithm 1 with our theorem" in drawn)
    expect_rest(page)


def test_a_preset_shows_where_the_accuracy_comes_from_and_the_link_says_so(open_page, open_elsewhere):
    complete = [
        key for key in controls.ORIGINS if key in controls.files() and waterfall.of_stored(indexed.load(key), 1.0)
    ]
    if not complete:
        pytest.skip("no stored runs of every step (data/results/figure2_*.csv)")
    page = open_page("/accuracy")
    press(page, controls.ORIGINS[complete[0]], "accuracy_question=where", more=True)
    found = waterfall.of_stored(indexed.load(complete[0]), 1.0)
    expect(answer(page)).to_have_text(steps.answer(found).replace(" = ", "\xa0=\xa0").replace(" %", "\xa0%"))
    other = open_elsewhere(page.url)
    expect_same(other, page, "accuracy_waterfall")
