"""A Streamlit server on a free port and a Chromium to look at it; skips, with a reason, where there is no Chromium."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import expect

from benchmarks.streamlit_client import free_port, wait_until_healthy
from tests.browser.wire import Wire
from tests.chromium import TIMEOUT

pytest.register_assert_rewrite("tests.browser.checks")

ROOT = Path(__file__).resolve().parents[2]
READY = """() => document.querySelector(
    '[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]'
) && !document.querySelector('[data-stale=true], [data-testid=stSkeleton]')"""
HANDLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PATIENCE = 60.0  # for a picture to follow what the page has already said
_WIRES: WeakKeyDictionary = WeakKeyDictionary()
# A run of minutes, even on a quick machine: it must not end before a test stops it.
LONG_RUN = "/training?training_data=adult-synthetic&training_methods=no+privacy&training_methods=DP-SGD+unpaid"
LONG_RUN += "&training_repeats=50&training_epochs=100&training_batch=64"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 420, "height": 900}


@contextmanager
def serve(log=subprocess.DEVNULL, **environment):
    """The address of the app on a free port, served by the interpreter that runs the tests, until the block ends.

    What the server prints goes to `log`; `environment` comes on top of the tests' own.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    process = subprocess.Popen(
        [*command, "--server.address", "127.0.0.1"],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        stdout=log,
        stderr=log,
    )
    try:
        wait_until_healthy(f"127.0.0.1:{port}", process, within=TIMEOUT)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


class FirstVisit(NamedTuple):
    """What the first visitor of a fresh server saw, who came through a link to a page."""

    server: str
    query: dict[str, str]
    heading: str
    menus: int
    dialogs: int
    answer: str


@pytest.fixture(scope="session")
def first_visit(tab):
    """One server for the whole session, and what its first visitor saw: that visit is different from all others."""
    with serve() as address:
        visit(tab, f"{address}/bounds?bounds_sigma=10")
        yield FirstVisit(
            address,
            query(tab),
            tab.get_by_role("heading", level=1).inner_text(),
            tab.get_by_text("The paper", exact=True).count(),
            tab.get_by_role("dialog").count(),
            answer(tab).inner_text().replace("\xa0", " "),
        )


@pytest.fixture(scope="session")
def server(first_visit):
    """The address of the app; none is started where there is no Chromium."""
    return first_visit.server


@contextmanager
def new_tab(chromium, **options):
    """A tab in a browser profile of its own, without a history."""
    context = chromium.new_context(**{"viewport": DESK, "color_scheme": "light"} | options)
    context.set_default_timeout(TIMEOUT * 1000)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def tab(chromium):
    """One tab for the session.

    A tab that has shown the app keeps its compiled scripts: the next address costs it a third of what it costs a new
    tab or a new profile.
    """
    with new_tab(chromium) as page:
        yield page


@pytest.fixture(scope="session")
def phone(chromium):
    """A tab in another browser, on a telephone: it shares nothing with `tab` but the links it is sent."""
    with new_tab(chromium, viewport=PHONE) as page:
        yield page


@pytest.fixture
def person(chromium):
    """A tab of somebody with no history. Costs seconds; `open_page` does not."""
    with new_tab(chromium) as page:
        yield page


@pytest.fixture
def open_page(tab, server):
    """A function that opens a path of the app in the session's tab, as new, and waits until it has been drawn.

    There is one tab: opening a second page leaves the first.
    """

    def open_it(path: str = "/"):
        return visit(renew(tab), server + path)

    return open_it


@pytest.fixture
def open_elsewhere(phone):
    """A function that opens a whole link on a stranger's telephone."""

    def open_it(link: str, **media):
        return visit(renew(phone, PHONE, **media), link)

    return open_it


def renew(page, size=None, color_scheme="light"):
    """The tab as it was: its size, its colours, its pointer, and nothing stored."""
    wire(page)
    page.set_viewport_size(size or DESK)
    page.emulate_media(color_scheme=color_scheme, reduced_motion="no-preference")
    page.mouse.move(0, 0)
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.goto("about:blank")  # what the page before asks its server for is not heard any more
    return page


def visit(page, address: str):
    """Open the address in this tab and wait until it has been drawn."""
    wire(page)
    page.goto(address)
    page.get_by_text("What am I looking at?").wait_for()  # the last thing on every page
    settle(page)
    return page


def wire(page) -> Wire:
    """What the tab and its server say to each other, from the first time that this is asked."""
    if page not in _WIRES:
        _WIRES[page] = Wire(page)
    return _WIRES[page]


def query(page) -> dict[str, str]:
    """What the address says after the question mark, in plain text."""
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


