"""What the tests of the pages share: a page opened in Streamlit's own test driver, and what can be read on it."""

from __future__ import annotations

import contextlib
import io
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.plotted import decode
from tests.ui.waiting import ended
from ui.jobs import JobView

ROOT = Path(__file__).resolve().parents[2]
Curves = dict[str, tuple[np.ndarray, np.ndarray]]


def open_app(file: str, **query) -> AppTest:
    """The page (its file in the repository), opened through a link with this query; None leaves a key out."""
    app = AppTest.from_file(str(ROOT / file), default_timeout=120)
    for key, value in query.items():
        if value is not None:
            app.query_params[key] = value
    app.run()
    return app


def press(app: AppTest, label: str) -> AppTest:
    """The page after a click on the button that says this."""
    next(button for button in app.button if button.label == label).click().run()
    return app


def finished(app: AppTest, run: str) -> AppTest:
    """The page after the job of its run has ended; `run` is the run's key in the session."""
    ended(app.session_state[run].job)
    app.run()
    return app


def charts(app: AppTest) -> list[dict]:
    """What was sent to plotly, chart by chart."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def spec(app: AppTest, chart: int = 0) -> dict:
    """What was sent to plotly for one chart."""
    return charts(app)[chart]


def curves(app: AppTest, chart: int = 0) -> tuple[Curves, list[str]]:
    """Name → (x, y) of the curves in the legend, and the names of the ghosts."""
    shown, ghosts = {}, []
    for trace in spec(app, chart)["data"]:
        if trace.get("meta", {}).get("ghost"):
            ghosts.append(trace["name"])
        elif trace.get("showlegend", True):
            shown[trace["name"]] = (decode(trace["x"]).astype(float), decode(trace["y"]).astype(float))
    return shown, ghosts


def tables(app: AppTest) -> list[pd.DataFrame]:
    """The tables, as people read them."""
    found = [block.proto.body for block in app.get("html") if 'class="numbers"' in block.proto.body]
    rows = [
        [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)] for body in found
    ]
    return [pd.DataFrame(cells[1:], columns=cells[0]).map(unescape).rename(columns=unescape) for cells in rows]


def opened(app: AppTest, key: str) -> AppTest:
    """The page after a press on "Files", "Share" or "Reproduce in Python"; what they hold is drawn only then."""
    app.session_state[key] = True
    return app.run()


def words_of(sentence: str) -> int:
    """How many words; an equation is one, and so is a bet."""
    return len(re.sub(r"\s+(=|≤|≥|<|>|≈|:|±|→|%)(?=\s|$)\s*", r"\1", sentence.replace("\xa0", " ")).split())


def said(app: AppTest) -> str:
    """The answers, as people read them; a promise as it stands once its accountant is opened."""
    shown = " ".join(block.proto.body for block in app.get("html"))
    shown = unescape(re.sub('<span style="white-space: nowrap">(.*?)</span>', r"\1", shown)).replace("\xa0", " ")
    return re.sub(r"<details[^>]*><summary>(.*?)</summary>(.*?); (accounted by .*?)</details>", r"\2: \1; \3", shown)


def everything_said(app: AppTest) -> str:
    """The answers, the running text, the captions and every message."""
    return f"{said(app)} {texts(app)}".replace("\xa0", " ")


def tells(text: str, *parts: str) -> None:
    """Assert that every part is in the text."""
    assert [part for part in parts if part not in text] == []


def answer(app: AppTest) -> str | None:
    """The page's answer, where it has one."""
    found = [re.search(r'class="answer">(.*?)</p>', block.proto.body) for block in app.get("html")]
    texts = (re.sub("<.*?>", "", match.group(1)) for match in found if match)
    return next((unescape(text).replace("\xa0", " ") for text in texts), None)


def written(app: AppTest) -> str:
    """The running text and the captions."""
    return " ".join(block.value for block in [*app.markdown, *app.caption])


def infos(app: AppTest) -> str:
    return " ".join(block.value for block in app.info)


def texts(app: AppTest) -> str:
    """The running text, the captions and every message."""
    kinds = (*app.info, *app.warning, *app.error, *app.success, *app.caption, *app.markdown)
    return " ".join(block.value for block in kinds)


def job_view(state: str, latest: object = None, **changes: object) -> JobView:
    """What a job says of itself."""
    return JobView(state, latest, **{"message": None, "ahead": 0, "stopping": False, "seconds": 1.0} | changes)


def execute(snippet: str) -> tuple[dict, str]:
    """What a snippet defines, and what it prints."""
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(compile(snippet, "snippet", "exec"), names)
    return names, printed.getvalue()
