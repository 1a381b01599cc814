"""A Streamlit server on a free port and a Chromium to look at it; skips, with a reason, where there is no Chromium."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READY = "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
TIMEOUT = 60.0


def find_chromium() -> str | None:
    """The system's Chromium, or Playwright's own when it has been downloaded; None when there is neither."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).exists() else None


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@contextmanager
def serve():
    """The address of the app on a free port, served by the interpreter that runs the tests, until the block ends."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    process = subprocess.Popen(
        [*command, "--server.address", "127.0.0.1"],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + TIMEOUT
        while not healthy(address):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the app did not start within {TIMEOUT:g} s (exit code {process.poll()})")
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
            return True
    except OSError:
        return False


@pytest.fixture(scope="session")
def server(chromium):
    """The address of the app, one server for the whole session; none is started where there is no Chromium."""
    with serve() as address:
        yield address


@pytest.fixture
def fresh_server(chromium):
    """The address of a server that nobody has visited yet."""
    with serve() as address:
        yield address


@pytest.fixture(scope="session")
def chromium():
    """One headless browser for the session."""
    pytest.importorskip("playwright", reason="playwright is not installed")
    from playwright.sync_api import sync_playwright

    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium found: install one (apt install chromium, or python -m playwright install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture
def context(chromium):
    """A fresh browser profile: a person with no history."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(TIMEOUT * 1000)
    yield context
    context.close()


@pytest.fixture
def open_page(context, server):
    """A function that opens an address of the app (a path, or a whole link) and waits until it has been drawn."""

    def open_it(path: str = "/", *, within=None):
        page = (within or context).new_page()
        page.goto(path if path.startswith("http") else server + path)
        settle(page)
        return page

    return open_it


def settle(page) -> None:
    """Wait until the script has run and the page has drawn what it sent."""
    page.wait_for_timeout(150)  # a click or key press reaches the server first
    page.wait_for_selector(READY)
    page.wait_for_function("""() => !document.querySelector('[data-stale=true], [data-testid=stSkeleton]')""")


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
