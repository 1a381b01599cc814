"""What the tests of the pages share: a page opened in Streamlit's own test driver, and what can be read on it."""

from __future__ import annotations

import contextlib
import io
import json
from html import unescape
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from ui.svg import decode

ROOT = Path(__file__).resolve().parents[2]
Curves = dict[str, tuple[np.ndarray, np.ndarray]]


def open_app(file: str, **query) -> AppTest:
    """The page (its file in the repository), opened through a link with this query; None leaves a key out."""
    app = AppTest.from_file(str(ROOT / file), default_timeout=120)
    for key, value in query.items():
        if value is not None:
            app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def spec(app: AppTest, chart: int = 0) -> dict:
    """What was sent to plotly."""
    return json.loads(app.get("plotly_chart")[chart].proto.spec)


def curves(app: AppTest, chart: int = 0) -> tuple[Curves, list[str]]:
    """Name → (x, y) of the curves in the legend, and the names of the ghosts."""
    shown, ghosts = {}, []
    for trace in spec(app, chart)["data"]:
        if trace.get("meta", {}).get("ghost"):
            ghosts.append(trace["name"])
        elif trace.get("showlegend", True):
            shown[trace["name"]] = (decode(trace["x"]).astype(float), decode(trace["y"]).astype(float))
    return shown, ghosts


def said(app: AppTest) -> str:
    """The answers, as people read them."""
    return unescape(" ".join(block.proto.body for block in app.get("html"))).replace("\xa0", " ")


def written(app: AppTest) -> str:
    """The running text and the captions."""
    return " ".join(block.value for block in [*app.markdown, *app.caption])


def infos(app: AppTest) -> str:
    return " ".join(block.value for block in app.info)


def execute(snippet: str) -> tuple[dict, str]:
    """What a snippet defines, and what it prints."""
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(compile(snippet, "snippet", "exec"), names)
    return names, printed.getvalue()
