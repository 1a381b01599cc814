"""What only a telephone does: the menu over the page, a voter who came for the question, targets for a thumb."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import checks
from tests.browser.conftest import eventually, new_tab, open_room, query, settle, visit
from tests.browser.own_table import hand_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PIXEL = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "color_scheme": "dark",
    "user_agent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36",
}
SMALL_TARGETS = """() => [...document.querySelectorAll('.stMain :is(button, label:has(input), summary)')]
.filter(one => {
    const {width, height} = one.getBoundingClientRect();
    return width > 2 && height > 2 && (width < 24 || height < 24);
}).map(one => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def pocket(chromium):
    """A telephone in the hand of somebody."""
    with new_tab(chromium, **PIXEL) as page:
        yield page


def test_the_menu_closes_after_a_tap_and_after_a_reload(pocket, server):
    visit(pocket, f"{server}/bounds")
    menu = pocket.get_by_test_id("stSidebar")
    unfold = pocket.get_by_test_id("stExpandSidebarButton").first
    unfold.click()
    expect(menu).to_have_attribute("data-collapsed", "false")
    menu.get_by_role("link", name="Solvers", exact=True).click()
    pocket.wait_for_url("**/solvers")
    expect(menu).to_have_attribute("data-collapsed", "true")
    settle(pocket)
    unfold.click()
    expect(menu).to_have_attribute("data-collapsed", "false")
    visit(pocket, pocket.url)
    expect(menu).to_have_attribute("data-collapsed", "true")


def test_a_voters_first_screen_shows_the_question(pocket, tab, server):
    name, _ = open_room(visit(tab, f"{server}/bounds"))
    for path, options in (("bounds", 4), ("lessons?lesson=one-fit&step=1", 4)):
        visit(pocket, f"{server}/{path}{'&' if '?' in path else '?'}room={name}")
        every = pocket.locator(".stMain [class*='__question'] label:has(input)")
        expect(every).to_have_count(options)
        for place in range(options):
            expect(every.nth(place)).to_be_in_viewport(ratio=1)


def test_chart_and_slider_share_the_screen_and_targets_are_large_enough_for_a_thumb(pocket, server):
    for path, first in (("bounds", ".st-key-bounds_lambda"), ("guess", ".st-key-guess_sigma")):
        visit(pocket, f"{server}/{path}")
        pocket.locator(first).evaluate("one => one.scrollIntoView({block: 'end'})")
        expect(pocket.locator(first)).to_be_in_viewport(ratio=0.95)
        expect(pocket.locator(".st-key-stage__picture .js-plotly-plot").first).to_be_in_viewport(ratio=1)
        assert pocket.evaluate(SMALL_TARGETS) == []
        expect(pocket.locator("kbd:visible")).to_have_count(0)


def test_a_table_and_its_fields_fit_a_telephone(pocket, server):
    visit(pocket, f"{server}/own")
    hand_in(pocket, b"age,paid\n30,yes\n40,no\n")
    pocket.get_by_label("Others too, paid").scroll_into_view_if_needed()
    for shown in (pocket.locator(".own-lines tbody th").last, pocket.get_by_label("Others too, paid")):
        expect(shown).to_be_in_viewport(ratio=1)  # the name stays beside the last field
    assert [small for small in pocket.evaluate(SMALL_TARGETS) if small.startswith(("<input", "<select"))] == []
    checks.assert_fits(pocket)


def test_a_slide_asks_counts_reveals_and_goes_on(pocket, tab, server):
    tab.set_viewport_size({"width": 1280, "height": 720})
    name, key = open_room(visit(tab, f"{server}/bounds"))
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Show as slides").click()
    tab.wait_for_url("**embed=true**")
    expect(tab.get_by_role("heading", level=1)).to_have_count(1)
    tab.get_by_role("button", name=re.compile("^Ask")).click()
    tab.wait_for_url("**ask=true**")
    expect(tab.get_by_text(f"Room {name}")).to_be_in_viewport()
    expect(tab.get_by_alt_text("QR code of this link")).to_be_in_viewport(ratio=1)
    assert query(tab)["room_key"] == key
    typed = tab.locator(".typed")
    expect(typed).to_have_text(re.compile(rf"^\S+/bounds\?room={name}$"))
    expect(typed).to_be_in_viewport(ratio=1)

    visit(pocket, f"{server}/bounds?room={name}")
    pocket.locator(".st-key-bounds__try label:has(input)").nth(1).click()
    expect(pocket.get_by_text("Your answer is counted.")).to_be_visible()
    expect(tab.get_by_text("1 vote so far")).to_be_in_viewport()

    tab.get_by_role("button", name="Reveal").click()
    picture = tab.locator(".st-key-slide_beside .js-plotly-plot")
    for part in (tab.locator(".votes"), picture, tab.get_by_text("Silent proofs")):
        expect(part.last).to_be_in_viewport(ratio=1)
    expect(tab.locator(".votes .count").nth(1)).to_have_text("1 vote, 100 %")
    expect(pocket.locator(".votes")).to_be_visible()

    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".st-key-slide_sheet")).to_have_count(0)
    expect(tab.locator(".st-key-stage__picture .js-plotly-plot")).to_be_in_viewport(ratio=1)
    eventually(tab, lambda: _is_not_asking(query(tab)))

    with tab.context.expect_page() as opened:  # a slide has no menu: its title opens the page that has one
        tab.locator("[class*=__deck]").get_by_role("link").click()
    page = opened.value
    expect(page.locator("header").get_by_text("Learn", exact=True)).to_be_visible()
    expect(page.get_by_text("You lead room")).to_be_visible()
    assert query(page).keys() >= {"room", "room_key"}
    assert "embed" not in query(page)
    page.close()


def _is_not_asking(held):
    assert "ask" not in held
