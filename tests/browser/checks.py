"""What a browser can see of one page, whichever it is: sizes, overlaps, names, focus, colours.

Each `assert_…` says in its failure what is wrong and where.
"""

import re
from itertools import groupby, pairwise

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from tests.browser.fold import MOST_BUTTONS, MOST_CONTROLS, MOST_WORDS, Fold
from tests.plotted import BACKGROUNDS, contrast
from ui.style import SLIDE_CONTROLS

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
        .filter(e => e.offsetParent && e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement))
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
MOVING = """() => document.getAnimations().filter(a => a.playState === 'running')
    .map(a => a.effect.target.outerHTML.slice(0, 200))"""

AXE = """rules => axe.run(document, {resultTypes: ['violations'], ...(rules.length && {runOnly: rules})})
    .then(({violations}) => violations.flatMap(({id, nodes}) => nodes.map(({target, any, all, none}) =>
        [id, target.join(' '), ...[...any, ...all, ...none].map(check => check.message)])))"""

PLACE_FOR_FILES = "presentation-role-conflict"
"""What axe-core finds in Streamlit's own place for files: it has a name, though its role says that it has none."""

# What the Tab key stops at in the page, and how it looks there; how it looks without the focus is read in the end.
START = """() => {
    const main = document.querySelector('.stMain');
    window.stops = [];
    window.look = element => {
        const near = [];
        for (let [at, up] = [element, 0]; at && up < 4; at = at.parentElement, up++) near.push(at, ...at.children);
        return JSON.stringify(near.map(at => {
            const style = getComputedStyle(at);
            const ring = style.outlineStyle === 'none' ? '' : style.outlineWidth + style.outlineColor;
            return [ring, style.boxShadow, style.borderColor, style.backgroundColor, style.color];
        }));
    };
    main.tabIndex = -1;
    main.focus();
    main.removeAttribute('tabindex');
}"""
STOP = """() => {
    const target = document.activeElement;
    return !!target.closest('.stMain') && !!window.stops.push({target, look: window.look(target)});
}"""
STOPS = """() => {
    document.activeElement.blur();
    return window.stops.map(({target, look}) => {
        const labelled = (target.getAttribute('aria-labelledby') ?? '').split(' ').filter(id => id);
        const texts = [...labelled.map(id => document.getElementById(id)), ...(target.labels ?? []), target];
        const within = part => !!target.closest(part);
        return {
            html: target.outerHTML.slice(0, 200),
            name: target.getAttribute('aria-label') || texts.map(e => e?.innerText ?? '').join('').trim(),
            ring: window.look(target) !== look,
            top: target.getBoundingClientRect().top,
            place: within('[class*="_presets"]') ? 'presets' : within('.st-key-stage__tools') ? 'view and share'
                : within('.st-key-stage__panel') ? 'controls' : within('[class*="_files"]') ? 'files' : '',
        };
    });
}"""
IN_SIGHT = """() => [...document.querySelectorAll('.st-key-stage__panel > :not(:has(.st-key-stage__tools))')]
    .filter(e => e.checkVisibility() && e.querySelector(':is(input, button:not([aria-label^=Help]))'))
    .map(e => e.innerText.split('\\n')[0])"""
# answer, chart and controls of a telephone whose page has been scrolled to the last controls
TELEPHONE = """() => {
    const tools = document.querySelector('.st-key-stage__tools');
    tools.scrollIntoView({block: 'end'});
    const [answer, chart] = ['.answer', '.js-plotly-plot'].map(
        part => document.querySelector(`.st-key-stage__picture ${part}`));
    const button = [...tools.querySelectorAll('button')].find(e => !e.closest('details'));  // not inside "View"
    const box = element => element.getBoundingClientRect();
    const hit = document.elementFromPoint(box(button).left + 9, box(button).top + 9);
    return {
        header: box(document.querySelector('[data-testid=stHeader]')).bottom, answer: box(answer).top,
        chart: [box(chart).top, box(chart).bottom], button: box(button).top, reached: button.contains(hit),
    };
}"""
SLIDE = """() => {
    const seen = part => [...document.querySelectorAll(part)].filter(
        element => element.checkVisibility() && element.getBoundingClientRect().height);
    const boxes = part => seen(part).map(element => {
        const {left, top, right, bottom} = element.getBoundingClientRect();
        return [element.className, left, top, right, bottom];
    });
    return {
        scrolling: [document.documentElement, document.querySelector('.stMain')].filter(
            e => e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth).length,
        letters: seen('.answer').map(e => parseFloat(getComputedStyle(e).fontSize)),
        charts: boxes('.js-plotly-plot'),
        controls: boxes('.st-key-stage__panel > :not(:has(.st-key-stage__tools))'),
        shown: boxes('.answer, .answer-line, .answer-why, .js-plotly-plot, .st-key-stage__panel :is(label, button)'),
        deck: boxes('[class*="__deck"]'),
    };
}"""


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


