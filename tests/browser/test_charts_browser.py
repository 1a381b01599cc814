"""How charts come out on the screen: text that can be read in both themes, and nothing in the keyboard's way."""

import re

import pytest

from tests.browser.conftest import settle
from ui.figures import BACKGROUNDS, contrast

pytestmark = pytest.mark.browser

CHART = "[data-testid=stPlotlyChart]"
COLORS = """() => {
    const texts = [...document.querySelectorAll('.js-plotly-plot text')].filter(e => e.textContent.trim());
    return {
        page: getComputedStyle(document.querySelector('.stApp')).backgroundColor,
        texts: texts.map(e => [e.textContent, getComputedStyle(e).fill, getComputedStyle(e).fillOpacity]),
    };
}"""


def as_hex(color):
    red, green, blue = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", color).groups()
    return f"#{int(red):02x}{int(green):02x}{int(blue):02x}"


@pytest.mark.parametrize("theme", BACKGROUNDS)
@pytest.mark.parametrize("path", ["/", "/bounds", "/renyi", "/composition", "/planner", "/tuning"])
def test_ticks_titles_legend_and_buttons_can_be_read(chromium, open_page, theme, path):
    context = chromium.new_context(color_scheme=theme)
    page = open_page(path, within=context)
    page.wait_for_selector(".js-plotly-plot .legendtext")
    found = page.evaluate(COLORS)
    context.close()
    assert as_hex(found["page"]) == BACKGROUNDS[theme]
    assert len(found["texts"]) > 15
    for text, fill, opacity in found["texts"]:
        assert opacity == "1", text
        assert contrast(as_hex(fill), BACKGROUNDS[theme]) >= 4.5, text


def test_tab_goes_from_the_control_before_a_chart_to_the_one_after_it(open_page):
    page = open_page("/bounds")
    page.wait_for_selector(".js-plotly-plot .legendtext")
    stops = f"[...document.querySelectorAll('{CHART} :is(a, button, [tabindex])')].filter(e => e.tabIndex >= 0)"
    assert page.evaluate(f"{stops}.map(e => e.outerHTML)") == []
    page.get_by_role("button", name="Published recipe at ε = 1").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('.st-key-bounds_show')")


def test_nothing_lies_on_the_legend_of_a_phone(chromium, open_page):
    phone = chromium.new_context(viewport={"width": 420, "height": 900})
    page = open_page("/bounds", within=phone)
    page.wait_for_selector(".js-plotly-plot .legendtext")
    page.locator(CHART).first.hover()
    settle(page)
    covered = page.evaluate(
        """() => [...document.querySelectorAll('.st-key-bounds_chart .legendtoggle')].filter(e => {
            e.scrollIntoView({block: 'center'});
            const r = e.getBoundingClientRect();
            return document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2) !== e;
        }).length"""
    )
    entries = page.locator(".st-key-bounds_chart .legendtoggle").count()
    phone.close()
    assert entries == 5
    assert covered == 0
