"""What somebody does with a table on "Your own data": hand it in, type or load what is known about it, press Fit."""

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


def field(page, column, label):
    """One field of a column's line."""
    return page.get_by_label(f"{label}, {column}", exact=True)


def type_down(page, column, label, texts, seconds):
    """Type down one column of fields by keyboard, from a column's line on, with so many seconds for each field."""
    field(page, column, label).focus()
    for text in texts:
        page.keyboard.type(text, delay=1000 * seconds / (len(text) + 1))
        page.keyboard.press("Enter", delay=1000 * seconds / (len(text) + 1))
