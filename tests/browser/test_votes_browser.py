"""A class in a room: a lecturer at a desk, two students with telephones, each in a browser of their own."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.checks import assert_accessible, assert_fits
from tests.browser.conftest import PHONE, eventually, query, settle, visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

COUNTED = "Your answer is counted."


def option(page, number: int):
    return page.locator(".st-key-solvers__try label:has(input)").nth(number)


def choose(page, number: int) -> None:
    option(page, number).click()
    expect(page.get_by_text(COUNTED)).to_be_visible()


@pytest.fixture
def student(person):
    """A second telephone."""
    person.set_viewport_size(PHONE)
    return person


def test_a_class_predicts_and_sees_the_counts_when_the_lecturer_reveals(open_page, open_elsewhere, student):
    lecturer = open_page("/solvers?solvers_lambda=10")
    lecturer.get_by_role("button", name="Share").click()
    lecturer.get_by_role("button", name="Open a room").click()
    expect(lecturer.get_by_text("You lead room")).to_be_visible()
    link = lecturer.locator("[data-testid=stPopoverBody] code").first
    expect(link).to_contain_text("room=")
    settle(lecturer)
    address, key = link.inner_text().strip(), query(lecturer)["room_key"]
    assert query(lecturer).keys() == {"room", "room_key", "solvers_lambda"}
    assert key not in lecturer.locator("[data-testid=stPopoverBody]").inner_html()
    lecturer.keyboard.press("Escape")

    first = open_elsewhere(address)
    visit(student, address)
    choose(first, 0)
    choose(student, 1)
    for phone in (first, student):
        assert "room_key" not in query(phone)
        expect(phone.get_by_role("button", name="Reveal")).to_have_count(0)
        expect(phone.locator(".votes")).to_have_count(0)
        expect(phone.locator(".st-key-solvers_try_chart")).to_have_count(0)
    expect(lecturer.get_by_text("2 votes so far")).to_be_visible()
    expect(lecturer.locator(".votes")).to_have_count(0)

    visit(first, address)  # loaded anew, it is still the same person
    expect(option(first, 0).locator("input")).to_be_checked()
    choose(first, 1)

    lecturer.get_by_role("button", name="Reveal").click()
    for page in (lecturer, first, student):
        expect(page.locator(".votes .count")).to_have_text(["0 votes, 0 %", "2 votes, 100 %", "0 votes, 0 %"])
        expect(page.locator(".votes .right")).to_contain_text(re.compile(r"About 40 times.*\(right\)"))
        expect(page.locator(".st-key-solvers_try_chart .js-plotly-plot")).to_be_visible()
        settle(page)
        eventually(page, lambda page=page: assert_fits(page))
    eventually(lecturer, lambda: assert_accessible(lecturer))

    lecturer.get_by_role("button", name="Hide again").click()
    expect(student.locator(".votes")).to_have_count(0)

    lecturer.locator("header").get_by_text("Learn", exact=True).click()
    lecturer.get_by_role("menuitem", name="Lessons").click()  # the room follows to another page
    lecturer.wait_for_url("**/lessons?*room_key=*")
    expect(lecturer.get_by_text("You lead room")).to_be_visible()
    assert query(lecturer)["room_key"] == key
    student.get_by_role("link", name="Your lecturer shows Lessons").click()  # nobody scans again
    student.wait_for_url("**/lessons?**")
    assert query(student)["room"] == query(lecturer)["room"]
    settle(student)
    expect(student.get_by_text("Your lecturer shows")).to_have_count(0)
    lecturer.get_by_role("button", name="Close the room").click()
    expect(lecturer.get_by_text("There is no room")).to_be_visible()
    expect(student.get_by_text("There is no room")).to_be_visible()
    lecturer.wait_for_function("!/[?&]room/.test(location.search)")
