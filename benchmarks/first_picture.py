"""From an address to its picture in a browser, beside an empty Streamlit app with one chart: ratios, in one run.

    python -m benchmarks.first_picture                           # Live training and Bounds
    python -m benchmarks.first_picture --pages home --rounds 9

Each round opens every page, and the empty app, once in a browser profile that has seen nothing (a first visit), and
once more in the same one (a second visit). All take turns, so that a busy machine is as busy for all of them. On Live
training a slider is then released at values of ε that nobody had before, and at the first one again (a kept setting).

Needs Playwright and a Chromium, as the browser tests do.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.streamlit_client import start_server

AIMS = {"first": 1.3, "second": 1.1}
AIM_NEW, AIM_KEPT = 0.6, 0.3  # seconds from a released slider to the picture
EMPTY = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st

x = np.linspace(0, 2, 200)
st.plotly_chart(go.Figure([go.Scatter(x=x, y=np.exp(-k * x), name=str(k)) for k in range(1, 6)]))
"""
DRAWN = "() => document.querySelector('.js-plotly-plot .cartesianlayer .trace')"
_MARKS = """[...document.querySelectorAll('.st-key-training_accuracy .trace path')]
    .map(one => one.getAttribute('d') + one.getAttribute('transform')).join()"""
MARK = f"() => {{ window.answer = document.querySelector('.answer').innerText; window.marks = {_MARKS}; }}"
CHANGED = f"() => document.querySelector('.answer').innerText !== window.answer && {_MARKS} !== window.marks"


def visit(page: Page, address: str) -> float:
    """Seconds from the address to a curve."""
    began = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function(DRAWN, polling=20)
    return time.perf_counter() - began


def visits(chromium: Browser, address: str) -> tuple[float, float]:
    """The first and the second visit of a browser profile of its own."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    first = visit(page, address)
    page.goto("about:blank")
    second = visit(page, address)
    context.close()
    return first, second


def release(page: Page, key: str) -> float:
    """Seconds from an arrow key on the slider of ε to the answer and the picture that follow."""
    slider = page.locator(".st-key-training_epsilon input[type=range]")
    slider.focus()
    page.evaluate(MARK)
    began = time.perf_counter()
    slider.press(key)
    page.wait_for_function(CHANGED, polling=20)
    return time.perf_counter() - began


def sliding(chromium: Browser, address: str, moves: int) -> tuple[list[float], list[float]]:
    """Releases at new values of ε, then back at values that have been there."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    visit(page, f"{address}?training_seed={time.time_ns() % 9000}")
    page.wait_for_timeout(3000)
    new = [release(page, "ArrowRight") for _ in range(moves)]
    kept = [release(page, "ArrowLeft") for _ in range(moves)]
    context.close()
    return new, kept


def report(name: str, times: dict[str, list[tuple[float, float]]]) -> None:
    """Medians, and the median of the ratios to the empty app's in the same round."""
    for place, (which, aim) in enumerate(AIMS.items()):
        own, empty = ([pair[place] for pair in times[one]] for one in (name, "empty"))
        ratio = statistics.median(mine / its for mine, its in zip(own, empty, strict=True))
        mine, its = statistics.median(own), statistics.median(empty)
        print(f"{name:10s} {which:6s} visit {mine:5.2f} s, empty app {its:5.2f} s: {ratio:.2f} times (aim {aim})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", nargs="+", default=["training", "bounds"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--moves", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        empty = Path(folder, "empty.py")
        empty.write_text(EMPTY)
        (app, at), (other, empty_at) = start_server(), start_server(empty)
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            addresses = {name: f"http://{at}/{name}" for name in asked.pages} | {"empty": f"http://{empty_at}/"}
            for address in addresses.values():  # the server's own first visit is another matter
                visits(chromium, address)
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in addresses}
            for _ in range(asked.rounds):
                for name, address in addresses.items():
                    times[name].append(visits(chromium, address))
            for name in asked.pages:
                report(name, times)
            if "training" in asked.pages:
                for kind, took, aim in zip(
                    ("new ε", "kept setting"),
                    sliding(chromium, addresses["training"], asked.moves),
                    (AIM_NEW, AIM_KEPT),
                    strict=True,
                ):
                    print(f"training, {kind}: {statistics.median(took):.2f} s from release to picture (aim {aim})")
        finally:
            app.terminate()
            other.terminate()


if __name__ == "__main__":
    main()