def answer(page, number: int = 0):
    """The page's answer; `expect(answer(page))` waits for what it is to say, whatever its spaces are."""
    return page.locator(".answer").nth(number)


def eventually(page, check) -> None:
    """Call `check` until its assertions hold; the last failure is raised when the patience ends.

    A curve that is not drawn yet counts as one: charts follow the sentence above them by a moment.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return check()
        except (AssertionError, LookupError):
            if time.monotonic() > deadline:
                raise
            page.wait_for_timeout(100)


@contextmanager
def watched(page):
    """The addresses that the page asks, and the errors of its scripts, as long as the block lasts."""
    asked, errors = [], []
    listeners = {
        "request": lambda request: asked.append(request.url),
        "websocket": lambda socket: asked.append(socket.url),
        "pageerror": lambda error: errors.append(str(error)),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    try:
        yield asked, errors
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)


def expect_query(page, expected: dict[str, str]) -> None:
    """Wait until the address says this and nothing else."""

    def check():
        assert query(page) == expected

    eventually(page, check)


def expect_same(other, page, *charts: str) -> None:
    """Wait until another tab says and draws what this one does, no wider than its window."""
    expect(other.locator(".answer")).to_have_text(page.locator(".answer").all_inner_texts())

    def check():
        for key in charts:
            assert chart_data(other, key) == chart_data(page, key), key
        assert other.evaluate("document.documentElement.scrollWidth") <= other.viewport_size["width"]

    eventually(page, check)


def move(page, control: str, key: str, address: str) -> None:
    """Press a key on a slider, and wait for the address; the slider has the focus before."""
    slider = page.locator(f".st-key-{control} input[type=range]")
    slider.focus()
    expect(slider).to_be_focused()
    slider.press(key)
    page.wait_for_url(f"**{address}**")
    settle(page)


def press(page, button: str, address: str, *, more: bool = False) -> None:
    """Press a button, or with `more` a preset that stands under "More"; wait for the address."""
    if more:
        page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("button", name=button).click()
    page.wait_for_url(f"**{address}**")
    settle(page)


def copied_link(page) -> str:
    """What the page's button gives to send."""
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_alt_text("QR code of this link")).to_be_visible()
    return page.locator("[data-testid=stPopoverBody] code").first.inner_text().strip()


def open_room(page) -> tuple[str, str]:
    """Open a room on this page: its name and its key."""
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Open a room").click()
    page.wait_for_url("**room_key=**")
    settle(page)
    return query(page)["room"], query(page)["room_key"]


def settle(page) -> None:
    """Wait until the server has answered all that the page has asked it for, and the page has drawn it."""

    def check():
        page.evaluate(HANDLED)  # what was clicked has been sent
        assert wire(page).answered

    eventually(page, check)
    page.evaluate(HANDLED)  # what came last has been taken in
    page.wait_for_function(READY)


def downloaded(page, button):
    """The file that a button gives. The page comes to rest before: a button that is drawn again hears no press."""
    button.wait_for()
    settle(page)
    with page.expect_download() as file:
        button.click()
    return file.value


@contextmanager
def rerun(page):
    """Wait, after the block, until the script has run because of it, however late the page asks for that run."""
    before = wire(page).runs
    yield

    def check():
        assert wire(page).runs > before

    eventually(page, check)
    settle(page)


def expect_rest(page) -> None:
    """Wait until the page asks for nothing any more while nobody touches anything."""

    def check():
        settle(page)
        assert not wire(page).timers

    eventually(page, check)


def choose(page, label: str, option: str) -> None:
    """Choose from a box by keyboard: type until one option is left, take it."""
    page.get_by_label(label).press_sequentially(option)
    left = page.get_by_role("option")
    expect(left).to_have_text([option])
    page.keyboard.press("Enter")
    left.first.wait_for(state="detached")


def chart_data(page, key: str) -> dict:
    """Name → (x, y) of a chart's curves as plotly drew them, ghosts and guides left out."""
    page.wait_for_selector(f".st-key-{key} .js-plotly-plot .plot-container")
    return page.evaluate(
        """key => {
            const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
            const shown = plot._fullData.filter(t => t.name && !(t.meta && t.meta.ghost) && t.showlegend !== false);
            return Object.fromEntries(shown.map(t => [t.name, [Array.from(t.x), Array.from(t.y)]]));
        }""",
        key,
    )


def expect_chart(page, key: str, is_so: Callable[[dict], bool]) -> None:
    """Wait until this is so of a chart's curves, name → (x, y)."""

    def check():
        drawn = chart_data(page, key)
        assert is_so(drawn), drawn

    eventually(page, check)
