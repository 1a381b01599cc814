"""What holds for every page, checked in one visit each: nonsense in the address, other hosts, colours, a telephone."""

import re
from itertools import pairwise
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, eventually, query, renew, settle, visit
from ui import registry
from ui.figures import BACKGROUNDS, contrast

pytestmark = pytest.mark.browser

NONSENSE = {  # what to add to a page's address; none of it may be left, do harm or be fetched
    "/": "home_draw=99999999999999999999&home_sigma=[]&home_person=%F0%9F%A6%86&home_lambda=1e309",
    "/bounds": "bounds_sigma=%00&bounds_lambda=NaN&bounds_view=-1&bounds_delta=1e-5x&bounds_ghost=perhaps",
    "/renyi": "renyi_sigma=nan&renyi_noise=1e999&renyi_steps=1e400&renyi_delta=&renyi_q=banana&renyi_bound=%00",
    "/distance": "distance_sigma=inf&distance_delta=0&distance_beta=%00",
    "/planner": "planner_epsilon=-0&planner_delta=2&planner_rows=1e999",
    "/composition": "composition_k=0&composition_sigma=nan&composition_ledger=![x](http://a.example/b.png)",
    "/tuning": "tuning_delta=1&tuning_settings=1e400&tuning_epsilon=nan",
    "/training": "training_repeats=inf&training_split=1e400&training_seed=-1e999",
    "/accuracy": "accuracy_data=%00&accuracy_epsilon=nan&accuracy_methods=everything&accuracy_trial=1e400",
    "/honest": "honest_data=![x](http://a.example/b.png)&honest_epsilon=-1&honest_draws=1e999&honest_rates=banana",
    "/solvers": "solvers_n=1e9&solvers_tau=0&solvers_shown=%F0%9F%92%A5&solvers_seed=inf",
    "/losses": "losses_C=-1&losses_margin=nan&losses_loss=%00&losses_seed=1e999&losses_show=everything",
}
WITHOUT_CHARTS = {"/training"}  # on arrival
PATHS = ["/", *(f"/{entry.name}" for entry in registry.PAGES[1:])]
# other views of a page, which have charts or tables of their own
VIEWS = [
    "/bounds?bounds_show=" + quote("Attacker’s errors"),
    "/tuning?tuning_afford=true",
    "/losses?losses_show=" + quote("The fit"),
]

DRAWN = """() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')]
    .every(e => e.querySelector('.main-svg text'))"""
COLORS = """() => {
    const texts = [...document.querySelectorAll('.js-plotly-plot text')].filter(e => e.textContent.trim());
    return {
        page: getComputedStyle(document.querySelector('.stApp')).backgroundColor,
        texts: texts.map(e => [e.textContent, getComputedStyle(e).fill, getComputedStyle(e).fillOpacity]),
    };
}"""
# links whose words end in the middle
CUT_OFF = """() => [...document.querySelectorAll('[data-testid=stPageLink] span')]
    .filter(e => getComputedStyle(e).overflowX === 'hidden' && e.scrollWidth > e.clientWidth + 1)
    .map(e => e.innerText)"""
# a slider's own input is invisible and hangs off its thumb; tables and rows of pills may scroll by themselves
WIDE = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const scrolls = e => e !== main && (/auto|scroll/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
    return [...main.querySelectorAll(':is(h1, p, button, table, input:not([type=range]), .js-plotly-plot)')]
        .filter(e => e.offsetParent && e.getBoundingClientRect().right > 421 && !scrolls(e.parentElement))
        .map(e => e.outerHTML.slice(0, 200));
}"""
BARS = """() => [...document.querySelectorAll('.js-plotly-plot .colorbar text')].map(t => t.getBoundingClientRect())
    .filter(r => r.width).map(r => [r.left, r.right])"""
LEGENDS_ON_THE_PICTURE = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(plot => {
    const legend = plot.querySelector('.legend'), drawn = plot.querySelector('.nsewdrag');
    return legend && drawn && legend.getBoundingClientRect().bottom > drawn.getBoundingClientRect().top + 1;
}).length"""
COVERED_LEGENDS = """() => [...document.querySelectorAll('.legendtoggle')].filter(e => {
    e.scrollIntoView({block: 'center'});
    const r = e.getBoundingClientRect();
    return document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2) !== e;
}).length"""
CHARTS_IN_THE_KEYBOARDS_WAY = """() => [...document.querySelectorAll(
    '[data-testid=stPlotlyChart] :is(a, button, [tabindex])')].filter(e => e.tabIndex >= 0).map(e => e.outerHTML)"""


