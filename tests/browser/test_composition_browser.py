"""The Composition page in a browser: a ledger built by keyboard lives in the address, and its files come back."""

import json

import pytest

from tests.browser.conftest import answer, chart_data, choose, copied_link, query, settle

pytestmark = pytest.mark.browser

START = "/composition?composition_ledger=gauss:20,1@Histogram"


def ledger(page):
    return query(page).get("composition_ledger")


def names(page):
    return page.locator("[data-testid=stTable]").nth(1).locator("tbody tr td:nth-child(2)").all_inner_texts()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_an_entry_is_added_by_keyboard_and_the_address_keeps_it(open_page):
    page = open_page(START)
    assert [name.split(":")[0] for name in names(page)] == ["Histogram"]
    choose(page, "Kind of release", "DP-SGD run")
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
    built, chart, told = names(page), chart_data(page, "composition_list_chart"), answer(page, 1)
    assert [name.split(":")[0] for name in built] == ["Histogram", "Nightly run"]
    page.reload()
    settle(page)
    assert names(page) == built
    assert chart_data(page, "composition_list_chart") == chart
    assert answer(page, 1) == told
    assert "Three releases cost" in told


def test_a_link_shows_the_same_page_in_another_browser(open_page, open_elsewhere):
    page = open_page(START)
    page.get_by_role("button", name="Ten fits, one by one").click()
    page.wait_for_url("**composition_ledger=fit**")
    settle(page)
    page.get_by_role("button", name="A hundred fits").click()
    page.wait_for_url("**composition_view=30**")
    settle(page)
    other = open_elsewhere(copied_link(page))
    for key in ("composition_chart", "composition_list_chart"):
        assert chart_data(other, key) == chart_data(page, key)
    assert other.locator(".answer").all_inner_texts() == page.locator(".answer").all_inner_texts()


def test_files_go_out_and_come_back(open_page, open_elsewhere, server, tmp_path):
    page = open_page(START + ";fit*3:8,10,1")
    with page.expect_download() as download:
        page.get_by_role("button", name="Ledger as JSON").click()
    saved = tmp_path / "ledger.json"
    download.value.save_as(saved)
    document = json.loads(saved.read_text())
    assert [entry["entry"] for entry in document["entries"]] == ["gauss:20,1@Histogram", "fit*3:8,10,1"]
    other = open_elsewhere(f"{server}/composition?composition_ledger=empty")
    assert "Nothing has been released yet" in answer(other, 1)
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


def test_nonsense_in_the_address_is_taken_out_and_leaves_the_default_list(open_page):
    """What the list's parser refuses is known without a browser; here, that the address does not keep it."""
    page = open_page("/composition?composition_ledger=" + "gauss:20,1;" * 300 + "&composition_target=nan")
    page.wait_for_function("!location.search.includes('composition')")
    settle(page)
    assert [name.split(":")[0] for name in names(page)] == ["Models", "DP-SGD run", "Histogram"]
    assert page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0
