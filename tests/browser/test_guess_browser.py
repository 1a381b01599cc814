"""The game in a browser: twenty rounds by keyboard, the same rounds behind a link, thumbs on a telephone."""

import numpy as np
import pytest
from playwright.sync_api import expect

from pages.guess import rounds
from pages.guess.rounds import BARE, ROUNDS, Setting, round_of
from tests.browser.conftest import answer, copied_link, eventually, expect_query, query, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PUBLISHED = """() => {
    const plot = document.querySelector('.st-key-guess_chart .js-plotly-plot');
    const {x, y} = plot._fullData.find(t => t.name === 'published θ');
    return [x[0], y[0]];
}"""


def published(page):
    page.wait_for_selector(".st-key-guess_chart .js-plotly-plot .plot-container")
    return page.evaluate(PUBLISHED)


def test_twenty_rounds_by_keyboard_against_a_model_without_privacy(open_page):
    """Whoever compares θ with the two minimisers is right every time."""
    setting = Setting(BARE, 0.0, 2.0, rounds.PLANE, rounds.DISAGREES, 0)
    joined = setting.joined.minimiser(np.zeros(2)).tolist()
    page = open_page("/guess?guess_game=no+privacy")
    for number in range(ROUNDS):
        expect(answer(page)).to_contain_text(f"Round {number + 1} of 20")
        theta = list(round_of(setting, number).theta)

        def shown(theta=theta):
            assert published(page) == theta

        eventually(page, shown)
        page.keyboard.press("i" if theta == joined else "o")
    expect(answer(page)).to_have_text("You: 20 of 20, the best attacker 20; nothing limits the attacker.")
    expect_query(page, {"guess_game": "no privacy"})  # no truth, no guess
    settle(page)  # the button that hears the key is there
    page.keyboard.press("n")
    expect(answer(page)).to_contain_text("Round 1 of 20")
    page.wait_for_url("**guess_seed=1*")


def test_a_link_shows_a_telephone_the_same_rounds_and_buttons_under_the_picture(open_page, open_elsewhere):
    page = open_page("/guess?guess_epsilon=4&guess_seed=7")
    page.wait_for_url("**guess_sigma=1.1**")
    settle(page)
    first = published(page)
    page.keyboard.press("o")
    expect(answer(page)).to_contain_text("Round 2 of 20")
    other = open_elsewhere(copied_link(page))
    expect(answer(other)).to_contain_text("Round 1 of 20")  # everybody plays by themselves

    def check():
        assert published(other) == first

    eventually(page, check)
    button, chart = other.get_by_role("button", name="Out"), other.locator(".st-key-guess_chart .js-plotly-plot")
    button.scroll_into_view_if_needed()
    gap = button.bounding_box()["y"] - (chart.bounding_box()["y"] + chart.bounding_box()["height"])
    assert 0 <= gap < 120
    button.click()
    expect(answer(other)).to_contain_text("Round 2 of 20")
    expect(other.locator(".answer")).to_have_text(answer(page).inner_text())
    assert query(other)["guess_sigma"] == "1.1"