def as_hex(color):
    red, green, blue = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", color).groups()
    return f"#{int(red):02x}{int(green):02x}{int(blue):02x}"


def assert_no_traceback(page):
    expect(page.get_by_text("What am I looking at?")).to_have_count(1)  # the last thing on every page
    expect(page.locator("body")).not_to_contain_text("Traceback")
    expect(page.locator("body")).not_to_contain_text("encountered an error")
    expect(page.locator("[data-testid=stException]")).to_have_count(0)


def assert_readable(page, theme, least):
    """Ticks, titles, legends and buttons of the charts have the contrast that reading takes."""
    found = page.evaluate(COLORS)
    assert as_hex(found["page"]) == BACKGROUNDS[theme]
    assert len(found["texts"]) > least
    for text, fill, opacity in found["texts"]:
        assert opacity == "1", text
        assert contrast(as_hex(fill), BACKGROUNDS[theme]) >= 4.5, (theme, text)


def assert_fits(page, width):
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDE) == []
    assert page.evaluate(CUT_OFF) == []
    labels = page.evaluate(BARS)
    assert all(right <= width for _, right in labels)
    # one label ends before the next begins, unless that is the first of the next map
    assert all(right < left or left < first for (first, right), (left, _) in pairwise(labels))
    assert page.evaluate(LEGENDS_ON_THE_PICTURE) == 0
    assert page.evaluate(COVERED_LEGENDS) == 0


@pytest.mark.parametrize("address", [*PATHS, *VIEWS])
def test_everybody_can_use_it(tab, server, address):
    page, path = renew(tab), urlsplit(address).path
    asked, errors = [], []
    listeners = {
        "request": lambda request: asked.append(request.url),
        "websocket": lambda socket: asked.append(socket.url),
        "pageerror": lambda error: errors.append(str(error)),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    try:
        nonsense = NONSENSE.get(address)
        visit(page, server + address + (f"?{nonsense}" if nonsense else ""))
        if nonsense:
            page.wait_for_function("location.search === ''")
            settle(page)
        page.wait_for_function(DRAWN)
        assert_no_traceback(page)
        least = -1 if path in WITHOUT_CHARTS else 10
        eventually(page, lambda: assert_readable(page, "light", least))
        assert page.evaluate(CHARTS_IN_THE_KEYBOARDS_WAY) == []

        page.get_by_text("What am I looking at?").click()
        page.locator(".katex").first.wait_for()

        page.emulate_media(color_scheme="dark")
        page.wait_for_function(
            "color => getComputedStyle(document.querySelector('.stApp')).backgroundColor === color",
            arg="rgb({}, {}, {})".format(*bytes.fromhex(BACKGROUNDS["dark"][1:])),
        )
        settle(page)
        eventually(page, lambda: assert_readable(page, "dark", least))

        page.set_viewport_size(PHONE)
        page.wait_for_function(f"document.documentElement.scrollWidth <= {PHONE['width']}")
        settle(page)
        eventually(page, lambda: assert_fits(page, PHONE["width"]))  # plotly draws again, a moment after the resize
        assert path != "/bounds" or page.locator(".legendtoggle").count() >= 5  # or the last check would see none
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
    own = urlsplit(server).netloc
    assert len(asked) > 5
    assert {urlsplit(url).netloc for url in asked if not url.startswith(("data:", "blob:"))} == {own}
    assert not errors
    assert not (nonsense and query(page))


def test_the_first_visitor_may_come_through_a_link_to_a_page(first_visit):
    assert first_visit.heading == "How much privacy does one fit cost?"
    assert first_visit.menus == 1  # that of app.py
    assert first_visit.dialogs == 0  # no "Page not found"
    assert first_visit.query == {"bounds_sigma": "10"}
    assert "ε = 0.341" in first_visit.answer
