"""Bounds and Home in a browser: the link, the keyboard, the downloads, what a screen reader hears, play and stop."""

import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, downloaded, expect_chart, move, press, settle
from ui.printed import MM

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_keyboard_moves_a_slider_and_picture_names_and_files_follow(open_page):
    page = open_page("/bounds")
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
