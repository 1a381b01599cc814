"""Live training in a real browser: polling, Stop, and the address that shows the same picture."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, chart_data, copied_link, expect_same, query, reruns, settle, visit

pytestmark = pytest.mark.browser

SMALL = "/training?training_data=breast-cancer&training_repeats=3"


def run(page):
    page.get_by_role("button", name="Run", exact=True).click()


def wait_until_done(page):
    expect(answer(page)).to_be_visible()
    expect(page.locator(".st-key-training_stop")).to_have_count(0)
    settle(page)


def test_a_run_shows_its_results_by_itself_stops_polling_and_is_marked_when_old(open_page, server):
    page = open_page(SMALL)
    asked, errors = [], []
    listeners = {
        "request": lambda request: asked.append(request.url),
        "pageerror": lambda error: errors.append(str(error)),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    try:
        run(page)
        wait_until_done(page)  # nobody clicked anything else
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
    assert not [url for url in asked if not url.startswith((server, "data:", "blob:"))]
    assert not errors
    expect(answer(page)).to_contain_text(re.compile(r"^\s*At ε\s=\s1 "))
    curves = chart_data(page, "training_accuracy")
    shown = [name.rsplit(" ", 2)[0] for name in curves]
    assert shown == ["no privacy", "Algorithm 1 published", "Algorithm 1 tight", "always “benign”"]

    assert reruns(page, 2500) == 0

    page.get_by_role("spinbutton", name="Noise draws").fill("4")
    page.get_by_role("spinbutton", name="Noise draws").press("Enter")
    settle(page)
    expect(page.get_by_text("These results are for repeats = 3 (now 4).")).to_be_visible()


def test_stop_works_while_the_server_is_training(open_page):
    page = open_page("/training?training_data=gisette-like&training_repeats=50")
    run(page)
    stop = page.locator(".st-key-training_stop button")
    expect(stop).to_be_visible()
    expect(answer(page)).to_be_visible()  # at least one model is fitted
    stop.click()
    expect(stop).to_have_count(0)
    expect(page.get_by_text(re.compile(r"Stopped after \d{1,2} of 101 models"))).to_be_visible()
    expect(answer(page)).not_to_be_empty()


def test_the_link_shows_the_same_picture_in_another_browser(open_page, open_elsewhere):
    page = open_page(SMALL + "&training_view=coefficients")
    page.get_by_role("button", name=re.compile("Table 2.*ε = 8")).click()
    page.wait_for_url("**training_epsilon=8**")
    settle(page)
    link = copied_link(page)
    assert "training_epsilon=8" in link
    assert "training_seed=0" in link
    assert "training_repeats=10" in link
    link = re.sub("training_repeats=10|training_data=[^&]+", "", link) + "&" + SMALL.partition("?")[2]  # runs sooner
    other = open_elsewhere(link)
    for tab in (visit(page, link), other):
        run(tab)
        wait_until_done(tab)
    expect(answer(page)).to_contain_text(re.compile(r"^\s*At ε\s=\s8 "))
    expect_same(other, page, "training_coefficients_chart")
    assert len(chart_data(page, "training_coefficients_chart")) == 3
    run(page)
    wait_until_done(page)
    assert "training_view=coefficients" in page.url  # a second run does not lose it


def test_the_link_follows_controls_that_were_moved_beside_the_picture(open_page):
    page = open_page(SMALL)
    expect(page.get_by_text("Close-up", exact=True)).not_to_be_visible()  # there is nothing to look at yet
    run(page)
    wait_until_done(page)
    page.get_by_text("coefficients", exact=True).click()
    page.wait_for_url("**training_view=coefficients**")
    page.get_by_text("Close-up", exact=True).click()
    page.wait_for_url("**training_closeup=true**")
    settle(page)
    link = copied_link(page)
    assert "training_view=coefficients" in link
    assert "training_closeup=true" in link


def test_an_older_link_still_chooses_its_methods(open_page):
    page = open_page(SMALL + "&training_methods=output&training_methods=Kifer+2012")
    page.wait_for_url("**training_methods=output+perturbation&training_methods=Kifer+et+al.+2012**")


def test_numbers_in_the_address_are_those_that_are_used(open_page):
    page = open_page("/training?training_data=breast-cancer&training_repeats=1.5")
    assert query(page)["training_repeats"] == "2"
    field = page.get_by_role("spinbutton", name="Noise draws")
    field.fill("51")
    field.press("Enter")
    expect(page.get_by_text("Noise draws: a number from 1 to 50, please. 2 is still used.")).to_be_visible()
    expect(field).to_have_value("2")
    settle(page)
    assert float(query(page)["training_repeats"]) == 2


def test_a_telephone_shows_the_picture_before_the_controls(open_elsewhere, server):
    page = open_elsewhere(server + SMALL)
    invitation, methods = page.get_by_text("Choose, guess, press Run"), page.get_by_text("Methods", exact=True)
    assert invitation.bounding_box()["y"] < methods.bounding_box()["y"]


def test_the_table_fits_a_telephone_and_the_files_are_named_after_the_data(open_elsewhere, server):
    page = open_elsewhere(f"{server}/training?training_data=adult-synthetic&training_repeats=2")
    run(page)
    wait_until_done(page)
    wide, room = page.locator("[data-testid=stTable]").evaluate(
        "e => [e.querySelector('table').scrollWidth, e.clientWidth]"
    )
    assert wide <= room
    for label, suffix in (("Numbers as CSV", "csv"), ("Figure as SVG", "svg")):
        with page.expect_download() as download:
            page.get_by_role("button", name=label).first.click()
        assert download.value.suggested_filename == f"training_adult-synthetic.{suffix}"
        assert "adult-synthetic (stand-in for adult)" in download.value.path().read_text()
