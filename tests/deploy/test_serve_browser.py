"""A browser on the deployed server: its process is killed, and it is back on the same picture; nothing is blocked."""

import os
import signal

import pytest
from playwright.sync_api import expect

from deploy.settings import UPLOAD_MEBIBYTES
from tests.browser.conftest import answer, settle, visit
from tests.deploy.conftest import MEBIBYTE

pytestmark = [pytest.mark.slow, pytest.mark.browser]
APP = "[data-testid=stApp]"


def test_a_browser_whose_process_is_killed_is_back_on_the_same_picture(person, deployed):
    complaints = []
    person.on("console", lambda message: complaints.append(message.text) if "Content Sec" in message.text else None)
    person.on("pageerror", lambda error: complaints.append(str(error)))
    visit(person, f"http://{deployed.server}/bounds?bounds_sigma=10&bounds_lambda=24")
    slider = person.locator(".st-key-bounds_lambda input[type=range]")
    slider.focus()
    slider.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", "24")
    person.wait_for_function("!location.search.includes('bounds_lambda=24')")
    settle(person)
    stood, said, address = slider.get_attribute("aria-valuetext"), answer(person).inner_text(), person.url

    number = cookie(person)
    os.kill(deployed.state()["apps"][int(number)]["pid"], signal.SIGKILL)
    expect(person.locator(APP)).not_to_have_attribute("data-test-connection-state", "CONNECTED")
    expect(person.locator(APP)).to_have_attribute("data-test-connection-state", "CONNECTED")
    settle(person)
    assert cookie(person) != number
    expect(slider).to_have_attribute("aria-valuetext", stood)
    expect(answer(person)).to_have_text(said)
    expect(person).to_have_url(address)
    slider.focus()
    slider.press("ArrowRight")  # and the page works
    expect(slider).not_to_have_attribute("aria-valuetext", stood)
    assert complaints == []


def test_a_table_that_is_too_large_is_refused_with_a_sentence_before_it_is_sent(person, deployed):
    sent = []
    person.on("request", lambda request: sent.append(request.url) if "upload_file" in request.url else None)
    visit(person, f"http://{deployed.server}/own?own_table=your+own+file")
    table = {"name": "a.csv", "mimeType": "text/csv", "buffer": bytes(UPLOAD_MEBIBYTES * MEBIBYTE + 1)}
    person.locator(".st-key-own__file input[type=file]").set_input_files(table)
    expect(person.get_by_text(f"File must be {UPLOAD_MEBIBYTES}.0MB or smaller.")).to_be_visible()
    assert sent == []


def cookie(page) -> str:
    return next(each["value"] for each in page.context.cookies() if each["name"] == "objpert_process")
