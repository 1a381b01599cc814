"""The pictures that are made from this checkout. Needs kaleido (the extra "pdf") and a Chromium.

    python -m benchmarks.figures paper bounds               # a page's charts for a paper: bounds-1.pdf, bounds-1.svg
    python -m benchmarks.figures paper bounds bounds_sigma=5 --column 174 --out figures
    python -m benchmarks.figures thumbnails [name …]        # Home's cards: pages/<name>/thumbnail.svg, or all of them
    python -m benchmarks.figures readme                     # two pages: data/figures/bounds.png and columns.png

A control is what stands in the page's address ("Share" has it). A figure for a paper is as wide as the column, in a PDF
with its font embedded and in an SVG.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from streamlit.testing.v1 import AppTest

from benchmarks.streamlit_client import start_server
from objpert_core import _provenance
from ui import registry
from ui.chart import Chart
from ui.jobs import Job
from ui.printed import draw, printed

COLUMN = 84.0
LARGEST = 40_000  # bytes of a thumbnail
KEPT = {"range", "type", "domain", "anchor", "overlaying", "matches", "scaleanchor", "scaleratio"}
BARE = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "", "showline": True}
BARE |= {"linecolor": "#888888"}  # 3 : 1 at least on white and on Streamlit's dark background
SMALL = {"width": 320, "height": 150, "margin": dict.fromkeys("lrtb", 4), "showlegend": False, "template": {}}
SMALL |= dict.fromkeys(("paper_bgcolor", "plot_bgcolor"), "rgba(0,0,0,0)")
QUICK = {"training": {"training_data": "breast-cancer", "training_repeats": "5"}}
"""Pages that train, with a setting that takes a moment."""
FIGURES = Path(__file__).resolve().parents[1] / "data" / "figures"
README = {
    "bounds": "bounds?bounds_sigma=10&bounds_lambda=5&bounds_view=1",
    "columns": "columns?columns_epsilon=1",
}
"""Pictures of the README, by the address of a page."""
READY = "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"


def charts(name: str, controls: Mapping[str, str]) -> list[tuple[dict[str, Any], str]]:
    """What the page `name` sends to plotly at these controls, when all of it is there, and each chart's alt text.

    Raises
    ------
    ValueError
        If the page has no such control.
    """
    app = AppTest.from_file(str(registry.ROOMS.parent / registry.entry(name).path), default_timeout=300)
    for key, value in (QUICK.get(name, {}) | dict(controls)).items():
        app.query_params[key] = value
    app.run()
    if "honest__run" in app.session_state:  # the price of tuning in accuracy
        _wait(app.session_state["honest__run"].job)
        app.run()
    if unknown := [key for key in controls if key not in app.session_state]:
        raise ValueError(f"controls must be of the page {name}, got {', '.join(unknown)}")
    found = [(json.loads(chart.proto.spec), chart.proto.alt) for chart in app.get("plotly_chart")]
    if app.exception or not found:
        raise RuntimeError(f"{name} shows no chart: {[error.value for error in app.exception]}")
    return found


def _wait(job: Job[Any], seconds: float = 300) -> None:
    """Wait until the job has ended, at most that long."""
    end = time.monotonic() + seconds
    while job.view().active:
        if time.monotonic() > end:
            raise TimeoutError(f"not done after {seconds:g} s")
        time.sleep(0.2)


def for_paper(name: str, controls: Mapping[str, str], column: float, out: Path) -> None:
    found = charts(name, controls)
    out.mkdir(parents=True, exist_ok=True)
    for number, (spec, title) in enumerate(found, start=1):
        figure, place = printed(Chart(spec), column=column), out / f"{name}-{number}"
        for form in ("pdf", "svg"):
            place.with_suffix(f".{form}").write_bytes(draw(figure, form))
        print(f"{place}.pdf, {place}.svg: {title}")


def thumbnail(spec: dict[str, Any]) -> Chart:
    """The chart small, transparent and without words, in colours for light and dark pages."""
    axes = {
        name: {key: axis[key] for key in KEPT & axis.keys()} | BARE
        for name, axis in spec["layout"].items()
        if name.startswith(("xaxis", "yaxis"))
    }
    traces = [_wordless(trace) for trace in spec["data"] if trace.get("mode") != "text"]
    return Chart({"data": traces, "layout": axes | SMALL})


def _wordless(trace: dict[str, Any]) -> dict[str, Any]:
    small = trace | ({"showscale": False} if trace["type"] == "heatmap" else {"text": None})
    if trace["type"] == "scatter":
        small["mode"] = trace["mode"].replace("+text", "")
        small["line"] = trace.get("line", {}) | {"simplify": True}
    return small


def for_card(name: str) -> None:
    target = registry.entry(name).thumbnail
    note = f"python -m benchmarks.figures thumbnails {name}; commit {_provenance.commit(target.parent)}"
    drawing = f"<!-- {note} -->\n{draw(thumbnail(charts(name, {})[0][0]), 'svg').decode()}\n"
    size = len(drawing.encode())
    if size > LARGEST:
        raise RuntimeError(f"{target} would have {size:,} bytes, more than {LARGEST:,}")
    target.write_text(drawing, encoding="utf-8")
    print(f"{target.relative_to(registry.ROOMS.parent)}: {size:,} bytes")


def for_readme() -> None:
    server, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="light")
            for name, where in README.items():
                page.goto(f"http://{address}/{where}")
                page.wait_for_selector(".js-plotly-plot .scatterlayer path", state="attached", timeout=120_000)
                page.wait_for_selector(READY, timeout=60_000)
                page.wait_for_timeout(1500)
                page.screenshot(path=FIGURES / f"{name}.png")
            browser.close()
    finally:
        server.terminate()
        server.wait()


def main(arguments: Sequence[str] | None = None) -> None:
    names = [entry.name for entry in registry.PAGES[1:]]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    paper, cards = kinds.add_parser("paper"), kinds.add_parser("thumbnails")
    kinds.add_parser("readme")
    of_charts = ["home", *(name for name in names if name != "lessons")]
    paper.add_argument("name", choices=of_charts, metavar="page", help=f"of {', '.join(of_charts)}")
    paper.add_argument("controls", nargs="*", metavar="control=value", help="as in the page's address")
    paper.add_argument("--column", type=float, default=COLUMN, help="width in mm (default: %(default)g)")
    paper.add_argument("--out", type=Path, default=Path(), help="folder (default: this one)")
    cards.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(names)}; all unless named")
    options = parser.parse_args(arguments)
    if options.kind == "readme":
        return for_readme()
    if options.kind == "thumbnails":
        for name in options.names or names:
            for_card(name)
        return None
    if not 30 <= options.column <= 400:
        parser.error(f"--column must be from 30 to 400 mm, got {options.column:g}")
    if wrong := [control for control in options.controls if "=" not in control]:
        parser.error(f"a control must be name=value, got {wrong[0]!r}")
    try:
        controls = dict(control.split("=", 1) for control in options.controls)
        return for_paper(options.name, controls, options.column, options.out)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
