"""What only a browser does: keys, downloads, a screen reader's names, a map, play and stop, back and forward, paper."""

import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from pages.guess import rounds
from pages.guess.rounds import BARE, ROUNDS, Setting, round_of
from tests.browser.conftest import (
    answer,
    chart_data,
    downloaded,
    eventually,
    expect_chart,
    expect_query,
    move,
    press,
    query,
    settle,
    visit,
)
from ui.page import Prediction
from ui.printed import MM
from ui.registry import PAGES, ROOMS
from ui.worksheet import Sheet, Task, worksheet

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_keyboard_moves_a_slider_and_picture_names_and_files_follow(open_page):
    page = open_page("/bounds")
    groups = page.get_by_test_id("stTopNavSection").evaluate_all("all => all.map(e => getComputedStyle(e).boxShadow)")
    assert [shadow == "none" for shadow in groups] == [True, False, True, True]  # a closed menu says where we are
    before = chart_data(page, "bounds_chart")
    expect(page.get_by_role("figure", name="ε at δ = 10⁻⁵: Our theorem 0.726")).to_have_count(1)
    expect(page.locator("[role=status] .answer")).to_have_count(1)
    page.get_by_role("button", name="More", exact=True).focus()  # the last of the presets' row
    page.keyboard.press("Tab")  # Cite
    page.keyboard.press("Tab")
    expect(page.locator("summary:focus")).to_contain_text("with slack δ")  # the promise, in short
    page.keyboard.press("Tab")
    expect(page.locator(".st-key-bounds_sigma :focus")).to_have_count(1)  # past the promise, not a chart

    move(page, "bounds_sigma", "ArrowRight", "bounds_sigma=5.6")
    expect(answer(page)).to_contain_text("0.64")
    expect(page.locator("[role=status] .answer-why")).to_contain_text("σ 5 → 5.6")
    tight = "Our theorem"
    expect_chart(page, "bounds_chart", lambda after: after[tight][1] != before[tight][1])
    after = chart_data(page, "bounds_chart")
    assert after[tight][0] == before[tight][0]

    page.locator(".st-key-bounds_files summary").click()
    csv = downloaded(page, page.get_by_role("button", name="Numbers as CSV"))
    camera = page.locator(".st-key-bounds_printed").get_by_role("button", name="Download plot")
    svg = downloaded(page, camera)
    page.get_by_text("Two columns, 174 mm").click()
    page.get_by_text("PNG", exact=True).click()
    expect(camera).to_have_accessible_name("Download plot as a PNG")
    settle(page)
    png = downloaded(page, camera)
    rows = csv.path().read_text().splitlines()
    assert csv.suggested_filename == "bounds.csv"
    assert rows[0] == "epsilon,delta_kifer2012,delta_rdp,delta_glm,delta_logistic,delta_lower,neighbours"
    assert [float(row.split(",")[4]) for row in rows[1:]] == after[tight][1]
    assert svg.suggested_filename == "bounds.svg"
    picture = svg.path().read_text()
    assert all(words in picture for words in (tight, "slack δ", "Privacy profile of objective perturbation"))
    assert 'width="760"' in picture
    assert "http" not in re.sub("http://www.w3.org/[a-z0-9/]*", "", picture)
    assert png.suggested_filename == "bounds-174mm.png"
    with Image.open(png.path()) as drawn:
        assert drawn.width == pytest.approx(2 * 174 * MM, abs=2)
        assert drawn.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_home_plays_and_stops_and_leads_on(open_page):
    page = open_page("/")
    plot = "document.querySelector('.st-key-home_chart .js-plotly-plot')"
    count, moves = f"{plot}._fullData.at(-1).x.length", f"{plot}._transitionData._animationRaf"
    page.wait_for_function(f"{count} === 2")
    page.wait_for_function(f"!({moves})")  # nothing moves by itself
    assert page.evaluate(count) == 2
    page.locator(".updatemenu-button", has_text="Play").click()
    page.wait_for_function(f"{count} >= 6")
    page.locator(".updatemenu-button", has_text="Stop").click()
    page.wait_for_function(f"!({moves})")
    assert page.evaluate(f"{count} < {plot}._transitionData._frames.length")  # it was not the end that stopped it
    press(page, "Draw another b", "home_draw=2")
    expect(page.get_by_role("img", name="This person, on average: 56.2 %")).to_be_visible()

    page.emulate_media(reduced_motion="reduce")
    expect(page.locator(".updatemenu-button").first).to_be_hidden()
    page.emulate_media(reduced_motion="no-preference")
    expect(page.locator(".updatemenu-button").first).to_be_visible()

    page.get_by_role("link", name="Figure 1, left").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/bounds")  # whose first preset it is
    expect(answer(page)).to_contain_text("the 2023 theorem")


def test_a_preset_is_one_entry_of_the_history(person, server):
    page, key = visit(person, f"{server}/distance"), "distance_lambda"
    move(page, key, "ArrowRight", "distance_lambda=2.2")
    before, entries = query(page), page.evaluate("history.length")
    press(page, "Figure 4c", "?")
    after = {f"distance_{name}": value for name, value in {"sigma": "1", "lambda": "100", "eps_view": "10"}.items()}
    expect_query(page, after)
    assert page.evaluate("history.length") == entries + 1

    page.go_back()
    settle(page)
    expect_query(page, before)
    page.go_forward()
    settle(page)
    expect_query(page, after)
    move(page, key, "ArrowRight", "distance_lambda=110")
    page.go_back()
    settle(page)
    expect_query(page, before)  # a step belongs to the entry that it is made in


LINK = "http://127.0.0.1:9/{}?" + "&".join(f"a_control={number}" for number in range(20))
TASKS = [Task("The name of a preset", "One line of help, as long as the longest of them are, and one word more.")] * 8


def test_the_longest_worksheet_fits_two_sheets_and_none_asks_a_host(person):
    page, asked, heights = person, [], {}
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 665, "height": 1000})  # what an A4 sheet has between its margins
    for entry in PAGES:
        predictions = [Prediction.of(entry.name)] if (ROOMS / entry.name / "try.md").exists() else []
        lead = "Three lines of introduction are more than most pages have. " * 5
        reading = entry.about.rpartition("**Reference.**")[2]
        sheet = Sheet(entry.title, entry.question, lead, LINK.format(entry.name), predictions, TASKS, reading)
        text = worksheet(sheet, answers=True).decode()
        page.set_content(text)
        heights[page.evaluate("document.body.scrollHeight")] = text
        assert "*" not in page.inner_text("body").replace("θ*", ""), entry.name  # no Markdown is left over
    page.set_content(heights[max(heights)])
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True))
    assert len(sheets) == 3  # two, and the teacher's
    assert asked == []


# The game in a browser: twenty rounds by keyboard, the same rounds behind a link, thumbs on a telephone


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
