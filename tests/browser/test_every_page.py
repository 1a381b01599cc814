"""What holds for every page, checked in one visit each and one as a slide.

Nonsense in the address, other hosts, axe-core's rules, colours, the keyboard, a laptop, 200 % zoom, a telephone, and a
projector.
"""

import re
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser import checks, fold
from tests.browser.conftest import PHONE, eventually, query, renew, settle, visit, watched
from tests.plotted import BACKGROUNDS
from ui import registry

pytestmark = pytest.mark.browser

NONSENSE = {  # what to add to a page's address; none of it may be left, do harm or be fetched
    "/": "home_draw=99999999999999999999&home_sigma=[]&home_person=%F0%9F%A6%86&home_lambda=1e309",
    "/lessons": "lesson=..%2F..%2Fetc%2Fpasswd&step=1e999&lessons_coin_1_truth=nan",
    "/composition": "composition_k=0&composition_sigma=nan&composition_target=nan&composition_ledger="
    + "gauss:20,1;" * 300
    + "![x](http://a.example/b.png)",
    "/own": "own_table=![x](http://a.example/b.png)&own_epsilon=nan&own_delta=%00&own_ghost=perhaps",
}
PATHS = ["/", *(f"/{entry.name}" for entry in registry.PAGES[1:])]
# other views of a page, which have charts or tables of their own
VIEWS = [
    "/bounds?bounds_show=" + quote("Attacker’s errors"),
    "/tuning?tuning_afford=true",
    "/tuning?tuning_show=" + quote("In accuracy"),
    "/tuning?tuning_data=breast-cancer&tuning_show=" + quote("A search"),
    "/losses?losses_show=" + quote("The fit"),
    "/accuracy?accuracy_epsilon=1&accuracy_question=" + quote("who is ahead"),
    "/accuracy?accuracy_data=breast-cancer&accuracy_epsilon=1&accuracy_question="
    + quote("where the accuracy comes from"),
    "/columns?columns_which=education&columns_draws=true",
    "/columns?columns_view=" + quote("Who is this?"),
    "/training?training_repeats=2&training_view=coefficients&training_data=digits",
]

LEAST = 10  # texts of a chart
ZOOMED = {"width": 720, "height": 450}  # a laptop of 1440 × 900 at 200 %
SLIDES = ({"width": 1280, "height": 720}, {"width": 960, "height": 540})


@pytest.mark.parametrize("address", [*PATHS, *(pytest.param(view, marks=pytest.mark.slow) for view in VIEWS)])
def test_everybody_can_use_it(tab, server, address):
    page, path = renew(tab), urlsplit(address).path
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    nonsense = NONSENSE.get(address)
    with watched(page) as (asked, errors):
        visit(page, server + address + (f"?{nonsense}" if nonsense else ""))
        if nonsense:
            page.wait_for_function("location.search === ''")
            settle(page)
        page.wait_for_function(checks.DRAWN)
        checks.assert_no_traceback(page)
        eventually(page, lambda: checks.assert_readable(page, "light", LEAST))
        if address in PATHS:
            page.add_style_tag(content=":has(> .st-key-not_taken) { display: none }")  # what only nonsense brings
            page.set_viewport_size(fold.LAPTOP)
            settle(page)
            eventually(page, lambda: checks.assert_shares_the_screen(page))
            page.set_viewport_size(fold.DESK)
            settle(page)
            eventually(page, lambda: checks.assert_short(page))
        eventually(page, lambda: checks.assert_few_controls(page))
        known = checks.PLACE_FOR_FILES if path == "/own" else None
        eventually(page, lambda: checks.assert_accessible(page, but=known))
        if address in PATHS:
            checks.assert_works_by_keyboard(page)
        eventually(page, lambda: checks.assert_still(page))

        page.get_by_text("What am I looking at?").click()
        page.locator(".katex").first.wait_for()

        page.emulate_media(color_scheme="dark")
        page.wait_for_function(
            "color => getComputedStyle(document.querySelector('.stApp')).backgroundColor === color",
            arg="rgb({}, {}, {})".format(*bytes.fromhex(BACKGROUNDS["dark"][1:])),
        )
        settle(page)
        eventually(page, lambda: checks.assert_readable(page, "dark", LEAST))
        eventually(page, lambda: checks.assert_accessible(page, "color-contrast"))

        for window in (ZOOMED, PHONE):
            page.set_viewport_size(window)
            settle(page)
            eventually(page, lambda: checks.assert_fits(page))  # plotly draws again, a moment after the resize
        if path == "/bounds":  # or the last check would see none
            expect(page.locator(".legendtoggle").nth(4)).to_be_attached()
        eventually(page, lambda: checks.assert_stays_in_sight(page))
    own = urlsplit(server).netloc
    assert len(asked) > 5
    assert {urlsplit(url).netloc for url in asked if not url.startswith(("data:", "blob:"))} == {own}
    assert not errors
    assert not (nonsense and query(page))


@pytest.mark.slow
@pytest.mark.parametrize("address", PATHS)
def test_a_projector_shows_it_and_the_arrow_keys_go_through_the_presets(tab, server, address):
    page = renew(tab, SLIDES[0])
    page.goto(f"{server}{address}?embed=true")
    page.locator("[class*=__deck] button").first.wait_for()
    page.wait_for_function(checks.DRAWN)
    for window in SLIDES:
        page.set_viewport_size(window)
        settle(page)
        eventually(page, lambda: checks.assert_is_a_slide(page))
    deck = page.locator("[class*=__deck]")
    before = deck.inner_text()
    page.keyboard.press("ArrowRight")
    expect(deck).not_to_have_text(before, use_inner_text=True)
    expect(deck).to_contain_text(re.compile(r"\([12]/"))
    settle(page)
    eventually(page, lambda: checks.assert_is_a_slide(page))


def test_the_first_visitor_may_come_through_a_link_to_a_page(first_visit):
    assert first_visit.heading == "How much privacy does one fit cost?"
    assert first_visit.menus == 1  # that of app.py
    assert first_visit.dialogs == 0  # no "Page not found"
    assert first_visit.query == {"bounds_sigma": "10"}
    assert "ε = 0.341" in first_visit.answer
