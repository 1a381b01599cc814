"""The small pictures on Home's cards: the first chart of every other page, drawn from this checkout by kaleido.

python -m benchmarks.thumbnails [name …]     # writes pages/<name>/thumbnail.svg; every page unless named
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from typing import Any

from streamlit.testing.v1 import AppTest

from objpert_core import _provenance
from ui import registry
from ui.chart import Chart
from ui.jobs import Job
from ui.printed import draw

LARGEST = 30_000  # bytes
KEPT = {"range", "type", "domain", "anchor", "overlaying", "matches", "scaleanchor", "scaleratio"}
BARE = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "", "showline": True}
BARE |= {"linecolor": "#888888"}  # 3 : 1 at least on white and on Streamlit's dark background
SMALL = {"width": 320, "height": 150, "margin": dict.fromkeys("lrtb", 4), "showlegend": False, "template": {}}
SMALL |= dict.fromkeys(("paper_bgcolor", "plot_bgcolor"), "rgba(0,0,0,0)")
QUICK = {"training": {"training_data": "breast-cancer", "training_repeats": "5"}}
"""Pages that train, with a setting that takes a moment."""


def first_chart(name: str) -> dict[str, Any]:
    """What the page `name` sends to plotly first, when all of it is there."""
    return charts(name, QUICK.get(name, {}))[0][0]


def charts(name: str, controls: Mapping[str, str]) -> list[tuple[dict[str, Any], str]]:
    """What the page `name` sends to plotly at these controls, when all of it is there, and each chart's alt text.

    Raises
    ------
    ValueError
        If the page has no such control.
    """
    app = AppTest.from_file(str(registry.ROOMS.parent / registry.entry(name).path), default_timeout=300)
    for key, value in controls.items():
        app.query_params[key] = value
    app.run()
    if "honest__run" in app.session_state:  # the price of tuning in accuracy
        wait(app.session_state["honest__run"].job)
        app.run()
    if unknown := [key for key in controls if key not in app.session_state]:
        raise ValueError(f"controls must be of the page {name}, got {', '.join(unknown)}")
    found = [(json.loads(chart.proto.spec), chart.proto.alt) for chart in app.get("plotly_chart")]
    if app.exception or not found:
        raise RuntimeError(f"{name} shows no chart: {[error.value for error in app.exception]}")
    return found


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


def wait(job: Job[Any], seconds: float = 300) -> None:
    """Wait until the job has ended, at most that long."""
    end = time.monotonic() + seconds
    while job.view().active:
        if time.monotonic() > end:
            raise TimeoutError(f"not done after {seconds:g} s")
        time.sleep(0.2)


def main() -> None:
    names = [entry.name for entry in registry.PAGES[1:]]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(names)}")
    for name in parser.parse_args().names or names:
        target = registry.entry(name).thumbnail
        note = f"python -m benchmarks.thumbnails {name}; commit {_provenance.commit(target.parent)}"
        drawing = f"<!-- {note} -->\n{draw(thumbnail(first_chart(name)), 'svg').decode()}\n"
        size = len(drawing.encode())
        if size > LARGEST:
            raise RuntimeError(f"{target} would have {size:,} bytes, more than {LARGEST:,}")
        target.write_text(drawing, encoding="utf-8")
        print(f"{target.relative_to(registry.ROOMS.parent)}: {size:,} bytes")


if __name__ == "__main__":
    main()
