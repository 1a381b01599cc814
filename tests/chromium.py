"""One headless browser a process: Playwright takes one at a time, whichever folder's tests ask for it."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

TIMEOUT = 180.0  # for a machine that is busy with other things


def find_chromium() -> str | None:
    """The system's Chromium, or Playwright's own when it has been downloaded; None when there is neither."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).exists() else None


@pytest.fixture(scope="session")
def chromium():
    """One headless browser for the session."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium found: install one (apt install chromium, or python -m playwright install chromium)")
    expect.set_options(timeout=TIMEOUT * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()
