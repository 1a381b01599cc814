"""What somebody does with a table on "Your own data": hand it in, load what was typed about it, press Fit."""

from playwright.sync_api import expect

from tests.browser.conftest import rerun


def _put(page, place, file):
    """Hand a file in, and wait until the page knows of it: a press on Fit before that is one for the file before."""
    with rerun(page):
        page.locator(f".st-key-{place} input[type=file]").set_input_files(file)


def hand_in(page, content, name="table.csv"):
    """Put a file where the one before was."""
    _put(page, "own__file", {"name": name, "mimeType": "text/csv", "buffer": content})


def load(page, schema):
    text = schema.to_json().encode()
    _put(page, "own__schema", {"name": "schema.json", "mimeType": "application/json", "buffer": text})


def fit(page):
    button = page.locator(".st-key-own_fit button")
    expect(button).to_be_enabled()
    with rerun(page):
        button.click()
