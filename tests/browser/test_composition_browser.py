"""The Composition page in a browser: a ledger built by keyboard lives in the address, and its files come back."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import chart_data, settle

pytestmark = pytest.mark.browser

START = "/composition?composition_ledger=gauss:20,1@Histogram"


def ledger(page):
    return parse_qs(urlsplit(page.url).query).get("composition_ledger", [None])[0]


def names(page):
    return page.locator("[data-testid=stTable]").nth(1).locator("tbody tr td:nth-child(2)").all_inner_texts()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_an_entry_is_added_by_keyboard_and_the_address_keeps_it(open_page):
    page = open_page(START)
    assert [name.split(":")[0] for name in names(page)] == ["Histogram"]
    page.get_by_label("Kind of release").focus()
    press(page, "ArrowDown", "ArrowDown", "Enter")  # two down from the first kind
    page.locator("[data-testid=stForm]").get_by_label("Noise multiplier").wait_for()
    settle(page)
    page.get_by_label("Name (optional)").focus()
    page.keyboard.type("Nightly run")
    press(page, "Tab")  # how many
    press(page, "ControlOrMeta+a")
    page.keyboard.type("2")
    page.locator("[data-testid=stForm]").get_by_label("Steps").focus()
    press(page, "ControlOrMeta+a")
    page.keyboard.type("50")
    press(page, "Enter")
    page.wait_for_url("**dpsgd*")
    settle(page)
    assert ledger(page) == "gauss:20,1@Histogram;dpsgd*2:1,0.01,50@Nightly run"
    built, chart, answer = names(page), chart_data(page, "composition_list_chart"), page.locator(".answer").nth(1)
    told = answer.inner_text()
    assert [name.split(":")[0] for name in built] == ["Histogram", "Nightly run"]
    page.reload()
    settle(page)
    assert names(page) == built
    assert chart_data(page, "composition_list_chart") == chart
    assert page.locator(".answer").nth(1).inner_text() == told
    assert "Three releases cost" in told


def test_a_link_shows_the_same_page_in_another_browser(open_page, chromium):
    page = open_page(START)
    page.get_by_role("button", name="Ten fits, one by one").click()
    settle(page)
    page.get_by_role("button", name="A hundred fits").click()
    settle(page)
    page.get_by_role("button", name="Copy link").click()
    link = page.locator("[data-testid=stPopoverBody] code").inner_text()
    stranger = chromium.new_context(viewport={"width": 420, "height": 900})
    for address in (link, page.url):
        other = open_page(address, within=stranger)
        for key in ("composition_chart", "composition_list_chart"):
            assert chart_data(other, key) == chart_data(page, key)
        assert other.locator(".answer").all_inner_texts() == page.locator(".answer").all_inner_texts()
    stranger.close()


def test_files_go_out_and_come_back(open_page, tmp_path):
    page = open_page(START + ";fit*3:8,10,1")
    with page.expect_download() as download:
        page.get_by_role("button", name="Ledger as JSON").click()
    saved = tmp_path / "ledger.json"
    download.value.save_as(saved)
    document = json.loads(saved.read_text())
    assert [entry["entry"] for entry in document["entries"]] == ["gauss:20,1@Histogram", "fit*3:8,10,1"]
    other = open_page("/composition?composition_ledger=empty")
    assert "Nothing has been released yet" in other.locator(".answer").nth(1).inner_text()
    other.get_by_text("Go on with a saved ledger").click()
    other.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(saved)
    other.wait_for_url("**Histogram**")
    settle(other)
    assert ledger(other) == "gauss:20,1@Histogram;fit*3:8,10,1"
    with other.expect_download() as table:
        other.get_by_role("button", name="Numbers as CSV").nth(1).click()
    rows = table.value.path().read_text().splitlines()
    assert rows[0].startswith("position,name,entry,kind,count,mechanism,epsilon_of_one,running_epsilon,")
    assert len(rows) == 3


@pytest.mark.parametrize(
    "query",
    [
        "composition_ledger=banana&composition_k=x&composition_sigma=%00",
        "composition_ledger=gauss:1e999,1&composition_target=nan&composition_list_delta=-1",
        "composition_ledger=![x](http://a.example/b.png)",
        "composition_ledger=" + "gauss:20,1;" * 300,
    ],
)
def test_nonsense_in_the_address_is_taken_out_and_shows_no_traceback(open_page, query):
    page = open_page(f"/composition?{query}")
    page.wait_for_function("!location.search.includes('composition')")
    settle(page)
    assert [name.split(":")[0] for name in names(page)] == ["Models", "DP-SGD run", "Histogram"]
    assert page.get_by_text("What am I looking at?").count() == 1
    assert page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0
    assert "Traceback" not in page.locator("body").inner_text()


def test_nothing_sticks_out_on_a_phone(chromium, open_page):
    phone = chromium.new_context(viewport={"width": 420, "height": 800}, color_scheme="dark")
    page = open_page("/composition", within=phone)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    wide = page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stMain] :is(h1, p, button, input, .js-plotly-plot)')]
            .filter(e => e.offsetParent && !e.closest('[data-testid=stTable]')
                && e.getBoundingClientRect().right > 421).map(e => e.outerHTML.slice(0, 200))"""
    )
    assert wide == []
    phone.close()
