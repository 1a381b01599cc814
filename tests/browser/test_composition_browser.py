"""The Composition page in a browser: a ledger built by keyboard lives in the address, and its files come back."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, choose, downloaded, expect_query, expect_same, settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]

START = "/composition?composition_ledger=gauss:20,1@Histogram"


def expect_names(page, *names):
    """The list's entries are called so, whatever stands after the colon."""
    cells = page.locator(".numbers table").nth(1).locator("tbody tr td:nth-child(2)")
    expect(cells).to_have_text([re.compile(rf"^{name}:") for name in names])


def test_an_entry_is_added_by_keyboard_and_the_address_keeps_it(open_page, open_elsewhere):
    page = open_page(START)
    expect_names(page, "Histogram")
    choose(page, "Kind of release", "DP-SGD run")
    page.locator("[data-testid=stForm]").get_by_label("Noise multiplier").wait_for()
    settle(page)
    page.get_by_label("Name (optional)").focus()
    page.keyboard.type("Nightly run")
    page.keyboard.press("Tab")  # how many
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2")
    page.locator("[data-testid=stForm]").get_by_label("Steps").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("50")
    page.keyboard.press("Enter")
    page.wait_for_url("**dpsgd*")
    expect_query(page, {"composition_ledger": "gauss:20,1@Histogram;dpsgd*2:1,0.01,50@Nightly run"})
    settle(page)
    expect_names(page, "Histogram", "Nightly run")
    expect(answer(page, 1)).to_contain_text("three releases cost")
    other = open_elsewhere(page.url)
    expect_same(other, page, "composition_list_chart")
    page.reload()
    expect_names(page, "Histogram", "Nightly run")
    expect_same(page, other, "composition_list_chart")


def test_files_go_out_and_come_back(open_page, open_elsewhere, server, tmp_path):
    page = open_page(START + ";fit*3:8,10,1")
    download = downloaded(page, page.get_by_role("button", name="Ledger as JSON"))
    saved = tmp_path / "ledger.json"
    download.save_as(saved)
    document = json.loads(saved.read_text())
    assert [entry["entry"] for entry in document["entries"]] == ["gauss:20,1@Histogram", "fit*3:8,10,1"]
    other = open_elsewhere(f"{server}/composition?composition_ledger=empty")
    expect(answer(other, 1)).to_contain_text("Nothing has been released yet")
    other.get_by_text("Go on with a saved ledger").click()
    other.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(saved)
    other.wait_for_url("**Histogram**")
    settle(other)
    expect_query(other, {"composition_ledger": "gauss:20,1@Histogram;fit*3:8,10,1"})
    other.locator(".st-key-ledger_files summary").click()
    table = downloaded(other, other.get_by_role("button", name="Numbers as CSV"))
    rows = table.path().read_text().splitlines()
    assert rows[0].startswith("position,name,entry,kind,count,mechanism,epsilon_of_one,running_epsilon,")
    assert len(rows) == 3
