"""The README's picture: the Bounds page of this checkout in headless Chromium.

python -m benchmarks.readme_picture          # writes data/figures/bounds.png
"""

from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.streamlit_client import start_server

TARGET = Path(__file__).resolve().parents[1] / "data" / "figures" / "bounds.png"
READY = "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"


def main() -> None:
    server, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="light")
            page.goto(f"http://{address}/bounds?bounds_sigma=10&bounds_lambda=5&bounds_view=1")
            page.wait_for_selector(READY, timeout=60_000)
            page.wait_for_selector(".js-plotly-plot .scatterlayer path", state="attached")
            page.wait_for_timeout(1500)
            page.screenshot(path=TARGET)
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