def assert_fits(page):
    """Nothing is wider than the window or covers a chart."""
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDE) == []
    assert page.evaluate(CUT_OFF) == []
    labels = page.evaluate(BARS)
    assert all(right <= width for _, right in labels)
    # one label ends before the next begins, unless that is the first of the next map
    assert all(right < left or left < first for (first, right), (left, _) in pairwise(labels))
    assert page.evaluate(LEGENDS_ON_THE_PICTURE) == 0
    assert page.evaluate(COVERED_LEGENDS) == 0


def assert_few_controls(page):
    """The panel has a control, and no more than people take in."""
    assert 1 <= len(page.evaluate(IN_SIGHT)) <= MOST_CONTROLS


def assert_short(page):
    """Before the first scroll there are few words, buttons and controls, and the answer, the chart and its control."""
    seen = Fold.of(page)
    assert seen.words <= MOST_WORDS
    assert seen.buttons <= MOST_BUTTONS
    assert 1 <= seen.controls <= MOST_CONTROLS
    assert_shares_the_screen(page)


def assert_shares_the_screen(page):
    """The answer, the whole chart and the control that moves it are in the window."""
    assert Fold.of(page).outside(page.viewport_size["height"]) == []


def assert_accessible(page, *rules, but=None):
    """axe-core finds nothing but what `but` names; all of its rules are asked unless some are named."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    assert [found for found in page.evaluate(AXE, rules) if found[0] != but] == []


def assert_still(page):
    """Nothing moves by itself for somebody who asked for less motion."""
    assert page.evaluate(MOVING) == []


def assert_works_by_keyboard(page):
    """The Tab key goes by presets, controls, "View" and "Share", files; all that it stops at has a name and a ring."""
    page.evaluate(START)
    for _ in range(200):
        page.keyboard.press("Tab")
        if not page.evaluate(STOP):
            break
    stops = page.evaluate(STOPS)
    assert [stop["html"] for stop in stops if not (stop["name"] and stop["ring"])] == []
    places = [place for place, _ in groupby(stop["place"] for stop in stops if stop["place"])]
    assert places[:3] == ["presets", "controls", "view and share"]
    assert set(places[3:]) <= {"files", "presets"}  # a list further down may have presets of its own
    controls = [stop["top"] for stop in stops if stop["place"] == "controls"]
    assert controls == sorted(controls)


def assert_is_a_slide(page):
    """The answer, one chart and a control or more are in the window; nothing covers the deck or needs a scroll bar."""
    found, window = page.evaluate(SLIDE), page.viewport_size
    assert found["scrolling"] == 0
    assert [size >= 20 for size in found["letters"]] == [True]
    (_, _, top, _, bottom) = one(found["charts"])
    assert bottom - top >= window["height"] / 3
    assert 1 <= len(found["controls"]) <= SLIDE_CONTROLS
    outside = [
        0 <= left < right <= window["width"] + 1 and 0 <= top < bottom <= window["height"] + 1
        for _, left, top, right, bottom in found["shown"]
    ]
    assert [box for box, inside in zip(found["shown"], outside, strict=True) if not inside] == []
    (_, left, top, _, _) = one(found["deck"])
    assert [box for box in found["shown"] if box[3] > left and box[4] > top] == []


def one(found):
    (thing,) = found
    return thing


def assert_stays_in_sight(page):
    """A phone shows answer and chart while the last of the controls is moved, and covers none of them."""
    found = page.evaluate(TELEPHONE)
    top, bottom = found["chart"]
    assert found["header"] <= found["answer"] < top
    assert top + 150 < bottom <= found["button"]
    assert found["reached"]
