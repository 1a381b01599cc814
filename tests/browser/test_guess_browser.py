"""The game in a browser: twenty rounds by keyboard, the same rounds behind a link, thumbs on a telephone."""

import numpy as np
import pytest
from playwright.sync_api import expect

from pages.guess import rounds
from pages.guess.rounds import BARE, ROUNDS, Setting, round_of
from tests.browser.conftest import answer, eventually, expect_query, settle

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
