"""Runs in a browser: a picture on arrival, a picture on release, polling that ends, Stop, and the same link."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    LONG_RUN,
    answer,
    copied_link,
    expect_chart,
    expect_rest,
    expect_same,
    move,
    query,
    watched,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "/training?training_data=breast-cancer&training_repeats=3"


def test_it_opens_on_a_picture_that_follows_a_released_control_and_a_guess(open_page, open_elsewhere, server):
    page = open_page(SMALL + "&training_view=coefficients")
    expect(answer(page)).to_contain_text(re.compile(r"^\s*At ε\s=\s1 "))
    with watched(page) as (asked, errors):
        move(page, "training_epsilon", "ArrowRight", "training_epsilon=1.5")
        expect(answer(page)).to_contain_text(re.compile(r"^\s*At ε\s=\s1.5 "))
        expect(page.locator(".answer-why")).to_contain_text(re.compile(r"ε\s1\s→\s1\.5: σ falls from"))
    assert not [url for url in asked if not url.startswith((server, "data:", "blob:"))]
    assert not errors
    constant = ["always “benign”"]  # the axis names the methods
    expect_chart(page, "training_accuracy", lambda drawn: [name.rsplit(" ", 2)[0] for name in drawn] == constant)
    expect_rest(page)
    link = copied_link(page)
    for part in ("training_epsilon=1.5", "training_repeats=3", "training_view=coefficients"):
        assert part in link
    assert "training_seed" not in link  # it is at its default
    other = open_elsewhere(link)
    expect_same(other, page, "training_coefficients_chart")
    page.keyboard.press("Escape")
    page.get_by_text("Predict first", exact=True).click()
    page.wait_for_url("**training_predict=true**")
    expect(answer(page)).to_contain_text("before you look")
    expect(page.locator(".st-key-training_accuracy")).to_have_count(0)
    page.get_by_role("button", name="more than 3 points").click()
    expect(page.locator(".st-key-training_accuracy .js-plotly-plot")).to_be_visible()


def test_run_progress_and_stop_stand_together_in_sight(open_page):
    page = open_page(LONG_RUN)
    page.set_viewport_size({"width": 1280, "height": 720})
    run, stop = page.get_by_role("button", name="Run", exact=True), page.locator(".st-key-training_stop button")
    expect(run).to_be_in_viewport()
    run.click()
    expect(stop).to_be_in_viewport()
    expect(page.get_by_text(re.compile(r"\d+ of 50 models"))).to_be_in_viewport()
    expect_chart(page, "training_accuracy", bool)
    stop.click()
    expect(stop).to_have_count(0)
    expect(page.get_by_text(re.compile(r"Stopped (after|before)"))).to_be_visible()
    expect_rest(page)


IN_ACCURACY = "/tuning?tuning_show=In+accuracy&honest_data=breast-cancer"
IN_ACCURACY += "&honest_draws=2&honest_epochs=1&honest_runs=3&honest_rates=five"


def done(page):
    expect(answer(page)).to_be_visible()
    expect(page.locator(".st-key-honest_stop")).to_have_count(0)
    expect_rest(page)


def test_the_address_that_a_page_had_leads_on_with_all_it_asks_for(open_page):
    page = open_page(IN_ACCURACY.replace("/tuning?tuning_show=In+accuracy&", "/honest?"))
    page.wait_for_url("**/tuning?**")
    done(page)
    assert query(page) | {"tuning_show": "In accuracy", "honest_data": "breast-cancer", "honest_runs": "3"} == query(
        page
    )
    expect_chart(page, "honest_accuracy", lambda drawn: len(drawn) == 4)
